"""Attention of one query row in float64, the truth against which kernels are judged, and its twin that rounds.

One row sees a range of positions, so masks are bounds and bytes outside them never arrive here. Formulas:
`z = scale * keys @ query`, capped to `softcap * tanh(z / softcap)`; `p = exp(z - lse)`, `lse = log sum exp(z)`;
`output = p @ values`. A sink adds `exp(sink)` to the sum and nothing to the output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kvreference.arrays import Float, as_float, check_shape
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.declaration import Declaration


@dataclass(frozen=True, slots=True)
class Row:
    """One query row of one head and what it sees: query `[head_dim]`, keys `[n, head_dim]`, values `[n, value_dim]`.

    `first` is the absolute position of the first key; tiles and splits of a kernel begin at absolute positions.
    Raises `ShapeError` and `DtypeError`.
    """

    query: Float
    keys: Float
    values: Float
    scale: float
    softcap: float | None = None
    sink: float | None = None
    first: int = 0

    def __post_init__(self) -> None:
        for name in ("query", "keys", "values"):
            # Contiguous, so that sums run in one order whatever the layout of the cache.
            object.__setattr__(self, name, np.ascontiguousarray(as_float(name, getattr(self, name))))
        check_shape("query", self.query, (None,))
        check_shape("keys", self.keys, (None, len(self.query)))
        check_shape("values", self.values, (len(self.keys), None))

    def logits(self) -> Float:
        """The exact logits `[n]`, softcap applied."""
        return softcapped(self.scale * (self.keys @ self.query), self.softcap)


def softcapped(logits: Float, cap: float | None) -> Float:
    """`cap * tanh(logits / cap)`, or the logits themselves where there is no cap."""
    return logits if cap is None else cap * np.tanh(logits / cap)


@dataclass(frozen=True, slots=True)
class State:
    """A partial result: `output` `[..., value_dim]` and `lse` `[...]`, the natural log of the sum of exponentials."""

    output: Float
    lse: Float


def empty_state(shape: tuple[int, ...], value_dim: int) -> State:
    """The identity of `merge`: output 0 and LSE -inf for rows of `shape`."""
    return State(np.zeros((*shape, value_dim)), np.full(shape, -np.inf))


def merge(a: State, b: State) -> State:
    """Attention over the union of two disjoint sets of keys; an empty state is the identity, whatever its output."""
    check_shape("output to merge", b.output, a.output.shape)
    top = np.maximum(a.lse, b.lse)
    safe = np.where(np.isneginf(top), 0.0, top)
    left, right = np.exp(a.lse - safe), np.exp(b.lse - safe)
    total = left + right
    mass = np.where(total > 0, total, 1.0)
    output = (_weighted(left, a.output) + _weighted(right, b.output)) / mass[..., None]
    return State(output, np.where(total > 0, safe + np.log(mass), -np.inf))


def _weighted(weight: Float, output: Float) -> Float:
    # A product with zero weight would let NaN through.
    return np.where(weight[..., None] > 0, weight[..., None] * output, 0.0)


def with_sink(state: State, sink: ArrayLike) -> State:
    """`state` with the mass `exp(sink)` that carries no value; rows without keys stay empty."""
    logit = np.where(np.isneginf(state.lse), -np.inf, np.asarray(sink, np.float64))
    return merge(state, State(np.zeros_like(state.output), logit))


def attend_row(row: Row) -> State:
    """Attention of one row: `output` `[value_dim]`, `lse` `[]`."""
    if len(row.keys) == 0:
        return empty_state((), row.values.shape[1])
    logits = row.logits()
    weights = np.exp(logits - logits.max())
    state = State(weights @ row.values / weights.sum(), np.asarray(logits.max() + np.log(weights.sum())))
    return state if row.sink is None else with_sink(state, row.sink)


def emulated_attention(row: Row, declaration: Declaration) -> State:
    """`attend_row` with the roundings that fix the result: P per tile, partials per split; all else in float64.

    The output is that before the cast to `declaration.output`. Raises `DeclarationError` where no tile is declared.
    """
    if len(row.keys) == 0:
        return attend_row(row)
    state = empty_state((), row.values.shape[1])
    splits = declaration.splits_of(row.first, len(row.keys))
    for start, stop in splits:
        part = _tiled(row, declaration, start, stop)
        if len(splits) > 1:
            part = State(round_to(part.output, format_named(declaration.partial)), part.lse)
        state = merge(state, part)
    return state if row.sink is None else with_sink(state, row.sink)


def _tiled(row: Row, declaration: Declaration, start: int, stop: int) -> State:
    top, mass, total = -np.inf, 0.0, np.zeros(row.values.shape[1])
    logits = row.logits()
    for a, b in declaration.tiles_of(row.first, start, stop):
        new = max(top, float(logits[a:b].max()))
        weights, rescale = np.exp(logits[a:b] - new), np.exp(top - new)
        mass = mass * rescale + weights.sum()
        rounded = weights if declaration.p is None else round_to(weights, format_named(declaration.p))
        total = total * rescale + rounded @ row.values[a:b]
        top = new
    return State(total / mass, np.asarray(top + np.log(mass)))
