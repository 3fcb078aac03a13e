"""How a problem lies in memory: which blocks, which strides, and what stands in bytes that belong to nobody."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.problems.sides import Side
from kvconformance.surfaces.attention.protocol import HEAD_MAJOR, AttentionCall, stored
from kvreference.arrays import AnyArray, Float
from kvspec.refusals import BlockRangeError

MAP_NORESERVE = 0x4000
"""Linux: address space without a promise of memory (`mmap` exports the name from Python 3.13 on)."""
FAR = 1 << 32
"""Elements that lie between the first block and the blocks of a far placement: 32-bit offsets wrap, signed or not."""
SENTINEL = -1.0e4
ALIGNED = 16
"""Bytes of the widest load."""


@dataclass(frozen=True)
class Placement:
    """Blocks are numbered by `order` (a seed; None: ascending from 0), in a pool of `num_blocks` of `block_size`.

    Bytes that no request owns hold random numbers of the seed `garbage`, or NaN where it is None. `gap` elements lie
    unused behind the last axis. `far` puts the blocks beyond `FAR` elements: `dense` blocks with huge ids, or few ids
    with a huge `stride`.
    """

    num_blocks: int
    block_size: int
    order: int | None = None
    garbage: int | None = 0
    gap: int = 0
    far: str | None = None

    def tables(self, problem: Problem) -> list[list[int]]:
        """The block table of each request; shared blocks first."""
        needed = problem.blocks(self.block_size)
        if needed > self.num_blocks:
            raise BlockRangeError(f"{needed} blocks are needed, the pool has {self.num_blocks}")
        ids = list(range(self.num_blocks))
        if self.order is not None:
            ids = np.random.default_rng(self.order).permutation(self.num_blocks).tolist()
        taken, tables = problem.shared // self.block_size, []
        for request, (tokens, _) in enumerate(problem.lengths):
            prefix = problem.prefix(request) // self.block_size
            own = -(-tokens // self.block_size) - prefix
            tables.append(ids[:prefix] + ids[taken : taken + own])
            taken += own
        return tables


def place(problem: Problem, placement: Placement) -> AttentionCall:
    """The call in memory of its own. Raises `BlockRangeError` where the pool is too small, `OSError` where memory is.

    Entries of a table behind the blocks of its request name a block that the request does not own, as in engines.
    """
    tables = placement.tables(problem)
    heads = problem.query.shape[1]
    kv_heads = problem.keys[0].shape[1] if problem.keys else heads
    shift, sides = _sides(problem, placement, kv_heads, tables)
    held = {block for table in tables for block in table}
    spare = next((block for block in range(placement.num_blocks) if block not in held), 0)
    width = max((len(table) for table in tables), default=0) + 1
    padded = np.array([table + [spare] * (width - len(table)) for table in tables], np.int64).reshape(-1, width)
    starts = np.cumsum([0, *(queries for _, queries in problem.lengths)])
    layer = problem.layer
    return AttentionCall(
        query=stored(problem.query, problem.dtype),
        keys=sides[0].codes,
        values=sides[1].codes,
        tables=(padded + shift).astype(np.int32),
        lengths=np.array([tokens for tokens, _ in problem.lengths], np.int32),
        starts=starts.astype(np.int32),
        scale=layer.scale,
        dtype=problem.dtype,
        layout=problem.layout,
        causal=layer.causal,
        window=layer.window,
        softcap=layer.softcap,
        sinks=None if layer.sinks is None else np.array(layer.sinks, np.float32),
        splits=problem.splits,
        out=stored(np.full(problem.query.shape, SENTINEL), problem.dtype),
        cache=problem.cache_name,
        key_scales=sides[0].scales,
        value_scales=sides[1].scales,
        key_zeros=sides[0].zeros,
        value_zeros=sides[1].zeros,
    )


@dataclass(frozen=True, eq=False)
class _Stored:
    """The arrays of keys or values in the layout of the call: codes, or plain elements, with scales and zeros."""

    codes: AnyArray
    scales: AnyArray | None
    zeros: AnyArray | None


def _sides(problem: Problem, placement: Placement, kv_heads: int, tables: list[list[int]]) -> tuple[int, list[_Stored]]:
    """The first block that tokens may lie in, and keys and values in memory."""
    sides = (None, None) if problem.cache is None else problem.cache.sides
    fills = [
        _parts(_garbage(problem, placement, kv_heads, which), side, problem.dtype) for which, side in enumerate(sides)
    ]
    # Ids are common to both, so the narrower rows decide how many blocks lie before them.
    first = max(_first_far(_shape(placement, fill[0]), placement.far) for fill in fills)
    found = []
    for side, fill, requests in zip(sides, fills, (problem.keys, problem.values), strict=True):
        rows = [_parts(x, side, problem.dtype) for x in requests]
        codes, *beside = (
            _filled(problem.layout, placement, first, tables, part) for part in zip(fill, *rows, strict=True)
        )
        scales, zeros = side.shared() if side is not None and not beside else (*beside, None, None)[:2]
        found.append(_Stored(codes, scales, zeros))
    return first, found


def _parts(rows: Float, side: Side | None, dtype: str) -> list[AnyArray]:
    """What is stored of rows `[tokens, kv_heads, head_dim]`: elements, or codes and what lies beside them."""
    if side is None:
        return [stored(rows, dtype)]
    return [part for part in side.stored(rows) if part.shape[-1]]


def _filled(
    layout: str, placement: Placement, first: int, tables: list[list[int]], parts: tuple[AnyArray, ...]
) -> AnyArray:
    """One array with the first of `parts` in its unowned slots, and the rows of each request in its blocks."""
    pages = _pages(layout, placement, parts[0], first)
    for table, rows in zip(tables, parts[1:], strict=True):
        _fill(pages, [block + first for block in table], rows)
    return pages.transpose(0, 2, 1, 3) if layout == HEAD_MAJOR else pages


def _shape(placement: Placement, fill: AnyArray) -> tuple[int, int, int, int]:
    return placement.num_blocks, placement.block_size, fill.shape[1], fill.shape[2]


def _garbage(problem: Problem, placement: Placement, kv_heads: int, which: int) -> Float:
    """What stands in bytes that no request owns, `[slots, kv_heads, head_dim]`."""
    shape = (placement.num_blocks * placement.block_size, kv_heads, problem.query.shape[2])
    if placement.garbage is None:
        return np.full(shape, np.nan)
    return np.random.default_rng([placement.garbage, which]).standard_normal(shape) * 2


def _pages(layout: str, placement: Placement, fill: AnyArray, first: int) -> AnyArray:
    """Token-major view of fresh storage, whose memory order is that of the layout, with `fill` everywhere."""
    blocks, size, heads, width = shape = _shape(placement, fill)
    if placement.far:
        return _far_pages(shape, placement.far, fill.dtype, first)
    inner = (heads, size) if layout == HEAD_MAJOR else (size, heads)
    # Codes are read several at a time, and a kernel may ask for rows that are aligned to a load.
    gap = placement.gap * (ALIGNED if fill.dtype.itemsize == 1 else 1)
    view = np.resize(fill, (blocks, *inner, width + gap))[..., :width]
    return view.transpose(0, 2, 1, 3) if layout == HEAD_MAJOR else view


def _fill(pages: AnyArray, table: list[int], rows: AnyArray) -> None:
    size = pages.shape[1]
    for index, block in enumerate(table):
        part = rows[index * size : (index + 1) * size]
        pages[block, : len(part)] = part


def _first_far(shape: tuple[int, ...], far: str | None) -> int:
    return 0 if far is None else -(-FAR // _stride(shape, far))


def _stride(shape: tuple[int, ...], far: str) -> int:
    dense = shape[1] * shape[2] * shape[3]
    return dense if far == "dense" else max(dense, FAR >> 4)


def _far_pages(shape: tuple[int, ...], far: str, dtype: np.dtype[Any], first: int) -> AnyArray:
    """Pages in address space of which only the blocks that are touched get memory; none before `first` is."""
    stride, itemsize = _stride(shape, far), dtype.itemsize
    blocks = first + shape[0]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    buffer: AnyArray = np.frombuffer(mmap.mmap(-1, blocks * stride * itemsize, flags=flags), dtype)
    steps = (stride, shape[2] * shape[3], shape[3], 1)
    return as_strided(buffer, (blocks, *shape[1:]), tuple(step * itemsize for step in steps))


def unowned(problem: Problem, placement: Placement) -> bool:
    """Whether there are bytes that no row may read: a tail, a block of nobody, or tokens behind every window."""
    partly = any(tokens % placement.block_size for tokens, _ in problem.lengths)
    return partly or problem.blocks(placement.block_size) < placement.num_blocks or bool(hidden(problem))


def hidden(problem: Problem) -> list[tuple[int, int]]:
    """Tokens (request, position) that no query row of their request sees, in blocks that are not shared."""
    found = []
    for request, (tokens, queries) in enumerate(problem.lengths):
        first = min((problem.seen(request, i).start for i in range(queries)), default=tokens)
        found += [(request, position) for position in range(problem.prefix(request), min(first, tokens))]
    return found


def poisoned(problem: Problem) -> Problem:
    """The problem with NaN in every token that no query row of its request sees."""
    keys, values = ([x.copy() for x in arrays] for arrays in (problem.keys, problem.values))
    for request, position in hidden(problem):
        keys[request][position] = values[request][position] = np.nan
    return replace(problem, keys=tuple(keys), values=tuple(values))
