"""Drives a block manager with several groups through a history: admissions, growth, steps that finish, releases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kvconformance import history as h
from kvconformance.answers import several
from kvconformance.checker import Checker, Guarded
from kvconformance.records import counts, listed, record
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.stepper.driver import name
from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.state import Live, State, initial
from kvspec.groups.transition import advance
from kvspec.groups.vocabulary import GroupAdmission, GroupsCapabilities, Tables
from kvspec.violation import Tally
from kvspec.vocabulary import Request, RequestId, TokenId, World

RAISES = rules.FIT_AGREES_WITH_ALLOCATE


def grouped(world: World, capabilities: GroupsCapabilities) -> tuple[State, Callable[[ev.Event, Tally], object]]:
    """The machine of a cache with several groups."""
    state = initial(world, capabilities)
    return state, partial(advance, state)


class GroupsDriver:
    """One manager, one checker, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker, self.feed = checker, checker.feed
        self.state: State = checker.state
        self.capabilities: GroupsCapabilities = self.state.capabilities
        self.call = Guarded(checker, RAISES)
        self.engine: Any = self.call("building the engine", factory, checker.world)
        self.requests = 0

    def run(self, operations: tuple[h.AnyOperation, ...]) -> None:
        """Perform all operations, then end every request."""
        for operation in operations:
            self.checker.note(operation)
            perform = _PERFORM.get(type(operation))
            if perform is not None:
                perform(self, operation)
        self.checker.note("free all")
        while self.state.requests:
            self.free(h.Free())
        self.observe()

    # Operations.

    def add(self, operation: h.Add) -> None:
        """Admit a request that the empty pools could hold whole."""
        id = name(self.requests)
        request = Request(id, tuple(TokenId(t) for t in operation.prompt), operation.max_new_tokens)
        if max(self.state.layout.most_blocks(request.limit)) + self.spare > self.state.usable:
            return
        self.requests += 1
        chunk = operation.chunk
        answer = self.call(f"admitting {id}", self.engine.admit, request, chunk)
        self.follow()
        if answer is None:
            # How much of the prompt the engine found, and so how far a chunk would have reached, it does not say.
            self.feed(ev.Refuse(request, len(request.prompt)))
        else:
            admission = record(answer, GroupAdmission, "admit")
            end = admission.hit + admission.count
            self.feed(ev.Admit(request, admission.hit, end, self.tables(id)))
            self.dispatch(id, admission.count)
        self.observe(id)

    def grow(self, operation: h.Grow) -> None:
        """Homes for the next tokens of a running request, and the step that computes them; not for its last one."""
        live = self.pick(operation.which)
        if live is None:
            return
        while len(live.flights) >= self.capabilities.max_in_flight:
            self.complete(live)
        if live.computed == len(live.tokens) and not self.sample(live):
            return
        if live.generated == live.request.max_new_tokens:
            self.observe()
            return
        id, count = live.request.id, min(operation.count, len(live.tokens) - live.computed)
        grown = self.call(f"extending {id}", self.engine.extend, id, count)
        self.follow()
        if grown:
            self.feed(ev.Grow(id, live.computed + count, self.tables(id)))
            self.dispatch(id, count)
        else:
            self.feed(ev.Refuse(live.request, live.computed + count))
        self.observe()

    def commit(self, operation: h.Commit) -> None:
        """The oldest step of a request finishes on the device."""
        live = self.pick(operation.which, flying=True)
        if live is not None:
            self.complete(live)
            self.observe()

    def free(self, operation: h.Free) -> None:
        """A request ends, once its steps have finished."""
        live = self.pick(operation.which)
        if live is None:
            return
        while live.flights:
            self.complete(live)
        self.call(f"freeing {live.request.id}", self.engine.free, live.request.id)
        self.feed(ev.End(live.request.id))
        self.observe(live.request.id)

    # Their parts.

    def pick(self, which: int, *, flying: bool = False) -> Live | None:
        """One of the running requests, or of those with a step on the device."""
        some = [live for live in self.state.requests.values() if live.flights or not flying]
        return some[which % len(some)] if some else None

    def dispatch(self, id: RequestId, count: int) -> None:
        """The step is on the device."""
        if count:
            self.feed(ev.Compute(id, count))

    def complete(self, live: Live) -> None:
        """The oldest step is done: the engine may publish what it computed and release what is past."""
        self.feed(ev.Complete(live.request.id))
        self.call(f"completing a step of {live.request.id}", self.engine.completed, live.request.id, live.earliest)
        self.follow()

    def sample(self, live: Live) -> bool:
        """A token joins a request whose steps have all finished; False where it has all its tokens."""
        if live.generated >= live.request.max_new_tokens:
            return False
        while live.flights:
            self.complete(live)
        token = TokenId((sum(live.tokens) + len(live.tokens)) % 2)
        self.call(f"appending to {live.request.id}", self.engine.append, live.request.id, token)
        self.feed(ev.Sample(live.request.id, token))
        return True

    def follow(self) -> None:
        """Entries that are None now were released, whichever request the engine was asked for."""
        for live in self.state.requests.values():
            for number, (old, new) in enumerate(zip(live.tables, self.tables(live.request.id), strict=True)):
                for index, (before, after) in enumerate(zip(tuple(old), new, strict=False)):
                    if before is not None and after is None:
                        self.feed(ev.Release(live.request.id, number, index))

    def tables(self, id: RequestId) -> Tables:
        """What the engine says that a request holds."""
        told = self.call(f"telling the tables of {id}", self.engine.tables, id)
        return tuple(several(table, "tables") for table in several(told, "tables"))

    def observe(self, *others: RequestId) -> None:
        """Ask the engine what it says of itself, and judge it."""
        ids = dict.fromkeys((*self.state.requests, *others))
        refs = getattr(self.engine, "ref_counts", None)
        pools = several(self.call("counting references", refs), "ref_counts") if refs else None
        observed = ev.Observe(
            free=listed(self.call("counting free blocks", self.engine.free_blocks), "free_blocks"),
            tables={id: self.tables(id) for id in ids},
            refs=None if pools is None else tuple(counts(pool, "ref_counts") for pool in pools),
        )
        self.feed(observed)

    @property
    def spare(self) -> int:
        """Blocks of a pool that the engine keeps back or takes on top."""
        return self.capabilities.watermark_blocks + self.capabilities.lookahead_blocks * len(self.state.layout.groups)


_PERFORM: dict[type, Callable[[GroupsDriver, Any], None]] = {
    h.Add: GroupsDriver.add,
    h.Grow: GroupsDriver.grow,
    h.Commit: GroupsDriver.commit,
    h.Free: GroupsDriver.free,
}
