"""Batches in the memory of a device: disjoint ones in one cache, so that the caches of the GPU stay cold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from benchmarks.shapes import BLOCK_SIZE, Shape
from kvoptimized.cache import FORMATS, PagedKVCache

STATIC_SCALE = 0.03
"""The scale of every e4m3 code, one number per head as in engines; other codes have one per token and head."""
COLD = 4
"""The batches together are this many times the level-2 cache, or one is: what a call reads was evicted since."""
MOST_SETS = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """Arguments of one call."""

    query: torch.Tensor
    tables: torch.Tensor
    lengths: torch.Tensor
    starts: torch.Tensor


@dataclass(frozen=True, slots=True)
class Problem:
    """A shape, a cache, and batches that share no block of it."""

    shape: Shape
    cache: PagedKVCache
    batches: tuple[Batch, ...]

    @property
    def scale(self) -> float:
        """The usual scale of logits."""
        return float(self.shape.heads.dim**-0.5)

    @property
    def least_bytes(self) -> int:
        """Bytes that a call must move: the cache of its tokens, queries and outputs, LSE, tables."""
        heads, rows = self.shape.heads, self.shape.rows
        states = rows * heads.query * (2 * heads.dim * int(self.batches[0].query.element_size()) + 4)
        return self.shape.tokens * self.cache.bytes_per_token + states + 4 * self.shape.tokens // BLOCK_SIZE


def build(shape: Shape, device: torch.device, cold_bytes: int) -> Problem:
    """Random keys and values, or random codes with random scales, in blocks in no order."""
    per_batch = sum(math.ceil(tokens / BLOCK_SIZE) for tokens, _ in shape.requests)
    held = per_batch * BLOCK_SIZE * empty(shape, 1, torch.device("cpu")).bytes_per_token
    sets = min(max(2, math.ceil(COLD * cold_bytes / held)), MOST_SETS)
    blocks = sets * per_batch
    cache = empty(shape, blocks, device)
    fill(cache)
    ids = torch.randperm(blocks, device=device).to(torch.int32).reshape(sets, per_batch)
    return Problem(shape, cache, tuple(_batch(shape, own, device) for own in ids))


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


def fill(cache: PagedKVCache) -> None:
    """Random contents; no NaN among the codes."""
    for pages, scales in ((cache.keys, cache.key_scales), (cache.values, cache.value_scales)):
        if FORMATS[cache.format].scheme is None:
            pages.normal_()
            continue
        codes = pages.view(torch.uint8)
        codes.random_(0, 256)
        if cache.format == "e4m3":
            codes.bitwise_and_(0xBF)  # magnitudes below 2: the exponent's highest bit is cleared
        if cache.dynamic and scales is not None:
            scales.uniform_(0.01, 0.05)


def _batch(shape: Shape, ids: torch.Tensor, device: torch.device) -> Batch:
    counts = [math.ceil(tokens / BLOCK_SIZE) for tokens, _ in shape.requests]
    tables = torch.zeros(len(counts), max(counts), dtype=torch.int32, device=device)
    for table, own in zip(tables, ids.split(counts), strict=True):
        table[: len(own)] = own
    ends = torch.tensor([0, *(rows for _, rows in shape.requests)]).cumsum(0)
    dtype = torch.float16 if shape.format == "fp16" else torch.bfloat16
    return Batch(
        torch.randn(shape.rows, shape.heads.query, shape.heads.dim, device=device).to(dtype),
        tables,
        torch.tensor([tokens for tokens, _ in shape.requests], dtype=torch.int32, device=device),
        ends.to(torch.int32).to(device),
    )
