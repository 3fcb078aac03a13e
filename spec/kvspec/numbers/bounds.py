"""Error bounds of quantization, as exact rationals. Derivations and assumptions: `spec/quantization.md`, same headings.

A bound holds for |x - decode(encode(x))|, in the units of x, for values that are numbers of the scheme's arithmetic
and divisions whose results stay normal there. `kappa` is what rounding adds to the half step, in codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from kvspec.numbers.errors import UndefinedError
from kvspec.numbers.floats import FloatFormat, Overflow, floor_log2, power_of_two, rational, ulp
from kvspec.numbers.scales import Scale, Value
from kvspec.numbers.schemes import Division, IntegerCodes, Rounding, Scheme, Zero
from kvspec.numbers.steps import HALF


@cache
def kappa(levels: int, division: Division, arithmetic: FloatFormat) -> Fraction:
    """How far beyond the half step, in codes, a quotient of magnitude up to `levels` may be misplaced.

    Theorem Q: 2**(floor(log2(levels - 1/2)) - p) for a correctly rounded division, where p is the precision of the
    arithmetic; two more relative errors for a reciprocal or an inverse; 2 ulp for an undeclared division.
    """
    unit = arithmetic.unit_roundoff
    rounded = power_of_two(floor_log2(levels - HALF)) * unit
    return {
        Division.EXACT: Fraction(0),
        Division.DIVIDE: rounded,
        Division.RECIPROCAL: rounded + levels * unit * (1 + 2 * unit),
        Division.INVERSE_FIRST: rounded + 2 * levels * unit,
        Division.WITHIN_2_ULP: 4 * power_of_two(floor_log2(Fraction(levels))) * unit,
    }[division]


def kappa_of(scheme: Scheme) -> Fraction:
    """`kappa` of an integer scheme, with the rounding of the added half where the scheme adds one."""
    return kappa(_levels(scheme), scheme.division, scheme.arithmetic) + _added_half(scheme)


def theorem_q(magnitude: Fraction, stored: Fraction, scheme: Scheme) -> Fraction:
    """Theorem Q, for symmetric codes: max(s (1/2 + kappa), |x| - Q s).

    `stored` is the scale that divides, and under INVERSE_FIRST it is fl(a / Q) in the arithmetic.
    """
    largest = _integer_codes(scheme).highest
    return max(abs(stored) * (HALF + kappa_of(scheme)), magnitude - largest * abs(stored))


def zero_point_steps(scheme: Scheme) -> Fraction:
    """An integer zero point and a range containing 0: the error is at most this many scales, clipping included.

    1/2 + kappa + N sigma: the rounded scale may be smaller than range / N by the relative shortfall sigma.
    """
    levels = _levels(scheme)
    kept = (1 - scheme.arithmetic.unit_roundoff) ** 2
    if scheme.scale_format is not scheme.arithmetic:
        kept *= 1 - scheme.scale_format.unit_roundoff
    return HALF + kappa_of(scheme) + levels * (1 / kept - 1)


def minimum_stored_narrow(computed: Fraction, minimum: Fraction, scheme: Scheme) -> Fraction:
    """A minimum and a scale that are rounded to fp16 after encoding (llama.cpp q4_1), both normal there.

    d (1/2 + N u16) + u16 |m|, with d the computed scale: the errors of fp32 hide in the difference of u16 to
    u16 / (1 + u16), as long as they are smaller (`rounding_hides`).
    """
    unit = scheme.scale_format.unit_roundoff
    return abs(computed) * (HALF + _levels(scheme) * unit) + unit * abs(minimum)


def scale_stored_narrow(computed: Fraction, scheme: Scheme) -> Fraction:
    """A symmetric scale that is rounded to fp16 after encoding (llama.cpp q8_0, q4_0, q5_0), normal there.

    With u = u16: d (1/2 + 127 u) for q8_0; |d| (1 + 8 u) for q4_0 and |d| (1 + 16 u) for q5_0, whose code of the
    anchor's opposite is one short. Needs `rounding_hides`.
    """
    codes = _integer_codes(scheme)
    short = codes.largest - codes.highest
    return abs(computed) * (max(HALF, Fraction(short)) + codes.largest * scheme.scale_format.unit_roundoff)


def rounding_hides(scheme: Scheme) -> bool:
    """Whether kappa fits in the difference of N u and N u / (1 + u), u of the scale format: then N u covers both."""
    unit = scheme.scale_format.unit_roundoff
    fine = scheme.arithmetic.unit_roundoff
    subtraction = _levels(scheme) * fine * (1 + 4 * fine) if scheme.zero is Zero.MINIMUM else 0
    return kappa_of(scheme) + subtraction <= _levels(scheme) * unit * unit / (1 + unit)


def bound(value: Value, scale: Scale, scheme: Scheme) -> Fraction:
    """The error that `value` may have under this very scale, static or not, clipping included.

    Raises UndefinedError for a value that is not finite, or that a scheme without saturation overflows.
    """
    number = rational(value)
    if number is None:
        raise UndefinedError(f"{scheme.name}: {value} has no error")
    if not scale.multiplier:
        return abs(number - (scale.zero if scheme.zero is Zero.MINIMUM else 0))
    if not isinstance(scheme.codes, IntegerCodes):
        return _float_bound(number, scale, scheme, scheme.codes)
    if scheme.zero is Zero.MINIMUM:
        return _minimum_bound(number, scale, scheme)
    offset = int(scale.zero) if scheme.zero is Zero.ZERO_POINT else 0
    return max(_step(number, scale, scheme), *_clipped(number, scale, scheme.codes, offset))


def fp8_theorem(magnitude: Fraction, stored: Fraction, scheme: Scheme) -> Fraction:
    """Saturating codes: max(s (2**(max(floor(log2 t), emin) - p) + u t), |x| - largest s), t = |x| / s."""
    if isinstance(scheme.codes, IntegerCodes):
        raise UndefinedError(f"{scheme.name} has no floating-point codes")
    ratio = magnitude / stored
    step = ulp(ratio, scheme.codes) / 2 + scheme.arithmetic.unit_roundoff * ratio
    return max(stored * step, magnitude - scheme.codes.largest * stored)


def rounding_term(value: Fraction, format: FloatFormat) -> Fraction:
    """What rounding `value` to `format` may add: u |value|, at least half the smallest number; no overflow."""
    return max(format.unit_roundoff * abs(value), format.smallest / 2)


def dequantized_bound(code_value: Fraction, scheme: Scheme, output: FloatFormat | None = None) -> Fraction:
    """What `dequantize` adds to `decode` for symmetric codes: one rounding in the arithmetic, one more to `output`."""
    first = rounding_term(code_value, scheme.arithmetic)
    if output is None or output is scheme.arithmetic:
        return first
    return first + rounding_term(abs(code_value) + first, output)


def allowed_codes(value: Value, scale: Scale, scheme: Scheme, divisions: Iterable[Division] = tuple(Division)) -> range:
    """The integer codes that a quantizer may give which stores `scale` and divides in one of `divisions`.

    Either neighbour is allowed only where |x / s| lies within kappa of a midpoint, with the largest kappa of the
    divisions that are possible. By default that is every form, so that an undeclared one is not accused.
    """
    codes, number = _integer_codes(scheme), rational(value)
    if number is None:
        raise UndefinedError(f"{scheme.name}: {value} has no neighbours")
    if not scale.stored or scheme.zero is Zero.MINIMUM:
        raise UndefinedError(f"{scheme.name}: neighbours are defined about a nonzero scale and an integer zero")
    offset = int(scale.zero) if scheme.zero is Zero.ZERO_POINT else 0
    slack = HALF + max(kappa(_levels(scheme), division, scheme.arithmetic) for division in divisions)
    ratio = number / scale.stored + offset
    low, high = -((slack - ratio) // 1), (ratio + slack) // 1
    return range(max(codes.lowest, min(codes.highest, low)), max(codes.lowest, min(codes.highest, high)) + 1)


def _integer_codes(scheme: Scheme) -> IntegerCodes:
    if not isinstance(scheme.codes, IntegerCodes):
        raise UndefinedError(f"{scheme.name} has floating-point codes")
    return scheme.codes


def _levels(scheme: Scheme) -> int:
    """The largest magnitude of a quotient whose code is not clipped, in codes."""
    codes = _integer_codes(scheme)
    return codes.largest if scheme.zero is Zero.SYMMETRIC else codes.highest - codes.lowest


def _quotient_kappa(scheme: Scheme) -> Fraction:
    """Kappa of the last rounding alone: the multiplier's own error is known exactly from the scale."""
    inexact = scheme.division in {Division.EXACT, Division.WITHIN_2_ULP}
    division = scheme.division if inexact else Division.DIVIDE
    return kappa(_levels(scheme), division, scheme.arithmetic) + _added_half(scheme)


