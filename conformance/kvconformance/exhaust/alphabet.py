"""Which operations apply after a history, learned from the state in which its operations left the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.exhaust.worlds import arrivals
from kvconformance.surfaces.registry import letters_of
from kvconformance.surfaces.situation import Operations, Situation, situation_of
from kvconformance.surfaces.stepper.operations import Step
from kvexamine.explorer import Scope
from kvspec.vocabulary import Capabilities, Surface


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
        yield from letters_of(self.surface).after(self.scope, self.capabilities, done, now)
        if self.scope.has("fork") and now.forks <= self.scope.has("fork-again"):
            yield from map(h.Fork, range(now.running))
        if self.scope.has("reset"):
            yield h.Reset()

    def _arrivals(self, done: Operations) -> Iterator[h.Add]:
        """Each request of the scope that is still to come; equal ones are interchangeable."""
        came = Counter(operation for operation in done if isinstance(operation, h.Add))
        yield from dict.fromkeys((Counter(arrivals(self.scope, self.surface)) - came).elements())
