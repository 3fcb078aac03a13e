"""Copy-on-write: blocks of a cache copied to other blocks of it, scales included."""

from __future__ import annotations

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.kernels.copy import copy_pairs
from kvoptimized.operators import has_data, operator
from kvoptimized.refusals import require_contiguous, require_copies, require_device, require_dtype, require_shape

CHUNK_BYTES = 16384
"""Bytes that a program copies of keys and of values: eight 16-byte words for each of 128 threads."""
WARPS = 4


def copy_blocks(cache: PagedKVCache, pairs: torch.Tensor, *, checked: bool = True) -> None:
    """Copy blocks, int64 `pairs` `[copies, 2]` of source and target: keys, values and the scales of their tokens.

    Raises `ShapeError`, `DtypeError`, `DeviceError` and `StrideError`; and where `checked`, which waits for a GPU,
    `BlockRangeError`, `DuplicateError` for a target named twice, and `CopyChainError` for a block that is both source
    and target.
    """
    scales = (cache.key_scales, cache.value_scales) if cache.dynamic else (None, None)
    _copy_blocks(cache.keys, cache.values, *scales, pairs, checked)


@operator("key_cache", "value_cache", "key_scales", "value_scales")
def _copy_blocks(
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    key_scales: torch.Tensor | None,
    value_scales: torch.Tensor | None,
    pairs: torch.Tensor,
    checked: bool,
) -> None:
    _require_fit(key_cache, pairs)
    if not has_data(pairs) or not len(pairs):
        return
    if checked:
        require_copies(pairs, key_cache.shape[0])
    keys, values = _words(key_cache, value_cache)
    chunk = min(CHUNK_BYTES // keys.element_size(), _power_of_two(keys.shape[1]))
    scales: tuple[torch.Tensor | None, torch.Tensor | None] = (None, None)
    scale_words = 0
    if key_scales is not None and value_scales is not None:
        scales = (key_scales.flatten(1), value_scales.flatten(1))
        scale_words = scales[0].shape[1]
    copy_pairs[len(pairs), -(-keys.shape[1] // chunk)](
        keys,
        values,
        *scales,
        pairs,
        keys.stride(0),
        scales[0].stride(0) if scales[0] is not None else 0,
        WORDS=keys.shape[1],
        SCALE_WORDS=scale_words,
        CHUNK=chunk,
        SCALE_CHUNK=min(CHUNK_BYTES // 4, _power_of_two(max(1, scale_words))),
        num_warps=WARPS,
        enable_fp_fusion=False,
    )


def _require_fit(key_cache: torch.Tensor, pairs: torch.Tensor) -> None:
    require_device(key_cache.device, pairs=pairs)
    require_shape("pairs", pairs, (None, 2))
    require_dtype("pairs", pairs, torch.int64)
    require_contiguous("pairs", pairs)


def _words(*caches: torch.Tensor) -> list[torch.Tensor]:
    """Each `[num_blocks, words]`: 4-byte words where all sizes and addresses allow, which load 16 bytes at once."""
    runs = [cache.view(torch.uint8).flatten(1) for cache in caches]
    even = all(not (run.shape[1] % 4 or run.stride(0) % 4 or run.data_ptr() % 4) for run in runs)
    return [run.view(torch.int32) if even else run for run in runs]


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
