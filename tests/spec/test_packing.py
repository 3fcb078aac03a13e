"""Packed codes byte by byte, groups, and what an element costs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvspec.numbers.errors import CodeError
from kvspec.numbers.floats import FP16, FP32
from kvspec.numbers.groups import Extent, bits_per_element, group_of, groups, num_groups
from kvspec.numbers.packing import pack, unpack
from kvspec.numbers.schemes import INT4, INT8, KIVI_KEY, Q4_0, Q4_1, Q5_0, Q8_0, UINT4, UINT8, Granularity, Layout
from kvspec.refusals import ShapeError

NIBBLES = UINT4.codes
BIASED = INT4.codes


def test_adjacent_pairs_put_the_even_channel_in_the_low_nibble():
    assert pack([1, 2, 3, 4], NIBBLES, Layout.ADJACENT) == bytes([0x21, 0x43])
    assert unpack(bytes([0x21, 0x43]), NIBBLES, Layout.ADJACENT) == [1, 2, 3, 4]


def test_halves_put_the_first_half_in_the_low_nibbles():
    assert pack([1, 2, 3, 4], NIBBLES, Layout.HALVES) == bytes([0x31, 0x42])
    assert unpack(bytes([0x31, 0x42]), NIBBLES, Layout.HALVES) == [1, 2, 3, 4]


def test_signed_codes_are_biased_by_8():
    assert pack([-7, 7], BIASED, Layout.ADJACENT) == bytes([0xF1])
    assert pack([-8, 7], Q4_0.codes, Layout.HALVES) == bytes([0xF0])


@pytest.mark.parametrize("layout", Layout)
@given(data=st.data())
def test_unpacking_restores_every_row(layout, data):
    row = data.draw(st.lists(st.integers(-7, 7), max_size=64).filter(lambda codes: len(codes) % 2 == 0))
    packed = pack(row, BIASED, layout)
    assert len(packed) == len(row) // 2
    assert unpack(packed, BIASED, layout) == row


@pytest.mark.parametrize("layout", Layout)
def test_every_byte_comes_back(layout):
    every = bytes(range(256))
    assert pack(unpack(every, NIBBLES, layout), NIBBLES, layout) == every


def test_what_does_not_fit_is_refused_by_place():
    with pytest.raises(ShapeError, match="3 codes"):
        pack([1, 2, 3], NIBBLES, Layout.ADJACENT)
    with pytest.raises(CodeError, match="code 16 at index 1"):
        pack([0, 16], NIBBLES, Layout.ADJACENT)
    with pytest.raises(CodeError, match="nibble 0 at index 2 stands for -8"):
        unpack(bytes([0x11, 0x10]), BIASED, Layout.ADJACENT)
    with pytest.raises(CodeError, match="8 bits"):
        pack([0, 0], INT8.codes, Layout.ADJACENT)


HEAD = Extent(tokens=64, kv_heads=8, head_dim=128)


def test_int8_with_an_fp32_scale_per_token_and_head_is_1_94_times_smaller():
    scheme = replace(INT8.per(Granularity.TOKEN_HEAD), scale_format=FP32)
    assert bits_per_element(scheme, HEAD) == Fraction(33, 4)
    assert round(16 / float(bits_per_element(scheme, HEAD)), 2) == 1.94


def test_int4_in_groups_of_32_with_fp16_scales_is_3_56_times_smaller():
    scheme = replace(INT4.per(Granularity.GROUP, 32), scale_format=FP16)
    assert bits_per_element(scheme, HEAD) == Fraction(9, 2)
    assert round(16 / float(bits_per_element(scheme, HEAD)), 2) == 3.56


@pytest.mark.parametrize(("scheme", "bits"), [(Q8_0, "17/2"), (Q4_0, "9/2"), (Q4_1, 5), (Q5_0, "11/2"), (KIVI_KEY, 5)])
def test_llama_blocks_cost_their_published_bits(scheme, bits):
    assert bits_per_element(scheme, HEAD) == Fraction(bits)


def test_a_zero_point_costs_one_more_code():
    assert bits_per_element(UINT8.per(Granularity.TOKEN_HEAD), HEAD) == 8 + Fraction(40, 128)


@pytest.mark.parametrize(
    ("granularity", "size", "count"),
    [
        (Granularity.TENSOR, None, 1),
        (Granularity.HEAD, None, 3),
        (Granularity.TOKEN_HEAD, None, 15),
        (Granularity.CHANNEL, None, 24),
        (Granularity.CHANNEL, 2, 72),
        (Granularity.GROUP, 4, 30),
    ],
)
def test_groups_partition_the_elements_and_share_what_they_say(granularity, size, count):
    extent, scheme = Extent(5, 3, 8), INT8.per(granularity, size)
    members = groups(extent, scheme)
    assert len(members) == num_groups(extent, scheme) == count
    assert sorted(index for group in members for index in group) == list(range(extent.elements))
    assert all(members)


def test_two_elements_share_a_scale_exactly_where_the_granularity_says():
    extent = Extent(4, 2, 4)
    places = [(t, h, c) for t in range(4) for h in range(2) for c in range(4)]
    shares = {
        (Granularity.TENSOR, None): lambda t, h, c: (),
        (Granularity.HEAD, None): lambda t, h, c: (h,),
        (Granularity.TOKEN_HEAD, None): lambda t, h, c: (t, h),
        (Granularity.CHANNEL, None): lambda t, h, c: (h, c),
        (Granularity.CHANNEL, 2): lambda t, h, c: (t // 2, h, c),
        (Granularity.GROUP, 2): lambda t, h, c: (t, h, c // 2),
    }
    for (granularity, size), key in shares.items():
        scheme = INT8.per(granularity, size)
        for one in places:
            for two in places:
                together = group_of(*one, extent, scheme) == group_of(*two, extent, scheme)
                assert together == (key(*one) == key(*two)), (granularity, size, one, two)


def test_groups_of_channels_never_cross_a_head():
    with pytest.raises(ShapeError, match="head of 96"):
        num_groups(Extent(1, 4, 96), INT8.per(Granularity.GROUP, 64))
