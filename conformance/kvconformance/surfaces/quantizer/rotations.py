"""What a stored row may be read as after its pairs are turned: computed in fp32, and quantized once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from kvconformance.surfaces.quantizer.expected import (
    Doubles,
    Expected,
    error_bound,
    group_of,
    infinite_from,
    read_as,
    reading,
    surely,
)
from kvconformance.surfaces.quantizer.protocol import Array, Single
from kvspec.numbers.groups import Extent
from kvspec.numbers.quantize import Scale, scale_of
from kvspec.numbers.schemes import Anchor, IntegerCodes, NonFinite, Scheme, Zero
from kvspec.refusals import Refused


class Turned:
    """One row `[kv_heads, head_dim]` after a rotation: `wanted` float64, and the `slack` within which fp32 computes it.

    The engine quantizes a row that it computed, so the scale of a group is known only within what the slack does to
    the group's extremes.
    """

    def __init__(self, row: Single, cosine: Single, sine: Single, scheme: Scheme) -> None:
        self.wanted, self.slack = rotation(row, cosine, sine)
        self.scheme = scheme
        self.group = group_of(Extent(1, *row.shape), scheme)
        self.known: dict[int, list[Scale]] = {}

    @property
    def finite(self) -> bool:
        """Whether it is surely made of finite numbers of the arithmetic; nothing is promised of what others become."""
        return bool((np.abs(self.wanted) + self.slack <= float(self.scheme.arithmetic.largest)).all())

    def may_be_refused(self) -> bool:
        """Whether the scheme has no scale for a row that may have been computed."""
        if not self.finite:
            with np.errstate(over="ignore"):
                row = self.wanted.astype(np.float32)[None]
            refused = NonFinite.REFUSE in {self.scheme.nan, self.scheme.infinity}
            return refused or Expected(row, self.scheme).meaning() is None
        try:
            for group in range(int(self.group.max()) + 1):
                self.scales(group)
        except Refused:
            return True
        return False

    def beyond(self, seen: Array) -> dict[int, float]:
        """The flat indices that are read wrongly, and the error that each may have; none unless the row is `finite`."""
        if not self.finite:
            return {}
        error = np.abs(np.asarray(seen, np.float64) - self.wanted)
        least = np.array(
            [
                min(float(abs(s.stored)) if s.multiplier else 0.0 for s in self.scales(int(group)))
                for group in self.group
            ]
        )
        sure = surely(error, self.wanted, least.reshape(error.shape), self.scheme)
        limits = {int(index): self.limit(int(index)) for index in np.flatnonzero(~sure)}
        return {
            index: float(limit)
            for index, limit in limits.items()
            if not self.within(index, float(error.ravel()[index]), limit)
        }

    def within(self, index: int, error: float, limit: Fraction) -> bool:
        """Whether an error is allowed; reading no finite number is where a code or a product may overflow."""
        if np.isfinite(error):
            return Fraction(error) <= limit
        if abs(Fraction(float(self.wanted.ravel()[index]))) + limit >= infinite_from(self.scheme.arithmetic):
            return True
        ends, scales = self.ends(index), self.scales(int(self.group[index]))
        return not all(np.isfinite(read_as(end, scale, self.scheme)) for end, scale in product(ends, scales))

    def limit(self, index: int) -> Fraction:
        """How far an element may be read from `wanted`: quantized from either end of its slack, under every scale."""
        scales = self.scales(int(self.group[index]))
        # A minimum is subtracted from a number that need not be one of the arithmetic, so the difference may underflow.
        underflow = self.scheme.arithmetic.smallest / 2 if self.scheme.zero is Zero.MINIMUM else 0
        worst = Fraction(0)
        for scale, end in product(scales, self.ends(index)):
            between = self.between(abs(end) + abs(scale.subtracted), scales)
            allowed = error_bound(end, scale, self.scheme) + between + underflow
            worst = max(worst, allowed + reading(abs(end) + allowed, scale, self.scheme))
        return worst + Fraction(float(self.slack.ravel()[index]))

    def between(self, size: Fraction, scales: list[Scale]) -> Fraction:
        """What a bound for a magnitude may have, at a scale between these, beyond the larger of theirs.

        A step grows with the scale and a clipping shrinks, so nothing where integer codes are divided by the scale that
        is stored. |1 - ms| and the step of a floating-point code jump where something is rounded, and change between
        jumps by the relative distance of the multipliers and two roundings; a minimum that is not the stored one moves.
        """
        minima = [scale.subtracted for scale in scales if scale.subtracted != scale.zero] or [Fraction(0)]
        if isinstance(self.scheme.codes, IntegerCodes) and all(s.multiplier * s.stored in {0, 1} for s in scales):
            return max(minima) - min(minima)
        multipliers = [abs(scale.multiplier) for scale in scales]
        apart = 1 - min(multipliers) / max(multipliers) if max(multipliers) else Fraction(0)
        return size * (apart + 2 * self.scheme.arithmetic.unit_roundoff) + max(minima) - min(minima)

    def ends(self, index: int) -> tuple[Fraction, Fraction]:
        """The least and the largest number that an element may have been computed as."""
        wanted, slack = (Fraction(float(a.ravel()[index])) for a in (self.wanted, self.slack))
        return wanted - slack, wanted + slack

    def scales(self, group: int) -> list[Scale]:
        """Scales of a group between which every possible one lies, its zero apart. Raises as `scale_of`."""
        if group not in self.known:
            found = [scale_of(extremes, self.scheme) for extremes in self.extremes(group)]
            mixed = [replace(s, zero=other.zero, subtracted=other.subtracted) for s, other in product(found, found)]
            self.known[group] = list(dict.fromkeys(mixed))
        return self.known[group]

    def extremes(self, group: int) -> Iterator[list[float]]:
        """The lowest and the highest value of a group, each as low and as high as it may be."""
        at = self.group == group
        least, most = ((self.wanted + sign * self.slack).ravel()[at] for sign in (-1, 1))
        low, high = (float(least.min()), float(most.min())), (float(least.max()), float(most.max()))
        if self.scheme.anchor is not Anchor.SIGNED_ABSMAX:
            yield from ([a, max(a, b)] for a, b in product(low, high))
            return
        smallest = max(high[0], -low[1])
        for sign, largest in ((1, high[1]), (-1, -low[0])):
            if largest >= smallest:
                yield from ([sign * smallest], [sign * largest])


def rotation(row: Single, cosine: Single, sine: Single) -> tuple[Doubles, Doubles]:
    """Pairs (2i, 2i + 1) turned, in float64, and what fp32 may lose: two products and a sum, each rounded.

    |fl(fl(ac) - fl(bs)) - (ac - bs)| <= u (|ac| + |bs|) (2 + u), and half the smallest number for each underflow.
    A pair with infinity or NaN gives infinity or NaN.
    """
    even, odd = row[..., ::2].astype(np.float64), row[..., 1::2].astype(np.float64)
    even, odd = even[..., : cosine.shape[-1]], odd[..., : cosine.shape[-1]]
    c, s = cosine.astype(np.float64), sine.astype(np.float64)
    wanted, slack = row.astype(np.float64), np.zeros(row.shape)
    end = 2 * cosine.shape[-1]
    unit = 2.0**-24
    with np.errstate(invalid="ignore"):
        wanted[..., :end:2], wanted[..., 1:end:2] = even * c - odd * s, even * s + odd * c
        slack[..., :end:2] = unit * (2 + unit) * (np.abs(even * c) + np.abs(odd * s)) + 2.0**-149
        slack[..., 1:end:2] = unit * (2 + unit) * (np.abs(even * s) + np.abs(odd * c)) + 2.0**-149
    return wanted, slack
