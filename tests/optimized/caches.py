"""Shapes, rows and caches for the tests of the kernels, each cache with its twin in the NumPy reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kvoptimized.cache import FORMATS, HEAD_MAJOR, LAYOUTS, PagedKVCache
from kvreference.arrays import AnyArray
from kvreference.nibbles import pack
from kvreference.paged_cache import Layout, PagedCache, Pages, QuantizedPages
from kvreference.quantizers import Scales
from kvspec.numbers.schemes import Granularity

interpreted = settings(max_examples=max(50, settings.default.max_examples // 2))
"""A launch in the interpreter takes some hundredths of a second."""

QUANTIZED = ("int8", "int4", "e4m3")
PLAIN = ("bf16", "fp16", "fp32")
HEAD_DIMS = (2, 4, 6, 16, 64, 80, 96, 128, 256)
BLOCK_SIZES = (1, 2, 3, 4, 8, 16, 31, 64, 256)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
TWO_COMPLEMENT = 0x88
"""Biased nibbles are codes in two's complement with these bits turned over."""


@dataclass(frozen=True)
class Shape:
    """A cache to be built; `static` says that scales are given, one for each head."""

    num_blocks: int
    block_size: int
    kv_heads: int
    head_dim: int
    format: str
    layout: str
    static: bool = False
    seed: int = 0

    @property
    def num_slots(self) -> int:
        return self.num_blocks * self.block_size

    def scales(self) -> NDArray[np.float32] | None:
        """Static scales `[2, kv_heads]` of keys and values, from tiny to huge, most of them ordinary."""
        if not self.static:
            return None
        random = np.random.default_rng(self.seed)
        exponents = random.choice([0, 0, -3, -5, -9, 4, -140, 110], (2, self.kv_heads))
        return np.ldexp(random.uniform(1, 2, (2, self.kv_heads)), exponents).astype(np.float32)

    def empty(self) -> PagedKVCache:
        scales = self.scales()
        given = (
            {} if scales is None else {"key_scales": torch.tensor(scales[0]), "value_scales": torch.tensor(scales[1])}
        )
        return PagedKVCache.empty(
            self.num_blocks,
            self.block_size,
            self.kv_heads,
            self.head_dim,
            format=self.format,
            layout=self.layout,
            **given,
        )

    def reference(self) -> PagedCache:
        layout = Layout.HEAD_MAJOR if self.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        shape = (self.num_blocks, self.block_size, self.kv_heads, self.head_dim)
        stored = FORMATS[self.format]
        if stored.scheme is None:
            inner = (shape[2], shape[1]) if self.layout == HEAD_MAJOR else (shape[1], shape[2])
            bits = np.int32 if self.format == "fp32" else np.int16
            return PagedCache(*(Pages(np.zeros((shape[0], *inner, shape[3]), bits), layout) for _ in range(2)))
        scales = self.scales()
        if scales is None:
            scheme = stored.scheme_per(Granularity.TOKEN_HEAD)
            return PagedCache(*(QuantizedPages(shape, scheme, None, layout) for _ in range(2)))
        scheme = stored.scheme_per(Granularity.HEAD)
        return PagedCache(*(QuantizedPages(shape, scheme, Scales(row.reshape(1, -1, 1)), layout) for row in scales))


def shapes(
    formats: tuple[str, ...] = QUANTIZED + PLAIN, block_sizes: tuple[int, ...] = BLOCK_SIZES
) -> st.SearchStrategy[Shape]:
    return st.builds(
        Shape,
        num_blocks=st.integers(1, 5),
        block_size=st.sampled_from(block_sizes),
        kv_heads=st.sampled_from((1, 2, 3, 5, 8)),
        head_dim=st.sampled_from(HEAD_DIMS),
        format=st.sampled_from(formats),
        layout=st.sampled_from(LAYOUTS),
        static=st.booleans(),
        seed=st.integers(0, 99),
    ).map(_sensible)


