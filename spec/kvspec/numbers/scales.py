"""The scale of a group: computed, rounded to be stored, and the multiplier that encoding uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kvspec.numbers.errors import UndefinedError
from kvspec.numbers.floats import FloatFormat, Special, exact, finite, rational, round_to
from kvspec.numbers.schemes import Anchor, Divides, Division, NonFinite, Scheme, Zero, ZeroGroup
from kvspec.numbers.steps import clip, quotient, to_integer
from kvspec.refusals import NonFiniteError, ScaleError, ShapeError

Value = Fraction | float | Special
"""A value to quantize; floats and ints mean exactly what they hold."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a group is encoded and decoded with.

    Decoding multiplies by `stored`; encoding multiplies by `multiplier` (1 / s unrounded where the scheme divides),
    which is 0 in a zero group. `zero` is the stored zero point (in codes) or minimum (in units of the values);
    `subtracted` is the minimum that encoding uses.
    """

    stored: Fraction
    multiplier: Fraction
    zero: Fraction = Fraction(0)
    subtracted: Fraction = Fraction(0)


def scale_of(values: Sequence[Value], scheme: Scheme) -> Scale:
    """The scale of one group; raises ShapeError if it is empty, NonFiniteError, or ScaleError on overflow."""
    members = _joining(values, scheme)
    lowest = _least(members, scheme)
    anchor = _anchor(members, scheme)
    computed = _rounded(anchor / scheme.divisor, scheme.arithmetic, "the computed scale")
    computed = max(computed, scheme.floor) if scheme.floor else computed
    stored = _rounded(computed, scheme.scale_format, "the stored scale")
    applied = stored if scheme.divides is Divides.STORED else computed
    # A scale that is stored as zero makes a zero group even where the computed one could still divide.
    multiplier = _multiplier(applied, scheme, anchor) if stored else Fraction(0)
    if scheme.zero is Zero.MINIMUM:
        return _with_minimum(stored, multiplier, lowest, scheme)
    if not multiplier:
        return _zero_group(scheme)
    if scheme.zero is Zero.SYMMETRIC:
        return Scale(stored, multiplier)
    return Scale(stored, multiplier, _zero_point(lowest, applied, scheme))


def _zero_point(lowest: Fraction, applied: Fraction, scheme: Scheme) -> Fraction:
    """rint(fl(-lowest / s)), clipped: divided also where codes are multiplied by a reciprocal."""
    divided = scheme
    if scheme.division in {Division.RECIPROCAL, Division.INVERSE_FIRST}:
        divided = replace(scheme, division=Division.DIVIDE)
    return Fraction(clip(to_integer(quotient(-lowest, 1 / applied, divided), scheme), scheme))


def given_scale(stored: Value, scheme: Scheme, zero: Value = 0) -> Scale:
    """A static scale, with its zero point or minimum; raises ScaleError unless `scheme` could store both."""
    scale, offset = rational(stored), rational(zero)
    if not scale or scale != rational(round_to(scale, scheme.scale_format)):
        raise ScaleError(f"{scheme.name}: {stored} is not a finite, nonzero number of {scheme.scale_format.name}")
    if offset is None or (scheme.zero is Zero.ZERO_POINT and offset.denominator != 1):
        raise ScaleError(f"{scheme.name}: {zero} is no zero for a static scale")
    multiplier = _multiplier(scale, scheme, None)
    if not multiplier:
        raise ScaleError(f"{scheme.name}: the reciprocal of {stored} is not finite")
    return Scale(scale, multiplier, offset, offset if scheme.zero is Zero.MINIMUM else Fraction(0))


def _joining(values: Sequence[Value], scheme: Scheme) -> list[Fraction]:
    """The finite values, which the anchor is taken from; others are refused unless the scheme has a code for them."""
    if not values:
        raise ShapeError(f"{scheme.name}: a group without values has no scale")
    members = []
    for index, value in enumerate(values):
        number = rational(value)
        if number is not None:
            members.append(number)
        elif (scheme.nan if exact(value) is Special.NAN else scheme.infinity) is NonFinite.REFUSE:
            raise NonFiniteError(f"{scheme.name}: {value} at index {index} of a group")
    return members or [Fraction(0)]


def _least(members: list[Fraction], scheme: Scheme) -> Fraction:
    return min(members) if scheme.zero is Zero.MINIMUM else min(*members, Fraction(0))


def _anchor(members: list[Fraction], scheme: Scheme) -> Fraction:
    if scheme.anchor is Anchor.ABSMAX:
        return max(map(abs, members))
    if scheme.anchor is Anchor.SIGNED_ABSMAX:
        return max(members, key=abs)
    if scheme.anchor is Anchor.RANGE_WITH_ZERO:
        members = [*members, Fraction(0)]
    return _rounded(max(members) - min(members), scheme.arithmetic, "the range")


def _rounded(value: Fraction, format: FloatFormat, what: str) -> Fraction:
    rounded = finite(value, format)
    if rounded is None:
        raise ScaleError(f"{what} {float(value):g} overflows {format.name}")
    return rounded


def _multiplier(applied: Fraction, scheme: Scheme, anchor: Fraction | None) -> Fraction:
    """What encoding multiplies by; 0 where the scale is 0 or its reciprocal overflows."""
    if not applied:
        return Fraction(0)
    if scheme.division is Division.RECIPROCAL:
        return finite(1 / applied, scheme.arithmetic) or Fraction(0)
    if scheme.division is not Division.INVERSE_FIRST:
        return 1 / applied
    if anchor is None:
        raise UndefinedError(f"{scheme.name}: a static scale has no anchor to invert")
    return finite(scheme.divisor / anchor, scheme.arithmetic) or Fraction(0)


def _zero_group(scheme: Scheme) -> Scale:
    if scheme.zero_group is ZeroGroup.REFUSE:
        raise ScaleError(f"{scheme.name}: the scale of the group is zero")
    return Scale(Fraction(1 if scheme.zero_group is ZeroGroup.SCALE_ONE else 0), Fraction(0))


def _with_minimum(stored: Fraction, multiplier: Fraction, lowest: Fraction, scheme: Scheme) -> Scale:
    kept = _rounded(lowest, scheme.zero_format or scheme.scale_format, "the stored minimum")
    if not multiplier:
        return Scale(_zero_group(scheme).stored, multiplier, kept, lowest)
    return Scale(stored, multiplier, kept, kept if scheme.divides is Divides.STORED else lowest)
