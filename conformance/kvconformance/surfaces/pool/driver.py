"""Drives a Pool through a history: admissions, growth, forks and releases of a block manager alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces import records
from kvconformance.surfaces.answers import truth
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.observations import Observer
from kvconformance.surfaces.pool.operations import FreeAgain, Lookup
from kvconformance.surfaces.requests import name, pick
from kvconformance.surfaces.tables import entry, remaps
from kvspec import events as ev
from kvspec import rules
from kvspec.hits import check_entry
from kvspec.plans import Admission, Extension, Hit, Rejected
from kvspec.state import Live, State
from kvspec.violation import Broken, Tally
from kvspec.vocabulary import BlockId, Capabilities, KeyParts, Phase, Request, RequestId, StepId, TokenId, World

UNLIMITED = 1 << 30
RAISES = rules.FIT_AGREES_WITH_ALLOCATE


def stepless(world: World, capabilities: Capabilities) -> tuple[World, Capabilities]:
    """A Pool knows no steps: lift what limits a step."""
    return (
        replace(world, token_budget=UNLIMITED, max_running=UNLIMITED),
        replace(capabilities, idle_steps=UNLIMITED),
    )


class PoolDriver:
    """One pool, one checker, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker = checker
        self.state: State = checker.state
        self.call = Guarded(checker, RAISES)
        self.engine: Any = self.call("building the engine", factory, checker.world)
        self.observer = Observer(self.engine)
        self.capabilities = self.state.capabilities
        self.pending: dict[RequestId, int] = {}
        self.gone: list[RequestId] = []
        self.lookups = 0

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Perform all operations, then end every request."""
        for operation in operations:
            self.checker.note(operation)
            PERFORM[type(operation)](self, operation)
            self.checker.feed(ev.EndStep())
        self.checker.note("free all")
        while self.state.live():
            self.free(h.Free())
        self.observe()

    def add(self, operation: h.Add) -> None:
        """Admit a request; refused now or for good, nothing may change."""
        state = self.state
        prompt = tuple(TokenId(t) for t in operation.prompt)
        id = name(len(state.requests))
        request = Request(id, prompt, operation.max_new_tokens, 0, operation.parts())
        if not state.feasible(request) and (not self.capabilities.rejects_infeasible or not state.infeasible(request)):
            return
        self.checker.feed(ev.Add(request))
        try:
            admission = self.call(f"admitting {id}", self.engine.admit, request, operation.chunk, answers=(Rejected,))
        except Rejected:
            self.checker.feed(ev.Reject(id))
        else:
            admission = admission if admission is None else records.record(admission, Admission, "admit")
            self.admitted(request, operation.chunk, admission)
        self.observe()

    def admitted(self, request: Request, chunk: int, admission: Admission | None) -> None:
        """The effects of an admission or its refusal."""
        if admission is None:
            self.refused(request, chunk)
            return
        hit, size = admission.hit, self.state.world.block_size
        self.checker.feed(ev.Start(request.id, hit, tuple(admission.table[: -(-hit // size)])))
        self.checker.feed(ev.Reserve(request.id, hit + admission.count, tuple(admission.table)))
        self.allocated(request.id, admission.count)

    def allocated(self, id: RequestId, count: int) -> None:
        """Homes were given. A pool that publishes when it schedules means "computed in this step": then it is."""
        self.pending[id] = count
        if self.capabilities.publishes == "scheduled":
            self.commit_one(id)

    def refused(self, request: Request, chunk: int) -> None:
        """The pool is too full for a new request, which goes away.

        Where the pool does not say what it found, it may have found what takes most: that is what must not fit.
        """
        state = self.state
        refusals = []
        for hit in self.hits(request):
            end = hit.tokens + min(chunk, len(request.prompt) - hit.tokens)
            need = state.world.blocks_for(end) - len(hit.blocks)
            taken = need + sum(block in state.free for block in hit.blocks)
            refusals.append((taken, ev.Refuse(request.id, need, tuple(hit.blocks))))
        self.checker.feed(max(refusals, key=lambda refusal: refusal[0])[1])
        self.observe()
        self.checker.feed(ev.Abort(request.id))

    def hits(self, request: Request) -> list[Hit]:
        """What the pool found for a request: what it says or, without `lookup`, every hit that would be right."""
        if hasattr(self.engine, "lookup"):
            return [self.found(request)]
        state, found = self.state, [Hit(0, ())]
        longest = (len(request.prompt) - 1) // state.world.block_size if state.world.caching else 0
        for index in range(longest):
            serving = [id for id in map(BlockId, range(state.world.num_blocks)) if serves(state, request.id, index, id)]
            if not serving:
                break
            idle = next((id for id in serving if id in state.free), serving[0])
            found.append(Hit((index + 1) * state.world.block_size, (*found[-1].blocks, idle)))
        return found

    def found(self, request: Request) -> Hit:
        """What the pool answers to a lookup; None is no hit."""
        hit = self.call("looking up", self.engine.lookup, request)
        return Hit(0, ()) if hit is None else records.record(hit, Hit, "lookup")

    def grow(self, operation: h.Grow) -> None:
        """Homes for the next tokens of a running request."""
        live = pick(self.running(), operation.which)
        if live is None:
            return
        id = live.request.id
        self.commit_one(id)
        if live.computed == len(live.tokens):
            if live.generated >= live.request.max_new_tokens:
                return
            token = TokenId((sum(live.tokens) + len(live.tokens) + live.forked) % 2)
            self.call(f"appending to {id}", self.engine.append, id, token)
            self.checker.feed(ev.Sample(id, token))
        count = min(operation.count, len(live.tokens) - live.computed)
        extension: Extension | None = self.call(f"extending {id}", self.engine.extend, id, count)
        if extension is None:
            self.checker.feed(ev.Refuse(id, self.needed(live, count)))
        else:
            self.extended(live, count, records.record(extension, Extension, "extend"))
        self.observe()

    def extended(self, live: Live, count: int, extension: Extension) -> None:
        """The effects of an extension: copies first, then new blocks."""
        id = live.request.id
        for copy in extension.copies:
            index = entry(live, copy)
            self.checker.feed(ev.Copy(id, index, copy.source, copy.target, copy.extent))
        self.checker.feed(ev.Reserve(id, live.computed + count, tuple(extension.table)))
        self.allocated(id, count)

    def needed(self, live: Live, count: int) -> int:
        """Blocks that an extension takes: new ones, and a private copy of a shared block that it continues."""
        state = self.state
        size = state.world.block_size
        new = state.world.blocks_for(live.computed + count) - len(live.table)
        tail = live.computed // size
        shared = live.computed % size and state.blocks[live.table[tail]].ref > 1
        return new + (1 if shared else 0)

    def commit(self, operation: h.Commit) -> None:
        """What a request was given slots for is computed."""
        live = pick([live for live in self.running() if live.request.id in self.pending], operation.which)
        if live is not None:
            self.commit_one(live.request.id)
            self.observe()

    def commit_one(self, id: RequestId) -> None:
        """Compute the pending positions of one request."""
        count = self.pending.pop(id, 0)
        if count:
            live = self.state.requests[id]
            if live.ran:
                self.checker.feed(ev.EndStep())
            self.checker.feed(ev.Compute(id, live.computed, count, tuple(live.table)))
            self.call(f"computing {id}", self.engine.computed, id, live.computed)
            self.merge_duplicates()

    def merge_duplicates(self) -> None:
        """Where the pool declares that it merges duplicate blocks, follow its tables."""
        if not self.capabilities.remaps_duplicates:
            return
        for event in remaps(self.state, self.tables()):
            self.checker.feed(event)

    def fail(self, operation: h.Fail) -> None:
        """The step that computes a request fails; the request is dropped."""
        live = pick([live for live in self.running() if live.request.id in self.pending], 0)
        if live is None or not self.capabilities.fails:
            return
        id = live.request.id
        self.checker.feed(ev.Compute(id, live.computed, self.pending.pop(id), tuple(live.table)))
        self.checker.feed(ev.FailStep(StepId(self.state.step)))
        self.call(f"failing {id}", self.engine.failed, id)
        self.end(live)

    def fork(self, operation: h.Fork) -> None:
        """A running request is continued twice."""
        parent = pick(self.running(), operation.which)
        if parent is None or not self.capabilities.forks:
            return
        self.commit_one(parent.request.id)
        id = name(len(self.state.requests))
        child = replace(parent.request, id=id)
        table = self.call(f"forking {parent.request.id}", self.engine.fork, parent.request.id, child)
        if table is None:
            self.checker.feed(ev.Decline(parent.request.id))
        else:
            records.numbers(table, "fork")
            self.checker.feed(ev.Fork(parent.request.id, child, tuple(table)))
        self.observe()

    def free(self, operation: h.Free) -> None:
        """A request ends."""
        live = pick(self.state.live(), operation.which)
        if live is not None:
            self.end(live)

    def end(self, live: Live) -> None:
        """Free one request."""
        id = live.request.id
        self.call(f"freeing {id}", self.engine.free, id)
        self.pending.pop(id, None)
        self.checker.feed(ev.Abort(id))
        self.gone.append(id)
        self.observe()

    def free_again(self, operation: FreeAgain) -> None:
        """A stray second release: an error or nothing, but never a second block."""
        if not self.gone:
            return
        id = self.gone[operation.which % len(self.gone)]
        again = getattr(self.engine, "free_again", self.engine.free)
        with suppress(Exception):  # refusing a stray release is a right answer, whatever it raises
            again(id)
        self.checker.feed(ev.ReleaseAgain(id))
        self.observe()

    def reset(self, operation: h.Reset) -> None:
        """The prefix cache is reset, or the engine refuses, and then finds what it found before."""
        if not self.capabilities.resets:
            return
        self.observe()  # so that it is known what the index names now
        found = self.findable()
        accepted = truth(self.call("resetting", self.engine.reset), "reset")
        self.checker.feed(ev.Reset(accepted))
        if not accepted:
            for id, tokens in self.findable().items():
                self.checker.tally.require(
                    tokens >= found[id],
                    rules.FAILURE_IS_ATOMIC,
                    lambda id=id, now=tokens: (  # type: ignore[misc]
                        f"a lookup of {id}'s prompt finds {now} tokens after a reset that is refused",
                        f"{found[id]} as before",
                    ),
                    request=id,
                )
        self.observe()

    def findable(self) -> dict[RequestId, int]:
        """How much lookups find of every prompt, asked only where the index itself is not shown."""
        if hasattr(self.engine, "keyed_blocks") or not hasattr(self.engine, "lookup"):
            return {}
        return {id: self.found(self.asked(live.request)).tokens for id, live in self.state.requests.items()}

    def asked(self, request: Request) -> Request:
        """The same under a name that the pool has not heard, as a request that has not come yet."""
        self.lookups += 1
        return replace(request, id=RequestId(f"?{self.lookups}"))

    def lookup(self, operation: Lookup) -> None:
        """Ask for a hit and do not use it."""
        if not hasattr(self.engine, "lookup"):
            return
        parts = KeyParts(operation.salt, operation.adapter)
        request = self.asked(Request(RequestId(""), tuple(TokenId(t) for t in operation.prompt), 1, 0, parts))
        self.checker.feed(ev.Add(request))
        hit = self.found(request)
        self.checker.feed(ev.Lookup(request.id, hit.tokens, tuple(hit.blocks)))
        self.checker.feed(ev.Abort(request.id))
        self.observe()

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The block tables that the pool shows."""
        return records.tables(self.call("describing its tables", self.engine.tables), "tables")

    def running(self) -> list[Live]:
        """Requests that hold blocks."""
        return [live for live in self.state.live() if live.phase is Phase.RUNNING]

    def observe(self) -> None:
        """Ask the pool what it says of itself, and judge it."""
        for told in self.call("describing itself", self.observer.observe):
            self.checker.feed(told)


def serves(state: State, id: RequestId, index: int, block: BlockId) -> bool:
    """Whether a hit of this request on a block, as its block `index`, would be right."""
    live, size = state.requests[id], state.world.block_size
    if state.blocks[block].contexts != live.contexts[index * size : (index + 1) * size]:
        return False
    try:
        check_entry(state, Tally(), live, 0, index, block)
    except Broken:
        return False
    return True


PERFORM: dict[type[h.Operation], Callable[[PoolDriver, Any], None]] = {
    h.Add: PoolDriver.add,
    h.Grow: PoolDriver.grow,
    h.Commit: PoolDriver.commit,
    h.Fail: PoolDriver.fail,
    h.Fork: PoolDriver.fork,
    h.Free: PoolDriver.free,
    FreeAgain: PoolDriver.free_again,
    h.Reset: PoolDriver.reset,
    Lookup: PoolDriver.lookup,
}
