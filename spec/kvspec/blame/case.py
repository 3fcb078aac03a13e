"""A guard that does not hold, with all that may say why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvspec import events as ev
from kvspec.blame.past import Past
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.violation import Broken


@dataclass(frozen=True, slots=True)
class Case:
    """The state is that at the guard, the past that before the event."""

    state: State
    past: Past
    event: ev.Event
    broken: Broken

    @property
    def rule(self) -> Rule:
        """The guard's own rule."""
        return self.broken.rule

    @property
    def facts(self) -> dict[str, Any]:
        """The values that the guard saw."""
        return self.broken.facts

    @property
    def live(self) -> Live:
        """The request of which the guard speaks."""
        return self.state.requests[self.facts["request"]]
