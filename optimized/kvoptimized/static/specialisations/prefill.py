"""Chunked prefill over every format, the standard shape first, then other heads, head dims, masks and queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from kvoptimized.cache import TOKEN_MAJOR, PagedKVCache
from kvoptimized.prefilling import Tiling, prefill, tiling
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import Specialisation, is_amd

HEADS, KV_HEADS, HEAD_DIM, BLOCK_SIZE = 32, 8, 128, 16
MATRIX = {"sm_80": "HMMA", "sm_90": "HGMMA", "sm_100": "UTCHMMA", "gfx942": "MFMA"}
BLOCKS, COLUMNS, ROWS = 8, 512, 64
WIDE = ("sm_90", "sm_100")
"""Where keys and values of an iteration are claimed to come in 128-bit loads; on sm_80 half of 8-bit codes count."""


def specialisations() -> Iterator[Specialisation]:
    """One launch each, with the tile of every target."""
    for format in ("bf16", "fp16", "e4m3", "int8", "int4"):
        yield from _prefill(f"prefill {format}", format)
    yield from _prefill("prefill e4m3 static", "e4m3", static=True)
    yield from _prefill("prefill int4, queries in fp16", "int4", dtype=torch.float16)
    yield from _prefill("prefill bf16, group of 1", "bf16", heads=8)
    yield from _prefill("prefill bf16, head dim 64", "bf16", head_dim=64)
    yield from _prefill("prefill int8, head dim 80", "int8", head_dim=80)
    yield from _prefill("prefill bf16, head dim 256", "bf16", head_dim=256)
    yield from _prefill("prefill int4, head dim 256", "int4", head_dim=256)
    yield from _prefill("prefill bf16, blocks of 1, token-major", "bf16", block_size=1, layout=TOKEN_MAJOR)
    yield from _prefill("prefill bf16, not causal", "bf16", causal=False)
    yield from _prefill("prefill bf16, window, softcap and sinks", "bf16", window=4096, softcap=30.0, sinks=True)


def _prefill(
    name: str,
    format: str,
    *,
    static: bool = False,
    dtype: torch.dtype | None = None,
    heads: int = HEADS,
    head_dim: int = HEAD_DIM,
    block_size: int = BLOCK_SIZE,
    layout: str | None = None,
    sinks: bool = False,
    **parameters: Any,
) -> Iterator[Specialisation]:
    scales, order = (0.5 if static else None), ({} if layout is None else {"layout": layout})
    cache = PagedKVCache.empty(
        BLOCKS, block_size, KV_HEADS, head_dim, format=format, key_scales=scales, value_scales=scales, **order
    )
    query = torch.zeros(ROWS, heads, head_dim, dtype=dtype or (torch.float16 if format == "fp16" else torch.bfloat16))
    tables, lengths, starts = (torch.zeros(shape, dtype=torch.int32) for shape in ((2, COLUMNS), (2,), (3,)))
    given = torch.zeros(heads) if sinks else None

    def launch() -> None:
        prefill(query, cache, tables, lengths, starts, scale=0.1, sinks=given, checked=False, **parameters)

    tiles = {target: tiling(head_dim, heads // KV_HEADS, target, format) for target in MATRIX}
    found = recorded(launch)[0].specialised(name, matrix=MATRIX)
    whole = head_dim & (head_dim - 1) == 0
    for target, tile in tiles.items():
        rows = {"ROWS": tile.rows, "PTX": not is_amd(target)}
        yield replace(
            found,
            targets=(target,),
            constants={**found.constants, **rows},
            options=_options(found, tile),
            wide_bytes=2 * tile.keys * cache.width * cache.keys.element_size() if whole and target in WIDE else 0,
        )


def _options(found: Specialisation, tile: Tiling) -> dict[str, Any]:
    """Those of the recorded launch that are not the tile's, and the tile's for another target."""
    return {"enable_fp_fusion": found.options["enable_fp_fusion"], **tile.options}
