"""What a check finds, and how a search is stopped by it: the same for all three models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvspec.rules import Rule


@dataclass(frozen=True)
class Broken:
    """What is wrong, by which rule."""

    rule: Rule
    what: str


class Wrong(Exception):
    """Something is broken here; the search finds out how it came to it."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(f"{broken.rule.id}: {broken.what}")
        self.broken = broken


class Stop(Exception):
    """Something is broken at the state of this number, or by the events that come next."""

    def __init__(self, place: int, broken: Broken, events: tuple[Any, ...] = ()) -> None:
        super().__init__(broken.what)
        self.place, self.broken, self.events = place, broken, events
