"""Formats against independent decoders: NumPy, struct, and the definition of nearest-even itself."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvspec.numbers.floats import (
    BF16,
    E4M3FN,
    E5M2,
    FORMATS,
    FP16,
    FP32,
    FormatError,
    Overflow,
    Special,
    floor_log2,
    from_bits,
    rational,
    round_to,
    to_bits,
    ulp,
)

NARROW = [FP16, BF16, E4M3FN, E5M2]
REALS = st.floats(allow_nan=False, allow_infinity=False)


def numpy_value(bits: int, format) -> float:
    """The value of a pattern by other means: e5m2 and bf16 are the upper halves of fp16 and fp32."""
    if format is BF16:
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if format is E4M3FN:
        sign, exponent, fraction = -1.0 if bits & 128 else 1.0, bits >> 3 & 15, bits & 7
        if exponent == 15 and fraction == 7:
            return float("nan")
        return sign * (fraction / 8 * 2**-6 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7))
    return float(np.array([bits if format is FP16 else bits << 8], np.uint16).view(np.float16)[0])


def same(number, value: float) -> bool:
    """Equal, signed zeros, infinities and NaN told apart."""
    if np.isnan(value):
        return number is Special.NAN
    if np.isinf(value):
        return number is (Special.INFINITY if value > 0 else Special.NEGATIVE_INFINITY)
    if value == 0 and np.signbit(value):
        return number is Special.NEGATIVE_ZERO
    return number == Fraction(value)


@pytest.mark.parametrize("format", NARROW, ids=lambda f: f.name)
def test_every_pattern_means_what_numpy_says_and_comes_back(format):
    for bits in range(1 << format.bits):
        number = from_bits(bits, format)
        assert same(number, numpy_value(bits, format)), hex(bits)
        if number is not Special.NAN:
            assert to_bits(number, format, Overflow.INFINITY if format.has_infinity else None) == bits


@given(st.integers(0, 2**32 - 1))
def test_fp32_patterns_mean_what_struct_says(bits):
    assert same(from_bits(bits, FP32), struct.unpack("<f", struct.pack("<I", bits))[0])


@given(REALS)
def test_fp32_and_fp16_conversions_are_those_of_numpy(value):
    with np.errstate(over="ignore"):
        assert same(round_to(value, FP32), float(np.float32(value)))
        assert same(round_to(value, FP16), float(np.float16(value)))


@given(st.integers(0, 2**32 - 1))
def test_bf16_conversion_is_the_usual_addition_of_0x7fff(bits):
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    if np.isnan(value):
        assert to_bits(value, BF16) == 0x7FC0
    else:
        assert to_bits(value, BF16) == (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


@pytest.mark.parametrize("format", [E4M3FN, E5M2, FP16], ids=lambda f: f.name)
def test_every_midpoint_goes_to_the_even_neighbour_and_its_surroundings_do_not(format):
    top = to_bits(format.largest, format)
    step = 1 if format.bits == 8 else 17
    for bits in range(0, top, step):
        low, high = rational(from_bits(bits, format)), rational(from_bits(bits + 1, format))
        middle, little = (low + high) / 2, (high - low) / 2**40
        assert to_bits(middle, format) == bits + (bits & 1)
        assert to_bits(middle - little, format) == bits
        assert to_bits(middle + little, format) == bits + 1
        assert to_bits(-middle - little, format) == bits + 1 + format.sign_bit


@given(st.fractions(), st.sampled_from(list(FORMATS.values())))
def test_no_neighbour_is_nearer(value, format):
    rounded = rational(round_to(value, format, Overflow.SATURATE))
    if abs(value) <= format.largest:
        bits = to_bits(rounded, format) & (format.sign_bit - 1)
        around = [from_bits(bits + d, format) for d in (-1, 1) if bits + d >= 0]
        assert all(abs(abs(value) - abs(rounded)) <= abs(abs(value) - n) for n in around if isinstance(n, Fraction))
        assert abs(value - rounded) <= ulp(value, format) / 2
    else:
        assert abs(rounded) == format.largest


@pytest.mark.parametrize(
    ("value", "overflow", "expected"),
    [
        (464, Overflow.NAN, Fraction(448)),
        (Fraction(464) + Fraction(1, 10**9), Overflow.NAN, Special.NAN),
        (465, Overflow.SATURATE, Fraction(448)),
        (-(10**9), Overflow.SATURATE, Fraction(-448)),
        (Special.INFINITY, Overflow.SATURATE, Fraction(448)),
        (Special.INFINITY, Overflow.NAN, Special.NAN),
    ],
)
def test_e4m3fn_overflows_beyond_464_as_declared(value, overflow, expected):
    assert round_to(value, E4M3FN, overflow) == expected


def test_e5m2_overflows_from_61440():
    below = Fraction(61440) - Fraction(1, 1000)
    assert round_to(below, E5M2, Overflow.INFINITY) == 57344
    assert round_to(61440, E5M2, Overflow.INFINITY) is Special.INFINITY
    assert round_to(61440, E5M2) == 57344


def test_e4m3fn_without_infinity_refuses_to_overflow_to_it():
    with pytest.raises(FormatError, match="no infinity"):
        round_to(1000, E4M3FN, Overflow.INFINITY)


def test_zeros_keep_their_sign_in_bits_and_not_in_value():
    tiny = Fraction(-1, 10**60)
    assert round_to(tiny, FP16) is Special.NEGATIVE_ZERO
    assert rational(round_to(tiny, FP16)) == 0
    assert to_bits(tiny, E4M3FN) == 0x80
    assert to_bits(-0.0, E4M3FN) == 0x80
    assert to_bits(Fraction(0), E4M3FN) == 0


def test_subnormal_halves_go_to_even():
    assert round_to(FP16.smallest / 2, FP16) == 0
    assert round_to(FP16.smallest * 3 / 2, FP16) == 2 * FP16.smallest
    assert FP16.smallest == Fraction(1, 2**24)
    assert FP32.smallest == Fraction(1, 2**149)
    assert E4M3FN.smallest == Fraction(1, 2**9)


def test_patterns_beyond_the_format_are_refused():
    with pytest.raises(FormatError, match="does not fit"):
        from_bits(256, E4M3FN)


@given(st.fractions().filter(bool))
def test_floor_log2_brackets(value):
    exponent = floor_log2(value)
    assert Fraction(2) ** exponent <= abs(value) < Fraction(2) ** (exponent + 1)


@pytest.mark.parametrize(("name", "format"), [("float8_e4m3fn", E4M3FN), ("float8_e5m2", E5M2), ("bfloat16", BF16)])
def test_ml_dtypes_agrees_on_every_pattern(name, format):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.uint8 if format.bits == 8 else np.uint16
    with np.errstate(invalid="ignore"):
        values = np.arange(1 << format.bits, dtype=dtype).view(getattr(ml_dtypes, name)).astype(np.float64)
    assert all(same(from_bits(bits, format), float(value)) for bits, value in enumerate(values))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_ml_dtypes_overflow_is_the_one_that_does_not_saturate(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    format, overflow = (E4M3FN, Overflow.NAN) if name.endswith("fn") else (E5M2, Overflow.INFINITY)
    for value in (448, 464, 465, 480, 57344, 61439, 61440, 1e9, float("inf")):
        assert same(round_to(value, format, overflow), float(np.float32(value).astype(getattr(ml_dtypes, name))))
