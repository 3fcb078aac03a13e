"""What a kernel may answer for one row: the interval of its output, that of its LSE, and those of a merge of two."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from kvoptimized.prefilling import Arithmetic
from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.arithmetic import OWN_EXPONENT, TINY, gamma
from kvreference.tolerance.certificates import certify
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.logsum import lse_tolerance

LSE_UNIT = 2.0**-24
"""LSE is stored in fp32."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The least and greatest output, float64 `[head_dim]`, and the LSE with its tolerance."""

    low: Float
    high: Float
    lse: float
    lse_tolerance: float

    def holds(self, output: Float, lse: float) -> bool:
        """Whether an answer lies within; NaN does not."""
        inside = bool(((output >= self.low) & (output <= self.high)).all())
        return inside and abs(lse - self.lse) <= self.lse_tolerance


def allowed(row: Row, value_scales: Float, said: Arithmetic, output: str | None = None) -> Allowed:
    """By certificate T2 and section LSE of `spec/attention-tolerance.md`; the output is stored in format `output`."""
    known = {field.name for field in fields(Declaration)}
    declaration = Declaration(**{f.name: getattr(said, f.name) for f in fields(said) if f.name in known})
    if output is not None:
        declaration = replace(declaration, output=output)
    certificate = certify(row, declaration, value_scales if said.scaled else None)
    return Allowed(*certificate.interval(declaration.output), *lse_tolerance(row, declaration, LSE_UNIT))


def _exp(declaration: Declaration) -> float:
    return declaration.exp_error / (1 - declaration.exp_error)


def merged(a: Allowed, b: Allowed, output: str) -> Allowed:
    """What the merge of two answers that are allowed may be (section Merging two states), stored in format `output`.

    On top of the error of the merge, a weight moves by what both LSE are off, and outputs lie anywhere in their
    intervals.
    """
    plain = Declaration(accumulation=2.0**-23)
    u, top = plain.accumulation, max(a.lse, b.lse)
    eta = gamma(5, u) * (abs(top) + abs(a.lse - b.lse) + 2) + 3 * _exp(plain)
    weights = np.exp(np.array([a.lse, b.lse]) - top)
    p, q = weights / weights.sum()
    moved = float(np.expm1(2 * eta + a.lse_tolerance + b.lse_tolerance + gamma(8, u) + 2 * OWN_EXPONENT))
    size = np.maximum(np.abs(a.low), np.abs(a.high)) + np.maximum(np.abs(b.low), np.abs(b.high))
    off = moved * size + 4 * TINY
    ends = [round_to(p * x + q * y + sign * off, format_named(output)) for x, y, sign in _ends(a, b)]
    tolerance = max(a.lse_tolerance, b.lse_tolerance) + 2 * eta + (LSE_UNIT + 2 * OWN_EXPONENT) * (abs(top) + 1)
    return Allowed(ends[0], ends[1], top + float(np.log(weights.sum())), tolerance)


def _ends(a: Allowed, b: Allowed) -> tuple[tuple[Float, Float, float], tuple[Float, Float, float]]:
    return (a.low, b.low, -1.0), (a.high, b.high, 1.0)
