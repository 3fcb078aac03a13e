"""Plain breadth-first search over any small state machine, with the shortest way to what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kvexamine.explorer.broken import Broken, Stop, Wrong
from kvexamine.explorer.results import Progress
from kvspec import rules
from kvspec.violation import Broken as Unmet
from kvspec.violation import HarnessFault, Violation

S = TypeVar("S")
E = TypeVar("E")

_FALLS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Model(Protocol[S, E]):
    """A state machine under exploration. States are never changed once `play` has returned them."""

    def start(self) -> S:
        """The first state."""

    def key(self, state: S) -> Hashable:
        """Equal for states that no rule can tell apart."""

    def proposals(self, state: S) -> Iterable[E]:
        """Events that are worth putting to the transition, forbidden ones among them."""

    def permitted(self, state: S) -> Iterable[E]:
        """Events that the definitions permit: the transition must allow each."""

    def play(self, state: S, event: E) -> S:
        """Another state, that after `event`. Raises `Violation` or `HarnessFault` where there is none."""

    def broken_state(self, state: S) -> Broken | None:
        """What is wrong with a state, by the definitions."""

    def broken_move(self, before: S, event: E, after: S) -> Broken | None:
        """What is wrong with a step that the transition allowed."""

    def finished(self, state: S) -> bool:
        """Whether nothing is left to do."""

    def told(self, events: Iterable[E], state: S) -> tuple[str, ...]:
        """A history in words, and what there is at its end."""


@dataclass(frozen=True)
class Found(Generic[S, E]):
    """What a search saw. `complete` says that no state was left out; `events` lead to what is `broken`."""

    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    broken: Broken | None = None
    events: tuple[E, ...] = ()
    last: S | None = None


class Search(Generic[S, E]):
    """One search of one model."""

    def __init__(self, model: Model[S, E]) -> None:
        self.model = model
        first = model.start()
        self.layer: list[tuple[int, S]] = [(0, first)]
        self.known: dict[Hashable, int] = {model.key(first): 0}
        """Each key with the number of its state."""
        self.ways: list[tuple[int, E] | None] = [None]
        """By number, the state before and the event that first led here."""
        self.transitions = 0

    def run(self, limit: int = 10**9, progress: Progress | None = None) -> Found[S, E]:
        """Go through all states, or until more than `limit` are known or something is broken."""
        began, depth = time.perf_counter(), 0
        try:
            while self.layer and len(self.known) <= limit:
                self.layer = list(self._following(limit))
                depth += bool(self.layer)
                if progress is not None:
                    progress(len(self.known), depth)
        except Stop as stop:
            return self._found(depth, began, stop)
        return self._found(depth, began, None)

    def _found(self, depth: int, began: float, stop: Stop | None) -> Found[S, E]:
        size, seconds = len(self.known), time.perf_counter() - began
        if stop is None:
            return Found(size, self.transitions, depth, seconds, not self.layer)
        events = tuple(self._way(stop.place)) + stop.events
        return Found(size, self.transitions, depth, seconds, False, stop.broken, events, self._replayed(events))

    def _following(self, limit: int) -> Iterator[tuple[int, S]]:
        """The states that are first found from those of the last layer, all of which are looked at before a step is.

        So what is told is a shortest history; only a dead end may be told later than a step out of its own layer.
        """
        for place, state in self.layer:
            self._require(place, self.model.broken_state, state)
        for place, state in self.layer:
            if len(self.known) > limit:
                yield place, state
                return
            yield from self._from(place, state)

    def _from(self, place: int, state: S) -> Iterator[tuple[int, S]]:
        model, own, leads = self.model, self.model.key(state), False
        for event in model.permitted(state):
            if (refused := self._refused(place, state, event)) is not None:
                raise Stop(place, refused, (event,))
        for event in model.proposals(state):
            after = self._played(place, state, event)
            if after is None:
                continue
            self.transitions += 1
            self._require(place, model.broken_move, state, event, after, events=(event,))
            key = model.key(after)
            leads |= key != own
            if key not in self.known:
                self.known[key] = number = len(self.ways)
                self.ways.append((place, event))
                yield number, after
        if not leads and not model.finished(state):
            raise Stop(place, Broken(rules.PROGRESS_OR_REJECT, "deadlock: nothing can happen any more"))

    def _require(
        self, place: int, check: Callable[..., Broken | None], *arguments: object, events: tuple[E, ...] = ()
    ) -> None:
        try:
            broken = check(*arguments)
        except Wrong as wrong:
            broken = wrong.broken
        if broken is not None:
            raise Stop(place, broken, events)

    def _refused(self, place: int, state: S, event: E) -> Broken | None:
        """What is wrong with a transition that does not do what the definitions permit."""
        try:
            self.model.play(state, event)
        except (Violation, Unmet) as refusal:
            return Broken(refusal.rule, f"what is permitted is forbidden: {refusal}")
        except HarnessFault as fault:
            return Broken(rules.PROGRESS_OR_REJECT, f"what is permitted cannot be said: {fault}")
        except _FALLS as error:
            return _fallen(error)
        return None

    def _played(self, place: int, state: S, event: E) -> S | None:
        try:
            return self.model.play(state, event)
        except (Violation, Unmet, HarnessFault):
            return None
        except _FALLS as error:
            raise Stop(place, _fallen(error), (event,)) from error

    def _way(self, place: int) -> list[E]:
        """The events that lead to the state of this number."""
        events: list[E] = []
        while (way := self.ways[place]) is not None:
            place, event = way
            events.append(event)
        return events[::-1]

    def _replayed(self, events: tuple[E, ...]) -> S:
        """The state after these events, the last of which may be one that the transition does not allow."""
        state = self.model.start()
        for event in events:
            try:
                state = self.model.play(state, event)
            except (Violation, Unmet, HarnessFault, *_FALLS):
                break
        return state


def _fallen(error: Exception) -> Broken:
    return Broken(rules.NO_DANGLING_REFERENCE, f"the transition falls over: {error!r}")
