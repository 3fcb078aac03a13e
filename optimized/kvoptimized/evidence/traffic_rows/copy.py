"""Copy-on-write: every byte of a block read once and written once, and the pairs."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.copying import copy_blocks
from kvoptimized.evidence.traffic import Row
from kvoptimized.interpreter import counted

BLOCK_SIZE = 16
HEADS = ((8, 128), (4, 128), (1, 128), (8, 64))
"""KV heads and head dim of the standard shapes."""
PAIRS = (1, 16)
CEILING = 1.05


def rows() -> Iterator[Row]:
    """Blocks of every format with their scales."""
    for kv_heads, head_dim in HEADS:
        for pairs in PAIRS:
            for format in ("bf16", "e4m3", "int8", "int4"):
                yield _row(kv_heads, head_dim, pairs, format)


def _row(kv_heads: int, head_dim: int, pairs: int, format: str) -> Row:
    cache = PagedKVCache.empty(2 * pairs, BLOCK_SIZE, kv_heads, head_dim, format=format)
    with counted() as traffic:
        copy_blocks(cache, torch.randperm(2 * pairs).reshape(pairs, 2))
    moved = traffic.loaded().issued + traffic.stored().issued
    least = pairs * (2 * BLOCK_SIZE * cache.bytes_per_token + 16)
    return Row(
        "copy", f"{pairs} blocks of {BLOCK_SIZE}, {kv_heads} heads of {head_dim}, {format}", moved, least, CEILING
    )
