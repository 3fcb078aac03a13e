"""Quantize on write: codes, scales and places equal the NumPy reference bit for bit, alone and in any batch."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvoptimized.cache import HEAD_MAJOR, LAYOUTS, TOKEN_MAJOR, PagedKVCache
from kvoptimized.evidence.traffic_rows.write import rows as traffic_rows
from kvoptimized.interpreter import MemoryFault, OutOfBounds, memory_checked
from kvoptimized.writing import write
from tests.optimized.caches import (
    DTYPES,
    PLAIN,
    QUANTIZED,
    Shape,
    for_reference,
    interpreted,
    require_same,
    rows,
    shapes,
    slots_for,
)

PLAIN_DTYPE = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


@interpreted
@given(st.data())
def test_two_writes_leave_what_the_reference_leaves(data: Any) -> None:
    shape = data.draw(shapes())
    cache, reference = shape.empty(), shape.reference()
    for _ in range(2):
        dtype = PLAIN_DTYPE.get(shape.format) or data.draw(st.sampled_from(DTYPES))
        slots = slots_for(data.draw, shape)
        keys, values = rows(len(slots), shape, dtype, data.draw(st.integers(0, 9999)))
        keys[slots < 0], values[slots < 0] = float("nan"), float("inf")
        with memory_checked():
            write(cache, slots, keys, values)
        if len(slots):
            reference.write(slots.numpy(), for_reference(keys, shape), for_reference(values, shape))
        require_same(cache, reference)


@pytest.mark.parametrize("format", QUANTIZED)
@pytest.mark.parametrize("static", [False, True])
def test_every_finite_bf16_number(format: str, static: bool) -> None:
    bits = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    every = bits.view(np.float32)
    every = every if format == "e4m3" else np.where(np.isfinite(every), every, np.float32(0))
    shape = Shape(128, 4, 1, 256, format, HEAD_MAJOR, static, seed=3)
    # Rows of neighbours: every significand of a few binades under one scale. Then rows of everything.
    neighbours = every.reshape(256, 1, 256)
    mixed = np.random.default_rng(0).permutation(every).reshape(256, 1, 256)
    x = torch.from_numpy(np.concatenate([neighbours, mixed])).to(torch.bfloat16)
    cache, reference, slots = shape.empty(), shape.reference(), torch.arange(512)
    write(cache, slots, x, -x)
    reference.write(slots.numpy(), for_reference(x, shape), for_reference(-x, shape))
    require_same(cache, reference)


@pytest.mark.parametrize("format", QUANTIZED)
def test_ties_and_their_neighbours_under_ordinary_static_scales(format: str) -> None:
    top = {"int8": 127, "int4": 8}.get(format, 256)
    random = np.random.default_rng(1)
    shape = Shape(8, 4, 8, 64, format, TOKEN_MAJOR)
    scales = torch.from_numpy(random.uniform(1, 2, 8).astype(np.float32))
    cache = PagedKVCache.empty(8, 4, 8, 64, format=format, layout=TOKEN_MAJOR, key_scales=scales, value_scales=scales)
    points = (random.integers(-top - 2, top + 2, (32, 8, 64)) + 0.5) * scales.numpy()[None, :, None]
    x = points.astype(np.float32)
    beside = np.nextafter(
        x, np.where(random.random(x.shape) < 0.5, np.float32(-1e9), np.float32(1e9)), dtype=np.float32
    )
    write(cache, torch.arange(32), torch.from_numpy(x), torch.from_numpy(beside))
    for found, given_rows in zip(cache.codes(torch.arange(32)), (x, beside), strict=True):
        np.testing.assert_array_equal(found.numpy(), encoded(given_rows, scales.numpy(), cache))
    assert format != "int4" or int(cache.codes(torch.arange(32))[0].min()) == -8
    assert shape.head_dim == cache.head_dim


def encoded(x: np.ndarray[Any, Any], scales: np.ndarray[Any, Any], cache: PagedKVCache) -> np.ndarray[Any, Any]:
    from kvreference.quantizers import Scales, encode_with

    return np.asarray(encode_with(x, Scales(scales.reshape(1, -1, 1)), cache.scheme))


@pytest.mark.parametrize("format", QUANTIZED + PLAIN)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_row_alone_has_the_bits_that_it_has_in_a_batch(format: str, layout: str) -> None:
    shape = Shape(64, 4, 3, 80, format, layout)
    keys, values = rows(150, shape, PLAIN_DTYPE.get(format, torch.bfloat16), seed=5)
    slots = torch.from_numpy(np.random.default_rng(2).permutation(shape.num_slots)[:150])
    together, alone = shape.empty(), shape.empty()
    write(together, slots, keys, values)
    for token in (0, 1, 7, 77, 149):
        write(alone, torch.tensor([5]), keys[token : token + 1], values[token : token + 1])
        for batched, single in zip(
            together.codes(slots[token : token + 1]), alone.codes(torch.tensor([5])), strict=True
        ):
            assert torch.equal(bits(batched), bits(single))
        if format in QUANTIZED:
            scales = zip(together.scales(slots[token : token + 1]), alone.scales(torch.tensor([5])), strict=True)
            assert all(torch.equal(bits(one), bits(other)) for one, other in scales)


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().view(torch.uint8)


@pytest.mark.parametrize("format", QUANTIZED)
def test_more_heads_than_a_tile_holds(format: str) -> None:
    shape = Shape(3, 2, 40, 256, format, HEAD_MAJOR)
    keys, values = rows(4, shape, torch.bfloat16, seed=8)
    slots = torch.tensor([5, 0, -1, 2])
    cache, reference = shape.empty(), shape.reference()
    with memory_checked():
        write(cache, slots, keys, values)
    reference.write(slots.numpy(), for_reference(keys, shape), for_reference(values, shape))
    require_same(cache, reference)


@pytest.mark.parametrize("format", ["int4", "e4m3"])
def test_rows_may_be_slices_of_a_fused_projection(format: str) -> None:
    shape = Shape(4, 3, 2, 16, format, HEAD_MAJOR)
    fused = torch.randn(6, 5 * 16 + 2 * 16 + 3 * 16)
    keys, values = fused[:, 80:112].unflatten(1, (2, 16)), fused[:, 112:].unflatten(1, (3, 16))[:, :2]
    cache, reference, slots = shape.empty(), shape.reference(), torch.tensor([3, 4, 11, -1, 0, 7])
    with memory_checked():
        write(cache, slots, keys, values)
    reference.write(slots.numpy(), for_reference(keys, shape), for_reference(values, shape))
    require_same(cache, reference)


@pytest.mark.parametrize("format", ["int8", "int4"])
def test_unchecked_a_row_that_is_not_finite_reads_as_nan(format: str) -> None:
    cache = PagedKVCache.empty(2, 2, 1, 8, format=format)
    keys = torch.randn(3, 1, 8)
    keys[0, 0, 3], keys[1, 0, 0] = float("nan"), float("-inf")
    write(cache, torch.arange(3), keys, torch.ones(3, 1, 8), checked=False)
    read, ones = cache.dequantized(torch.arange(3))
    assert read[:2].isnan().all()
    assert read[2].isfinite().all()
    assert torch.equal(ones, torch.ones(3, 1, 8))


def test_a_block_may_lie_behind_two_to_the_31_elements() -> None:
    width, apart = 16, 1 << 29
    buffer = torch.empty(5 * apart, dtype=torch.int8)
    keys = buffer.as_strided((5, 1, 2, width), (apart, 2 * width, width, 1))
    values = buffer.as_strided((5, 1, 2, width), (apart, 2 * width, width, 1), 64)
    cache = PagedKVCache.around(keys, values, torch.zeros(5, 1, 2), torch.zeros(5, 1, 2), format="int8")
    x = torch.randn(2, 1, width)
    write(cache, torch.tensor([8, 9]), x, -x)
    read, negative = cache.dequantized(torch.tensor([8, 9]))
    assert torch.equal(read, -negative)
    assert ((read - x).abs() <= 0.51 * cache.scales(torch.tensor([8, 9]))[0][..., None]).all()


def test_rows_may_lie_two_to_the_31_elements_apart() -> None:
    buffer = torch.empty((1 << 31) + 16, dtype=torch.bfloat16)
    rows_ = buffer.as_strided((3, 1, 16), (1 << 30, 16, 1))
    rows_.copy_(torch.randn(3, 1, 16))
    cache = PagedKVCache.empty(1, 4, 1, 16, format="bf16")
    write(cache, torch.arange(3), rows_, rows_)
    assert torch.equal(cache.codes(torch.arange(3))[1], rows_)


def test_what_the_host_does_not_check_the_memory_checker_sees() -> None:
    cache = Shape(4, 2, 1, 4, "int8", HEAD_MAJOR).empty()
    rows_ = torch.randn(600, 1, 4)
    with memory_checked(), pytest.raises(MemoryFault):
        write(cache, torch.full((600,), 3), rows_, rows_, checked=False)
    with memory_checked(), pytest.raises(OutOfBounds):
        write(cache, torch.tensor([8]), rows_[:1], rows_[:1], checked=False)


def test_every_byte_is_moved_once() -> None:
    for row in islice(traffic_rows(), 8):
        assert row.within
        assert row.ratio == 1 or "static" in row.shape
