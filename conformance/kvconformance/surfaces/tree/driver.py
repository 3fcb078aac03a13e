"""Drives a radix tree through a history: lookups, locks, insertions and evictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces.answers import number, several, truth, whole
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.records import published, record
from kvconformance.surfaces.tree.operations import Evict, Insert, Lock, Match, Unlock
from kvspec import rules
from kvspec.mirror import Content
from kvspec.published import Published
from kvspec.tree import events as ev
from kvspec.tree.shown import pages_of
from kvspec.tree.state import HandleId, TreeState
from kvspec.tree.vocabulary import Found, Inserted, Node, Slots
from kvspec.tree.words import judge
from kvspec.violation import Tally
from kvspec.vocabulary import Capabilities, TokenId, World

EVERYTHING = 1 << 20
RAISES = rules.FIT_AGREES_WITH_ALLOCATE


def radix(world: World, capabilities: Capabilities) -> tuple[TreeState, Callable[[ev.Event, Tally], object]]:
    """The machine of a radix tree."""
    state = TreeState(world, capabilities)
    return state, partial(judge, state)


class TreeDriver:
    """One tree, one checker, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker, self.feed = checker, checker.feed
        self.state: TreeState = checker.state
        self.call = Guarded(checker, RAISES)
        self.engine: Any = self.call("building the engine", factory, checker.world)
        self.handles: dict[HandleId, Any] = {}
        self.lookups = 0

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Perform all operations, then unlock and evict everything."""
        for operation in operations:
            self.checker.note(operation)
            perform = PERFORM.get(type(operation))
            if perform is not None:
                perform(self, operation)
        self.checker.note("unlock all, evict all")
        while self.state.locked:
            self.unlock(Unlock())
        self.evict(Evict(EVERYTHING))

    # Operations.

    def match(self, operation: Match) -> None:
        """Look a prefix up, and remember what was found."""
        tokens, parts = tuple(TokenId(t) for t in operation.prompt), operation.parts()
        found = record(self.call("looking up", self.engine.match, tokens, parts), Found, "match")
        self.lookups += 1
        handle = HandleId(self.lookups)
        self.handles[handle] = found.handle
        self.feed(ev.Match(handle, tokens, parts, whole(found.tokens, "match"), places(found.slots)))
        self.observe()

    def insert(self, operation: Insert) -> None:
        """Insert a prefix, or find no room; the tree may have made room itself."""
        tokens, parts = tuple(TokenId(t) for t in operation.prompt), operation.parts()
        room = self.available()
        answer = self.call("inserting", self.engine.insert, tokens, parts)
        remaining = self.remaining(self.nodes())
        if answer is None:
            self.feed(ev.Refuse(tokens, parts, room or 0, remaining))
        else:
            inserted = record(answer, Inserted, "insert")
            known = whole(inserted.known, "insert")
            self.feed(ev.Insert(tokens, parts, known, places(inserted.slots), remaining))
        self.observe()

    def lock(self, operation: Lock) -> None:
        """Lock what a lookup found, unless a part of it has been evicted since."""
        handle = pick(list(self.state.found), operation.which)
        if handle is not None:
            self.call("locking", self.engine.lock, self.handles[handle])
            self.feed(ev.Lock(handle))
            self.observe()

    def unlock(self, operation: Unlock) -> None:
        """Unlock one of the prefixes that are locked."""
        handle = pick(list(self.state.locked), operation.which)
        if handle is not None:
            self.call("unlocking", self.engine.unlock, self.handles[handle])
            self.feed(ev.Unlock(handle))
            self.observe()

    def evict(self, operation: Evict) -> None:
        """Make room."""
        told = number(self.call("evicting", self.engine.evict, operation.count), "evict")
        self.feed(ev.Evict(operation.count, told, self.remaining(self.nodes())))
        self.observe()

    def reset(self, operation: h.Reset) -> None:
        """Empty the tree, while nothing is locked."""
        if not self.checker.capabilities.resets or self.state.locked:
            return
        if truth(self.call("resetting", self.engine.reset), "reset"):
            self.feed(ev.Reset())
        self.observe()

    def observe(self) -> None:
        """Ask the tree what it holds, and judge it."""
        self.feed(
            ev.Observe(
                self.nodes(),
                number(self.call("describing itself", self.engine.evictable_size), "evictable_size"),
                number(self.call("describing itself", self.engine.protected_size), "protected_size"),
                self.available(),
                self.published(),
            )
        )

    # What the tree says.

    def nodes(self) -> tuple[Node, ...]:
        """Its nodes."""
        told = several(self.call("showing its nodes", self.engine.nodes), "nodes")
        return tuple(record(node, Node, "nodes") for node in told)

    def remaining(self, nodes: Sequence[Node]) -> frozenset[Content]:
        """The pages of these nodes."""
        return frozenset(content for node in nodes for content in pages_of(self.state, node))

    def available(self) -> int | None:
        """The tokens for which it has room; None where it does not say."""
        tell = getattr(self.engine, "available_size", None)
        return number(self.call("telling its room", tell), "available_size") if tell else None

    def published(self) -> tuple[Published, ...] | None:
        """What it has published since it was asked last; None where it does not publish."""
        tell = getattr(self.engine, "take_events", None)
        return published(self.call("telling what it published", tell), "take_events") if tell else None


def places(told: Sequence[Any] | None) -> Slots | None:
    """The places that were told, in whatever sequence of whatever numbers."""
    return None if told is None else tuple(whole(place, "slots") for place in told)


def pick(candidates: Sequence[HandleId], which: int) -> HandleId | None:
    """The candidate that an operation names, modulo their number."""
    return candidates[which % len(candidates)] if candidates else None


PERFORM: dict[type[h.Operation], Callable[[TreeDriver, Any], None]] = {
    Match: TreeDriver.match,
    Insert: TreeDriver.insert,
    Lock: TreeDriver.lock,
    Unlock: TreeDriver.unlock,
    Evict: TreeDriver.evict,
    h.Reset: TreeDriver.reset,
}
