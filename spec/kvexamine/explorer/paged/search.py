"""Breadth first through every state of a scope: how many there are, what is broken, and how it came to that."""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, field
from itertools import islice

from kvexamine.explorer.broken import Broken, Stop, Wrong
from kvexamine.explorer.paged.checks import NOTHING, broken_choice, broken_move, broken_state, finished
from kvexamine.explorer.paged.expand import Local, Whole, successors
from kvexamine.explorer.paged.moves import Move, Transition
from kvexamine.explorer.paged.packing import Codec
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.results import Progress
from kvspec import events as ev
from kvspec import rules
from kvspec.state import State
from kvspec.transition import advance
from kvspec.violation import HarnessFault, Tally

_TALLY = Tally()


def honest(state: State, event: ev.Event) -> None:
    """The specification's own transition."""
    advance(state, event, _TALLY)


@dataclass(frozen=True)
class Counterexample:
    """A shortest way to something broken: the moves from the start, and the state at their end."""

    broken: Broken
    moves: tuple[Move, ...]
    state: State


@dataclass
class Found:
    """What a search saw. `complete` says that no state was left out."""

    scope: Scope
    states: int = 0
    transitions: int = 0
    depth: int = 0
    seconds: float = 0.0
    complete: bool = False
    counterexample: Counterexample | None = None
    edges: list[tuple[int, ...]] = field(default_factory=list)
    """With `graph`: for each state, in the order in which they were found, the states that follow it."""


class Search:
    """One search of one scope under one transition."""

    def __init__(self, scope: Scope, transition: Transition = honest, *, whole: bool = False) -> None:
        self.scope, self.transition = scope, transition
        self.codec = Codec(scope)
        self.expand = (Local if scope.local and not whole else Whole)(self.codec, transition)
        first = self.codec.key(self.codec.start)
        self.seen = {first: 0}
        """Each key with the number of its state."""
        self.parents = array("I", [0])
        self.found = Found(scope)

    def run(self, limit: int = 10**9, progress: Progress | None = None, *, graph: bool = False) -> Found:
        """Go through all states, or until more than `limit` are known or something is broken."""
        began = time.perf_counter()
        found, layer = self.found, list(self.seen)
        place = 0
        try:
            while layer and len(self.seen) <= limit:
                layer = self._layer(layer, place, limit, graph)
                place = len(self.seen) - len(layer)
                found.depth += bool(layer)
                if progress is not None:
                    progress(len(self.seen), found.depth)
            found.complete = not layer
        except Stop as stop:
            found.counterexample = self._replay(stop.place, stop.broken)
        found.states, found.seconds = len(self.seen), time.perf_counter() - began
        return found

    def _layer(self, layer: list[bytes], place: int, limit: int, graph: bool) -> list[bytes]:
        """Expand every key of a layer, whose first is state number `place`; return those found anew."""
        seen, parents, expand, following = self.seen, self.parents, self.expand, []
        transitions = 0
        for key in layer:
            try:
                keys = expand(key)
            except Wrong as wrong:
                raise Stop(place, wrong.broken) from wrong
            transitions += len(keys)
            if not keys and not finished(self.codec.read(key)):
                raise Stop(place, Broken(rules.PROGRESS_OR_REJECT, "deadlock: nothing can happen any more"))
            for new in keys:
                if new not in seen:
                    seen[new] = len(parents)
                    parents.append(place)
                    following.append(new)
            if graph:
                self.found.edges.append(tuple({seen[new] for new in keys}))
            place += 1
            if len(seen) > limit:
                following.append(key)
                break
        self.found.transitions += transitions
        return following

    def _path(self, place: int) -> list[bytes]:
        """The keys from the first state to that of this number."""
        places = [place]
        while places[-1]:
            places.append(self.parents[places[-1]])
        wanted = set(places)
        return [key for number, key in enumerate(islice(self.seen, place + 1)) if number in wanted]

    def _replay(self, place: int, expected: Broken) -> Counterexample:
        """Play the path on whole states with full checks, so that what is told does not rest on keys and views."""
        state, moves = self._walk(place)
        if (broken := broken_state(self.scope, state)) is not None:
            return Counterexample(broken, tuple(moves), state)
        return self._last(state, moves, expected)

    def _walk(self, place: int) -> tuple[State, list[Move]]:
        """The moves to the state of this number, which is no key but a whole state with its blocks' true names."""
        state, moves = self.codec.start, list[Move]()
        for key in self._path(place)[1:]:
            for move, after in successors(self.scope, self.transition, state):
                if self.codec.key(after) == key:
                    moves.append(move)
                    state = after
                    break
            else:
                raise HarnessFault(f"no move of the whole state leads to {self.codec.read(key)}")
        return state, moves

    def way_to(self, place: int, broken: Broken) -> Counterexample:
        """A shortest way to the state of this number, about which something else is known to be wrong."""
        state, moves = self._walk(place)
        return Counterexample(broken, tuple(moves), state)

    def _last(self, state: State, moves: list[Move], expected: Broken) -> Counterexample:
        """The move from the last state that breaks something, or the state itself if it is a dead end."""
        try:
            return self._last_move(state, moves, expected)
        except Wrong as wrong:
            return Counterexample(wrong.broken, tuple(moves), state)

    def _last_move(self, state: State, moves: list[Move], expected: Broken) -> Counterexample:
        scope, possible = self.scope, list[Move]()
        for move, after in successors(scope, self.transition, state):
            possible.append(move)
            if (broken := broken_move(scope, state, after, move) or broken_state(scope, after)) is not None:
                return Counterexample(broken, (*moves, move), after)
            if expected is NOTHING and self.codec.key(after) == self.codec.key(state):
                return Counterexample(expected, (*moves, move), after)
        broken = broken_choice(scope, possible)
        if broken is None and not possible:
            broken = expected
        if broken is None:
            raise HarnessFault(f"the whole state does not show what the search saw: {expected.what}")
        return Counterexample(broken, tuple(moves), state)
