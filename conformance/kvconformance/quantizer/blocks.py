"""A paged cache of quantized rows: what is written is read back, wherever it is copied, and nothing else is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kvconformance.quantizer.expected import Doubles, Expected, reading
from kvconformance.quantizer.surface import Array, Declaration, Single
from kvspec import rules
from kvspec.numbers.bounds import bound
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import World

LARGEST = float(np.finfo(np.float32).max) * (1 - 2.0**-20)
"""Rows below it stay finite when they are moved out by a few roundings."""


class Blocks:
    """The ghost of a paged cache: for every slot that was written, the row that must be read there."""

    def __init__(self, engine: Any, call: Any, tally: Tally, declared: Declaration, world: World) -> None:
        self.engine, self.call, self.tally = engine, call, tally
        self.declared, self.world = declared, world
        self.rows: dict[int, Single] = {}
        self.scales: dict[int, Doubles] = {}

    @property
    def num_slots(self) -> int:
        """Slots of the pool."""
        return self.world.num_blocks * self.world.block_size

    def put(self, slots: Array, x: Single, meant: Array) -> None:
        """Write rows; `meant` `[valid tokens, ...]` is what the valid ones decode to when they are encoded alone."""
        real = slots >= 0
        self.call("write", self.engine.write, slots, x)
        kept = dict(self.rows)
        written = {int(slot): row for slot, row in zip(slots[real], np.asarray(meant, np.float32), strict=True)}
        self.rows.update(written)
        self.scales.update(zip(written, spread(x[real], self.declared), strict=True))
        found = self.read(list(self.rows))
        for slot, row in self.rows.items():
            fresh = slot in written
            rule = self.blame(fresh and not real.all(), slot, found[slot])
            if fresh and not real.all():
                self.tally.met(rules.SCALE_FROM_VALID_DATA)
            what = "has just been written" if fresh else "was written before" if slot in kept else "is new"
            self.require(rule, slot, row, found[slot], what)

    def copy(self, source: int, target: int) -> None:
        """Copy a block, and everything that belongs to its rows."""
        self.call("copy", self.engine.copy, source, target)
        size = self.world.block_size
        moved = {target * size + i: self.rows.get(source * size + i) for i in range(size)}
        self.rows = {slot: row for slot, row in self.rows.items() if slot not in moved}
        self.rows |= {slot: row for slot, row in moved.items() if row is not None}
        self.scales |= {slot: self.scales[source * size + slot % size] for slot in self.rows if slot in moved}
        found = self.read(list(self.rows))
        for slot, row in self.rows.items():
            what = f"was copied from block {source}" if slot in moved else "was not touched"
            self.require(rules.SCALE_TRAVELS, slot, row, found[slot], what)

    def rotate(self, turns: int) -> None:
        """Turn every stored pair; what is read then is the turned row, quantized once more."""
        slots = list(self.rows)
        before = np.array([self.rows[slot] for slot in slots], np.float32)
        half = before.shape[2] // 2
        angle = 2 * np.pi * turns / 16 / (1 + np.arange(half))
        cosine, sine = (np.broadcast_to(f(angle).astype(np.float32), (len(slots), half)) for f in (np.cos, np.sin))
        if any(self.refuses(*rotation(*row)) for row in zip(before, cosine, sine, strict=True)):
            return  # the scheme has no scale for what a row becomes: an engine may refuse
        self.call("rotate", self.engine.rotate, np.array(slots, np.int64), cosine.copy(), sine.copy())
        found = self.read(slots)
        for index, slot in enumerate(slots):
            self.turned(slot, before[index], cosine[index], sine[index], found[slot])
            self.rows[slot] = found[slot].astype(np.float32)

    def refuses(self, wanted: Doubles, slack: Doubles) -> bool:
        """Whether the scheme refuses a row, or would if its extremes were moved out by what fp32 may lose."""
        with np.errstate(over="ignore", invalid="ignore"):
            outer = (np.sign(wanted) * (np.abs(wanted) + slack) * (1 + 2.0**-22)).astype(np.float32)
        return Expected(outer[None], self.declared.scheme).meaning() is None

    def turned(self, slot: int, before: Single, cosine: Single, sine: Single, seen: Array) -> None:
        """One row after a rotation, against the rotation of the row before it."""
        wanted, slack = rotation(before, cosine, sine)
        if not (np.abs(wanted) + slack < LARGEST).all():
            return  # infinite, NaN or past fp32: nothing is promised of what such a row becomes
        limit = self.requantized(wanted, slack)
        error = np.abs(np.asarray(seen, np.float64) - wanted)
        self.tally.require(
            bool((error <= limit).all()),
            rules.COMMUTES,
            lambda: _worst(slot, error - limit, seen, wanted, "after the rotation is read as", limit),
        )

    def requantized(self, wanted: Doubles, slack: Doubles) -> Doubles:
        """How far a row may be from `wanted` after it is computed within `slack` and quantized again.

        The scale is taken from the row that the engine computed, at most that of a row with every extreme moved out.
        """
        scheme = self.declared.scheme
        outer = (np.sign(wanted) * (np.abs(wanted) + slack) * (1 + 2.0**-22)).astype(np.float32)
        expected = Expected(outer[None], scheme)
        limits = np.empty(outer.size)
        for index in range(outer.size):
            scale = expected.scale(index)
            value = Fraction(float(outer.ravel()[index]))
            allowed = bound(value, scale, scheme)
            limits[index] = float(allowed + reading(abs(value) + allowed, scale, scheme))
        return np.asarray((limits.reshape(wanted.shape) + 2 * slack) * (1 + 2.0**-40), np.float64)

    def read(self, slots: list[int]) -> dict[int, Array]:
        """What the engine reads in these slots."""
        if not slots:
            return {}
        found = np.asarray(self.call("read", self.engine.read, np.array(slots, np.int64)))
        shape = (len(slots), *next(iter(self.rows.values())).shape)
        if found.shape != shape:
            self.tally.broken(rules.SCALE_TRAVELS, f"reads shape {list(found.shape)}", f"shape {list(shape)}")
        return dict(zip(slots, found, strict=True))

    def blame(self, padded: bool, slot: int, seen: Array) -> Rule:
        """Which rule a row breaks that is not read as it was meant."""
        if padded:
            return rules.SCALE_FROM_VALID_DATA
        misused = _misused(self.rows[slot], self.scales[slot], np.asarray(seen, np.float64))
        return rules.ONE_SCALE if misused else rules.SCALE_TRAVELS

    def require(self, rule: Rule, slot: int, row: Single, seen: Array, what: str) -> None:
        """The row of a slot is read bit for bit."""
        same = np.array_equal(np.asarray(seen, np.float32), row, equal_nan=True)
        error = np.abs(np.asarray(seen, np.float64) - row)
        self.tally.require(
            same, rule, lambda: _worst(slot, error, seen, np.asarray(row, np.float64), f"{what} and is read as")
        )


def rotation(row: Single, cosine: Single, sine: Single) -> tuple[Doubles, Doubles]:
    """Pairs (2i, 2i + 1) turned, in float64, and what fp32 may lose: two products and a sum, each rounded.

    |fl(fl(ac) - fl(bs)) - (ac - bs)| <= u (|ac| + |bs|) (2 + u), and half the smallest number for each underflow.
    """
    even, odd = row[..., ::2].astype(np.float64), row[..., 1::2].astype(np.float64)
    even, odd = even[..., : cosine.shape[-1]], odd[..., : cosine.shape[-1]]
    c, s = cosine.astype(np.float64), sine.astype(np.float64)
    wanted, slack = row.astype(np.float64), np.zeros(row.shape)
    end = 2 * cosine.shape[-1]
    wanted[..., :end:2], wanted[..., 1:end:2] = even * c - odd * s, even * s + odd * c
    unit = 2.0**-24
    slack[..., :end:2] = unit * (2 + unit) * (np.abs(even * c) + np.abs(odd * s)) + 2.0**-149
    slack[..., 1:end:2] = unit * (2 + unit) * (np.abs(even * s) + np.abs(odd * c)) + 2.0**-149
    return wanted, slack


def spread(x: Single, declared: Declaration) -> Doubles:
    """The scale of every element of rows; 1 where there is none."""
    expected = Expected(x, declared.scheme)
    meaning = expected.meaning()
    return np.ones(x.shape) if meaning is None else meaning.scales[expected.group].reshape(x.shape)


def _misused(row: Single, scale: Doubles, seen: Doubles) -> bool:
    """Whether what is read is the row without its scale, or with its scale twice."""
    there = (row != 0) & (np.abs(np.log2(np.abs(scale), where=scale != 0, out=np.zeros(scale.shape))) > 1)
    if not there.any():
        return False
    right, factor, found = row[there].astype(np.float64), scale[there], seen[there]
    return bool(np.allclose(found, right / factor, 2.0**-20, 0) or np.allclose(found, right * factor, 2.0**-20, 0))


def _worst(
    slot: int, excess: Doubles, seen: Array, wanted: Doubles, what: str, limit: Doubles | None = None
) -> tuple[str, str]:
    head, channel = (
        int(i) for i in np.unravel_index(int(np.nanargmax(np.nan_to_num(excess, nan=np.inf))), excess.shape)
    )
    expected = f"{float(wanted[head, channel])!r}" + (
        f" within {float(limit[head, channel]):g}" if limit is not None else ""
    )
    return f"slot {slot} head {head} channel {channel} {what} {float(seen[head, channel])!r}", expected
