"""The checker: feeds what an engine does to a machine of the specification, and an engine's exceptions to a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from kvspec.blame import begin, judge
from kvspec.events import Event
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.violation import HarnessFault, Tally, Violation, Waived
from kvspec.vocabulary import Capabilities, World


@dataclass(frozen=True)
class Said:
    """An effect that is only told."""

    text: str


Machine = Callable[[World, Any], tuple[Any, Callable[[Any, Tally], object]]]
"""A machine of the specification: from a world and capabilities a state, and what an event does to it in place."""


def paged(world: World, capabilities: Capabilities) -> tuple[State, Callable[[Event, Tally], None]]:
    """The cache of blocks under a scheduler, with blame for what is not allowed."""
    judged = begin(world, capabilities)
    return judged.state, partial(judge, judged)


PAGED: Machine = paged


def eventless(world: World, capabilities: Capabilities) -> tuple[None, Callable[[object, Tally], None]]:
    """No machine: a surface that is judged by what it answers alone."""
    return None, lambda event, tally: None


class Checker:
    """The newest state of a machine of the specification beside an engine, and every event that led to it.

    `events` holds operations (as the driver names them) and events in order; a finding prints them. `state` is the
    machine's own.
    """

    def __init__(
        self, world: World, capabilities: Capabilities, tally: Tally | None = None, machine: Machine = PAGED
    ) -> None:
        self.world, self.capabilities = world, capabilities
        self.tally = tally or Tally()
        self.events: list[object] = []
        self.state, self._change = machine(world, capabilities)

    def note(self, operation: object) -> None:
        """An operation begins; the events that follow are its effect."""
        self.events.append(operation)

    def say(self, text: str) -> None:
        """What happened, in words, where it is no event of the specification."""
        self.events.append(Said(text))

    def feed(self, event: object) -> None:
        """The engine did this. Raises `Violation` if it must not."""
        self.events.append(event)
        self._change(event, self.tally)


class Guarded:
    """Calls an engine; an exception that is no answer breaks `rule` instead of breaking us."""

    def __init__(self, checker: Checker, rule: Rule) -> None:
        self.checker = checker
        self.rule = rule

    def __call__(self, doing: str, call: Any, *arguments: Any, answers: tuple[type[Exception], ...] = ()) -> Any:
        """The engine's answer; exceptions in `answers` pass, ours too."""
        try:
            return call(*arguments)
        except Exception as error:  # whatever a stranger's engine raises is a finding
            if isinstance(error, (*answers, Violation, Waived, HarnessFault)):
                raise
            self.checker.tally.broken(
                self.rule,
                f"{doing} raises {type(error).__name__}: {str(error)[:300]}",
                "an answer",
                raised=type(error).__name__,
            )
            raise Waived(self.rule.id) from error
