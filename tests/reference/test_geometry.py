"""Sizes of caches against figures worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kvreference.geometry import CacheGeometry, contiguous_occupancy, paged_occupancy


def test_bytes_per_token_of_a_model_with_grouped_heads() -> None:
    # 32 layers, 8 KV heads of 128, 16-bit: 32 * 2 * 8 * 128 * 2 = 131072 bytes
    assert CacheGeometry(32, 8, 128, Fraction(2)).bytes_per_token == 131072


def test_int8_with_a_scale_per_token_and_head() -> None:
    # two fp32 scales (keys, values) of 4 bytes for 2 * 128 codes of one byte
    geometry = CacheGeometry(32, 8, 128, Fraction(1), scale_bytes=Fraction(8))
    assert geometry.bytes_per_token == 32 * 8 * (256 + 8)


def test_packed_int4_takes_half_a_byte() -> None:
    assert CacheGeometry(1, 1, 64, Fraction(1, 2)).bytes_per_token == 64


def test_blocks_that_fit_a_budget() -> None:
    geometry = CacheGeometry(32, 8, 128, Fraction(2))
    assert geometry.blocks_in(16 * 131072 * 10 + 5, 16) == 10
    assert geometry.blocks_in(16 * 131072 - 1, 16) == 0


def test_paging_wastes_less_than_a_block_per_request() -> None:
    occupancy = paged_occupancy([1, 16, 17], 16)
    assert (occupancy.used, occupancy.allocated) == (34, 16 + 16 + 32)
    assert occupancy.internal_fragmentation == pytest.approx(30 / 64)


def test_contiguous_buffers_waste_the_rest_of_the_longest() -> None:
    occupancy = contiguous_occupancy([1, 16, 17], 2048)
    assert occupancy.utilization == pytest.approx(34 / (3 * 2048))
    assert paged_occupancy([], 16).utilization == 1.0


@pytest.mark.parametrize("bad", [(0, 1, 1, 1, 0), (1, 1, 1, 0, 0), (1, 1, 1, 1, -1)])
def test_sizes_that_make_no_sense(bad: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must"):
        CacheGeometry(*bad)
    with pytest.raises(ValueError, match="block_size"):
        CacheGeometry(1, 1, 1, Fraction(1)).blocks_in(10, 0)
    with pytest.raises(ValueError, match="buffer"):
        contiguous_occupancy([9], 8)
