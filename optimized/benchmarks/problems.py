"""Batches in the memory of a device: disjoint ones in one cache, so that the caches of the GPU stay cold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from benchmarks.shapes import BLOCK_SIZE, Shape
from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.slot_maps import slot_mapping

STATIC_SCALE = 0.03
"""The scale of every e4m3 code, one number per head as in engines; other codes have one per token and head."""
COLD = 4
"""The batches together move this many times the level-2 cache, or there are two: what a call reads was evicted since.

So they move less than `COLD` times the level-2 cache and twice what one call moves.
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Arguments of one call of attention."""

    query: torch.Tensor
    tables: torch.Tensor
    lengths: torch.Tensor
    starts: torch.Tensor


@dataclass(frozen=True, slots=True)
class Copies:
    """Arguments of a copy: int64 `[blocks, 2]`."""

    pairs: torch.Tensor


@dataclass(frozen=True, slots=True)
class Rows:
    """Arguments of a write: slots, and keys and values `[rows, kv_heads, head_dim]`."""

    slots: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True, slots=True)
class Problem:
    """A shape, a cache, and batches that share no block of it; `moves` are those without queries."""

    shape: Shape
    cache: PagedKVCache
    batches: tuple[Batch, ...] = ()
    moves: tuple[Copies | Rows, ...] = ()

    @property
    def scale(self) -> float:
        """The usual scale of logits."""
        return float(self.shape.heads.dim**-0.5)

    @property
    def least_bytes(self) -> int:
        """Bytes that a call must move."""
        return least_bytes(self.shape)


def least_bytes(shape: Shape) -> int:
    """Bytes that a call must move.

    Attention: the cache of its tokens, queries and outputs, LSE, tables. Copies: blocks read and written, and pairs.
    Writes: rows and slots read, the cache of their tokens written.
    """
    cache = empty(shape, 1, torch.device("cpu"))
    if shape.operation == "copy":
        return len(shape.requests) * (2 * BLOCK_SIZE * cache.bytes_per_token + 16)
    row = 2 * shape.heads.dim
    if shape.operation == "write":
        return shape.rows * (2 * shape.heads.kv * row + 8 + cache.bytes_per_token)
    states = shape.rows * shape.heads.query * (2 * row + 4)
    return shape.tokens * cache.bytes_per_token + states + 4 * shape.tokens // BLOCK_SIZE


def blocks_of(shape: Shape) -> int:
    """Blocks of one batch; copies have targets too."""
    own = sum(math.ceil((tokens - shape.shared) / BLOCK_SIZE) for tokens, _ in shape.requests)
    return 2 * own if shape.operation == "copy" else shape.shared // BLOCK_SIZE + own


def sets_of(shape: Shape, cold_bytes: int) -> int:
    """How many batches a problem needs, where the level-2 cache has `cold_bytes`."""
    return max(2, math.ceil(COLD * cold_bytes / least_bytes(shape)))


def build(shape: Shape, device: torch.device, cold_bytes: int) -> Problem:
    """Random keys and values, or random codes with random scales, in blocks in no order."""
    # A generator of its own: one that a failed capture of a graph has used raises ever after.
    dice = torch.Generator(device).manual_seed(0)
    sets, per_batch = sets_of(shape, cold_bytes), blocks_of(shape)
    cache = empty(shape, sets * per_batch, device)
    fill(cache, dice)
    ids = torch.randperm(sets * per_batch, device=device, generator=dice).reshape(sets, per_batch)
    if shape.operation == "copy":
        return Problem(shape, cache, moves=tuple(Copies(own.reshape(-1, 2).contiguous()) for own in ids))
    if shape.operation == "write":
        return Problem(shape, cache, moves=tuple(_rows(shape, own, device, dice) for own in ids))
    return Problem(shape, cache, tuple(_batch(shape, own, device, dice) for own in ids))


def empty(shape: Shape, blocks: int, device: torch.device) -> PagedKVCache:
    """A cache of zeros for a shape."""
    scale = STATIC_SCALE if shape.format == "e4m3" else None
    heads = shape.heads
    return PagedKVCache.empty(
        blocks,
        BLOCK_SIZE,
        heads.kv,
        heads.dim,
        format=shape.format,
        device=device,
        key_scales=scale,
        value_scales=scale,
    )


def fill(cache: PagedKVCache, dice: torch.Generator) -> None:
    """Random contents; no NaN among the codes."""
    for pages, scales in ((cache.keys, cache.key_scales), (cache.values, cache.value_scales)):
        if FORMATS[cache.format].scheme is None:
            pages.normal_(generator=dice)
            continue
        codes = pages.view(torch.uint8)
        codes.random_(0, 256, generator=dice)
        if cache.format == "e4m3":
            codes.bitwise_and_(0xBF)  # magnitudes below 2: the exponent's highest bit is cleared
        if cache.dynamic and scales is not None:
            scales.uniform_(0.01, 0.05, generator=dice)


def _tables(shape: Shape, ids: torch.Tensor) -> torch.Tensor:
    """Block tables of a batch that owns `ids`: the shared blocks first, then those of each request."""
    prefix, ids = ids[: shape.shared // BLOCK_SIZE], ids[shape.shared // BLOCK_SIZE :]
    counts = [math.ceil((tokens - shape.shared) / BLOCK_SIZE) for tokens, _ in shape.requests]
    tables = torch.zeros(len(counts), len(prefix) + max(counts), dtype=torch.int32, device=ids.device)
    tables[:, : len(prefix)] = prefix
    for table, own in zip(tables, ids.split(counts), strict=True):
        table[len(prefix) : len(prefix) + len(own)] = own
    return tables


def _lengths(shape: Shape, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of each request and first row of each, int32."""
    ends = torch.tensor([0, *(rows for _, rows in shape.requests)]).cumsum(0)
    lengths = torch.tensor([tokens for tokens, _ in shape.requests], dtype=torch.int32)
    return lengths.to(device), ends.to(torch.int32).to(device)


def _batch(shape: Shape, ids: torch.Tensor, device: torch.device, dice: torch.Generator) -> Batch:
    query = torch.randn(shape.rows, shape.heads.query, shape.heads.dim, device=device, generator=dice)
    if shape.format == "e4m3":
        query = query.to(torch.float8_e4m3fn)  # others take queries in e4m3 only, and are to compute the same
    dtype = torch.float16 if shape.format == "fp16" else torch.bfloat16
    return Batch(query.to(dtype), _tables(shape, ids), *_lengths(shape, device))


def _rows(shape: Shape, ids: torch.Tensor, device: torch.device, dice: torch.Generator) -> Rows:
    lengths, starts = _lengths(shape, device)
    slots = slot_mapping(_tables(shape, ids), lengths, starts, block_size=BLOCK_SIZE, rows=shape.rows)
    wide = (2, shape.rows, shape.heads.kv, shape.heads.dim)
    keys, values = torch.randn(wide, device=device, generator=dice).to(torch.bfloat16)
    return Rows(slots, keys, values)
