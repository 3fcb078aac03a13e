"""Binary floating-point formats as data, and the correctly rounded conversion of an exact number to each.

Ties go to even, subnormals are kept, overflow is declared. Sources: IEEE 754-2019 for fp32 and fp16; bf16 is fp32
with 16 bits dropped; "FP8 Formats for Deep Learning" (arXiv 2209.05433) for e4m3fn and e5m2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import NewType

Bits = NewType("Bits", int)
"""A bit pattern, sign bit highest."""


class Special(Enum):
    """A value that no rational stands for."""

    NAN = "nan"
    INFINITY = "+inf"
    NEGATIVE_INFINITY = "-inf"
    NEGATIVE_ZERO = "-0"


Number = Fraction | Special
"""The exact value of a bit pattern."""


class Overflow(Enum):
    """What a magnitude that rounds beyond the largest finite one becomes."""

    SATURATE = "largest finite"
    INFINITY = "infinity"
    NAN = "nan"


class FormatError(ValueError):
    """A number or a bit pattern does not fit the format that was named."""


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary format: sign, biased exponent, significand of `precision` bits with its leading bit hidden.

    `emin` is the exponent of the smallest normal number 2**emin; `largest` is the largest finite magnitude;
    `overflow` is what its usual conversion does (a scheme may declare another).
    """

    name: str
    bits: int
    precision: int
    emin: int
    largest: Fraction
    has_infinity: bool
    overflow: Overflow

    def __repr__(self) -> str:
        return self.name

    @property
    def unit_roundoff(self) -> Fraction:
        """Half the distance from 1 to the next number: 2**-precision."""
        return power_of_two(-self.precision)

    @property
    def smallest(self) -> Fraction:
        """The smallest positive number, which is subnormal."""
        return power_of_two(self.emin - self.precision + 1)

    @property
    def sign_bit(self) -> int:
        """The pattern of negative zero."""
        return 1 << (self.bits - 1)

    @property
    def infinity_bits(self) -> int:
        """The pattern with all exponent bits set and no significand bit."""
        return self.sign_bit - (1 << (self.precision - 1))

    @property
    def nan_bits(self) -> int:
        """The quiet NaN that conversions give: the top significand bit set, or all of them where that is a number."""
        return self.infinity_bits | (1 << (self.precision - 2)) if self.has_infinity else self.sign_bit - 1


@cache
def power_of_two(exponent: int) -> Fraction:
    """2**exponent, exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


FP32 = FloatFormat("fp32", 32, 24, -126, power_of_two(128) - power_of_two(104), True, Overflow.INFINITY)
BF16 = FloatFormat("bf16", 16, 8, -126, power_of_two(128) - power_of_two(120), True, Overflow.INFINITY)
FP16 = FloatFormat("fp16", 16, 11, -14, Fraction(65504), True, Overflow.INFINITY)
E4M3FN = FloatFormat("e4m3fn", 8, 4, -6, Fraction(448), False, Overflow.SATURATE)
E5M2 = FloatFormat("e5m2", 8, 3, -14, Fraction(57344), True, Overflow.SATURATE)

FORMATS = {format.name: format for format in (FP32, BF16, FP16, E4M3FN, E5M2)}


def floor_log2(value: Fraction) -> int:
    """The exponent e with 2**e <= |value| < 2**(e+1); raises FormatError for zero."""
    if not value:
        raise FormatError("zero has no binary exponent")
    numerator, denominator = abs(value.numerator), value.denominator
    guess = numerator.bit_length() - denominator.bit_length()
    reached = numerator >= denominator << guess if guess >= 0 else numerator << -guess >= denominator
    return guess if reached else guess - 1


def ulp(value: Fraction, format: FloatFormat) -> Fraction:
    """Distance between neighbours of `format` in the binade of `value`; below the normal range, the smallest number."""
    exponent = format.emin if not value else max(floor_log2(value), format.emin)
    return power_of_two(exponent - format.precision + 1)


def exact(value: Fraction | float | Special) -> Number:
    """The exact value of a Python number; the sign of a float's zero, infinity and NaN are kept as `Special`."""
    if isinstance(value, Special | Fraction):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return Special.NAN
        if math.isinf(value):
            return Special.INFINITY if value > 0 else Special.NEGATIVE_INFINITY
        if value == 0 and math.copysign(1.0, value) < 0:
            return Special.NEGATIVE_ZERO
    return Fraction(value)


