"""Decode: keys, values, scales, queries and outputs once each; block tables as needed; partial results are overhead."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.decoding import decode, plan_for
from kvoptimized.evidence.traffic import Row
from kvoptimized.interpreter import counted

BLOCK_SIZE = 16
HEADS = ((32, 8, 128), (64, 8, 128), (32, 4, 128), (8, 1, 128), (64, 8, 64))
"""Query heads, KV heads and head dim of the standard shapes."""
SHORTEST = 512
"""Tokens of the shortest standard request."""
CEILING = 1.05


def rows() -> Iterator[Row]:
    """Every standard shape and format: a short request, and one of two parts; longer ones have more of the same."""
    for shape in HEADS:
        for format in ("bf16", "e4m3", "int8", "int4"):
            split = plan_for(PagedKVCache.empty(1, BLOCK_SIZE, *shape[1:], format=format), shape[0]).split_tokens
            for length in sorted({SHORTEST, 2 * split}):
                yield _row(*shape, length, format)


def _row(heads: int, kv_heads: int, head_dim: int, length: int, format: str) -> Row:
    blocks = length // BLOCK_SIZE
    cache = PagedKVCache.empty(blocks, BLOCK_SIZE, kv_heads, head_dim, format=format)
    query = torch.zeros(1, heads, head_dim, dtype=torch.bfloat16)
    tables = torch.randperm(blocks, dtype=torch.int32)[None]
    with counted() as traffic:
        decode(query, cache, tables, torch.tensor([length], dtype=torch.int32), scale=1.0)
    moved = traffic.loaded().issued + traffic.stored().issued
    least = length * cache.bytes_per_token + 2 * query.nbytes + 4 * heads + 4 * blocks + 4
    return Row("decode", f"{length} tokens, {heads}/{kv_heads} heads of {head_dim}, {format}", moved, least, CEILING)
