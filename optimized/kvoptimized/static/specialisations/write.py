"""Quantize on write: codes must not depend on contraction or on approximate division."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import TARGETS, Specialisation
from kvoptimized.writing import write

KV_HEADS, BLOCK_SIZE, TOKENS = 8, 16, 64


def specialisations() -> Iterator[Specialisation]:
    """Every format from bf16 rows, plain ones from their own; scales per token and head, and static ones."""
    for format, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        yield _write(f"write {format}", format, dtype)
    for format in ("e4m3", "int8", "int4"):
        yield _write(f"write {format}", format, torch.bfloat16)
        yield _write(f"write {format} static", format, torch.bfloat16, static=True)
    yield _write("write int8 from fp32, head dim 80", "int8", torch.float32, head_dim=80)


def _write(name: str, format: str, dtype: torch.dtype, *, head_dim: int = 128, static: bool = False) -> Specialisation:
    scales = 0.5 if static else None
    cache = PagedKVCache.empty(8, BLOCK_SIZE, KV_HEADS, head_dim, format=format, key_scales=scales, value_scales=scales)
    rows, slots = torch.zeros(TOKENS, KV_HEADS, head_dim, dtype=dtype), torch.zeros(TOKENS, dtype=torch.int64)
    targets = tuple(target for target in TARGETS if format != "e4m3" or target != "sm_80")
    launch = recorded(lambda: write(cache, slots, rows, rows, checked=False))[0]
    found = launch.specialised(name, exact=True, targets=targets)
    # Rows of keys and of values, one tile of each.
    tile = found.constants["TOKENS"] * found.constants["HEADS"] * head_dim
    whole = head_dim & (head_dim - 1) == 0
    return replace(found, wide_bytes=2 * tile * rows.element_size() if whole else 0)
