"""Judges one encoding: its scales, its codes, what they decode to, and how far that is from the values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kvconformance.evidence.codes import one_nan
from kvconformance.surfaces.quantizer.expected import Doubles, Expected, Meaning, infinite_from, reading, surely
from kvconformance.surfaces.quantizer.protocol import Array, Declaration, Encoded
from kvreference.codes import float_kind
from kvreference.float_codes import decode_float
from kvspec import rules
from kvspec.numbers.bounds import allowed_codes, rounding_term
from kvspec.numbers.floats import power_of_two
from kvspec.numbers.quantize import Scale
from kvspec.numbers.schemes import IntegerCodes, Scheme, Zero
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Tally

FAR = 2
"""Codes apart: no rounding moves a value that far, another scale does."""


class Judge:
    """One array that was encoded and decoded, under one declaration."""

    def __init__(self, tally: Tally, declared: Declaration, expected: Expected) -> None:
        self.tally, self.declared, self.expected = tally, declared, expected
        self.scheme: Scheme = declared.scheme

    def judge(self, encoded: Encoded, decoded: Array) -> None:
        """Raise `Violation` for the first rule that the encoding breaks."""
        meaning = self.expected.meaning()
        if meaning is None:
            self.finite_without_scale(decoded)
            return
        self.shape(decoded)
        self.scales(encoded, meaning)
        self.codes(encoded, meaning)
        self.reading(encoded, decoded)
        self.half_step(encoded, meaning, decoded)

    def finite_without_scale(self, decoded: Array) -> None:
        """The scheme has no scale for these values: refuse them or clip them, but do not make them infinite."""
        x = self.expected.x
        broken = np.isfinite(x) & ~np.isfinite(np.asarray(decoded, np.float64))
        self.tally.require(
            not broken.any(),
            rules.SCALE_FROM_VALID_DATA,
            lambda: (
                f"{_named(x, broken)} decodes to {_first(decoded, broken)}: its scale overflows",
                "a refusal, or a finite scale that clips",
            ),
        )

    def shape(self, decoded: Array) -> None:
        """Decoding gives back the shape."""
        if decoded.shape != self.expected.x.shape:
            self.tally.broken(
                rules.HALF_STEP, f"decodes to shape {list(decoded.shape)}", f"shape {list(self.expected.x.shape)}"
            )

    def scales(self, encoded: Encoded, meaning: Meaning) -> None:
        """Scales and zeros are those of the values of their groups, or the given ones."""
        rule = rules.SCALE_FROM_VALID_DATA if self.expected.fixed is None else rules.ONE_SCALE
        for what, theirs, ours in (("scale", encoded.scales, meaning.scales), ("zero", encoded.zeros, meaning.zeros)):
            if theirs is None or ours is None:
                continue
            found = np.asarray(theirs, np.float64).ravel()
            if len(found) != len(ours):
                raise HarnessFault(f"the adapter shows {len(found)} {what}s for {len(ours)} groups")
            wrong = np.flatnonzero(~(np.abs(found - ours) <= self.scale_slack(ours)) & self.ordinary(meaning))
            self.tally.met(rule)
            if len(wrong):
                self.tally.broken(rule, *self.wrong_scale(what, int(wrong[0]), found, ours))

    def ordinary(self, meaning: Meaning) -> NDArray[np.bool_]:
        """Groups whose scale is judged: all, but under an undeclared division only those with a normal reciprocal.

        It may multiply by a reciprocal that overflows, which makes a zero group.
        """
        least = float(power_of_two(self.scheme.arithmetic.emin))
        size = np.abs(meaning.scales)
        return self.declared.exact_codes | ((size >= least) & (size <= 1 / least))

    def scale_slack(self, ours: Doubles) -> Doubles:
        """How far a scale may be off: not at all, or by the 2 ulp of each of two undeclared divisions."""
        if self.declared.exact_codes or self.expected.fixed is not None:
            return np.zeros_like(ours)
        unit = 2 * float(self.scheme.arithmetic.unit_roundoff)
        return np.asarray(4 * np.maximum(unit * np.abs(ours), float(self.scheme.arithmetic.smallest)), np.float64)

    def wrong_scale(self, what: str, group: int, found: Doubles, ours: Doubles) -> tuple[str, str]:
        """Words for a wrong scale, once the specification agrees that it is wrong."""
        index = int(np.flatnonzero(self.expected.group == group)[0])
        scale = self.expected.scale(index)
        spec = scale.stored if what == "scale" else scale.zero
        if self.declared.exact_codes and Fraction(float(ours[group])) != spec:
            raise HarnessFault(f"{self.scheme.name}: reference and specification differ about a {what}")
        values = self.expected.x.ravel()[self.expected.group == group]
        span = f"{self.place(index)} holds values from {values.min():g} to {values.max():g}"
        given = "that was given" if self.expected.fixed is not None else "of these values"
        return f"{span} and has the {what} {float(found[group])!r}", f"the {what} {float(ours[group])!r} {given}"

    def codes(self, encoded: Encoded, meaning: Meaning) -> None:
        """Codes bit for bit, or either neighbour where the division is not declared."""
        if encoded.codes is None:
            return
        theirs = one_nan(encoded.codes, self.scheme)
        if theirs.shape != meaning.codes.shape:
            raise HarnessFault(f"the adapter shows codes of shape {theirs.shape} for values of {meaning.codes.shape}")
        # A code that multiplies a scale of zero means nothing.
        live = ((meaning.scales != 0) & self.ordinary(meaning))[self.expected.group]
        if not self.declared.bounded:
            return
        differing = np.flatnonzero((theirs != meaning.codes).ravel() & live)
        wrong = [int(i) for i in differing if not self.allowed(int(i), int(theirs.ravel()[i]))]
        rule = self.blame(wrong, theirs, meaning) if wrong else rules.HALF_STEP
        self.tally.require(not wrong, rule, lambda: self.wrong_code(wrong[0], theirs, meaning))

    def allowed(self, index: int, code: int) -> bool:
        """Whether the specification allows this code, where it allows more than one."""
        if self.declared.exact_codes or not isinstance(self.scheme.codes, IntegerCodes):
            return False
        if self.scheme.zero is Zero.MINIMUM:
            return True
        return code in allowed_codes(float(self.expected.x.ravel()[index]), self.expected.scale(index), self.scheme)

    def blame(self, wrong: list[int], theirs: NDArray[np.int64], meaning: Meaning) -> Rule:
        """Which rule wrong codes break: rounding moves a few by one, another scale moves most of a group by many."""
        group = self.expected.group == self.expected.group[wrong[0]]
        ours, seen = ordered(meaning.codes.ravel()[group], self.scheme), ordered(theirs.ravel()[group], self.scheme)
        large = np.abs(ours - ordered(self.zero_codes(meaning)[group], self.scheme)) >= FAR
        inside = np.array([self.expected.inside(int(i)) for i in np.flatnonzero(group)])
        moved = (np.abs(ours - seen) >= FAR) & large & inside
        many = moved.any() and 2 * moved.sum() > (large & inside).sum()
        return rules.ONE_SCALE if many else rules.HALF_STEP

    def zero_codes(self, meaning: Meaning) -> NDArray[np.int64]:
        """The code of zero for every element."""
        if self.scheme.zero is Zero.ZERO_POINT and meaning.zeros is not None:
            return meaning.zeros.astype(np.int64)[self.expected.group]
        return np.zeros(len(self.expected.group), np.int64)

    def wrong_code(self, index: int, theirs: NDArray[np.int64], meaning: Meaning) -> tuple[str, str]:
        """Words for a wrong code, once the specification agrees that it is wrong."""
        spec = (
            int(one_nan(np.array([self.expected.code(index)]), self.scheme)[0]) if self.declared.exact_codes else None
        )
        code = int(theirs.ravel()[index])
        if spec is not None and spec != meaning.codes.ravel()[index]:
            raise HarnessFault(f"{self.scheme.name}: reference and specification differ about a code")
        scale = self.expected.scale(index)
        value = float(self.expected.x.ravel()[index])
        ratio = value * float(scale.multiplier)
        seen = f"{self.place(index)}: {value!r} / {float(scale.stored)!r} = {ratio!r} gets code {code}"
        return seen, f"code {meaning.codes.ravel()[index]}" + (
            "" if spec is not None else " or a neighbour at a midpoint"
        )

    def reading(self, encoded: Encoded, decoded: Array) -> None:
        """What is read is the stored code times the stored scale, once."""
        if encoded.codes is None or encoded.scales is None:
            return
        product, zero = self.products(encoded)
        number, seen = product + zero, np.asarray(decoded, np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(seen - number)
            unit, least = float(self.scheme.arithmetic.unit_roundoff), float(self.scheme.arithmetic.smallest) / 2
            # Half of what is allowed needs no second look.
            sure = error <= np.maximum(unit * np.abs(product), least) / 2
        same = (seen == number) | (np.isnan(seen) & np.isnan(number))
        doubtful = np.flatnonzero(~(same | sure))
        wrong = [int(i) for i in doubtful if not self.read_right(product, zero, seen, int(i))]
        self.tally.require(
            not wrong, rules.ONE_SCALE, lambda: self.wrong_reading(wrong[0], encoded, number.ravel(), seen.ravel())
        )

    def products(self, encoded: Encoded) -> tuple[Doubles, Doubles]:
        """Code (about its zero point) times scale, exact in float64, and the minimum to be added."""
        codes = np.asarray(encoded.codes)
        group = self.expected.group.reshape(codes.shape)
        if isinstance(self.scheme.codes, IntegerCodes):
            numbers = codes.astype(np.float64)
        else:
            numbers = decode_float(codes.astype(np.uint8), float_kind(self.scheme))
        zeros = np.zeros(codes.shape) if encoded.zeros is None else np.asarray(encoded.zeros, np.float64).ravel()[group]
        if self.scheme.zero is Zero.ZERO_POINT:
            numbers, zeros = numbers - zeros, np.zeros(codes.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            return numbers * np.asarray(encoded.scales, np.float64).ravel()[group], zeros

    def read_right(self, product: Doubles, zero: Doubles, seen: Doubles, index: int) -> bool:
        """Whether, exactly, the number that was read is the product and sum, each rounded at most once.

        Past the largest number of the arithmetic they round to infinity.
        """
        two, number = [float(a.ravel()[index]) for a in (product, zero)], float(seen.ravel()[index])
        if not all(map(np.isfinite, two)):
            return False
        exact_product, exact_zero = map(Fraction, two)
        if not np.isfinite(number):
            past = infinite_from(self.scheme.arithmetic)
            terms = (exact_product, exact_product + exact_zero)
            return any(abs(term) >= past and number == term * np.inf for term in terms)
        first = rounding_term(exact_product, self.scheme.arithmetic)
        second = rounding_term(abs(exact_product + exact_zero) + first, self.scheme.arithmetic) if exact_zero else 0
        return abs(Fraction(number) - exact_product - exact_zero) <= first + second

    def wrong_reading(self, index: int, encoded: Encoded, number: Doubles, seen: Doubles) -> tuple[str, str]:
        """Words for a decoded number that is not code times scale."""
        code = int(np.asarray(encoded.codes).ravel()[index])
        scale = float(np.asarray(encoded.scales, np.float64).ravel()[self.expected.group[index]])
        return f"{self.place(index)}: code {code} with scale {scale!r} is read as {seen[index]!r}", repr(
            float(number[index])
        )

    def half_step(self, encoded: Encoded, meaning: Meaning, decoded: Array) -> None:
        """The bound of the scheme, where codes and scales that show it are not shown."""
        if not self.declared.bounded:
            return
        if encoded.codes is not None and encoded.scales is not None:
            self.tally.met(rules.HALF_STEP)
            return
        wrong = self.beyond(decoded, meaning)
        self.tally.require(not wrong, rules.HALF_STEP, lambda: self.wrong_value(wrong[0], decoded))

    def beyond(self, decoded: Array, meaning: Meaning) -> list[int]:
        """The elements whose error exceeds the bound."""
        x, seen = self.expected.x.astype(np.float64), np.asarray(decoded, np.float64)
        with np.errstate(invalid="ignore"):
            error = np.abs(x - seen)
        scales = np.abs(meaning.scales)[self.expected.group].reshape(x.shape)
        sure = surely(error, self.expected.x, scales, self.scheme)
        return [int(i) for i in np.flatnonzero(~sure) if not self.within(int(i), float(seen.ravel()[i]))]

    def within(self, index: int, seen: float) -> bool:
        """Whether, exactly, the error is at most the bound under the scale of the specification.

        Infinity and NaN, of the value or of what is read, are where the specification reads them; times a scale of zero
        they mean nothing.
        """
        value = float(self.expected.x.ravel()[index])
        if np.isfinite([value, seen]).all():
            return Fraction(abs(value - seen)) <= self.expected.allowed_error(index, self.scale_at(index))
        if not np.isfinite(value) and not self.scale_at(index).stored:
            return True
        wanted = self.expected.read_as(index)
        if np.isfinite([wanted, seen]).all():
            slack = reading(abs(Fraction(wanted)), self.scale_at(index), self.scheme)
            return abs(Fraction(seen) - Fraction(wanted)) <= slack
        return wanted == seen or bool(np.isnan(wanted) and np.isnan(seen))

    def scale_at(self, index: int) -> Scale:
        """The scale of the specification."""
        return self.expected.scale(index)

    def wrong_value(self, index: int, decoded: Array) -> tuple[str, str]:
        """Words for a value that is lost."""
        value, seen = float(self.expected.x.ravel()[index]), float(np.asarray(decoded, np.float64).ravel()[index])
        said = f"{self.place(index)}: {value!r} decodes to {seen!r}"
        if not np.isfinite(value):
            return said, repr(self.expected.read_as(index))
        return said, f"an error of at most {float(self.expected.allowed_error(index, self.scale_at(index))):g}"

    def place(self, index: int) -> str:
        """Where a flat index lies."""
        token, head, channel = np.unravel_index(index, self.expected.x.shape)
        return f"token {token} head {head} channel {channel}"


def ordered(codes: NDArray[np.int64], scheme: Scheme) -> NDArray[np.int64]:
    """Codes as integers in the order of their values."""
    if isinstance(scheme.codes, IntegerCodes):
        return codes
    return np.where(codes & 0x80, -(codes & 0x7F), codes & 0x7F)


def _named(x: Array, mask: NDArray[np.bool_]) -> str:
    token, head, channel = (int(i) for i in np.argwhere(mask)[0])
    return f"token {token} head {head} channel {channel}: {float(x[token, head, channel])!r}"


def _first(array: Array, mask: NDArray[np.bool_]) -> float:
    return float(np.asarray(array, np.float64)[mask][0])
