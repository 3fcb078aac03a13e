"""Breadth first through every state of any small machine, with the shortest way to what is wrong."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Generic, Protocol, TypeVar

from kvexamine.explorer.broken import DEADLOCK, Broken, Wrong, forbidden, tried
from kvexamine.explorer.results import Progress
from kvspec.violation import HarnessFault

S = TypeVar("S")
E = TypeVar("E")

Expand = Callable[[Any], Sequence[Hashable]]
"""From the key of a state the keys after each of its moves. Raises `Wrong` where something is broken."""


class Model(Protocol[S, E]):
    """A state machine under exploration. States are never changed once `play` has returned them."""

    def start(self) -> S:
        """The first state."""

    def key(self, state: S) -> Hashable:
        """Equal for states that no rule can tell apart."""

    def proposals(self, state: S) -> Iterable[E]:
        """Moves that are worth putting to the transition, forbidden ones among them."""

    def permitted(self, state: S) -> Iterable[E]:
        """Moves that the definitions permit: the transition must allow each."""

    def play(self, state: S, move: E) -> tuple[E, S]:
        """The move with all that follows from it at once, and another state, that after it.

        Raises `Violation`, `Broken` or `HarnessFault` where there is none.
        """

    def broken_state(self, state: S) -> Broken | None:
        """What is wrong with a state, by the definitions."""

    def broken_move(self, before: S, move: E, after: S) -> Broken | None:
        """What is wrong with a step that the transition allowed."""

    def broken_choice(self, moves: Sequence[E]) -> Broken | None:
        """What is wrong with the moves of one state, taken together."""

    def finished(self, state: S) -> bool:
        """Whether nothing is left to do."""

    def history(self, moves: Iterable[E], state: S) -> tuple[str, ...]:
        """A history in words, and what there is at its end."""


@dataclass(frozen=True)
class Found(Generic[S, E]):
    """What a search saw. `complete` says that no state was left out; `moves` lead to what is `broken`."""

    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    broken: Broken | None = None
    moves: tuple[E, ...] = ()
    last: S | None = None
    edges: list[tuple[int, ...]] = field(default_factory=list)
    """With `graph`: for each state, in the order in which they were found, the states that follow it."""


class Played(Generic[S, E]):
    """Plays every move of a model on whole states, and keeps the states that are still to be expanded.

    What comes of a move is looked at as soon as it is first known, so that what is told is a shortest history; only a
    dead end may be told later than a step out of its own layer.
    """

    def __init__(self, model: Model[S, E], known: Container[Hashable] = ()) -> None:
        self.model, self.known = model, known
        self.states: dict[Hashable, S] = {}

    def __call__(self, key: Hashable) -> list[Hashable]:
        """The keys after all moves. Raises `Wrong` where something is broken."""
        keys = []
        for _, new, after in self.moves(self.states.pop(key), key):
            keys.append(new)
            if new not in self.known:
                self.states.setdefault(new, after)
        return keys

    def moves(self, state: S, own: Hashable) -> Iterator[tuple[E, Hashable, S]]:
        """Every move of a state, with the key and the state after it. Raises `Wrong` where something is broken."""
        model, moves, leads = self.model, list[E](), False
        for move in model.permitted(state):
            if (refused := forbidden(model.play, state, move)) is not None:
                raise Wrong(refused, (move, state))
        for proposal in model.proposals(state):
            if (played := self._played(state, proposal)) is None:
                continue
            move, after = played
            moves.append(move)
            leads |= (new := model.key(after)) != own
            wrong = model.broken_move(state, move, after)
            if wrong is None and new not in self.known and new not in self.states:
                wrong = model.broken_state(after)
            if wrong is not None:
                raise Wrong(wrong, (move, after))
            yield move, new, after
        if (wrong := model.broken_choice(moves)) is not None:
            raise Wrong(wrong)
        if not leads and not model.finished(state):
            raise Wrong(DEADLOCK)

    def _played(self, state: S, move: E) -> tuple[E, S] | None:
        try:
            return tried(self.model.play, state, move)
        except Wrong as wrong:
            raise Wrong(wrong.broken, (move, state)) from wrong


class Search(Generic[S, E]):
    """One search of one model, whose keys are expanded by playing or in another way that comes to the same."""

    def __init__(self, model: Model[S, E], expand: Expand | None = None) -> None:
        self.model, self.first = model, model.start()
        self.seen: dict[Hashable, int] = {model.key(self.first): 0}
        """Each key with the number of its state."""
        self.parents = array("I", [0])
        self.edges: list[tuple[int, ...]] = []
        self.transitions, self.place = 0, 0
        played = Played(model, self.seen)
        played.states = dict.fromkeys(self.seen, self.first)
        self.expand: Expand = played if expand is None else expand

    def run(self, limit: int = 10**9, progress: Progress | None = None, *, graph: bool = False) -> Found[S, E]:
        """Go through all states, or until more than `limit` are known or something is broken."""
        began, depth, layer = time.perf_counter(), 0, list(self.seen)
        broken, moves, last = self.model.broken_state(self.first), list[E](), self.first
        try:
            while broken is None and layer and len(self.seen) <= limit:
                layer = self._following(layer, limit, graph)
                depth += bool(layer)
                if progress is not None:
                    progress(len(self.seen), depth)
        except Wrong as wrong:
            broken, moves, last = self._replayed(wrong.broken)
        seconds, complete = time.perf_counter() - began, broken is None and not layer
        size, told = len(self.seen), tuple(moves)
        return Found(size, self.transitions, depth, seconds, complete, broken, told, last, self.edges)

    def _following(self, layer: list[Hashable], limit: int, graph: bool) -> list[Hashable]:
        """The keys that are first found from those of a layer, and one of that where there is no room for more."""
        seen, parents, following, size = self.seen, self.parents, list[Hashable](), len(self.parents)
        for key in layer:
            keys, numbers = self.expand(key), []
            self.transitions += len(keys)
            for new in keys:
                if (number := seen.setdefault(new, size)) == size:
                    parents.append(self.place)
                    following.append(new)
                    size += 1
                numbers.append(number)
            if graph:
                self.edges.append(tuple(set(numbers)))
            self.place += 1
            if size > limit:
                return [*following, key]
        return following

    def _path(self, place: int) -> list[Hashable]:
        """The keys from the first state to that of this number."""
        places = [place]
        while places[-1]:
            places.append(self.parents[places[-1]])
        wanted = set(places)
        return [key for number, key in enumerate(islice(self.seen, place + 1)) if number in wanted]

    def walk(self, place: int) -> tuple[list[E], S]:
        """The moves to the state of this number, and that state: played again, with the true names of what it has.

        Raises `Wrong` where something is broken on the way.
        """
        return self._walk(self._path(place), list[E]())

    def _walk(self, path: list[Hashable], moves: list[E]) -> tuple[list[E], S]:
        state, played = self.first, Played(self.model)
        for own, key in pairwise(path):
            for move, new, after in played.moves(state, own):
                if new == key:
                    moves.append(move)
                    state = after
                    break
            else:
                raise HarnessFault(f"no move of the whole state leads to {key!r}")
        return moves, state

    def _replayed(self, expected: Broken) -> tuple[Broken, list[E], S]:
        """What is wrong with the state under expansion, played with full checks: what is told rests on no key."""
        path, moves, state = self._path(self.place), list[E](), self.first
        try:
            _, state = self._walk(path, moves)
            for _ in Played(self.model).moves(state, path[-1]):
                pass
        except Wrong as wrong:
            for move, after in wrong.ways:
                moves, state = [*moves, move], after
            return wrong.broken, moves, state
        raise HarnessFault(f"the whole state does not show what the search saw: {expected.what}")
