"""The steps that scales and codes share: quotient, integer, clipping."""

from __future__ import annotations

import math
from fractions import Fraction

from kvspec.numbers.errors import UndefinedError
from kvspec.numbers.floats import Number, Special, rational, round_to
from kvspec.numbers.schemes import Division, IntegerCodes, Rounding, Scheme

HALF = Fraction(1, 2)


def quotient(value: Number, multiplier: Fraction, scheme: Scheme) -> Number:
    """`value` over the scale, rounded as the scheme declares; raises UndefinedError for an undeclared division."""
    if scheme.division is Division.WITHIN_2_ULP:
        raise UndefinedError(f"{scheme.name}: an undeclared division has bounds, but no one code")
    if not isinstance(value, Fraction):
        return value
    product = value * multiplier
    return product if scheme.division is Division.EXACT else round_to(product, scheme.arithmetic)


def to_integer(quotient: Number, scheme: Scheme) -> int:
    """The integer of a quotient, not yet clipped; an infinite quotient gives one beyond every code."""
    number = rational(quotient)
    if number is None:
        beyond = 1 << (scheme.code_bits + 1)
        return -beyond if quotient is Special.NEGATIVE_INFINITY else beyond
    if scheme.rounding is Rounding.TIES_TO_EVEN:
        return round(number)
    if scheme.rounding is Rounding.TIES_AWAY:
        away = math.floor(abs(number) + HALF)
        return -away if number < 0 else away
    lowest = scheme.codes.lowest if isinstance(scheme.codes, IntegerCodes) else 0
    return math.trunc(rational(round_to(number + HALF - lowest, scheme.arithmetic)) or 0) + lowest


def clip(code: int, scheme: Scheme) -> int:
    """The nearest integer code."""
    if not isinstance(scheme.codes, IntegerCodes):
        return code
    return max(scheme.codes.lowest, min(scheme.codes.highest, code))
