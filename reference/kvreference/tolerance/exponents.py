"""How far the exponents of a kernel may be off: logits, running maxima, rescales and merges, in natural-log units.

The names follow `spec/attention-tolerance.md`. Every array is float64 `[n]`, one entry per key, and one more for a
sink.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.tolerance.arithmetic import LEAST_CODE, OWN_EXPONENT, OWN_LIBRARY, OWN_UNIT, TINY, gamma, own_error
from kvreference.tolerance.averages import sizes_along
from kvreference.tolerance.declaration import Declaration


@dataclass(frozen=True, slots=True)
class Exponents:
    """Exact logits `z` of a row and bounds on the kernel's errors.

    `logit`: of z. `top`: the exact running maximum when a key is met, `top_error`: of that maximum. `local`: of the
    exponent of P apart from the two. `later`: of the factors applied afterwards, `drift`: of their maxima.
    `rescales` and `parts` count multiplications and merges after a product was added.
    """

    z: Float
    logit: Float
    top: Float
    top_error: Float
    local: Float
    later: Float
    drift: Float
    rescales: int
    parts: int

    @property
    def relative(self) -> Float:
        """Log-error of each weight up to a factor common to all: the error of running maxima cancels (T1)."""
        return self.logit + self.local + self.later


def exponents(
    row: Row, declaration: Declaration, key_error: Float | None = None, key_units: Float | None = None
) -> Exponents:
    """All exponent errors of a row with at least one key; `key_error` `[n, head_dim]` bounds |K - K_kernel|.

    `key_units`, shaped as keys, bounds what the kernel multiplies a query by, where that is not the key: a code.
    """
    z, error = _logit_errors(row, declaration, key_error, row.keys if key_units is None else key_units)
    if row.softcap is not None:
        z, error = _capped_errors(z, error, row.softcap, declaration)
    own = 1 + own_error(*row.keys.shape)
    # Sums such as z + error are rounded at the size of z.
    error = error * own + 4 * OWN_UNIT * np.abs(z)
    if declaration.kv_tile is None:
        found = _in_any_order(z, error, declaration)
    else:
        found = _in_tiles(row.first, z, error, declaration)
    found = found if row.sink is None else _and_sink(found, row.sink, declaration)
    grown = {name: getattr(found, name) * own for name in ("logit", "top_error", "local", "later", "drift")}
    return replace(found, **grown)


def _logit_errors(row: Row, declaration: Declaration, key_error: Float | None, key_units: Float) -> tuple[Float, Float]:
    size, scale = row.keys.shape[1], abs(row.scale)
    magnitude = scale * sizes_along(row.keys, row.query)
    z = row.scale * (row.keys @ row.query)
    moved = np.zeros_like(z) if key_error is None else scale * (key_error @ np.abs(row.query))
    chain = (declaration.h_qk or size) + (not declaration.exact_products)
    g = gamma(chain, declaration.accumulation) + gamma(size + 2, OWN_UNIT)
    g4 = gamma(4, declaration.accumulation)
    reach = 1 + sizes_along(key_units, np.ones(size)) / LEAST_CODE
    flushed = 8 * TINY * max(1.0, scale) * (1 + size + np.abs(row.query).sum()) * reach
    return z, moved + g * (magnitude + moved) * (1 + g4) + g4 * (np.abs(z) + moved) + flushed


def _capped_errors(z: Float, error: Float, cap: float, declaration: Declaration) -> tuple[Float, Float]:
    # The cap is a contraction; argument and result take five more roundings, and three operations may flush.
    capped = cap * np.tanh(z / cap)
    rounding = gamma(5, declaration.accumulation) + OWN_LIBRARY + 4 * OWN_UNIT
    off = cap * declaration.tanh_error * (1 + rounding) + rounding * (np.abs(capped) + error)
    return capped, error + off + 8 * TINY * (1 + cap)


def _exp_error(declaration: Declaration) -> float:
    return declaration.exp_error / (1 - declaration.exp_error)


def _in_any_order(z: Float, error: Float, declaration: Declaration) -> Exponents:
    # Whatever the tiling, distances to running maxima add up to at most the distance to the largest logit.
    count, top = len(z), np.full_like(z, z.max())
    slack = np.full_like(z, error.max())
    local = declaration.accumulation * (top - z + error + slack) + _exp_error(declaration) + OWN_EXPONENT
    later = np.full_like(z, (count - 1) * _exp_error(declaration))
    # Where parts begin is unknown too, for they are multiples of the tile.
    parts = 2 + count // declaration.split_tokens if declaration.split_tokens else declaration.splits
    if parts > 1:
        size = float(np.abs(z).max() + slack[0])
        later = later + _merge_error(size, top - z + 2 * slack, count, declaration)
    return Exponents(z, error, top, slack, local, later, 2 * slack, count - 1, parts)


def _in_tiles(first: int, z: Float, error: Float, declaration: Declaration) -> Exponents:
    splits = declaration.splits_of(first, len(z))
    merged, highest = len(splits) > 1, float((z + error).max())
    columns: list[Float] = []
    rescales = 0
    for start, stop in splits:
        tiles = declaration.tiles_of(first, start, stop)
        top, off, later, drift = _one_part(z[start:stop], error[start:stop], tiles, start, declaration)
        if merged:
            distance = np.asarray(highest - top[-1] + off[-1])
            later, drift = later + _merge_error(abs(top[-1]) + off[-1], distance, len(z), declaration), off
        sizes, rescales = [b - a for a, b in tiles], max(rescales, len(tiles) - 1)
        columns.append(np.repeat(np.stack([top, off, later, drift]), sizes, axis=1))
    top, off, later, drift = np.concatenate(columns, axis=1)
    local = declaration.accumulation * (top - z + off + error) + _exp_error(declaration) + OWN_EXPONENT
    return Exponents(z, error, top, off, local, later, drift, rescales, len(splits))


def _one_part(
    z: Float, error: Float, tiles: list[tuple[int, int]], start: int, declaration: Declaration
) -> tuple[Float, Float, Float, Float]:
    """Per tile: running maximum, its error, error of later rescales, and of the maxima in them."""
    begins = [a - start for a, _ in tiles]
    highs = np.maximum.reduceat(z + error, begins)
    top = np.maximum.accumulate(np.maximum.reduceat(z, begins))
    low = np.maximum.accumulate(np.maximum.reduceat(z - error, begins))
    off = np.maximum(np.maximum.accumulate(highs) - top, top - low)
    # A rescale is exactly 1 unless the computed maximum may move.
    moves = np.append(highs[1:] > low[:-1], False)
    jumps = np.cumsum(moves[::-1])[::-1]
    path = declaration.accumulation * (top[-1] - top + off + off[-1]) + jumps * _exp_error(declaration)
    moved = jumps > 0
    return top, off, np.where(moved, path, 0.0), np.where(moved, off + off[-1], 0.0)


def _merge_error(size: float, distance: Float, count: int, declaration: Declaration) -> Float:
    """Error of the factor exp(lse_part - lse_largest) of a part of `count` keys or fewer.

    Its maximum is at most `size` in magnitude and at most `distance` below the largest.
    """
    spread, exp, u = np.log(count) + 1, _exp_error(declaration), declaration.accumulation
    lse = gamma(4, u) * (size + spread) + exp * spread
    return np.asarray(lse + gamma(3, u) * (distance + spread + 2 * lse) + exp, np.float64)


def _and_sink(keys: Exponents, sink: float, declaration: Declaration) -> Exponents:
    # The sink joins at the end; a rescale of all keys by it is an error of the sink alone, up to a common factor.
    u, top = declaration.accumulation, float(keys.z.max())
    logit, slack = gamma(4, u) * abs(sink), float(keys.top_error.max())
    distance = abs(sink - top) + slack + logit + np.log(len(keys.z)) + 1
    local = 2 * u * distance + 2 * _exp_error(declaration) + OWN_EXPONENT
    end = (sink, logit, max(top, sink), slack, local, 0.0, 0.0)
    arrays = (keys.z, keys.logit, keys.top, keys.top_error, keys.local, keys.later, keys.drift)
    z, error, tops, top_error, locals_, later, drift = map(np.append, arrays, end)
    return Exponents(z, error, tops, top_error, locals_, later, drift, keys.rescales + 1, keys.parts)
