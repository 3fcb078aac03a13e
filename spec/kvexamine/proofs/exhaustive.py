"""Every bf16 and fp16 input against the bounds: `python -m kvexamine.proofs.exhaustive`.

Scaling the anchor and the values of a group by a power of two changes no code, so the anchor runs through every
significand of the format, and the values through every number up to the anchor whose quotient is at least 1/4 of the
smallest step; smaller ones get code 0 and an error below half a step. A floating-point code repeats itself in every
binade of its normal range, so two of those stand for all.

Binary64 is exact for this: quotients and products rounded to 53 bits and then to 24 are the same as rounded to 24
(53 >= 2 * 24 + 2), and a code times a scale has at most 32 bits. The worst pair of every anchor is judged again by the
exact functions of this package.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import frexp

from kvspec.numbers.bounds import fp8_theorem, theorem_q
from kvspec.numbers.floats import BF16, FP16, FloatFormat, ulp
from kvspec.numbers.quantize import decode, encode, scale_of
from kvspec.numbers.schemes import E4M3, E5M2_CODES, INT4, INT8, Division, IntegerCodes, Scheme

_FORMS = (Division.DIVIDE, Division.RECIPROCAL, Division.INVERSE_FIRST)
CASES = (
    *(replace(base, scale_format=INT8.scale_format, division=form) for base in (INT8, INT4) for form in _FORMS),
    E4M3,
    E5M2_CODES,
)


@dataclass(slots=True)
class Outcome:
    """Counts over all pairs of anchor and value; the worst error over its bound, and what of kappa it uses."""

    pairs: int = 0
    beyond_half: int = 0
    violations: int = 0
    ratio: Fraction = Fraction(0)
    excess: Fraction = Fraction(0)
    at: tuple[float, float] = (0.0, 0.0)


def significands(format: FloatFormat) -> list[float]:
    """The significands of `format`, from 1 up to 2."""
    steps = 1 << (format.precision - 1)
    return [1 + k / steps for k in range(steps)]


def binades(anchor: float, scheme: Scheme) -> Iterator[int]:
    """The exponents of the values to be tried with an anchor in [1, 2)."""
    codes = scheme.codes
    if isinstance(codes, IntegerCodes):
        lowest = frexp(anchor / scheme.divisor / 4)[1] - 1
        yield from range(lowest, 1)
        return
    lowest_step = frexp(anchor / scheme.divisor * float(codes.smallest) / 4)[1] - 1
    normal = frexp(anchor / scheme.divisor)[1] + codes.emin
    yield from range(lowest_step, normal + 1)
    yield from (-1, 0)


def quotients(values: list[float], anchor: float, scale: float, scheme: Scheme) -> array[float]:
    """Quotients rounded to fp32, by the division of the scheme."""
    if scheme.division is Division.DIVIDE:
        return array("f", [value / scale for value in values])
    inverse = scheme.divisor / anchor if scheme.division is Division.INVERSE_FIRST else 1 / scale
    multiplier = array("f", [inverse])[0]
    return array("f", [value * multiplier for value in values])


def integer_worst(values: list[float], ratios: array[float], scale: float) -> tuple[int, int]:
    """Index of the largest error, and how many exceed half a scale."""
    errors = [abs(value - code * scale) for value, code in zip(values, map(round, ratios), strict=True)]
    worst, half = max(errors), scale / 2
    beyond = sum(error > half for error in errors) if worst > half else 0
    return errors.index(worst), beyond


def float_worst(values: list[float], ratios: array[float], scale: float, codes: FloatFormat) -> tuple[int, int]:
    """Index of the largest excess over the half step relative to the value, and how many have an excess."""
    largest, emin, shift = float(codes.largest), codes.emin, codes.precision
    excesses = []
    for value, ratio in zip(values, ratios, strict=True):
        step = 2.0 ** (max(frexp(ratio)[1] - 1, emin) - shift + 1)
        code = min(round(ratio / step) * step, largest)
        half = 2.0 ** (max(frexp(value / scale)[1] - 1, emin) - shift) * scale
        excesses.append((abs(value - code * scale) - half) / value)
    worst = max(excesses)
    return excesses.index(worst), sum(excess > 0 for excess in excesses) if worst > 0 else 0


def judge(value: float, anchor: float, scheme: Scheme, outcome: Outcome) -> None:
    """Weigh one pair with the exact functions: error over bound, and excess over kappa."""
    scale = scale_of([anchor], scheme)
    exact_value = Fraction(value)
    decoded = decode(encode(exact_value, scale, scheme), scale, scheme)
    error = abs(exact_value - decoded) if isinstance(decoded, Fraction) else exact_value
    if isinstance(scheme.codes, IntegerCodes):
        half, limit = scale.stored / 2, theorem_q(exact_value, scale.stored, scheme)
    else:
        half = scale.stored * ulp(exact_value / scale.stored, scheme.codes) / 2
        limit = fp8_theorem(exact_value, scale.stored, scheme)
    outcome.violations += error > limit
    if error / limit > outcome.ratio:
        outcome.ratio, outcome.at = error / limit, (anchor, value)
    outcome.excess = max(outcome.excess, (error - half) / (limit - half))


def check(format: FloatFormat, scheme: Scheme) -> Outcome:
    """All inputs of one format under one scheme."""
    outcome, ones = Outcome(), significands(format)
    for anchor in ones:
        scale = array("f", [anchor / scheme.divisor])[0]
        values = [2.0**e * one for e in binades(anchor, scheme) for one in ones if 2.0**e * one <= anchor]
        ratios = quotients(values, anchor, scale, scheme)
        if isinstance(scheme.codes, FloatFormat):
            index, beyond = float_worst(values, ratios, scale, scheme.codes)
        else:
            index, beyond = integer_worst(values, ratios, scale)
        outcome.pairs += len(values)
        outcome.beyond_half += beyond
        judge(values[index], anchor, scheme, outcome)
    return outcome


def main() -> int:
    """Print one line for each format and scheme; the exit code is 1 if a bound is exceeded."""
    started, violations, pairs = time.monotonic(), 0, 0
    for format in (BF16, FP16):
        for scheme in CASES:
            found = check(format, scheme)
            violations += found.violations
            pairs += found.pairs
            print(
                f"{format.name} {scheme.name:5} {scheme.division.value:22} pairs {found.pairs:9,}"
                f"  beyond half a step {found.beyond_half:7,}  beyond the bound {found.violations}"
                f"  worst/bound {float(found.ratio):.9f}  share of kappa {float(found.excess):.4f}"
                f"  at a={found.at[0]!r} x={found.at[1]!r}",
                flush=True,
            )
    print(f"{pairs:,} pairs, {violations} beyond the bound, {time.monotonic() - started:.0f} s")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
