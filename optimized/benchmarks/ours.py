"""Our kernels on a problem: one call for each of its batches, none of which waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from benchmarks.problems import Batch, Copies, Problem, Rows
from benchmarks.shapes import BLOCK_SIZE
from kvoptimized.cascade import cascade
from kvoptimized.copying import copy_blocks
from kvoptimized.decoding import decode
from kvoptimized.prefilling import prefill
from kvoptimized.writing import write

Calls = Sequence[Callable[[], torch.Tensor]]


def calls(problem: Problem) -> Calls:
    """Of attention, which return the output; or of a move, which return the keys of the cache.

    Tables, slots and pairs are right as they were built, and are not looked at again.
    """
    if not problem.shape.attends:
        return [partial(_moved, problem, move) for move in problem.moves]
    attend = {"decode": _decoded, "prefill": _prefilled, "cascade": _cascaded}[problem.shape.operation]
    return [partial(attend, problem, batch) for batch in problem.batches]


def _decoded(problem: Problem, b: Batch) -> torch.Tensor:
    return decode(b.query, problem.cache, b.tables, b.lengths, scale=problem.scale, checked=False)[0]


def _prefilled(problem: Problem, b: Batch) -> torch.Tensor:
    return prefill(b.query, problem.cache, b.tables, b.lengths, b.starts, scale=problem.scale, checked=False)[0]


def _cascaded(problem: Problem, b: Batch) -> torch.Tensor:
    prefix = problem.shape.shared
    table = b.tables[0, : prefix // BLOCK_SIZE]
    return cascade(
        b.query,
        problem.cache,
        table,
        prefix,
        b.tables,
        b.lengths,
        b.starts,
        scale=problem.scale,
        decoding=problem.shape.rows == len(problem.shape.requests),
        checked=False,
    )[0]


def _moved(problem: Problem, move: Copies | Rows) -> torch.Tensor:
    if isinstance(move, Copies):
        copy_blocks(problem.cache, move.pairs, checked=False)
    else:
        write(problem.cache, move.slots, move.keys, move.values, checked=False)
    return problem.cache.keys
