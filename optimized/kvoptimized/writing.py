"""Writing new keys and values into the blocks of a cache, quantized on the way."""

from __future__ import annotations

import torch

from kvoptimized.cache import FORMATS, ROW_DTYPES, PagedKVCache
from kvoptimized.kernels.write import write_rows
from kvoptimized.operators import has_data, operator
from kvoptimized.refusals import (
    DeviceError,
    require_device,
    require_dtype,
    require_finite,
    require_rows,
    require_scales,
    require_shape,
    require_slots,
)

TILE = 2048
"""Elements of a program's tile, whatever the batch: two 128-bit loads of 16-bit rows for each of 128 threads."""
WARPS = 4
E4M3_SINCE = (8, 9)
"""The first compute capability of NVIDIA with conversions to e4m3."""


def write(
    cache: PagedKVCache, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, *, checked: bool = True
) -> None:
    """Store keys and values `[tokens, kv_heads, head_dim]` at `slots`, int64 `[tokens]`; slot -1 writes nothing.

    They are bf16, fp16 or fp32 for a quantized format, and of the format's own dtype for a plain one. Codes and scales
    are those of `cache.scheme`, bit for bit. Padding rows may hold anything and are not read.

    Raises `ShapeError`, `DtypeError`, `DeviceError` and `StrideError`; and where `checked`, which waits for a GPU,
    `BlockRangeError`, `DuplicateError`, `NonFiniteError` (integer codes) and `ScaleError` (static scales). Unchecked,
    a row per token and head that is not finite gets an infinite scale and codes 0, so that it reads as NaN.
    """
    dynamic = (cache.key_scales, cache.value_scales) if cache.dynamic else (None, None)
    static = (cache.key_scales, cache.value_scales) if cache.static else (None, None)
    _write(cache.keys, cache.values, *dynamic, *static, slots, keys, values, cache.format, cache.layout, checked)


@operator("key_cache", "value_cache", "key_scales", "value_scales")
def _write(
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    key_scales: torch.Tensor | None,
    value_scales: torch.Tensor | None,
    static_key_scales: torch.Tensor | None,
    static_value_scales: torch.Tensor | None,
    slots: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    format: str,
    layout: str,
    checked: bool,
) -> None:
    scales = (key_scales, value_scales) if static_key_scales is None else (static_key_scales, static_value_scales)
    cache = PagedKVCache.around(key_cache, value_cache, *scales, format=format, layout=layout)
    _require_fit(cache, slots, keys, values)
    if not has_data(slots) or not len(slots):
        return
    if checked:
        _require_values(cache, slots, keys, values)
    _launch(cache, slots, keys, values)


def _launch(cache: PagedKVCache, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
    lanes = _power_of_two(cache.width)
    heads = min(_power_of_two(cache.kv_heads), max(1, TILE // lanes))
    tokens = max(1, TILE // (heads * lanes))
    grid = (-(-len(slots) // tokens), -(-cache.kv_heads // heads))
    lowest, highest = FORMATS[cache.format].ends
    write_rows[grid](
        keys,
        values,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        slots,
        len(slots),
        *keys.stride()[:2],
        *values.stride()[:2],
        *cache.strides,
        *cache.scale_strides,
        FORMAT=cache.format,
        DIVISOR=FORMATS[cache.format].divisor,
        LOWEST=lowest,
        HIGHEST=highest,
        STATIC=cache.static,
        KV_HEADS=cache.kv_heads,
        WIDTH=cache.width,
        BLOCK_SIZE=cache.block_size,
        TOKENS=tokens,
        HEADS=heads,
        LANES=lanes,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )


def _require_fit(cache: PagedKVCache, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
    """What the host knows without looking at values."""
    require_device(cache.device, slots=slots, keys=keys, values=values)
    require_shape("slots", slots, (None,))
    require_dtype("slots", slots, torch.int64)
    require_rows("slots", slots)
    stored = FORMATS[cache.format]
    allowed = (stored.storage,) if stored.scheme is None else ROW_DTYPES
    for name, rows in (("keys", keys), ("values", values)):
        require_shape(name, rows, (slots.shape[0], cache.kv_heads, cache.head_dim))
        require_dtype(name, rows, *allowed)
        require_rows(name, rows)
    if cache.format == "e4m3" and cache.device.type == "cuda" and torch.version.hip is None:
        found = torch.cuda.get_device_capability(cache.device)
        if found < E4M3_SINCE:
            raise DeviceError(f"{cache.device} has compute capability {found}, e4m3 needs {E4M3_SINCE}; use int8")


def _require_values(cache: PagedKVCache, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
    require_slots(slots, cache.num_slots)
    if FORMATS[cache.format].integer:
        require_finite("keys", keys, slots)
        require_finite("values", values, slots)
    if cache.static and cache.key_scales is not None and cache.value_scales is not None:
        require_scales("key_scales", cache.key_scales)
        require_scales("value_scales", cache.value_scales)


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
