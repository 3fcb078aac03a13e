"""Quantize on write: rows and slots read once, codes and scales written once."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.evidence.traffic import Row
from kvoptimized.interpreter import counted
from kvoptimized.writing import write

BLOCK_SIZE = 16
HEADS = ((8, 128), (4, 128), (1, 128), (8, 64))
"""KV heads and head dim of the standard shapes."""
TOKENS = (1, 64)
CEILING = 1.05


def rows() -> Iterator[Row]:
    """bf16 rows into every format; a plain bf16 cache, scales per token and head, and static ones."""
    for kv_heads, head_dim in HEADS:
        for tokens in TOKENS:
            for format in ("bf16", "e4m3", "int8", "int4"):
                yield _row(kv_heads, head_dim, tokens, format, static=False)
                if format != "bf16":
                    yield _row(kv_heads, head_dim, tokens, format, static=True)


def _row(kv_heads: int, head_dim: int, tokens: int, format: str, *, static: bool) -> Row:
    given = 0.5 if static else None
    cache = PagedKVCache.empty(
        -(-tokens // BLOCK_SIZE), BLOCK_SIZE, kv_heads, head_dim, format=format, key_scales=given, value_scales=given
    )
    x = torch.randn(tokens, kv_heads, head_dim).to(torch.bfloat16)
    slots = torch.randperm(cache.num_slots)[:tokens]
    with counted() as traffic:
        write(cache, slots, x, x)
    moved = traffic.loaded().issued + traffic.stored().issued
    scales = 2 * 4 * kv_heads * (0 if format == "bf16" else 1 if static else tokens)
    codes = 2 * tokens * kv_heads * cache.width * FORMATS[format].storage.itemsize
    least = 2 * x.numel() * x.element_size() + 8 * tokens + codes + scales
    kind = "" if format == "bf16" else " static" if static else " token-head"
    return Row("write", f"{tokens} tokens, {kv_heads} heads of {head_dim}, {format}{kind}", moved, least, CEILING)
