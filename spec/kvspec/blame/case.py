"""A guard that does not hold, with all that may say why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvspec import events as ev
from kvspec.blame.past import Past
from kvspec.layout import Group
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.violation import Broken
from kvspec.vocabulary import BlockId


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

    @property
    def group(self) -> Group:
        """The group of layers of which the guard speaks."""
        number: int = self.facts.get("group", 0)
        return self.state.layout.groups[number]

    def number(self, id: BlockId) -> str:
        """A block by its number in its pool."""
        several, there = self.state.layout.num_pools > 1, 0 <= id < len(self.state.blocks)
        pool, number = divmod(id, self.state.world.num_blocks)
        return f"{number} of pool {pool}" if several and there else str(id)

    def name(self, id: BlockId) -> str:
        """The same as the name of a block."""
        return f"block {self.number(id)}"
