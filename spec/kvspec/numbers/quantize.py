"""The meaning of a scheme: the scale of a group, the code of a value, the value of a code, in exact arithmetic.

Every step that a scheme rounds is rounded once, correctly, in the format it declares; nothing else is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NewType

from kvspec.numbers.errors import CodeError, ScaleCountError
from kvspec.numbers.floats import FloatFormat, Number, Special, exact, from_bits, rational, round_to, to_bits
from kvspec.numbers.groups import Extent, groups
from kvspec.numbers.scales import Scale, Value, given_scale, scale_of
from kvspec.numbers.schemes import IntegerCodes, NonFinite, Scheme, Zero
from kvspec.numbers.steps import clip, quotient, to_integer
from kvspec.refusals import NonFiniteError, Refused, ShapeError

__all__ = [
    "Code",
    "Scale",
    "Value",
    "decode",
    "dequantize",
    "encode",
    "encode_all",
    "encode_group",
    "given_scale",
    "scale_of",
]

Code = NewType("Code", int)
"""An integer code, or the bit pattern of a floating-point one."""


def encode(value: Value, scale: Scale, scheme: Scheme) -> Code:
    """The code of one value; raises NonFiniteError where refused, UndefinedError for an undeclared division."""
    number = exact(value)
    if number in {Special.NAN, Special.INFINITY, Special.NEGATIVE_INFINITY}:
        return _non_finite_code(number, scheme)
    if not scale.multiplier:
        return Code(0)
    ratio = quotient(_shifted(number, scale, scheme), scale.multiplier, scheme)
    if not isinstance(scheme.codes, IntegerCodes):
        return Code(to_bits(ratio, scheme.codes, scheme.overflow))
    offset = int(scale.zero) if scheme.zero is Zero.ZERO_POINT else 0
    return Code(clip(to_integer(ratio, scheme) + offset, scheme))


def decode(code: int, scale: Scale, scheme: Scheme) -> Number:
    """What a code means, unrounded: code * scale about its zero; NaN and infinity only from floating-point codes."""
    if not isinstance(scheme.codes, IntegerCodes):
        number = from_bits(code, scheme.codes)
        return number * scale.stored if isinstance(number, Fraction) else number
    if not scheme.codes.lowest <= code <= scheme.codes.highest:
        raise CodeError(f"{scheme.name}: code {code} is not in {scheme.codes.lowest}..{scheme.codes.highest}")
    if scheme.zero is Zero.ZERO_POINT:
        return (code - scale.zero) * scale.stored
    return code * scale.stored + scale.zero


def dequantize(code: int, scale: Scale, scheme: Scheme, output: FloatFormat | None = None) -> Number:
    """What a kernel reads: the product rounded in the scheme's arithmetic, the minimum added and rounded, then cast."""
    zero = scale.zero if scheme.zero is Zero.MINIMUM else Fraction(0)
    exact_value = decode(code, scale, scheme)
    if isinstance(exact_value, Fraction):
        product = round_to(exact_value - zero, scheme.arithmetic)
        exact_value = round_to(product + zero, scheme.arithmetic) if zero and isinstance(product, Fraction) else product
    return round_to(exact_value, output or scheme.arithmetic)


def encode_group(values: Sequence[Value], scheme: Scheme) -> tuple[Scale, list[Code]]:
    """The scale and the codes of one group."""
    scale = scale_of(values, scheme)
    return scale, [encode(value, scale, scheme) for value in values]


def encode_all(
    values: Sequence[Value], extent: Extent, scheme: Scheme, scales: Sequence[Scale] | None = None
) -> tuple[list[Scale], list[Code]]:
    """Encode keys or values, flat and row-major; `scales` are static ones, one for each group.

    Raises ShapeError or ScaleCountError where numbers do not match, and the errors of `scale_of` and `encode` with
    their place.
    """
    if len(values) != extent.elements:
        raise ShapeError(f"{scheme.name}: {len(values)} values for {extent}, which has {extent.elements}")
    members = groups(extent, scheme)
    if scales is not None and len(scales) != len(members):
        raise ScaleCountError(f"{scheme.name}: {len(scales)} scales for {len(members)} groups of {extent}")
    found, codes = [], [Code(0)] * len(values)
    for group, indices in enumerate(members):
        try:
            scale = scales[group] if scales is not None else scale_of([values[index] for index in indices], scheme)
            for place, index in enumerate(indices):
                codes[index] = _encode_at(place, values[index], scale, scheme)
        except Refused as error:
            raise type(error)(f"group {group}: {error}") from error
        found.append(scale)
    return found, codes


def _encode_at(place: int, value: Value, scale: Scale, scheme: Scheme) -> Code:
    try:
        return encode(value, scale, scheme)
    except Refused as error:
        raise type(error)(f"{error} (at index {place} of a group)") from error


def _shifted(number: Number, scale: Scale, scheme: Scheme) -> Number:
    if scheme.zero is not Zero.MINIMUM:
        return number
    return round_to((rational(number) or 0) - scale.subtracted, scheme.arithmetic)


def _non_finite_code(number: Number, scheme: Scheme) -> Code:
    treatment = scheme.nan if number is Special.NAN else scheme.infinity
    if treatment is NonFinite.REFUSE or (number is Special.NAN and treatment is NonFinite.SATURATE):
        raise NonFiniteError(f"{scheme.name}: {number} has no code")
    if isinstance(scheme.codes, FloatFormat):
        keep = treatment is NonFinite.KEEP
        if keep and not scheme.codes.has_infinity:
            # A format without infinity keeps what is not finite as NaN, also where finite numbers saturate.
            return Code(scheme.codes.nan_bits)
        return Code(to_bits(number, scheme.codes, scheme.overflow if keep else None))
    if treatment is NonFinite.KEEP:
        raise NonFiniteError(f"{scheme.name}: {number} has no integer code to be kept in")
    return Code(scheme.codes.highest if number is Special.INFINITY else scheme.codes.lowest)
