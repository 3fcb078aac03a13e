"""exp, exp2, log, log2 and tanh with the same bits on every processor.

NumPy's differ in the last place between SIMD levels, between versions of the C library, and between the lanes of one
array. These are spelt out in additions, multiplications and divisions of IEEE 754 and exact scaling by powers of two:
the series of exp after reduction to |r| <= log(2)/2 (degree 13, remainder below 2**-57), and that of
2 atanh((m - 1)/(m + 1)) for logarithms of m in [sqrt(1/2), sqrt(2)) (12 terms, below 2**-58).

Arguments are fp64 or narrower, results fp64 with a relative error below 2**-50 (tanh: 2**-46). Rounded to fp32 they
are the correctly rounded ones, but for the few arguments that lie that close to a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Doubles = NDArray[np.float64]

LOG2_E = 1.4426950408889634
LN2 = 0.6931471805599453
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
"""The 33 highest bits of log(2), of which multiples by an exponent are exact."""
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""What is missing from them."""

_EXP = [1 / factorial(n) for n in range(14)]
_ATANH = [2 / (2 * n + 1) for n in range(12)]
_TANH = [1.0, -1 / 3, 2 / 15, -17 / 315, 62 / 2835]
_SERIES_OF_TANH = 2.0**-5
"""Below it the series of tanh, of which five terms are exact to 2**-56; above it nothing cancels."""
_REACH = 1100.0
"""Powers of two beyond it overflow fp64, or vanish in it."""


def exp2(x: Numbers) -> Doubles:
    """2**x."""
    x = np.clip(x.astype(np.float64), -_REACH, _REACH)
    power = np.rint(x)
    return _scaled(_polynomial(_EXP, (x - power) * LN2), power)


def exp(x: Numbers) -> Doubles:
    """e**x."""
    x = np.clip(x.astype(np.float64), -_REACH * LN2, _REACH * LN2)
    power = np.rint(x * LOG2_E)
    return _scaled(_polynomial(_EXP, (x - power * LN2_HIGH) - power * LN2_LOW), power)


def log2(x: Numbers) -> Doubles:
    """Logarithm to base 2; NaN below zero."""
    mantissa, exponent = _split(x)
    return _at_the_ends(x, exponent + mantissa * LOG2_E)


def log(x: Numbers) -> Doubles:
    """Logarithm to base e; NaN below zero."""
    mantissa, exponent = _split(x)
    return _at_the_ends(x, exponent * LN2_HIGH + (mantissa + exponent * LN2_LOW))


def tanh(x: Numbers) -> Doubles:
    """Hyperbolic tangent."""
    size = np.abs(x.astype(np.float64))
    small = np.minimum(size, _SERIES_OF_TANH)
    series = small * _polynomial(_TANH, small * small)
    result = np.where(size < _SERIES_OF_TANH, series, 1 - 2 / (exp(2 * size) + 1))
    return np.copysign(result, x)


def _polynomial(coefficients: Sequence[float], x: Doubles) -> Doubles:
    """Horner's rule, lowest coefficient first."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _scaled(x: Doubles, power: Doubles) -> Doubles:
    whole: NDArray[np.int32] = np.nan_to_num(power).astype(np.int32)
    return np.ldexp(x, whole)


def _split(x: Numbers) -> tuple[Doubles, Doubles]:
    """log(m) and e of x = m * 2**e with m in [sqrt(1/2), sqrt(2)); whatever there is where x is not positive."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    low = mantissa < np.sqrt(0.5)
    mantissa = np.where(low, 2 * mantissa, mantissa)
    ratio = (mantissa - 1) / (mantissa + 1)
    return ratio * _polynomial(_ATANH, ratio * ratio), (exponent - low).astype(np.float64)


def _at_the_ends(x: Numbers, logarithm: Doubles) -> Doubles:
    ends = np.where(x == 0, -np.inf, np.where(x > 0, np.inf, np.nan))
    return np.where((x > 0) & np.isfinite(x), logarithm, ends)
