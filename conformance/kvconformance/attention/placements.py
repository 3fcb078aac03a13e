"""How a problem lies in memory: which blocks, which strides, and what stands in bytes that belong to nobody."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kvconformance.attention.problems import Problem
from kvconformance.attention.surface import HEAD_MAJOR, AttentionCall, storage, stored
from kvreference.arrays import AnyArray, BlockRangeError

MAP_NORESERVE = 0x4000
"""Linux: address space without a promise of memory (`mmap` exports the name from Python 3.13 on)."""
FAR = 1 << 32
"""Elements that lie between the first block and the blocks of a far placement: 32-bit offsets wrap, signed or not."""
SENTINEL = -1.0e4


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
    heads, dim = problem.query.shape[1], problem.query.shape[2]
    kv_heads = problem.keys[0].shape[1] if problem.keys else heads
    shape = (placement.num_blocks, placement.block_size, kv_heads, dim)
    shift = _first_far(shape, placement.far)
    pages = [_pages(problem, placement, shape, which) for which in (0, 1)]
    for request, table in enumerate(tables):
        for page, rows in zip(pages, (problem.keys[request], problem.values[request]), strict=True):
            _fill(page, [block + shift for block in table], stored(rows, problem.dtype))
    held = {block for table in tables for block in table}
    spare = next((block for block in range(placement.num_blocks) if block not in held), 0)
    width = max((len(table) for table in tables), default=0) + 1
    padded = np.array([table + [spare] * (width - len(table)) for table in tables], np.int64).reshape(-1, width)
    starts = np.cumsum([0, *(queries for _, queries in problem.lengths)])
    layer = problem.layer
    return AttentionCall(
        query=stored(problem.query, problem.dtype),
        keys=_in_layout(pages[0], problem.layout),
        values=_in_layout(pages[1], problem.layout),
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
    )


def _pages(problem: Problem, placement: Placement, shape: tuple[int, ...], which: int) -> AnyArray:
    """Token-major view of fresh storage, whose memory order is that of the layout."""
    if placement.far:
        return _far_pages(shape, placement.far, storage(problem.dtype))
    blocks, size, heads, dim = shape
    inner = (heads, size) if problem.layout == HEAD_MAJOR else (size, heads)
    wide = (blocks, *inner, dim + placement.gap)
    if placement.garbage is None:
        array = stored(np.full(wide, np.nan), problem.dtype)
    else:
        rng = np.random.default_rng([placement.garbage, which])
        array = stored(rng.standard_normal(wide) * 2, problem.dtype)
    view = array[..., :dim]
    return view.transpose(0, 2, 1, 3) if problem.layout == HEAD_MAJOR else view


def _in_layout(pages: AnyArray, layout: str) -> AnyArray:
    return pages.transpose(0, 2, 1, 3) if layout == HEAD_MAJOR else pages


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


def _far_pages(shape: tuple[int, ...], far: str, dtype: type) -> AnyArray:
    """Pages in address space of which only the blocks that are touched get memory."""
    stride, itemsize = _stride(shape, far), np.dtype(dtype).itemsize
    blocks = _first_far(shape, far) + shape[0]
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
