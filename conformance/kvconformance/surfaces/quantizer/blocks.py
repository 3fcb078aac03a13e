"""A paged cache of quantized rows: what is written is read back, wherever it is copied, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np

from kvconformance.surfaces.quantizer.expected import Doubles, Expected
from kvconformance.surfaces.quantizer.protocol import Array, Declaration, Single
from kvconformance.surfaces.quantizer.rotations import Turned
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import World


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
        scheme = self.declared.scheme
        turned = [Turned(*row, scheme) for row in zip(before, cosine, sine, strict=True)]
        if any(row.may_be_refused() for row in turned):
            return  # the scheme has no scale for what a row may become: an engine may refuse
        self.call("rotate", self.engine.rotate, np.array(slots, np.int64), cosine.copy(), sine.copy())
        found = self.read(slots)
        for slot, row in zip(slots, turned, strict=True):
            self.turned(slot, row, found[slot])
            self.rows[slot] = found[slot].astype(np.float32)

    def turned(self, slot: int, row: Turned, seen: Array) -> None:
        """One row after a rotation, against the rotation of the row before it."""
        if not self.declared.bounded:
            return
        beyond = row.beyond(seen)

        def explain() -> tuple[str, str]:
            index, limit = next(iter(beyond.items()))
            head, channel = divmod(index, row.wanted.shape[1])
            where, read = f"slot {slot} head {head} channel {channel}", float(seen[head, channel])
            return (
                f"{where} after the rotation is read as {read!r}",
                f"{float(row.wanted[head, channel])!r} within {limit:g}",
            )

        self.tally.require(not beyond, rules.COMMUTES, explain)

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


def _worst(slot: int, excess: Doubles, seen: Array, wanted: Doubles, what: str) -> tuple[str, str]:
    head, channel = (
        int(i) for i in np.unravel_index(int(np.nanargmax(np.nan_to_num(excess, nan=np.inf))), excess.shape)
    )
    said = f"slot {slot} head {head} channel {channel} {what} {float(seen[head, channel])!r}"
    return said, repr(float(wanted[head, channel]))
