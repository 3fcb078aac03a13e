"""Which outputs and LSEs are allowed: intervals per row and head, derived in `spec/attention-tolerance.md`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kvconformance.surfaces.attention.judging.doubts import doubts
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.arithmetic import OWN_EXPONENT, TINY, gamma
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.logsum import lse_tolerance


@dataclass(frozen=True, slots=True)
class Allowed:
    """Least and greatest `output` `[rows, heads, value_dim]` and LSE `[rows, heads]`, as stored."""

    low: Float
    high: Float
    lse_low: Float
    lse_high: Float
    empty: Float
    """Whether a row sees no key, `[rows, heads]`."""

    def rows(self, start: int, stop: int) -> Allowed:
        """The part for some of the rows."""
        return Allowed(*(getattr(self, name)[start:stop] for name in self.__dataclass_fields__))


def allowed(problem: Problem, declaration: Declaration, lse_error: float) -> Allowed:
    """The intervals of every row of a problem but padding; rows without keys are exactly 0 and minus infinity.

    Over a quantized cache they lie around attention of what the codes mean.
    """
    declared = declaration if problem.splits == 1 else replace(declaration, splits=problem.splits)
    rows, doubtful = problem.row_list(), doubts(problem, declared)
    shape = (problem.rows, problem.query.shape[1])
    wide = (*shape, problem.query.shape[2])
    found = Allowed(np.zeros(wide), np.zeros(wide), *(np.zeros(shape) for _ in range(3)))
    for index in np.ndindex(shape):
        row, doubt = rows[index[0]][index[1]], doubtful[index[0]][index[1]]
        found.low[index], found.high[index] = doubt.certificate(row, declared).interval(declared.output)
        found.lse_low[index], found.lse_high[index] = lse_interval(
            row, declared, lse_error, doubt.keys, doubt.key_units
        )
        found.empty[index] = len(row.keys) == 0
    return found


def lse_interval(
    row: Row,
    declaration: Declaration,
    stored_error: float,
    key_error: Float | None = None,
    key_units: Float | None = None,
) -> tuple[float, float]:
    """The least and greatest LSE that a kernel may store (section LSE), whose keys are off by up to `key_error`."""
    exact, tolerance = lse_tolerance(row, declaration, stored_error, key_error, key_units)
    return exact - tolerance, exact + tolerance


@dataclass(frozen=True, slots=True)
class Parts:
    """Two states to merge: outputs `[rows, heads, value_dim]`, LSE `[rows, heads]`, float64 of what is stored."""

    outputs: tuple[Float, Float]
    lse: tuple[Float, Float]


def merged(parts: Parts, declaration: Declaration, stored_error: float) -> Allowed:
    """The merges that are allowed (section Merging two states)."""
    u, exp = declaration.accumulation, declaration.exp_error / (1 - declaration.exp_error)
    (a, b), (left, right) = parts.outputs, parts.lse
    top = np.maximum(left, right)
    none, finite = np.isneginf(top), np.isfinite(left) & np.isfinite(right)
    safe = np.where(none, 0.0, top)
    p, q = np.exp(left - safe), np.exp(right - safe)
    mass = np.where(none, 1.0, p + q)
    exact = _times(p / mass, a) + _times(q / mass, b)
    distance = np.abs(np.subtract(left, right, where=finite, out=np.zeros_like(left)))
    weight = np.where(none, 0.0, gamma(5, u) * (np.abs(safe) + distance + 2) + 3 * exp)
    factor = np.expm1(weight + gamma(8, u) + 2 * OWN_EXPONENT)[..., None]
    size = np.where(finite[..., None], np.abs(a) + np.abs(b), np.abs(exact))
    tolerance = np.where(none[..., None], 0.0, factor * size + 4 * TINY)
    target = format_named(declaration.output)
    lse = np.where(none, -np.inf, safe + np.log(mass))
    off = 2 * weight + stored_error * (np.abs(safe) + 1) + OWN_EXPONENT * (np.abs(safe) + 2)
    low, high = round_to(exact - tolerance, target), round_to(exact + tolerance, target)
    return Allowed(low, high, lse - off, lse + off, none.astype(np.float64))


def _times(weight: Float, output: Float) -> Float:
    return np.where(weight[..., None] > 0, weight[..., None] * output, 0.0)
