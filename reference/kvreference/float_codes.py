"""8-bit floating-point codes from float32, correctly rounded (nearest, ties to even) in integer arithmetic.

A code is sign, exponent, mantissa. e4m3fn has bias 7, no infinity, and NaN only where all bits below the sign are
set; e5m2 has bias 15 and IEEE infinities and NaNs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kvreference.arrays import Float
from kvspec.refusals import DtypeError

Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class FloatCodes:
    """`mantissa` stored bits, exponent `bias`, the code `largest` of the largest finite number, `nan`, `infinity`."""

    mantissa: int
    bias: int
    largest: int
    nan: int
    infinity: int


E4M3FN = FloatCodes(3, 7, 0x7E, 0x7F, 0x7F)
E5M2 = FloatCodes(2, 15, 0x7B, 0x7E, 0x7C)


def encode_float(x: NDArray[np.float32], kind: FloatCodes, *, saturate: bool) -> Codes:
    """The codes `uint8` of `x` (float32, any shape).

    Finite numbers that round beyond the largest become that one where `saturate`, else `kind.infinity`; infinity and
    NaN keep their codes. The sign is kept always. Raises `DtypeError`.
    """
    if x.dtype != np.float32:
        raise DtypeError(f"x has dtype {x.dtype}, expected float32")
    bits = np.ascontiguousarray(x).view(np.uint32)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    dropped = np.uint32(23 - kind.mantissa)
    rebias = np.uint32((127 - kind.bias) << 23)
    smallest_normal = np.uint32((128 - kind.bias) << 23)
    normal = _round_shift(np.maximum(magnitude, smallest_normal) - rebias, dropped)
    code = np.where(magnitude >= smallest_normal, normal, _subnormal(magnitude, kind))
    code = np.where(code > kind.largest, kind.largest if saturate else kind.infinity, code)
    code = np.where(magnitude == 0x7F800000, kind.infinity, np.where(magnitude > 0x7F800000, kind.nan, code))
    return np.asarray(code | (bits >> np.uint32(24)) & np.uint32(0x80), np.uint8)


def decode_float(codes: Codes, kind: FloatCodes) -> Float:
    """The exact numbers, float64, behind `codes` (uint8, any shape)."""
    return np.asarray(_table(kind)[codes], np.float64)


def _subnormal(magnitude: NDArray[np.uint32], kind: FloatCodes) -> NDArray[np.uint32]:
    # Below the smallest normal number all codes are one step apart: shift the significand to that step.
    significand = (magnitude & np.uint32(0x7FFFFF)) | np.uint32(0x800000)
    shift = np.uint32(151 - kind.bias - kind.mantissa) - np.minimum(magnitude >> np.uint32(23), np.uint32(127))
    return _round_shift(significand, np.clip(shift, 1, 25))


def _round_shift(value: NDArray[np.uint32], shift: NDArray[np.uint32] | np.uint32) -> NDArray[np.uint32]:
    """`value / 2**shift` to the nearest integer, ties to even, for value < 2**31 and 1 <= shift."""
    one = np.uint32(1)
    return np.asarray((value + ((one << (shift - one)) - one) + ((value >> shift) & one)) >> shift, np.uint32)


def _table(kind: FloatCodes) -> Float:
    codes = np.arange(256)
    exponent, mantissa = (codes & 0x7F) >> kind.mantissa, codes & (2**kind.mantissa - 1)
    hidden = np.where(exponent > 0, 2**kind.mantissa, 0)
    size = np.ldexp(1.0 * (hidden + mantissa), np.maximum(exponent, 1) - kind.bias - kind.mantissa)
    size[(codes & 0x7F) > kind.largest] = np.nan
    if kind.infinity != kind.nan:
        size[(codes & 0x7F) == kind.infinity] = np.inf
    return np.asarray(np.where(codes & 0x80, -size, size), np.float64)
