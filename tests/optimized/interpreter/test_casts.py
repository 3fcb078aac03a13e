"""Casts against the specification's exact rationals: every pattern of 8 and 16 bits, and the hard ones of 32."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16, FP32, FloatFormat, Special, exact, round_to, to_bits
from tests.optimized.interpreter import tiny

NARROW = (FP16, BF16, E4M3FN, E5M2)
PAIRS = [(a, b) for a in NARROW for b in NARROW if a is not b and max(a.bits, b.bits) == 16]
named = {"ids": lambda format: format.name}
CANONICAL_NAN = {BF16: 0x7FFF, FP16: 0x7FFF, E4M3FN: 0x7F, E5M2: 0x7F}


def wrong(sources: torch.Tensor, source: FloatFormat, results: torch.Tensor, target: FloatFormat) -> list[str]:
    """Every conversion that differs from the specification; the sign is carried over from the magnitude."""
    found = []
    magnitudes: dict[int, int | None] = {}
    for before, after in zip(tiny.patterns(sources), tiny.patterns(results), strict=True):
        negative, magnitude = bool(before & source.sign_bit), before & (source.sign_bit - 1)
        if magnitude not in magnitudes:
            number = tiny.value(magnitude, source)
            magnitudes[magnitude] = None if number is Special.NAN else int(to_bits(number, target))
        expected = magnitudes[magnitude]
        if expected is None:
            right = after == CANONICAL_NAN.get(target, after) and tiny.value(after, target) is Special.NAN
        else:
            right = after == expected | (target.sign_bit if negative else 0)
        if not right:
            found.append(f"{before:#x} -> {after:#x}, expected {expected and hex(expected)}")
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", NARROW, **named)
def test_every_pattern_widens_to_fp32_exactly(source: FloatFormat):
    everything = tiny.every(source)
    results = tiny.cast(everything, torch.float32).tolist()
    pairs = zip(tiny.patterns(everything), results, strict=True)
    assert [hex(pattern) for pattern, result in pairs if tiny.value(pattern, source) != exact(result)] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda format: format.name)
def test_every_pattern_is_rounded_once_to_every_other_narrow_format(source: FloatFormat, target: FloatFormat):
    everything = tiny.every(source)
    assert wrong(everything, source, tiny.cast(everything, tiny.TORCH[target]), target) == []


def hard(target: FloatFormat) -> np.ndarray:
    """fp32 numbers around every number of `target`, every tie, its subnormals and its overflow, and special ones."""
    step = 1 if target.bits == 8 else 37
    top = target.infinity_bits
    chosen = {*range(0, top, step), *range(20), *range(top - 20, top)}
    edges = {k << (target.precision - 1) for k in range((top >> (target.precision - 1)) + 1)}
    chosen |= {edge + offset for edge in edges for offset in (-2, -1, 0, 1)}
    values = [tiny.value(p, target) for p in sorted(chosen) if 0 <= p < top]
    numbers = [v for v in values if isinstance(v, Fraction)]
    ties = [(a + b) / 2 for a, b in pairwise(numbers)]
    beyond = [target.largest + (target.largest - numbers[-2]) / 2 * k for k in (1, 2, 3)]
    near = np.array([float(min(x, FP32.largest)) for x in (*numbers, *ties, *beyond)], np.float32)
    patterns = near.view(np.uint32)
    special = [0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]
    around = np.concatenate([patterns, patterns + 1, patterns[patterns > 0] - 1, np.array(special, np.uint32)])
    return np.unique(np.concatenate([around, around | 0x80000000]))


@pytest.mark.parametrize("target", NARROW, **named)
def test_hard_fp32_numbers_are_rounded_to_nearest_even(target: FloatFormat):
    values = torch.from_numpy(hard(target)).view(torch.float32)
    assert wrong(values, FP32, tiny.cast(values, tiny.TORCH[target]), target) == []


@pytest.mark.parametrize("target", NARROW, **named)
@settings(max_examples=40)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=64))
def test_any_fp32_pattern_is_rounded_to_nearest_even(target: FloatFormat, patterns: list[int]):
    values = torch.from_numpy(np.array(patterns, np.uint32)).view(torch.float32)
    assert wrong(values, FP32, tiny.cast(values, tiny.TORCH[target]), target) == []


@pytest.mark.parametrize("target", (FP16, BF16), **named)
@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=32))
def test_fp64_is_rounded_once(target: FloatFormat, numbers: list[float]):
    results = tiny.cast(torch.tensor(numbers, dtype=torch.float64), tiny.TORCH[target])
    for number, pattern in zip(numbers, tiny.patterns(results), strict=True):
        assert tiny.same(pattern, round_to(exact(number), target), target), number


@pytest.mark.parametrize("target", (FP16, BF16, E5M2, E4M3FN), **named)
def test_toward_zero_drops_what_does_not_fit(target: FloatFormat):
    values = torch.from_numpy(hard(target)).view(torch.float32)
    results = tiny.patterns(tiny.cast(values, tiny.TORCH[target], "rtz"))
    for before, after in zip(tiny.patterns(values), results, strict=True):
        number, got = tiny.value(before, FP32), tiny.value(after, target)
        if isinstance(number, Fraction) and number:
            below = abs(Fraction(0) if got is Special.NEGATIVE_ZERO else got)
            magnitude = after & (target.sign_bit - 1)
            above = tiny.value(magnitude + 1, target)
            assert below <= abs(number), hex(before)
            assert not isinstance(above, Fraction) or abs(number) < above or below == target.largest, hex(before)


INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.uint16)


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("target", (FP16, BF16), **named)
def test_every_small_integer_becomes_the_nearest_float(source: torch.dtype, target: FloatFormat):
    bounds = torch.iinfo(source)
    numbers = range(bounds.min, bounds.max + 1)
    values = torch.from_numpy(np.arange(bounds.min, bounds.max + 1).astype(str(source).removeprefix("torch.")))
    results = tiny.patterns(tiny.cast(values, tiny.TORCH[target]))
    assert [n for n, p in zip(numbers, results, strict=True) if p != nearest(n, target)] == []


@cache
def magnitude(number: int, target: FloatFormat) -> int:
    return int(to_bits(Fraction(number), target))


def nearest(number: int, target: FloatFormat) -> int:
    return magnitude(abs(number), target) | (target.sign_bit if number < 0 else 0)


@pytest.mark.parametrize("source", (torch.int32, torch.uint32, torch.int64), ids=str)
@pytest.mark.parametrize("target", (FP16, BF16), **named)
@settings(max_examples=40)
@given(st.data())
def test_any_integer_becomes_the_nearest_float(source: torch.dtype, target: FloatFormat, data: st.DataObject):
    bounds = torch.iinfo(source)
    ties = st.builds(lambda k, e, d: (k << e) + d, st.integers(1, 2**10), st.integers(0, 52), st.integers(-1, 1))
    inside = st.integers(bounds.min, bounds.max) | ties.filter(lambda n: bounds.min <= n <= bounds.max)
    numbers = data.draw(st.lists(inside, min_size=1, max_size=32))
    values = torch.from_numpy(np.array(numbers, str(source).removeprefix("torch.")))
    for number, pattern in zip(numbers, tiny.patterns(tiny.cast(values, tiny.TORCH[target])), strict=True):
        assert pattern == to_bits(Fraction(number), target), number


def clamped(number: float, target: torch.dtype) -> int:
    """`cvt.rzi` by its definition: toward zero, the nearest bound, and the low byte of 16 bits for 8-bit integers."""
    wide = {torch.int8: torch.int16, torch.uint8: torch.uint16}.get(target, target)
    bounds = torch.iinfo(wide)
    if math.isnan(number):
        return bounds.min if target is torch.int64 else 0
    if math.isinf(number):
        whole = bounds.max if number > 0 else bounds.min
    else:
        whole = min(max(math.trunc(number), bounds.min), bounds.max)
    if wide is target:
        return whole
    return (whole & 0xFF) - (256 if target is torch.int8 and whole & 0x80 else 0)


WHOLE = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.uint32, torch.int64)


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", (FP16, BF16), **named)
@pytest.mark.parametrize("target", WHOLE, ids=str)
def test_every_float_pattern_becomes_an_integer_as_cvt_rzi_does(source: FloatFormat, target: torch.dtype):
    everything = tiny.every(source)
    results = tiny.cast(everything, target).tolist()
    assert results == [clamped(x, target) for x in everything.float().tolist()]


@pytest.mark.parametrize("target", WHOLE, ids=str)
@settings(max_examples=40)
@given(st.lists(st.floats(width=32) | st.integers(-(2**33), 2**33).map(float), min_size=1, max_size=32))
def test_any_fp32_becomes_an_integer_as_cvt_rzi_does(target: torch.dtype, numbers: list[float]):
    values = torch.tensor(numbers, dtype=torch.float32)
    assert tiny.cast(values, target).tolist() == [clamped(x, target) for x in values.tolist()]


def test_nan_of_fp64_becomes_the_highest_bit():
    assert tiny.cast(torch.tensor([math.nan, 1e300], dtype=torch.float64), torch.int32).tolist() == [
        -(2**31),
        2**31 - 1,
    ]
