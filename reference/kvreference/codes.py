"""From values and their scales to codes: quotient, rounding, zero point, clipping, or an 8-bit float."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kvreference.arrays import AnyArray, DeclarationError
from kvreference.float_codes import E4M3FN, E5M2, FloatCodes, encode_float
from kvreference.roundings import FORMATS, round_to
from kvreference.scheme_arithmetic import Single, divide, operate, subtract
from kvspec.numbers.schemes import Division, IntegerCodes, NonFinite, Rounding, Scheme, Zero

_KINDS = {"e4m3fn": E4M3FN, "e5m2": E5M2}


def codes_of(
    values: Single,
    divider: Single,
    inverse: Single,
    zero: Single | None,
    dead: NDArray[np.bool_],
    scheme: Scheme,
) -> AnyArray:
    """The codes of `values`, all in the view of groups; those of `dead` groups (no usable scale) are that of 0.

    `divider` is the scale that divides, `inverse` what multiplies instead, `zero` the zero points or minima.
    """
    shifted = subtract(values, zero, scheme) if zero is not None and scheme.zero is Zero.MINIMUM else values
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = _quotient(shifted, divider, inverse, scheme)
        if not isinstance(scheme.codes, IntegerCodes):
            return _float_codes(values, quotient, dead, scheme)
        codes = _rounded(quotient, scheme)
        if zero is not None and scheme.zero is Zero.ZERO_POINT:
            codes = codes + zero
        if dead.any():
            codes = np.where(dead, 0 if zero is None or scheme.zero is Zero.MINIMUM else zero, codes)
        kind = np.int8 if scheme.codes.lowest < 0 else np.uint8
        return np.clip(codes, scheme.codes.lowest, scheme.codes.highest, out=codes).astype(kind)


def _rounded(quotient: AnyArray, scheme: Scheme) -> AnyArray:
    if not isinstance(scheme.codes, IntegerCodes) or scheme.rounding is Rounding.TIES_TO_EVEN:
        return np.rint(quotient, out=quotient)
    if scheme.rounding is Rounding.TIES_AWAY:
        # In float64 the half is added without rounding.
        return np.copysign(np.floor(np.abs(quotient.astype(np.float64)) + 0.5), quotient)
    lowest = scheme.codes.lowest
    moved = quotient.astype(np.float64) + (0.5 - lowest)
    return np.trunc(round_to(moved, FORMATS[scheme.arithmetic.name])) + lowest


def _float_codes(values: Single, quotient: AnyArray, dead: NDArray[np.bool_], scheme: Scheme) -> AnyArray:
    kind, largest = float_kind(scheme), np.finfo(np.float32).max
    quotient = np.where(dead & np.isfinite(values), np.float32(0), quotient).astype(np.float32)
    codes = encode_float(np.clip(quotient, -largest, largest), kind, saturate=scheme.overflow.name == "SATURATE")
    if scheme.infinity is NonFinite.SATURATE:
        return np.where(np.isinf(values), np.uint8(kind.largest) | (codes & np.uint8(0x80)), codes)
    return np.where(np.isinf(values), np.uint8(kind.infinity) | (codes & np.uint8(0x80)), codes)


def _quotient(values: Single, divider: Single, inverse: Single, scheme: Scheme) -> AnyArray:
    if scheme.division is Division.EXACT:
        # 53 bits separate any quotient of 24-bit numbers from a midpoint of codes.
        return values.astype(np.float64) / divider
    if scheme.division in (Division.RECIPROCAL, Division.INVERSE_FIRST):
        return operate(values, inverse, np.multiply, scheme)
    return divide(values, divider, scheme)


def inverse_of(anchor: Single, divider: Single, scheme: Scheme) -> Single:
    """What values are multiplied by, 1 where they are divided; infinite where there is none."""
    if scheme.division is Division.RECIPROCAL:
        return divide(np.ones_like(divider), divider, scheme)
    if scheme.division is Division.INVERSE_FIRST:
        return divide(np.full_like(anchor, float(scheme.divisor)), anchor, scheme)
    if scheme.division is Division.WITHIN_2_ULP:
        raise DeclarationError(f"{scheme.name}: a division within 2 ulp has no defined codes")
    return np.ones_like(divider)


def float_kind(scheme: Scheme) -> FloatCodes:
    """The 8-bit float of the scheme's codes. Raises `DeclarationError` where they are none."""
    if isinstance(scheme.codes, IntegerCodes) or scheme.codes.name not in _KINDS:
        raise DeclarationError(f"{scheme.name}: codes {scheme.codes} are not 8-bit floats")
    return _KINDS[scheme.codes.name]
