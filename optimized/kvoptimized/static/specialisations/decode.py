"""Split-KV decode over every format, the standard shape first, and the merge of parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from kvoptimized.cache import HEAD_MAJOR, TOKEN_MAJOR, PagedKVCache
from kvoptimized.decoding import decode, plan_for
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import Specialisation

HEADS, KV_HEADS, HEAD_DIM, BLOCK_SIZE = 32, 8, 128, 16
BUDGETS = {"bf16": 2.3, "fp16": 2.3, "e4m3": 4.4, "int8": 5.3, "int4": 3.6}
"""Lane operations per key and value element on sm_90, at the standard shape."""
BLOCKS, COLUMNS = 8, 512
_AMD = {"PTX": False, "TILE": 64}
_AMD_OPTIONS = {"num_stages": 1}


def specialisations() -> Iterator[Specialisation]:
    """The standard shape in all formats; then other heads, head dims, block sizes, and options."""
    for format, budget in BUDGETS.items():
        yield from _decode(f"decode {format}", format, budget=budget)
    yield from _decode("decode e4m3 static", "e4m3", static=True, budget=BUDGETS["e4m3"])
    yield from _decode("decode int8 static", "int8", static=True, budget=BUDGETS["int8"])
    yield from _decode("decode int4, queries in fp16", "int4", dtype=torch.float16)
    yield from _decode("decode int4, group of 8", "int4", heads=64)
    yield from _decode("decode bf16, group of 1", "bf16", heads=8)
    yield from _decode("decode e4m3, head dim 64", "e4m3", head_dim=64)
    yield from _decode("decode int8, head dim 80", "int8", head_dim=80)
    yield from _decode("decode bf16, head dim 96", "bf16", head_dim=96)
    yield from _decode("decode bf16, head dim 256", "bf16", head_dim=256)
    yield from _decode("decode int4, head dim 256", "int4", head_dim=256)
    yield from _decode("decode bf16, blocks of 1", "bf16", block_size=1)
    yield from _decode("decode int8, blocks of 256", "int8", block_size=256)
    yield from _decode("decode e4m3, blocks of 24", "e4m3", block_size=24)
    yield from _decode("decode bf16, token-major", "bf16", layout=TOKEN_MAJOR)
    yield from _decode("decode int4, window, softcap and sinks", "int4", window=4096, softcap=30.0, sinks=True)


def _decode(
    name: str,
    format: str,
    *,
    budget: float | None = None,
    static: bool = False,
    dtype: torch.dtype | None = None,
    heads: int = HEADS,
    head_dim: int = HEAD_DIM,
    block_size: int = BLOCK_SIZE,
    layout: str = HEAD_MAJOR,
    sinks: bool = False,
    **parameters: Any,
) -> Iterator[Specialisation]:
    scales = 0.5 if static else None
    cache = PagedKVCache.empty(
        BLOCKS, block_size, KV_HEADS, head_dim, format=format, layout=layout, key_scales=scales, value_scales=scales
    )
    query = torch.zeros(2, heads, head_dim, dtype=dtype or (torch.float16 if format == "fp16" else torch.bfloat16))
    tables, lengths = torch.zeros(2, COLUMNS, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    given = torch.zeros(heads) if sinks else None

    def launch() -> None:
        decode(query, cache, tables, lengths, scale=head_dim**-0.5, sinks=given, checked=False, **parameters)

    plan = plan_for(cache, heads)
    whole = head_dim & (head_dim - 1) == 0
    parts, *merge = recorded(launch)
    yield parts.specialised(
        name,
        amd=_AMD,
        amd_options=_AMD_OPTIONS,
        elements=2 * plan.tile * head_dim,
        budget=budget,
        wide_bytes=2 * plan.tile * cache.width * cache.keys.element_size() if whole else 0,
    )
    if name in ("decode bf16", "decode int4, window, softcap and sinks"):
        yield merge[0].specialised(f"{name}: merge", amd={"PTX": False})
