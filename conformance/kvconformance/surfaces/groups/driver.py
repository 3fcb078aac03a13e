"""Drives a block manager with several groups through a history: admissions, growth, steps that finish, releases.

Each request computes in steps of its own, which are on the device until the manager is told that they are complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces.answers import several
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.records import counts, listed, record
from kvconformance.surfaces.requests import name, pick
from kvconformance.surfaces.tables import trims
from kvspec import events as ev
from kvspec import rules
from kvspec.layout import Table, Tables
from kvspec.plans import GroupAdmission
from kvspec.state import Live, State
from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, GroupsCapabilities, Phase, Request, RequestId, StepId, TokenId

RAISES = rules.FIT_AGREES_WITH_ALLOCATE


class GroupsDriver:
    """One manager, one checker, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker, self.feed = checker, checker.feed
        self.state: State = checker.state
        self.capabilities: GroupsCapabilities = checker.capabilities  # type: ignore[assignment]
        self.call = Guarded(checker, RAISES)
        self.engine: Any = self.call("building the engine", factory, checker.world)
        self.flights: dict[RequestId, list[StepId]] = {}

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Perform all operations, then end every request."""
        for operation in operations:
            self.checker.note(operation)
            perform = PERFORM.get(type(operation))
            if perform is not None:
                perform(self, operation)
        self.checker.note("free all")
        while self.running():
            self.free(h.Free())
        self.observe()

    # Operations.

    def add(self, operation: h.Add) -> None:
        """Admit a request that the empty pools could hold whole."""
        id = name(len(self.state.requests))
        request = Request(id, tuple(TokenId(t) for t in operation.prompt), operation.max_new_tokens)
        if max(self.state.layout.most_blocks(request.limit)) + self.spare > self.state.usable:
            return
        self.feed(ev.Add(request))
        answer = self.call(f"admitting {id}", self.engine.admit, request, operation.chunk)
        self.follow()
        if answer is None:
            # How much of the prompt the engine found, and so how far a chunk would have reached, it does not say.
            self.refused(id, len(request.prompt))
            self.observe()
            self.feed(ev.Abort(id))
        else:
            admission = record(answer, GroupAdmission, "admit")
            self.admitted(id, admission)
        self.observe()

    def admitted(self, id: RequestId, admission: GroupAdmission) -> None:
        """A hit is shared in all groups, and slots are given for what is computed first."""
        hit, tables = admission.hit, self.tables(id)
        if hit < 0:
            raise HarnessFault(f"{id} is admitted on a hit of {hit} tokens")
        whole = (table[: -(-hit // g.block_size)] for g, table in zip(self.state.layout.groups, tables, strict=True))
        first, *others = whole
        self.feed(ev.Start(id, hit, first, tuple(others)))
        self.feed(ev.Reserve(id, hit + admission.count, tables[0], tables[1:]))
        self.dispatch(id, admission.count)

    def grow(self, operation: h.Grow) -> None:
        """Homes for the next tokens of a running request, and the step that computes them; not for its last one."""
        live = pick(self.running(), operation.which)
        if live is None:
            return
        while len(self.flights.get(live.request.id, ())) >= self.capabilities.max_in_flight:
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
            tables = self.tables(id)
            self.feed(ev.Reserve(id, live.computed + count, tables[0], tables[1:]))
            self.dispatch(id, count)
        else:
            self.refused(id, live.computed + count)
        self.observe()

    def commit(self, operation: h.Commit) -> None:
        """The oldest step of a request finishes on the device."""
        live = pick([live for live in self.running() if self.flights.get(live.request.id)], operation.which)
        if live is not None:
            self.complete(live)
            self.observe()

    def free(self, operation: h.Free) -> None:
        """A request ends, once its steps have finished."""
        live = pick(self.running(), operation.which)
        if live is None:
            return
        while self.flights.get(live.request.id):
            self.complete(live)
        self.call(f"freeing {live.request.id}", self.engine.free, live.request.id)
        self.feed(ev.Abort(live.request.id))
        self.observe()

    # Their parts.

    def running(self) -> list[Live]:
        """Requests that hold blocks."""
        return [live for live in self.state.live() if live.phase is Phase.RUNNING]

    def refused(self, id: RequestId, end: int) -> None:
        """Homes for `end` tokens are not given: at most what they need if every entry of every group is needed anew."""
        live, layout = self.state.requests[id], self.state.layout
        needs = layout.most_blocks(end)
        for number, table in enumerate(live.tables):
            needs[layout.pool_of(number)] -= len(table)
        self.feed(ev.Refuse(id, needs[0], (), tuple(needs[1:])))

    def dispatch(self, id: RequestId, count: int) -> None:
        """The step is on the device."""
        if count:
            live = self.state.requests[id]
            first, *others = (tuple(table) for table in live.tables)
            self.feed(ev.Compute(id, live.computed, count, first, more=tuple(others)))
            step = StepId(self.state.step)
            self.flights.setdefault(id, []).append(step)
            self.feed(ev.Dispatch(step))
            self.feed(ev.EndStep())

    def complete(self, live: Live) -> None:
        """The oldest step is done: the engine may publish what it computed and trim what is past."""
        id = live.request.id
        self.feed(ev.Complete(self.flights[id].pop(0)))
        self.call(f"completing a step of {id}", self.engine.completed, id, self.state.earliest(live))
        self.follow()

    def sample(self, live: Live) -> bool:
        """A token joins a request whose steps have all finished; False where it has all its tokens."""
        if live.generated >= live.request.max_new_tokens:
            return False
        while self.flights.get(live.request.id):
            self.complete(live)
        token = TokenId((sum(live.tokens) + len(live.tokens)) % 2)
        self.call(f"appending to {live.request.id}", self.engine.append, live.request.id, token)
        self.feed(ev.Sample(live.request.id, token))
        return True

    def follow(self) -> None:
        """Entries that are None now were given back, whichever request the engine was asked for."""
        for live in self.running():
            for number, table in enumerate(self.tables(live.request.id)):
                for event in trims(live, table, number):
                    self.feed(event)

    def tables(self, id: RequestId) -> Tables:
        """What the engine says that a request holds, with blocks numbered through all pools."""
        told = self.call(f"telling the tables of {id}", self.engine.tables, id)
        tables = tuple(several(table, "tables") for table in several(told, "tables"))
        layout = self.state.layout
        if not tables:
            return tuple(() for _ in layout.groups)
        if len(tables) != len(layout.groups):
            raise HarnessFault(f"tables of {id}: {len(tables)} are told of {len(layout.groups)}")
        return tuple(self.placed(layout.pool_of(number), table) for number, table in enumerate(tables))

    def placed(self, pool: int, table: Table) -> Table:
        """Blocks of one pool as they are numbered through all of them; what is no block of it is none at all."""
        size, beyond = self.state.world.num_blocks, len(self.state.blocks)
        return tuple(
            id if id is None or id < 0 else BlockId(pool * size + id if id < size else beyond + id) for id in table
        )

    def observe(self) -> None:
        """Ask the engine what it says of itself, and judge it."""
        layout = self.state.layout
        free = listed(self.call("counting free blocks", self.engine.free_blocks), "free_blocks")
        if len(free) != layout.num_pools:
            raise HarnessFault(f"pools with free blocks: {len(free)} are told of {layout.num_pools}")
        told = {id: self.tables(id) for id in self.state.requests}
        for number in range(len(layout.groups)):
            tables = {id: tables[number] for id, tables in told.items()}
            refs = self.refs() if number == 0 else None
            self.feed(ev.Observe(free=free[layout.pool_of(number)], tables=tables, refs=refs, group=number))

    def refs(self) -> dict[BlockId, int] | None:
        """The counted references of all pools, where the engine tells them."""
        told = getattr(self.engine, "ref_counts", None)
        if told is None:
            return None
        pools = several(self.call("counting references", told), "ref_counts")
        if len(pools) != self.state.layout.num_pools:
            raise HarnessFault(f"pools with reference counts: {len(pools)} are told of {self.state.layout.num_pools}")
        counted: dict[BlockId, int] = {}
        for number, pool in enumerate(pools):
            held = counts(pool, "ref_counts")
            counted |= zip(self.placed(number, tuple(held)), held.values(), strict=True)  # type: ignore[arg-type]
        return counted

    @property
    def spare(self) -> int:
        """Blocks of a pool that the engine keeps back or takes on top."""
        return self.capabilities.watermark_blocks + self.capabilities.lookahead_blocks * len(self.state.layout.groups)


PERFORM: dict[type[h.Operation], Callable[[GroupsDriver, Any], None]] = {
    h.Add: GroupsDriver.add,
    h.Grow: GroupsDriver.grow,
    h.Commit: GroupsDriver.commit,
    h.Free: GroupsDriver.free,
}
