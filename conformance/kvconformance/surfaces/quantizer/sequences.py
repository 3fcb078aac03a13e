"""Sequences that grow by chunks in a quantized cache: what was appended stays, within a step of the scheme."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kvconformance.surfaces.quantizer.expected import Doubles, Expected, per_token, surely, token_group
from kvconformance.surfaces.quantizer.protocol import Array, Declaration, Single
from kvspec import rules
from kvspec.numbers.floats import power_of_two
from kvspec.numbers.schemes import IntegerCodes
from kvspec.rules import Rule
from kvspec.violation import Tally


class Sequences:
    """The ghost of growing sequences: what was last read, and what was appended since the last restart."""

    def __init__(self, engine: Any, call: Any, tally: Tally, declared: Declaration, fresh: Callable[[], Any]) -> None:
        self.engine, self.call, self.tally, self.declared, self.fresh = engine, call, tally, declared, fresh
        self.held: Single | None = None
        self.given: Single | None = None
        self.moved = False
        """Whether a crop, a reorder or a restart came before: what follows must not know."""

    @property
    def length(self) -> int:
        """Tokens of each sequence."""
        return 0 if self.held is None else self.held.shape[1]

    @property
    def overflowed(self) -> bool:
        """Whether something read as no finite number, which an engine may refuse when it is encoded a second time."""
        return self.held is not None and not bool(np.isfinite(self.held).all())

    def may_refuse(self, x: Single) -> bool:
        """Whether the scheme has no scale for a chunk, or none for what is held and given together with it.

        An engine may have scales for each sequence or for all together.
        """
        rows = [x]
        if self.held is not None and self.given is not None:
            rows += [np.concatenate([old, x], axis=1) for old in (self.held, self.given)]
        parts = [part for chunk in rows for part in (_flat(chunk), *chunk)]
        return any(Expected(part, self.declared.scheme).meaning() is None for part in parts)

    def append(self, x: Single) -> None:
        """A chunk; the old tokens stay within a step of what was read, the new ones within a step of `x`."""
        self.call("append", self.engine.append, x)
        old = self.length
        wanted = x if self.held is None else np.concatenate([self.held, x], axis=1)
        self.given = x if self.given is None else np.concatenate([self.given, x], axis=1)
        found = self.contents(wanted.shape, rules.COMMUTES if self.moved else rules.HALF_STEP)
        if old and np.abs(x).max() > np.abs(self.given[:, :old]).max():
            self.tally.met(rules.SCALE_FROM_VALID_DATA)
        if old:
            self.tally.met(rules.SCALE_TRAVELS)
        if self.declared.bounded:
            self.judge(wanted, found, old)
        self.held = found

    def judge(self, wanted: Single, found: Single, old: int) -> None:
        """Errors within the bound."""
        given = self.given if self.given is not None else wanted
        wrong = self.beyond(wanted, given, found)
        if len(wrong) and wrong[0][1] < old:
            self.tally.broken(rules.SCALE_TRAVELS, *self.words(wrong[0], wanted, found, "was stored before"))
        rule = self.blame(given, old) if len(wrong) else rules.HALF_STEP
        self.tally.require(not len(wrong), rule, lambda: self.words(wrong[0], wanted, found, self.after(wanted, old)))

    def blame(self, given: Single, old: int) -> Rule:
        """Which rule a chunk breaks: what was done before it, and the tokens before it, are left out in turn."""
        if self.moved and self.right_when_fresh(given[:, :old], given[:, old:]):
            return rules.COMMUTES
        if old and self.right_when_fresh(given[:, :0], given[:, old:]):
            return rules.SCALE_FROM_VALID_DATA
        return rules.HALF_STEP

    def right_when_fresh(self, before: Single, x: Single) -> bool:
        """Whether a chunk stays within the bound in a new cache that holds only what was given `before`."""
        engine, wanted = self.fresh(), x
        if before.shape[1]:
            self.call("append", engine.append, before)
            held = np.asarray(self.call("contents", engine.contents), np.float32)
            wanted = np.concatenate([held, x], axis=1)
        self.call("append", engine.append, x)
        found = np.asarray(self.call("contents", engine.contents), np.float32)
        given = np.concatenate([before, x], axis=1)
        return found.shape == given.shape == wanted.shape and not len(self.beyond(wanted, given, found))

    def after(self, wanted: Single, old: int) -> str:
        """What came before a chunk."""
        if not old or self.given is None:
            return "was just appended"
        return f"came after data of magnitude up to {float(np.abs(self.given[:, :old]).max()):g}"

    def beyond(self, wanted: Single, given: Single, found: Single) -> list[tuple[int, int, int, int]]:
        """Places whose error exceeds the bound, first tokens first."""
        rows, seen = _flat(wanted), _flat(found)
        # Where tokens share a scale it comes from what was given or, at a second encoding, from what was held.
        sources = [Expected(rows, self.declared.scheme)]
        if not per_token(self.declared.scheme):
            sources.append(Expected(_flat(given), self.declared.scheme))
        error = np.abs(rows.astype(np.float64) - seen)
        least = np.min([self.least_scale(source, rows.shape) for source in sources], axis=0)
        codes = self.declared.scheme.codes
        step = 0.0 if isinstance(codes, IntegerCodes) else 2.0**-codes.precision
        sure = surely(error, rows, least, self.declared.scheme) | (error <= np.abs(rows.astype(np.float64)) * step)
        doubtful = np.flatnonzero(~sure)
        beyond = [i for i in doubtful if not self.within(sources, int(i), float(error.ravel()[i]))]
        wrong = [i for i in beyond if not self.within_alone(wanted, given, int(i), float(error.ravel()[i]))]
        places = [np.unravel_index(int(i), wanted.shape) for i in wrong]
        return sorted(((int(s), int(t), int(h), int(c)) for s, t, h, c in places), key=lambda place: place[1])

    def least_scale(self, source: Expected, shape: tuple[int, ...]) -> Doubles:
        """The scale of every element; NaN where the scheme has none."""
        meaning = source.meaning()
        return np.full(shape, np.nan) if meaning is None else np.abs(meaning.scales)[source.group].reshape(shape)

    def within(self, sources: list[Expected], index: int, error: float) -> bool:
        """Whether an error is at most the bound under the group's scale or, for floating codes, under a smaller one."""
        if not np.isfinite(error):
            return any(source.overflows(index) for source in sources)
        scales = [source.scale(index) for source in sources]
        value = float(sources[0].x.ravel()[index])
        allowed = max(sources[0].allowed_error(index, scale) for scale in scales)
        return Fraction(error) <= max(allowed, self.relative(value))

    def within_alone(self, wanted: Single, given: Single, index: int, error: float) -> bool:
        """Whether an error is within the bound when the sequence of the element has scales of its own."""
        if per_token(self.declared.scheme):
            return False
        sequence, place = divmod(index, wanted[0].size)
        return self.within([Expected(x[sequence], self.declared.scheme) for x in (wanted, given)], place, error)

    def relative(self, value: float) -> Fraction:
        """The error of a floating-point code under any smaller scale: its step depends on where the value falls."""
        codes, unit = self.declared.scheme.codes, self.declared.scheme.arithmetic.unit_roundoff
        if isinstance(codes, IntegerCodes):
            return Fraction(0)
        return abs(Fraction(value)) * (power_of_two(-codes.precision) * (1 + 4 * unit) + 4 * unit)

    def same(self, wanted: Single, rule: Rule, what: str) -> None:
        """An operation that moves tokens moves their bits."""
        found = self.contents(wanted.shape, rule)
        different = np.argwhere(~((found == wanted) | (np.isnan(found) & np.isnan(wanted))))
        self.tally.require(
            not len(different),
            rule,
            lambda: self.words(tuple(int(i) for i in different[0]), wanted, found, what),  # type: ignore[arg-type]
        )
        self.held = found

    def may_crop(self, count: int) -> bool:
        """Whether some tokens go and some stay, and no group of tokens is cut."""
        left = self.length - count
        return 0 < left < self.length and left % token_group(self.declared.scheme) == 0

    def crop(self, count: int) -> None:
        """The last tokens go, with the scales that are theirs alone."""
        if self.held is None or self.given is None or not self.may_crop(count):
            return
        self.call("crop", self.engine.crop, count)
        self.moved = True
        self.given = self.given[:, :-count]
        self.same(self.held[:, :-count], rules.COMMUTES, "was left by a crop")

    def reorder(self, order: Array) -> None:
        """Sequences take each other's place."""
        if self.held is None or self.given is None:
            return
        self.call("reorder", self.engine.reorder, order)
        self.moved = True
        self.given = self.given[order]
        self.same(self.held[order], rules.COMMUTES, f"was reordered by {order.tolist()}")

    def restart(self) -> None:
        """All sequences are empty; the next chunk must not know that there were others."""
        self.call("restart", self.engine.restart)
        self.held = self.given = None
        self.moved = True

    def contents(self, shape: tuple[int, ...], rule: Rule) -> Single:
        """What the engine reads, of the right shape."""
        found = np.asarray(self.call("contents", self.engine.contents), np.float32)
        if found.shape != shape:
            self.tally.broken(rule, f"holds {list(found.shape)} [sequences, tokens, heads, dim]", f"{list(shape)}")
        return found

    def words(self, at: tuple[int, int, int, int], wanted: Single, found: Single, what: str) -> tuple[str, str]:
        """A token that is lost, in words."""
        where = f"sequence {at[0]} token {at[1]} head {at[2]} channel {at[3]}"
        return (
            f"{where} {what} and is read as {float(found[at])!r}",
            f"{float(wanted[at])!r} within a step of the scheme",
        )


def _flat(x: Single) -> Single:
    """`[sequences, tokens, ...]` as tokens of one array."""
    return np.ascontiguousarray(x.reshape(-1, *x.shape[2:]))
