"""The Triton kernels in the faithful interpreter: what is written, copied, attended and merged."""

from __future__ import annotations

from typing import Any

import torch

from kvoptimized.cache import FORMATS, LAYOUTS, PagedKVCache
from kvoptimized.cascade import cascade
from kvoptimized.copying import copy_blocks
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import prefill
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from tests.portable.vectors import Bits, digest, noise

HEADS, KV_HEADS, HEAD_DIM, BLOCK_SIZE = 4, 2, 64, 16
LENGTHS = (81, 35, 160)
"""Tokens of each request; the first 32 are the same blocks for all."""
SHARED = 32
SCALE = 0.125


def attention() -> Bits:
    """Caches as they are written, and decode, prefill and cascade over them, per format and kind of scales."""
    for format, stored in FORMATS.items():
        for static in (False, True) if stored.scheme is not None else (False,):
            name = f"{format}{' static' if static else ''}"
            cache = _cache(format, static)
            tables, starts = _tables(), torch.tensor([0, 2, 5, 6], dtype=torch.int32)
            lengths = torch.tensor(LENGTHS, dtype=torch.int32)
            query = torch.from_numpy(noise(5, 6, HEADS, HEAD_DIM)).to(_dtype(format))
            options: dict[str, Any] = {"scale": SCALE, "softcap": 30.0, "sinks": torch.from_numpy(noise(6, HEADS))}
            yield f"write {name}", digest(map(_array, _tensors(cache)))
            yield f"decode {name}", _both(decode(query[:3], cache, tables, lengths, **options))
            yield f"prefill {name}", _both(prefill(query, cache, tables, lengths, starts, **options))
            shared = (tables[0], SHARED)
            yield f"cascade {name}", _both(cascade(query, cache, *shared, tables, lengths, starts, **options))


def copies() -> Bits:
    """Blocks copied, states merged, slots mapped."""
    cache = _cache("int8", static=False)
    copy_blocks(cache, torch.tensor([[1, 18], [2, 19]]))
    yield "copy int8", digest(map(_array, _tensors(cache)))
    outputs = torch.from_numpy(noise(7, 2, 5, HEADS, HEAD_DIM))
    logs = torch.from_numpy(noise(8, 2, 5, HEADS))
    yield "merge", _both(merge(outputs[0], logs[0], outputs[1], logs[1]))
    starts, lengths = torch.tensor([0, 3, 5, 9], dtype=torch.int32), torch.tensor(LENGTHS, dtype=torch.int32)
    yield "slots", digest([_array(slot_mapping(_tables(), lengths, starts, block_size=BLOCK_SIZE, rows=12))])


def _dtype(format: str) -> torch.dtype:
    return FORMATS[format].storage if FORMATS[format].scheme is None else torch.bfloat16


def _tables() -> torch.Tensor:
    rows = [[0, 1, 2 + 6 * r, 3 + 6 * r, 4 + 6 * r, 5 + 6 * r, 6 + 6 * r, 7 + 6 * r] for r in range(2)]
    longest = [0, 1, *range(20, 28)]
    return torch.tensor([[*row, -1, -1] for row in rows] + [longest], dtype=torch.int32)


def _cache(format: str, static: bool) -> PagedKVCache:
    scales = torch.from_numpy(abs(noise(9, 2, KV_HEADS)) + 2.0**-4) if static else (None, None)
    layout = LAYOUTS[static]
    cache = PagedKVCache.empty(
        28, BLOCK_SIZE, KV_HEADS, HEAD_DIM, format=format, layout=layout, key_scales=scales[0], value_scales=scales[1]
    )
    for tensor in _tensors(cache)[: 2 if static else 4]:
        tensor.view(torch.uint8).zero_()
    keys, values = torch.from_numpy(noise(10, 2, 28 * BLOCK_SIZE, KV_HEADS, HEAD_DIM)).to(_dtype(format))
    write(cache, torch.arange(28 * BLOCK_SIZE), keys, values)
    return cache


def _tensors(cache: PagedKVCache) -> list[torch.Tensor]:
    held = (cache.keys, cache.values, cache.key_scales, cache.value_scales)
    return [tensor for tensor in held if tensor is not None]


def _array(tensor: torch.Tensor) -> Any:
    floating = tensor.dtype in (torch.bfloat16, torch.float16, torch.float32)
    return (tensor.float() if floating else tensor.contiguous().view(torch.uint8)).numpy()


def _both(state: tuple[torch.Tensor, torch.Tensor]) -> bytes:
    return digest(map(_array, state))
