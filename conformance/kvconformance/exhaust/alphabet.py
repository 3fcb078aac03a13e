"""Which operations apply after a history, learned from the state in which its operations left the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.exhaust.worlds import arrivals
from kvconformance.surfaces.pool.operations import FreeAgain, Lookup
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step, Transfer
from kvexamine.explorer import Scope
from kvspec.state import State
from kvspec.vocabulary import Capabilities, Phase, Surface

Operations = tuple[h.Operation, ...]


@dataclass(frozen=True)
class Situation:
    """How many requests and other things there are that an operation can name."""

    live: int = 0
    running: int = 0
    pending: int = 0
    """Running requests with homes for more than is computed."""
    forks: int = 0
    transfers: int = 0
    held: bool = False
    """Whether a table names a block, be it one of a request that is done."""
    idled: bool = False
    """Whether the last operation was a step with nobody there."""

    @property
    def busy(self) -> bool:
        """Whether a step could do anything, be it for a request that is done."""
        return bool(self.live or self.transfers or self.held)


class Watching(Checker):
    """A checker that remembers the situation in which the operations of its history end, before all is drained."""

    situation: Situation | None = None
    idled: bool = False

    def note(self, operation: object) -> None:
        """An operation begins; what the driver does of itself at the end is named by a string."""
        if self.situation is None and isinstance(operation, str):
            self.situation = replace(situation_of(self.state), idled=self.idled)
        self.idled = isinstance(operation, Step) and not self.state.in_flight and not situation_of(self.state).busy
        super().note(operation)


def situation_of(state: State) -> Situation:
    """What the specification's state offers to operations."""
    live = state.live()
    running = [one for one in live if one.phase is Phase.RUNNING]
    return Situation(
        live=len(live),
        running=len(running),
        pending=sum(one.homes > one.computed for one in running),
        forks=sum(one.forked > 0 for one in state.requests.values()),
        transfers=len(state.transfers),
        held=any(one.table for one in state.requests.values()),
    )


@dataclass(frozen=True)
class Alphabet:
    """The operations of a scope on one surface of an engine."""

    scope: Scope
    capabilities: Capabilities
    surface: Surface

    def after(self, done: Operations, now: Situation) -> Iterator[h.Operation]:
        """Every operation that may apply after the operations `done`, which ended in the situation `now`.

        One that turns out not to apply leaves no event; the search leaves it out then.
        """
        yield from self._arrivals(done)
        yield from (self._pool if self.surface == Surface.POOL else self._stepper)(done, now)
        if self.scope.has("fork") and now.forks <= self.scope.has("fork-again"):
            yield from map(h.Fork, range(now.running))
        if self.scope.has("reset"):
            yield h.Reset()

    def _arrivals(self, done: Operations) -> Iterator[h.Add]:
        """Each request of the scope that is still to come; equal ones are interchangeable."""
        came = Counter(operation for operation in done if isinstance(operation, h.Add))
        yield from dict.fromkeys((Counter(arrivals(self.scope, self.surface)) - came).elements())

    def _pool(self, done: Operations, now: Situation) -> Iterator[h.Operation]:
        chunk = self.scope.world.token_budget
        yield from (h.Grow(which, chunk) for which in range(now.running))
        yield from map(h.Commit, range(now.pending))
        yield from map(h.Free, range(now.live))
        if self.scope.has("abort"):
            yield from map(FreeAgain, range(sum(isinstance(operation, h.Free | h.Fail) for operation in done)))
        if self.scope.has("fail") and now.pending:
            yield h.Fail()
        if self.scope.has("lookup"):
            asked = dict.fromkeys((one.prompt, one.salt, one.adapter) for one in arrivals(self.scope, self.surface))
            yield from (Lookup(*one) for one in asked)

    def _stepper(self, done: Operations, now: Situation) -> Iterator[h.Operation]:
        flying = in_flight(done, self.capabilities.max_in_flight)
        busy = now.busy or flying > 0
        # With nobody there a second step in a row is left out: nothing has happened that it could find.
        if busy or not now.idled:
            yield Step()
        if busy and self.scope.has("dispatch"):
            yield Begin()
        # A step that begins and ends with none before it is a Step, which is one operation shorter.
        if flying and not (flying == 1 and isinstance(done[-1], Begin)):
            yield End()
        if busy and self.scope.has("fail"):
            yield h.Fail()
        if self.scope.has("abort") and self.capabilities.aborts:
            yield from map(Abort, range(now.live))
        yield from map(Transfer, range(now.transfers))


def in_flight(done: Operations, most: int) -> int:
    """How many steps of a Stepper are in flight after the operations, when at most `most` can be."""
    flying = 0
    for operation in done:
        if isinstance(operation, Begin):
            flying = min(flying, most - 1) + 1
        elif isinstance(operation, End):
            flying -= 1
        elif isinstance(operation, Step | h.Fail):
            flying = 0
    return flying
