"""The a-posteriori statement about a quantized cache: what its actual errors do to one row of attention.

Correctness compares a kernel with the quantized specification; quality compares the quantized cache with the exact
one. The bound holds for these very errors. The band is statistical: it supposes independent errors, uniform in a
step, and nothing certifies it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kvreference.arrays import Float, as_float, check_shape
from kvreference.attention import Row, attend_row
from kvreference.tolerance.arithmetic import own_error
from kvreference.tolerance.averages import sums_of_size

SIGMAS = 6


@dataclass(frozen=True, slots=True)
class Quality:
    """Per element `[value_dim]`, float64: exact and quantized outputs, a certified bound on their distance, a band.

    `statistical_band` is six standard deviations, not a bound.
    """

    exact: Float
    quantized: Float
    bound: Float
    statistical_band: Float

    @property
    def error(self) -> Float:
        """The actual distance."""
        return np.abs(self.quantized - self.exact)


def quality(row: Row, keys: Float, values: Float, key_step: Float, value_step: Float) -> Quality:
    """Judge the decoded `keys` and `values` that stand for those of `row` (at least one key).

    `key_step` and `value_step`, of the same shapes or broadcast to them, are the distances between neighbouring
    codes; only the band uses them. Raises `ShapeError`.
    """
    check_shape("keys", as_float("keys", keys), row.keys.shape)
    check_shape("values", as_float("values", values), row.values.shape)
    held = replace(row, keys=keys, values=values)
    exact, quantized = attend_row(row), attend_row(held)
    p, p_held = np.exp(row.logits() - exact.lse), np.exp(held.logits() - quantized.lse)
    moved = sums_of_size(np.abs(p_held - p)[None], row.values, exact.output)[0]
    # A sink carries no value, so its weight moves the output by its distance from zero.
    moved = moved + abs(p_held.sum() - p.sum()) * np.abs(exact.output)
    bound = moved + p_held @ np.abs(held.values - row.values)
    own = own_error(*row.keys.shape)
    bound = bound * (1 + own) + 2 * own * _scale_of(row, held, p + p_held)
    variance = _variance(row, p, exact.output, key_step, value_step)
    return Quality(exact.output, quantized.output, bound, SIGMAS * np.sqrt(variance))


def _scale_of(row: Row, held: Row, weights: Float) -> Float:
    """What rounding in float64 multiplies: the sizes of values, and of the logits that stand in exponents."""
    logits = 1 + abs(row.scale) * ((np.abs(row.keys) + np.abs(held.keys)) @ np.abs(row.query))
    return np.asarray((weights * logits.max()) @ (np.abs(row.values) + np.abs(held.values)), np.float64)


def _variance(row: Row, p: Float, output: Float, key_step: Float, value_step: Float) -> Float:
    # A uniform error in a step has a twelfth of its square as variance.
    squares = np.broadcast_to(np.square(key_step), row.keys.shape)
    logits = np.square(row.scale) * (squares @ np.square(row.query)) / 12
    spread = (np.square(p) * logits) @ np.square(row.values - output)
    return np.asarray(spread + np.square(p) @ np.broadcast_to(np.square(value_step), row.values.shape) / 12, np.float64)