def _added_half(scheme: Scheme) -> Fraction:
    if scheme.rounding is not Rounding.ADD_HALF or scheme.division is Division.EXACT:
        return Fraction(0)
    codes = _integer_codes(scheme)
    below = codes.highest - codes.lowest
    return power_of_two(floor_log2(below - HALF)) * scheme.arithmetic.unit_roundoff


def _mismatch(scale: Scale) -> Fraction:
    return abs(1 - scale.multiplier * scale.stored)


def _step(number: Fraction, scale: Scale, scheme: Scheme) -> Fraction:
    return abs(scale.stored) * (HALF + _quotient_kappa(scheme)) + abs(number) * _mismatch(scale)


def _clipped(number: Fraction, scale: Scale, codes: IntegerCodes, offset: int) -> tuple[Fraction, Fraction]:
    ratio, size = number / scale.stored if scale.stored else Fraction(0), abs(scale.stored)
    return size * (ratio - (codes.highest - offset)), size * ((codes.lowest - offset) - ratio)


def _minimum_bound(number: Fraction, scale: Scale, scheme: Scheme) -> Fraction:
    """The subtraction's rounding, then a step from the minimum, then what storing the minimum changed."""
    shifted, unit = number - scale.subtracted, scheme.arithmetic.unit_roundoff
    lost = unit * abs(shifted)
    away = shifted + lost if shifted > 0 else shifted - lost
    inner = max(_step(away, scale, scheme), *_clipped(away, scale, _integer_codes(scheme), 0))
    return lost + inner + abs(scale.subtracted - scale.zero)


def _float_bound(number: Fraction, scale: Scale, scheme: Scheme, codes: FloatFormat) -> Fraction:
    ratio = abs(number * scale.multiplier)
    lost = min(ulp(ratio, scheme.arithmetic) / 2, scheme.arithmetic.unit_roundoff * ratio)
    rounding = Fraction(0) if scheme.division is Division.EXACT else lost
    limit = codes.largest + ulp(codes.largest, codes) / 2
    if ratio + rounding >= limit and scheme.overflow is not Overflow.SATURATE:
        raise UndefinedError(f"{scheme.name}: {number} overflows and the scheme does not saturate")
    step = abs(scale.stored) * (ulp(ratio, codes) / 2 + rounding) + abs(number) * _mismatch(scale)
    return max(step, abs(number) - codes.largest * abs(scale.stored))