def _sensible(shape: Shape) -> Shape:
    """Plain formats have no scales, and a large cache has few blocks of few heads."""
    large = shape.num_slots * shape.kv_heads * shape.head_dim > 1 << 16
    static = shape.static and shape.format in QUANTIZED
    if not large:
        return replace(shape, static=static)
    return replace(shape, static=static, num_blocks=min(2, shape.num_blocks), kv_heads=min(2, shape.kv_heads))


def rows(tokens: int, shape: Shape, dtype: torch.dtype, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values `[tokens, kv_heads, head_dim]`, built to hit ties, zero and subnormal rows, and far exponents.

    Infinity and NaN are among them where the format has codes for them.
    """
    random = np.random.default_rng(seed)
    size = (2, tokens, shape.kv_heads, shape.head_dim)
    x = random.standard_normal(size)
    top = {"int8": 127, "int4": 7}.get(shape.format, 448)
    ties = random.integers(-top, top, size) + 0.5
    ties[..., -1] = top
    kind = random.integers(0, 6, size[:3])[..., None]
    x = np.where(kind < 2, x, np.where(kind < 4, ties, np.ldexp(x, random.integers(-150, 125, size))))
    x = np.where(kind == 5, np.ldexp(x, random.choice([0, -20, -130, -146, 12], size[:3])[..., None]), x)
    x = np.where(random.random(size[:3])[..., None] < 0.1, 0.0, x)
    x = np.where(random.random(size) < 0.05, -0.0, x)
    limit = torch.finfo(dtype).max
    x = np.clip(x, -limit, limit)
    if shape.format in ("e4m3", *PLAIN):
        odd = random.choice([np.nan, np.inf, -np.inf], size)
        x = np.where(random.random(size) < 0.02, odd, x)
    keys, values = torch.from_numpy(x).to(dtype)
    return keys, values


def for_reference(x: torch.Tensor, shape: Shape) -> AnyArray:
    """Rows as the reference takes them: fp32 numbers, or patterns for a plain format."""
    if shape.format in PLAIN:
        return np.asarray(x.contiguous().view(torch.int32 if x.dtype == torch.float32 else torch.int16).numpy())
    return np.asarray(x.float().numpy())


def require_same(cache: PagedKVCache, reference: PagedCache) -> None:
    """Every bit of every block agrees: codes, scales, layouts, and what was never written."""
    for storage, scales, pages in (
        (cache.keys, cache.key_scales, reference.keys),
        (cache.values, cache.value_scales, reference.values),
    ):
        if isinstance(pages, Pages):
            bits = storage.view(torch.int32 if cache.format == "fp32" else torch.int16).numpy()
            np.testing.assert_array_equal(bits, pages.storage)
            continue
        codes = pages.codes.storage
        if cache.format == "int4":
            codes = pack(codes, pages.scheme) ^ np.uint8(TWO_COMPLEMENT)
        if cache.format == "e4m3":
            codes = np.where(codes & 0x7F == 0x7F, np.uint8(0x7F), codes)  # the scheme has one NaN, without sign
        found = storage.view(torch.int8 if cache.format == "int8" else torch.uint8).numpy()
        np.testing.assert_array_equal(found, codes)
        if cache.dynamic and scales is not None:
            stored = pages.scales.storage[..., 0]
            wanted = stored if cache.layout == HEAD_MAJOR else stored.transpose(0, 2, 1)
            np.testing.assert_array_equal(scales.numpy().view(np.int32), np.ascontiguousarray(wanted).view(np.int32))


def slots_for(draw: st.DrawFn, shape: Shape, most: int = 9) -> torch.Tensor:
    """Different slots in any order, some of them padding."""
    chosen = draw(st.lists(st.integers(0, shape.num_slots - 1), max_size=most, unique=True))
    padding = draw(st.lists(st.integers(0, len(chosen)), max_size=2))
    for place in padding:
        chosen.insert(place, -1)
    return torch.tensor(chosen, dtype=torch.int64)
