"""What a check finds, and how a search is stopped by it: the same for all three models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from kvspec import rules
from kvspec import violation as law
from kvspec.rules import Rule

T = TypeVar("T")

_FALLS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Broken:
    """What is wrong, by which rule."""

    rule: Rule
    what: str


class Wrong(Exception):
    """Something is broken in a state, or by the move out of it that `ways` tells with the state after it."""

    def __init__(self, broken: Broken, *ways: tuple[Any, Any]) -> None:
        super().__init__(f"{broken.rule.id}: {broken.what}")
        self.broken, self.ways = broken, ways


DEADLOCK = Broken(rules.PROGRESS_OR_REJECT, "deadlock: nothing can happen any more")


def tried(play: Callable[..., T], *arguments: Any) -> T | None:
    """What comes of a move, None where it is forbidden. Raises `Wrong` where the transition falls over."""
    try:
        return play(*arguments)
    except (law.Broken, law.Violation, law.HarnessFault):
        return None
    except _FALLS as error:
        raise Wrong(fallen(error)) from error


def forbidden(play: Callable[..., object], *arguments: Any) -> Broken | None:
    """What is wrong with a transition that does not do what the definitions permit."""
    try:
        play(*arguments)
    except (law.Violation, law.Broken) as refusal:
        return Broken(refusal.rule, f"what is permitted is forbidden: {refusal}")
    except law.HarnessFault as fault:
        return Broken(rules.PROGRESS_OR_REJECT, f"what is permitted cannot be said: {fault}")
    except _FALLS as error:
        return fallen(error)
    return None


def fallen(error: Exception) -> Broken:
    """What is said of a transition that neither applies an event nor refuses it."""
    return Broken(rules.NO_DANGLING_REFERENCE, f"the transition falls over: {error!r}")
