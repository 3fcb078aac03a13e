"""Vectorised quantizers: every scheme of `kvspec.numbers.schemes` on arrays `[tokens, kv_heads, head_dim]`.

Written from the text of the schemes, not from their exact meaning in `kvspec`: two independent statements whose codes
are compared bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kvreference.arrays import AnyArray, DeclarationError, Float
from kvreference.codes import codes_of, float_kind, inverse_of
from kvreference.float_codes import decode_float
from kvreference.scale_groups import (
    Scales,
    admitted,
    anchors,
    check_fixed,
    checked,
    first_true,
    flat,
    grouped,
    scale_shape,
    viewed,
)
from kvreference.scheme_arithmetic import Single, divide, narrow
from kvspec.numbers.schemes import Divides, Division, IntegerCodes, Scheme, Zero, ZeroGroup
from kvspec.refusals import ScaleError

__all__ = ["Encoded", "Scales", "decode", "encode", "encode_with", "scale_shape"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """`codes` `[tokens, kv_heads, head_dim]`: int8, or uint8 for unsigned integers and for bits of floats."""

    codes: AnyArray
    scales: Scales


def encode(x: AnyArray, scheme: Scheme) -> Encoded:
    """Quantize `x` `[tokens, kv_heads, head_dim]`, float16 or float32, with scales from its own groups.

    Raises `ShapeError`, `DtypeError`, `NonFiniteError` where the scheme refuses NaN or infinity, and `ScaleError`
    where a scale overflows its format or belongs to a zero group that the scheme refuses.
    """
    values = grouped(x, scheme)
    anchor, minimum = anchors(values, scheme)
    computed = divide(anchor, np.float32(scheme.divisor), scheme)
    if scheme.floor:
        computed = np.maximum(computed, np.float32(scheme.floor))
    stored = _stored(computed, scheme.scale_format.name, scheme)
    divider = stored if scheme.divides is Divides.STORED else computed
    with np.errstate(divide="ignore", over="ignore"):
        inverse = inverse_of(anchor, divider, scheme)
    dead = (computed == 0) | (stored == 0) | np.isinf(inverse)
    if scheme.zero_group is ZeroGroup.REFUSE and dead.any():
        raise ScaleError(f"{scheme.name}: group {first_true(dead)} has no usable scale")
    kept = np.where(dead, np.float32(scheme.zero_group is ZeroGroup.SCALE_ONE), stored)
    offset, zero = _zeros(minimum, divider, dead, scheme)
    codes = codes_of(values, np.where(dead, np.float32(1), divider), inverse, offset, dead, scheme)
    return Encoded(codes.reshape(x.shape), Scales(flat(kept), None if zero is None else flat(zero)))


def encode_with(x: AnyArray, scales: Scales, scheme: Scheme) -> AnyArray:
    """The codes of `x` under scales that were fixed before. Raises as `encode`, and `ScaleError` for their shape."""
    values = grouped(x, scheme)
    admitted(values, scheme)
    check_fixed(scales, scheme)
    scale, zero = checked(scales, values, scheme)
    if scheme.division is Division.INVERSE_FIRST:
        raise DeclarationError(f"{scheme.name} divides by its anchor, which fixed scales do not have")
    dead = scale == 0
    with np.errstate(divide="ignore", over="ignore"):
        inverse = inverse_of(scale, scale, scheme)
    codes = codes_of(values, np.where(dead, np.float32(1), scale), inverse, zero, dead | np.isinf(inverse), scheme)
    return codes.reshape(x.shape)


def decode(encoded: Encoded, scheme: Scheme) -> Float:
    """What the codes mean, float64 `[tokens, kv_heads, head_dim]`: products of a code and a scale are exact there.

    Poisoned scales decode to NaN. Raises `ScaleError` for their shape.
    """
    codes = viewed(encoded.codes, scheme)
    scale, zero = checked(encoded.scales, codes, scheme)
    integers = isinstance(scheme.codes, IntegerCodes)
    numbers = codes.astype(np.float64) if integers else decode_float(codes, float_kind(scheme))
    if zero is not None and scheme.zero is Zero.ZERO_POINT:
        numbers = numbers - zero
    numbers = numbers * scale.astype(np.float64)
    if zero is not None and scheme.zero is Zero.MINIMUM:
        numbers = numbers + zero
    return numbers.reshape(encoded.codes.shape)


def _zeros(
    minimum: Single, scale: Single, dead: NDArray[np.bool_], scheme: Scheme
) -> tuple[Single | None, Single | None]:
    """What encoding subtracts or adds, and what is stored: zero points or minima."""
    if scheme.zero is Zero.ZERO_POINT:
        # The quotient is rounded before rint, as that of the minimum's own code is, so that the two stay opposite.
        exact = scheme.division is Division.EXACT
        low = np.maximum(-minimum, 0).astype(np.float64 if exact else np.float32)
        divisor = np.where(dead, np.float32(1), scale)
        point = np.rint(low / divisor if exact else divide(low, divisor, scheme)).astype(np.float32)
        point = np.where(dead, np.float32(0), np.clip(point, *_ends(scheme)))
        return point, point
    if scheme.zero is Zero.MINIMUM:
        stored = _stored(minimum, (scheme.zero_format or scheme.scale_format).name, scheme)
        return (stored if scheme.divides is Divides.STORED else minimum), stored
    return None, None


def _ends(scheme: Scheme) -> tuple[int, int]:
    return (scheme.codes.lowest, scheme.codes.highest) if isinstance(scheme.codes, IntegerCodes) else (0, 0)


def _stored(computed: Single, name: str, scheme: Scheme) -> Single:
    stored = narrow(computed, name)
    if not np.isfinite(stored).all():
        raise ScaleError(f"{scheme.name}: group {first_true(~np.isfinite(stored))} overflows {name}")
    return stored
