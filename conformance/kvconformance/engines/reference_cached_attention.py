"""The reference's attention over quantized caches: codes are decoded exactly, all else is as over a plain cache."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_attention import ARITHMETIC, ReferenceAttention
from kvconformance.surfaces.attention import HEAD_MAJOR, AttentionCall, AttentionCapabilities, loaded
from kvconformance.surfaces.attention.formats import CacheFormat, Reads, dynamic
from kvconformance.surfaces.attention.problems.sides import Side
from kvreference.arrays import AnyArray, Float, Int
from kvreference.nibbles import unpack
from kvreference.paged_cache import PagedCache
from kvreference.pages import Layout, Pages
from kvreference.quantized_pages import QuantizedPages
from kvreference.quantizers import Encoded, Scales, decode
from kvreference.scheme_arithmetic import Single
from kvspec.numbers.schemes import SCHEMES, Granularity, Scheme, Zero
from kvspec.refusals import ScaleError

NAMES = (
    "int8/token-head", "int8/head", "int8/tensor", "e4m3/token-head", "e4m3/head", "e4m3/tensor", "e5m2/token-head",
    "int4/token-head", "int4/group-32", "uint8/token-head", "uint4/group-32", "q8_0", "q4_0", "q4_1",
)  # fmt: skip
MIXED = ("q8_0", "q4_0")


def over(keys: Scheme, values: Scheme) -> CacheFormat:
    """The reference over a cache: its arithmetic is that over a plain one."""
    grouped = Granularity.GROUP in (keys.granularity, values.granularity)
    dims = (32, 64) if grouped else None
    return CacheFormat(keys, values, ARITHMETIC, Reads.EXACT, head_dims=dims, writes=True)


class StoredQuantizedPages(QuantizedPages):
    """Codes and scales where a call has them: `scales` and `zeros` have the axes of `codes`, or are shared."""

    def __init__(
        self, codes: AnyArray, scales: AnyArray | None, zeros: AnyArray | None, scheme: Scheme, layout: Layout
    ) -> None:
        if scales is None or (zeros is None) != (scheme.zero is Zero.SYMMETRIC):
            raise ScaleError(f"{scheme.name}: scales, zero points or minima are missing or unexpected")
        self.scheme, self.given, self.order = scheme, (scales, zeros), layout
        self.codes = pages = Pages(codes, layout)
        self.num_blocks, self.block_size, self.kv_heads = pages.num_blocks, pages.block_size, pages.kv_heads
        self.width = pages.width * (2 if scheme.code_bits == 4 else 1)

    def gather(self, table: Int, start: int, stop: int) -> Float:
        """Decoded rows, float64 `[stop - start, kv_heads, head_dim]`. Raises as `Pages.gather`."""
        codes = self.codes.gather(table, start, stop)
        if not len(codes):
            return np.zeros((0, self.kv_heads, self.width))
        if self.scheme.code_bits == 4:
            codes = unpack(codes, self.scheme)
        scales, zeros = self.given
        zero = None if zeros is None else self.beside(zeros, table, start, stop)
        return decode(Encoded(codes, Scales(self.beside(scales, table, start, stop), zero)), self.scheme)

    def beside(self, array: AnyArray, table: Int, start: int, stop: int) -> Single:
        """Scales or zeros of the rows, in the shape of the reference."""
        own = dynamic(self.scheme)
        numbers = Pages(array, self.order).gather(table, start, stop) if own else array[None, :, None]
        return (loaded(numbers, "bf16") if numbers.dtype == np.uint16 else numbers).astype(np.float32)


class ReferenceCachedAttention(ReferenceAttention):
    """Paged attention of the reference over plain caches and over those of `NAMES`, and one of two schemes."""

    capabilities: ClassVar[AttentionCapabilities] = replace(
        ReferenceAttention.capabilities,
        caches=MappingProxyType(
            {name: over(SCHEMES[name], SCHEMES[name]) for name in NAMES}
            | {" and ".join(MIXED): over(*(SCHEMES[name] for name in MIXED))}
        ),
    )

    def cache(self, call: AttentionCall) -> PagedCache:
        """The cache as the reference knows it, read where it lies."""
        if call.cache is None:
            return super().cache(call)
        format, layout = self.capabilities.caches[call.cache], layout_of(call)
        keys = self.pages(call.keys, call.key_scales, call.key_zeros, format.keys, layout)
        return PagedCache(keys, self.pages(call.values, call.value_scales, call.value_zeros, format.values, layout))

    def pages(
        self, codes: AnyArray, scales: AnyArray | None, zeros: AnyArray | None, scheme: Scheme, layout: Layout
    ) -> QuantizedPages:
        """Keys or values."""
        return StoredQuantizedPages(codes, scales, zeros, scheme, layout)

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        """Store the rows that have a slot, or their codes with what belongs to each token."""
        if call.cache is None:
            return super().write(call, slots, keys, values)
        format, layout = self.capabilities.caches[call.cache], layout_of(call)
        stored = (call.keys, call.key_scales, call.key_zeros), (call.values, call.value_scales, call.value_zeros)
        for scheme, arrays, rows in zip((format.keys, format.values), stored, (keys, values), strict=True):
            parts = side_of(scheme, *arrays[1:]).stored(loaded(rows[: len(slots)], call.dtype))
            for array, part in zip(arrays, parts, strict=True):
                if array is not None and part.shape[-1]:
                    Pages(array, layout).write(slots, part)
        return None


def layout_of(call: AttentionCall) -> Layout:
    """The order of axes of a call."""
    return Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR


def side_of(scheme: Scheme, scales: AnyArray | None, zeros: AnyArray | None) -> Side:
    """How rows are encoded: under their own scales, or under those that all tokens share."""
    if dynamic(scheme) or scales is None:
        return Side(scheme)
    return Side(
        scheme, (scales.astype(np.float64), np.zeros(len(scales)) if zeros is None else zeros.astype(np.float64))
    )
