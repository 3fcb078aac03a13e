"""What a scheme says of an array: fast from the NumPy reference, and one value at a time from the specification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kvconformance.evidence.codes import one_nan
from kvconformance.surfaces.quantizer.protocol import Single
from kvreference import quantizers
from kvspec.numbers.bounds import bound, rounding_term
from kvspec.numbers.floats import FloatFormat, Overflow, Special, power_of_two, rational, ulp
from kvspec.numbers.groups import Extent, groups
from kvspec.numbers.quantize import Scale, decode, dequantize, encode, given_scale, scale_of
from kvspec.numbers.schemes import Division, Granularity, IntegerCodes, Scheme, Zero
from kvspec.refusals import Refused
from kvspec.violation import HarnessFault

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Meaning:
    """`codes` `[tokens, kv_heads, head_dim]` int64, all NaN patterns one; `scales` and `zeros` float64 per group."""

    codes: NDArray[np.int64]
    scales: Doubles
    zeros: Doubles | None


class Expected:
    """One array under one scheme; `fixed` are static scales and zeros, one for each group."""

    def __init__(self, x: Single, scheme: Scheme, fixed: tuple[Single, Single | None] | None = None) -> None:
        self.x, self.scheme, self.fixed = x, scheme, fixed
        self.extent = Extent(*x.shape)
        self.group = group_of(self.extent, scheme)
        self.known: dict[int, Scale] = {}

    def meaning(self) -> Meaning | None:
        """By the NumPy reference; None where the scheme refuses the array."""
        declared = self.scheme
        if declared.division is Division.WITHIN_2_ULP:
            declared = replace(declared, division=Division.DIVIDE)
        try:
            if self.fixed is None:
                found = quantizers.encode(self.x, declared)
                codes, scales = found.codes, found.scales
            else:
                scales = shaped(self.fixed, self.x.shape, declared)
                codes = quantizers.encode_with(self.x, scales, declared)
        except Refused:
            return None
        zeros = None if scales.zero is None else scales.zero.ravel().astype(np.float64)
        return Meaning(one_nan(codes, declared), scales.scale.ravel().astype(np.float64), zeros)

    def members(self, index: int) -> list[Fraction | float]:
        """The values of the group of the element with flat index `index`."""
        return [float(v) for v in self.x.ravel()[self.group == self.group[index]]]

    def scale(self, index: int) -> Scale:
        """The scale of the specification for the group of an element. Raises `HarnessFault` where it refuses."""
        group = int(self.group[index])
        if group not in self.known:
            try:
                self.known[group] = (
                    self.fixed_scale(group) if self.fixed else scale_of(self.members(index), self.scheme)
                )
            except Refused as error:
                raise HarnessFault(f"the reference encodes what the specification refuses: {error}") from error
        return self.known[group]

    def fixed_scale(self, group: int) -> Scale:
        """A static scale of the specification."""
        scales, zeros = self.fixed or (np.zeros(0, np.float32), None)
        zero = float(zeros.ravel()[group]) if zeros is not None else 0
        return given_scale(float(scales.ravel()[group]), self.scheme, zero)

    def code(self, index: int) -> int:
        """The code of the specification for one element."""
        return encode(float(self.x.ravel()[index]), self.scale(index), self.scheme)

    def inside(self, index: int) -> bool:
        """Whether the element lies between the lowest and the highest code, so that nothing is clipped."""
        if not np.isfinite(self.x.ravel()[index]):
            return False
        scale, value = self.scale(index), Fraction(float(self.x.ravel()[index]))
        if not isinstance(self.scheme.codes, IntegerCodes):
            return abs(value) <= self.scheme.codes.largest * scale.stored
        ends = [
            rational(decode(code, scale, self.scheme)) for code in (self.scheme.codes.lowest, self.scheme.codes.highest)
        ]
        return min(e for e in ends if e is not None) <= value <= max(e for e in ends if e is not None)

    def overflows(self, index: int) -> bool:
        """Whether the specification's own code of the element reads as no finite number.

        A scheme may say NaN on overflow: under a subnormal scale that was rounded down, this happens to the largest
        element of its own group. And code times scale may round past the largest number of the arithmetic.
        """
        return not np.isfinite(self.read_as(index))

    def read_as(self, index: int) -> float:
        """What the specification reads of one element."""
        return read_as(float(self.x.ravel()[index]), self.scale(index), self.scheme)

    def allowed_error(self, index: int, scale: Scale) -> Fraction:
        """The bound for one element under a scale, and what reading rounds."""
        value = float(self.x.ravel()[index])
        allowed = error_bound(value, scale, self.scheme)
        return allowed + reading(abs(Fraction(value)) + allowed, scale, self.scheme)


def read_as(value: Fraction | float, scale: Scale, scheme: Scheme) -> float:
    """What a value is read as in the arithmetic; NaN or infinity where its code or code times scale is none."""
    if scheme.division is Division.WITHIN_2_ULP:
        scheme = replace(scheme, division=Division.DIVIDE)
    number = dequantize(encode(value, scale, scheme), scale, scheme)
    return float(number.value) if isinstance(number, Special) else float(number)


def infinite_from(format: FloatFormat) -> Fraction:
    """The smallest magnitude that rounds to infinity: the largest number and half a step."""
    return format.largest + ulp(format.largest, format) / 2


def error_bound(value: Fraction | float, scale: Scale, scheme: Scheme) -> Fraction:
    """The bound of the specification; what a scheme that does not saturate reads as a number, it holds to as well."""
    return bound(value, scale, replace(scheme, overflow=Overflow.SATURATE))


def surely(error: Doubles, x: Single | Doubles, scales: Doubles, scheme: Scheme) -> NDArray[np.bool_]:
    """Where an error is so small that no exact look is needed: half a scale, or half a floating-point code's half step.

    `scales` are those of the elements, of the shape of `x`: 0 for a zero group, which loses the value, and NaN where an
    exact look is always needed.
    """
    codes, size = scheme.codes, np.abs(x.astype(np.float64))
    lost = (scales == 0) & (error <= size) & (scheme.zero is not Zero.MINIMUM)
    if isinstance(codes, IntegerCodes):
        step = np.abs(scales) / 2
    else:
        step = np.maximum(np.abs(scales) * float(codes.smallest / 2), size * float(power_of_two(-codes.precision - 1)))
    return np.asarray(np.isfinite(error) & (lost | (error <= step)))


def reading(size: Fraction, scale: Scale, scheme: Scheme, output: FloatFormat | None = None) -> Fraction:
    """What decoding may round: the product of code and scale, the sum with a minimum, the cast to `output`.

    `size` bounds the decoded magnitude. Either order of the roundings and a fused sum are covered.
    """
    arithmetic = scheme.arithmetic
    minimum = abs(scale.zero) if scheme.zero is Zero.MINIMUM else Fraction(0)
    first = rounding_term(size + minimum, arithmetic)
    total = first + (rounding_term(size + first, arithmetic) if minimum else 0)
    return total + (rounding_term(size + total, output) if output is not None else 0)


@cache
def group_of(extent: Extent, scheme: Scheme) -> NDArray[np.int64]:
    """The number of the group of every element, flat."""
    numbers = np.empty(extent.elements, np.int64)
    for number, members in enumerate(groups(extent, scheme)):
        numbers[members] = number
    return numbers


def shaped(fixed: tuple[Single, Single | None], shape: tuple[int, ...], scheme: Scheme) -> quantizers.Scales:
    """Flat scales and zeros in the shape of the reference."""
    wanted = quantizers.scale_shape(shape, scheme)
    scales, zeros = fixed
    return quantizers.Scales(scales.reshape(wanted), None if zeros is None else zeros.reshape(wanted))


def per_token(scheme: Scheme) -> bool:
    """Whether a row's scales come from that row alone."""
    return scheme.granularity in {Granularity.TOKEN_HEAD, Granularity.GROUP}


def token_group(scheme: Scheme) -> int:
    """Tokens that come and go together, because they share scales of their own.

    1 where every row has scales of its own, and where all tokens share theirs: those stay with the rest of the tokens.
    """
    return (scheme.group_size or 1) if scheme.granularity is Granularity.CHANNEL else 1