def rational(value: Fraction | float | Special) -> Fraction | None:
    """The value as a rational, negative zero being zero; None for NaN and infinity."""
    number = exact(value)
    if number is Special.NEGATIVE_ZERO:
        return Fraction(0)
    return number if isinstance(number, Fraction) else None


def round_to(value: Fraction | float | Special, format: FloatFormat, overflow: Overflow | None = None) -> Number:
    """The number of `format` nearest to `value`, ties to even; `overflow` replaces the format's own treatment.

    A negative value that rounds to zero gives `Special.NEGATIVE_ZERO`.
    """
    number = exact(value)
    if not isinstance(number, Fraction):
        return _round_special(number, format, overflow or format.overflow)
    spacing = ulp(number, format)
    rounded = round(number / spacing) * spacing
    if abs(rounded) > format.largest:
        return _overflowed(number < 0, format, overflow or format.overflow)
    return Special.NEGATIVE_ZERO if number < 0 and not rounded else rounded


def _round_special(value: Special, format: FloatFormat, overflow: Overflow) -> Number:
    if value in {Special.NAN, Special.NEGATIVE_ZERO}:
        return value
    if format.has_infinity and overflow is not Overflow.SATURATE:
        return value
    return _overflowed(value is Special.NEGATIVE_INFINITY, format, overflow)


def _overflowed(negative: bool, format: FloatFormat, overflow: Overflow) -> Number:
    if overflow is Overflow.NAN:
        return Special.NAN
    if overflow is Overflow.SATURATE:
        return -format.largest if negative else format.largest
    if not format.has_infinity:
        raise FormatError(f"{format.name} has no infinity to overflow to")
    return Special.NEGATIVE_INFINITY if negative else Special.INFINITY


def finite(value: Fraction, format: FloatFormat) -> Fraction | None:
    """`value` rounded to `format` as a rational; None where it overflows to something that is not finite."""
    return rational(round_to(value, format))


def to_bits(value: Fraction | float | Special, format: FloatFormat, overflow: Overflow | None = None) -> Bits:
    """The pattern of `value` rounded to `format`; NaN gives the positive quiet pattern."""
    rounded = round_to(value, format, overflow)
    if isinstance(rounded, Special):
        return _special_bits(rounded, format)
    sign = format.sign_bit if rounded < 0 else 0
    spacing = ulp(rounded, format)
    significand = abs(rounded) / spacing
    steps = floor_log2(spacing) - floor_log2(format.smallest)
    return Bits(sign + (steps << (format.precision - 1)) + int(significand))


def _special_bits(value: Special, format: FloatFormat) -> Bits:
    if value is Special.NAN:
        return Bits(format.nan_bits)
    if value is Special.NEGATIVE_ZERO:
        return Bits(format.sign_bit)
    return Bits(format.infinity_bits + (format.sign_bit if value is Special.NEGATIVE_INFINITY else 0))


def from_bits(bits: int, format: FloatFormat) -> Number:
    """The exact value of a pattern; raises FormatError where it has more bits than the format."""
    if not 0 <= bits < 1 << format.bits:
        raise FormatError(f"the pattern {bits:#x} does not fit the {format.bits} bits of {format.name}")
    negative, magnitude = bool(bits & format.sign_bit), bits & (format.sign_bit - 1)
    if format.has_infinity and magnitude == format.infinity_bits:
        return Special.NEGATIVE_INFINITY if negative else Special.INFINITY
    exponent, fraction = divmod(magnitude, 1 << (format.precision - 1))
    significand = fraction + ((1 << (format.precision - 1)) if exponent else 0)
    value = significand * format.smallest * power_of_two(max(exponent - 1, 0))
    if value > format.largest:
        return Special.NAN
    if negative and not value:
        return Special.NEGATIVE_ZERO
    return -value if negative else value
