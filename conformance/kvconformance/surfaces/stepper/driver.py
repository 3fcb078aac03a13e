"""Drives a Stepper through a history: the harness is the client, the model and the device.

The engine's plan becomes events in the order in which the engine decided; the ghost contents of the state say what
each planned request would read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces import records
from kvconformance.surfaces.answers import several, truth
from kvconformance.surfaces.base import Factory
from kvconformance.surfaces.observations import Observer
from kvconformance.surfaces.requests import name, pick
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step, Transfer
from kvconformance.surfaces.tables import entry, group_of, handed_on, remaps, tables_of, trims
from kvspec import events as ev
from kvspec import liveness, rules
from kvspec.layout import Table, Tables
from kvspec.plans import (
    Action,
    Admitted,
    BlockCopy,
    Preempted,
    Rejected,
    Released,
    Scheduled,
    StepPlan,
    SwappedIn,
    SwappedOut,
    Trimmed,
    TurnedAway,
)
from kvspec.state import Live, State
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Phase, Request, RequestId, StepId, TokenId

RAISES = rules.PROGRESS_OR_REJECT


class StepperDriver:
    """One engine, one checker, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker = checker
        self.state: State = checker.state
        self.call = Guarded(checker, RAISES)
        self.engine: Any = self.call("building the engine", factory, checker.world)
        self.observer = Observer(self.engine, len(self.state.layout.groups))
        self.flights: deque[tuple[StepId, StepPlan]] = deque()
        self.capabilities = self.state.capabilities
        if hasattr(self.engine, "set_sampler"):
            self.call("taking a sampler", self.engine.set_sampler, self.say)

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Perform all operations, then drain: everything must finish and be given back."""
        for operation in operations:
            self.checker.note(operation)
            PERFORM[type(operation)](self, operation)
        self.checker.note("drain")
        self.drain()

    # Clients.

    def add(self, operation: h.Add) -> None:
        """A client's request; what can never fit must be rejected."""
        state = self.state
        request = Request(
            name(len(state.requests)),
            tuple(TokenId(t) for t in operation.prompt),
            operation.max_new_tokens,
            operation.priority,
            operation.parts(),
        )
        if not state.feasible(request) and (not self.capabilities.rejects_infeasible or not state.infeasible(request)):
            return
        self.checker.feed(ev.Add(request))
        try:
            self.call(f"adding {request.id}", self.engine.add, request, answers=(Rejected,))
        except Rejected:
            self.checker.feed(ev.Reject(request.id))
        self.observe()

    def abort(self, operation: Abort) -> None:
        """A client cancels."""
        live = pick(self.state.live(), operation.which)
        if live is None or not self.capabilities.aborts:
            return
        id = live.request.id
        self.call(f"aborting {id}", self.engine.abort, id)
        deferred = self.capabilities.defers_release or (self.flies(id) and self.capabilities.defers_in_flight)
        self.checker.feed(ev.Abort(id, deferred))
        self.observe()

    def fork(self, operation: h.Fork) -> None:
        """A running request is continued twice, if the engine can."""
        if not self.capabilities.forks:
            return
        state = self.state
        running = [live for live in state.live() if live.phase is Phase.RUNNING]
        parent = pick(running, operation.which)
        if parent is None:
            return
        child = Request(
            name(len(state.requests)),
            parent.request.prompt,
            parent.request.max_new_tokens,
            parent.request.priority,
            parent.request.parts,
        )
        id = parent.request.id
        if truth(self.call(f"forking {id}", self.engine.fork, id, child), "fork"):
            table, *more = self.told(child.id) or parent.tables
            self.checker.feed(ev.Fork(id, child, tuple(table), tuple(map(tuple, more))))
        else:
            self.checker.feed(ev.Decline(id))
        self.observe()

    def reset(self, operation: h.Reset) -> None:
        """The prefix cache is reset, or the engine refuses."""
        if not self.capabilities.resets:
            return
        self.checker.feed(ev.Reset(truth(self.call("resetting", self.engine.reset), "reset")))
        self.observe()

    # Steps.

    def step(self, operation: h.Operation) -> None:
        """Plan a step and let it complete after those before it."""
        self.begin(operation)
        while self.flights:
            self.end(operation)

    def begin(self, operation: h.Operation) -> None:
        """Plan a step and dispatch it."""
        if len(self.flights) >= self.capabilities.max_in_flight:
            self.end(operation)
        plan = records.record(self.call("planning a step", self.engine.plan), StepPlan, "plan")
        shown = self.tables() if self.state.layout.trims and hasattr(self.engine, "tables") else ()
        for action in plan.actions:
            for event in handed_on(self.state, action, shown):
                self.checker.feed(event)
            self.apply(action, plan)
        number = StepId(self.state.step)
        self.checker.feed(ev.Dispatch(number))
        self.checker.feed(ev.EndStep())
        self.flights.append((number, plan))
        self.observe()

    def end(self, operation: h.Operation) -> None:
        """The oldest step in flight completes: sample, append, finish."""
        if not self.flights:
            return
        number, plan = self.flights.popleft()
        self.checker.feed(ev.Complete(number))
        sampled = {
            s.request: self.sample(live)
            for s in plan.scheduled
            if (live := self.live(s.request)).phase is Phase.RUNNING and s.start + s.count == len(live.tokens)
        }
        finished = self.finished(self.call("completing a step", self.engine.complete, plan, sampled))
        self.merge_duplicates()
        for scheduled in plan.scheduled:
            self.settle(scheduled.request, sampled, finished)
        self.observe()

    def finished(self, told: Any) -> frozenset[RequestId] | None:
        """Who is finished, as the engine tells; None where it cannot tell."""
        if told is None:
            return None
        finished = records.names(several(told, "complete"), "complete")
        return frozenset(self.live(id).request.id for id in finished)

    def fail(self, operation: h.Fail) -> None:
        """The device fails: the step's requests are dropped."""
        if not self.capabilities.fails:
            return
        self.step_only_this(operation)
        number, plan = self.flights.pop()
        self.call("failing a step", self.engine.fail, plan)
        self.checker.feed(ev.Complete(number))
        self.checker.feed(ev.FailStep(number))
        for scheduled in plan.scheduled:
            live = self.live(scheduled.request)
            if live.phase is not Phase.DONE:
                self.checker.feed(ev.Abort(scheduled.request))
            elif any(live.tables):
                self.checker.feed(ev.Release(scheduled.request))
        self.observe()

    def step_only_this(self, operation: h.Operation) -> None:
        """Dispatch one step with none before it in flight."""
        while self.flights:
            self.end(operation)
        self.begin(operation)

    def transfer(self, operation: Transfer) -> None:
        """A pending transfer finishes."""
        pending = sorted(self.state.transfers)
        if not pending:
            return
        id = pending[operation.which % len(pending)]
        self.call(f"finishing transfer {id}", self.engine.transfer_done, id)
        self.checker.feed(ev.TransferDone(id))
        self.observe()

    def drain(self) -> None:
        """Run until nothing is live: within a bounded number of steps somebody is served."""
        state = self.state
        served, steps = liveness.served(state), 0
        self.finish_transfers()
        while (state.live() or self.flights) and steps <= liveness.most_steps(state):
            self.checker.note(Step())
            self.step(Step())
            steps = 0 if liveness.served(state) > served else steps + 1
            served = liveness.served(state)
            self.finish_transfers()
        self.rest(steps)

    def finish_transfers(self) -> None:
        """All that is on its way arrives."""
        while self.state.transfers:
            self.checker.note(Transfer())
            self.transfer(Transfer())

    def rest(self, steps: int) -> None:
        """At rest nothing is held."""
        state = self.state
        waiting = [live.request.id for live in state.live()]
        self.checker.tally.require(
            not waiting,
            rules.PROGRESS_OR_REJECT,
            lambda: (
                f"{', '.join(waiting)} did not finish: in {steps} steps no token is sampled and nobody leaves",
                f"every request finishes, and somebody is served within {liveness.most_steps(state)} steps",
            ),
        )
        if self.capabilities.defers_release:
            self.step(Step())
        self.observe()

    # From plans to events.

    def apply(self, action: Action, plan: StepPlan) -> None:
        """Feed one decision of a plan."""
        if not isinstance(action, BlockCopy):
            self.live(action.request)
        for event in _EVENTS[type(action)](self, action):
            self.checker.feed(event)

    def scheduled(self, action: Scheduled) -> list[ev.Event]:
        """A request computes; if it was waiting, it starts on its hit first."""
        live, (table, *more) = self.live(action.request), tables_of(action)
        compute = ev.Compute(
            action.request, action.start, action.count, table, action.slots, action.tokens, tuple(more)
        )
        if live.phase is not Phase.WAITING or live.swapped is not None:
            given_back = (event for number, told in enumerate((table, *more)) for event in trims(live, told, number))
            return [*given_back, compute]
        return [self.started(action.request, action.start, (table, *more)), compute]

    def started(self, id: RequestId, hit: int, tables: Tables) -> ev.Start:
        """A request begins on a hit, which the first entries of its tables hold."""
        groups = self.state.layout.groups
        first, *more = (table[: -(-hit // group.block_size)] for group, table in zip(groups, tables, strict=False))
        return ev.Start(id, hit, first, tuple(more))

    def copied(self, action: BlockCopy) -> list[ev.Event]:
        """Copy-on-write of one entry of a table."""
        index = entry(self.live(action.request), action)
        number = group_of(self.live(action.request), action)
        return [ev.Copy(action.request, index, action.source, action.target, action.extent, number)]

    def settle(self, id: RequestId, sampled: dict[RequestId, TokenId], finished: Set[RequestId] | None) -> None:
        """The effects of a completed step on one of its requests."""
        live = self.live(id)
        if live.phase is Phase.DONE:
            if any(live.tables) and self.capabilities.defers_in_flight and not self.flies(id):
                self.checker.feed(ev.Release(id))
            return
        if id in sampled:
            self.checker.feed(ev.Sample(id, sampled[id]))
        done = live.generated >= live.request.max_new_tokens if finished is None else id in finished
        if done:
            self.checker.feed(ev.Finish(id, self.capabilities.defers_release))

    def merge_duplicates(self) -> None:
        """Where the engine declares that it merges duplicate blocks, follow its tables, before anybody finishes."""
        if self.capabilities.remaps_duplicates:
            for number, told in enumerate(self.tables()):
                for event in remaps(self.state, told, number):
                    self.checker.feed(event)

    # Helpers.

    def flies(self, id: RequestId) -> bool:
        """Whether a step in flight computes the request."""
        return any(id == scheduled.request for _, plan in self.flights for scheduled in plan.scheduled)

    def tables(self) -> Sequence[Mapping[RequestId, Table]]:
        """By group, the block tables that the engine shows."""
        told, groups = self.call("describing its tables", self.engine.tables), len(self.state.layout.groups)
        return records.grouped_tables(told, "tables", groups) if groups > 1 else [records.tables(told, "tables")]

    def told(self, id: RequestId) -> list[Table] | None:
        """The tables of a request, where the engine shows some."""
        shown = self.tables() if hasattr(self.engine, "tables") else []
        return [group[id] for group in shown if id in group] or None

    def observe(self) -> None:
        """Ask the engine what it says of itself, and judge it; entries that it names no more were given back."""
        observed = self.call("describing itself", self.observer.observe)
        for told in observed if self.state.layout.trims else ():
            for id, table in (told.tables or {}).items():
                live = self.state.requests.get(id)
                for event in trims(live, table, told.group) if live and live.phase is Phase.RUNNING else ():
                    self.checker.feed(event)
        for told in observed:
            self.checker.feed(told)

    def live(self, id: RequestId) -> Live:
        """A request the engine named."""
        live = self.state.requests.get(id)
        if live is None:
            raise HarnessFault(f"the adapter names request {id!r}, which was never added")
        return live

    def say(self, id: RequestId, tokens: Sequence[int]) -> TokenId:
        """What an engine that samples by itself is told after `tokens`.

        Asked again for a token that it had before, the model says another one, as a model at a temperature may.
        """
        records.name(id, "sampler")
        live, position = self.live(id), len(several(tokens, "sampler"))
        return self.sample(live) if position >= len(live.tokens) else TokenId(1 - live.tokens[position] % 2)

    def sample(self, live: Live) -> TokenId:
        """A token that depends on the whole context and, for forks, on who asks."""
        tokens = live.tokens
        return TokenId((sum(i * t for i, t in enumerate(tokens, 1)) + len(tokens) + live.forked) % 2)


PERFORM: dict[type[h.Operation], Callable[[StepperDriver, Any], None]] = {
    h.Add: StepperDriver.add,
    Step: StepperDriver.step,
    Begin: StepperDriver.begin,
    End: StepperDriver.end,
    h.Fail: StepperDriver.fail,
    Transfer: StepperDriver.transfer,
    Abort: StepperDriver.abort,
    h.Fork: StepperDriver.fork,
    h.Reset: StepperDriver.reset,
}

_EVENTS: dict[type, Callable[[StepperDriver, Any], list[ev.Event]]] = {
    Scheduled: StepperDriver.scheduled,
    BlockCopy: StepperDriver.copied,
    Admitted: lambda _, a: [ev.Start(a.request, a.hit, tuple(a.table), tables_of(a)[1:])],
    Preempted: lambda _, a: [ev.Preempt(a.request)],
    Trimmed: lambda _, a: [ev.Trim(a.request, a.group, a.index)],
    TurnedAway: lambda _, a: [ev.Reject(a.request)],
    Released: lambda _, a: [ev.Release(a.request)],
    SwappedOut: lambda _, a: [ev.SwapOut(a.request, a.transfer)],
    SwappedIn: lambda _, a: [ev.SwapIn(a.request, tuple(a.table), a.transfer, tables_of(a)[1:])],
}
