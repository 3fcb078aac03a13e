"""Low-precision attention kernels, in float32 arithmetic, that stand in for real ones under the certificates.

Every kernel is a flash-style loop: base-2 exponents, a running maximum per tile, P rounded before P @ V, parts
stored and merged. `nearest` adds in whatever order NumPy likes. `pushed` rounds every operation in the direction
that moves the first output element up, key by key: the worst that truncating hardware could do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvreference.arrays import Float
from kvreference.attention import Row, attend_row
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.declaration import Declaration

Single = NDArray[np.float32]
LOG2_E = np.float32(np.log2(np.e))
EXP_PUSH = 0.9 * 2.0**-22


def nearest(row: Row, declaration: Declaration) -> Float:
    """The output `[value_dim]`, before the cast to the stored format, of a kernel that rounds to nearest."""
    return _flash(row, declaration, _Nearest())


def pushed(row: Row, declaration: Declaration) -> Float:
    """The same for a kernel whose every rounding goes one way; its unit roundoff is 2**-23."""
    away = row.values[:, 0] - attend_row(row).output[0]
    return _flash(row, declaration, _Pushed(np.sign(away)))


class _Nearest:
    """float32 operations of NumPy."""

    def logits(self, row: Row, factor: np.float32) -> Single:
        return np.asarray((row.keys.astype(np.float32) @ row.query.astype(np.float32)) * factor, np.float32)

    def exp2(self, x: Any, keys: slice | None = None) -> Any:
        return np.exp2(x, dtype=np.float32)

    def total(self, start: Any, weights: Single, values: Single | None, up: bool) -> Any:
        return start + (weights.sum(dtype=np.float32) if values is None else weights @ values)


@dataclass(frozen=True)
class _Pushed:
    """Directed roundings: `signs` `[n]` says for each key whether its weight is to grow."""

    signs: Float

    def logits(self, row: Row, factor: np.float32) -> Single:
        total = np.zeros(len(row.keys))
        for channel, q in enumerate(row.query):
            total = _directed(total + q * row.keys[:, channel], self.signs)
        return _directed(total * float(factor), self.signs).astype(np.float32)

    def exp2(self, x: Any, keys: slice | None = None) -> Any:
        sign = self.signs[keys] if keys is not None else 1.0
        exact = np.exp2(np.asarray(x, np.float64))
        return np.asarray(np.where(np.asarray(x) == 0, 1.0, exact * (1 + EXP_PUSH * sign)), np.float32)

    def total(self, start: Any, weights: Single, values: Single | None, up: bool) -> Any:
        terms = weights.astype(np.float64)[:, None] * (np.ones((1, 1)) if values is None else values)
        total = np.atleast_1d(np.asarray(start, np.float64))
        for term in terms:
            total = _directed(total + term, np.full_like(total, 1.0 if up else -1.0))
        return total.astype(np.float32) if values is not None else np.float32(total[0])


def _directed(x: Float, signs: Float) -> Float:
    near = x.astype(np.float32)
    further = np.nextafter(near, np.copysign(np.float32(np.inf), signs.astype(np.float32)))
    return np.where((near - x) * signs < 0, further, near).astype(np.float64)


def _flash(row: Row, declaration: Declaration, unit: _Nearest | _Pushed) -> Float:
    logits = _logits(row, unit)
    splits = declaration.splits_of(row.first, len(row.keys))
    parts = [_part(row, logits, declaration, unit, declaration.tiles_of(row.first, *part)) for part in splits]
    if len(parts) == 1:
        top, mass, total = parts[0]
        return np.asarray(_joined(row, top, mass, total), np.float64)
    lse = np.array([top + np.log2(mass) for top, mass, _ in parts], np.float32)
    weights = np.exp2(lse - lse.max(), dtype=np.float32)
    stored = [_cast(total / mass, declaration.partial) for _, mass, total in parts]
    total = np.sum([w * o for w, o in zip(weights, stored, strict=True)], axis=0, dtype=np.float32)
    return np.asarray(_joined(row, lse.max(), weights.sum(dtype=np.float32), total), np.float64)


def _logits(row: Row, unit: _Nearest | _Pushed) -> Single:
    if row.softcap is None:
        return unit.logits(row, np.float32(np.float32(row.scale) * LOG2_E))
    cap = np.float32(row.softcap)
    capped = np.tanh(unit.logits(row, np.float32(row.scale)) * (np.float32(1) / cap))
    return np.asarray(capped * (cap * LOG2_E), np.float32)


def _part(
    row: Row, logits: Single, declaration: Declaration, unit: _Nearest | _Pushed, tiles: list[tuple[int, int]]
) -> tuple[Any, Any, Single]:
    values = row.values.astype(np.float32)
    top, mass, total = np.float32(-np.inf), np.float32(0), np.zeros(values.shape[1], np.float32)
    for start, stop in tiles:
        new = max(top, logits[start:stop].max())
        weights = unit.exp2(logits[start:stop] - new, slice(start, stop))
        rescale = unit.exp2(top - new) if np.isfinite(top) else np.float32(0)
        mass = unit.total(mass * rescale, weights, None, up=False)
        rounded = weights if declaration.p is None else _cast(weights, declaration.p)
        total = unit.total(total * rescale, rounded, values[start:stop], up=True)
        top = new
    return top, mass, total


def _joined(row: Row, top: Any, mass: Any, total: Single) -> Single:
    if row.sink is None:
        return np.asarray(total / mass, np.float32)
    sink = np.float32(row.sink) * LOG2_E
    new = max(top, sink)
    rescale = np.exp2(top - new, dtype=np.float32)
    return np.asarray(total * rescale / (mass * rescale + np.exp2(sink - new, dtype=np.float32)), np.float32)


def _cast(x: Single, name: str) -> Single:
    return round_to(x.astype(np.float64), format_named(name)).astype(np.float32)


Kernel = Callable[[Row, Declaration], Float]
