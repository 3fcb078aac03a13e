"""What errors of the exponents do to a softmax average: the tanh, MAD and box bounds.

With weights `p` `[n]`, log-errors |e| <= `errors` `[n]` and average `o = p @ values` `[value_dim]`, each function
bounds |o' - o| per element, where o' averages with weights proportional to `p * exp(e)`.
"""

from __future__ import annotations

import numpy as np

from kvreference.arrays import Float
from kvreference.tolerance.arithmetic import OWN_UNIT, gamma

ROWS = 256
"""Rows taken at a time, so that temporary arrays stay in a core's cache."""


def sums_of_size(weights: Float, matrix: Float, center: Float | None = None) -> Float:
    """`weights @ |matrix - center|` for `weights` `[k, n]` and `matrix` `[n, m]`."""
    total = np.zeros((len(weights), matrix.shape[1]))
    scratch = np.empty((min(ROWS, len(matrix)), matrix.shape[1]))
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS]
        here = scratch[: len(rows)]
        np.abs(rows if center is None else np.subtract(rows, center, out=here), out=here)
        total += weights[:, start : start + ROWS] @ here
    return total


def sizes_along(matrix: Float, vector: Float) -> Float:
    """`|matrix| @ |vector|`, `[n]`."""
    total, size = np.empty(len(matrix)), np.abs(vector)
    scratch = np.empty((min(ROWS, len(matrix)), matrix.shape[1]))
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS]
        np.matmul(np.abs(rows, out=scratch[: len(rows)]), size, out=total[start : start + ROWS])
    return total


def tanh_bound(errors: Float, values: Float) -> Float:
    """`tanh(max errors / 2) * (max values - min values)`: total variation under logit errors, attained by two keys."""
    return np.asarray(np.tanh(errors.max() / 2) * np.ptp(values, axis=0), np.float64)


def mad_bound(p: Float, errors: Float, values: Float, output: Float) -> Float:
    """`sum p (e^errors - 1) |values - o| / sum p e^-errors`."""
    moved = sums_of_size((p * np.expm1(errors))[None], values, output)[0]
    return np.asarray(moved / (p @ np.exp(-errors)), np.float64)


def box_bound(p: Float, errors: Float, values: Float, output: Float) -> Float:
    """The exact worst case: the largest linear-fractional `sum w values / sum w` over the box of weights w.

    Dinkelbach's iteration climbs to it from `output`; what is left when it stops is added, so the result is a bound.
    """
    low, high = p * np.exp(-errors), p * np.exp(errors)
    return np.maximum(_climb(low, high - low, values - output), _climb(low, high - low, output - values))


def _climb(low: Float, more: Float, gains: Float, passes: int = 40) -> Float:
    x = np.zeros(gains.shape[1])
    base, mass = low @ gains, low.sum()
    own, reach = gamma(4 * len(low) + 64, OWN_UNIT), (low + more) @ np.abs(gains)
    for _ in range(passes):
        above = gains - x
        left = base - mass * x + more @ np.maximum(above, 0.0)
        step = left / (mass + more @ (above > 0).astype(np.float64))
        if (step <= 2.0**-40 * np.abs(x)).all():
            break
        x = x + np.maximum(step, 0.0)
    # What is left is a difference of sums, so its own error is one of their sizes.
    unsure = own * (reach + (mass + more.sum()) * np.abs(x))
    return np.asarray(x + (np.maximum(left, 0.0) + unsure) / mass, np.float64)
