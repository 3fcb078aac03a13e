"""Deliberate faults, each of which some scope must notice: guards look away, states are disguised, effects changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kvexamine.explorer.blind import Blind
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.results import Result
from kvexamine.explorer.run import AnyScope, explore_one
from kvexamine.explorer.transition import Transition, honest
from kvspec.rules import Rule
from kvspec.violation import Violation

LIMITS = {"paged": 3_000, "groups": 600, "tree": 600}
"""By model, the states of a scope after which a fault counts as unnoticed."""


@dataclass(frozen=True)
class Fault:
    """One fault of the transition in one model. `needs` is the kind of events without which it cannot show."""

    of: str
    name: str
    says: str
    transition: Transition
    needs: str = ""
    scheduler: str = ""
    """The victim that the scheduler picks instead, where the fault is the scheduler's."""

    @property
    def full_name(self) -> str:
        """Its name among the faults of all models."""
        return f"{self.of}/{self.name}"

    def shows_in(self, scope: AnyScope) -> bool:
        """Whether the scope has what the fault needs."""
        if not isinstance(scope, Scope):
            return scope.of == self.of
        return scope.of == self.of and (not self.needs or scope.has(self.needs)) and (scope.fcfs or not self.scheduler)

    def tried(self, scope: AnyScope, limit: int | None = None) -> Result:
        """What exploring the scope says of the fault."""
        if isinstance(scope, Scope) and self.scheduler:
            scope = replace(scope, victim=self.scheduler)
        return explore_one(scope, limit or LIMITS[self.of], transition=self.transition)


def without(kind: type, *blind: Rule) -> Transition:
    """Events of one kind are not held to some rules."""
    tally = Blind(*blind)

    def transition(state: Any, event: Any) -> None:
        honest(state, event, *((tally,) if isinstance(event, kind) else ()))

    return transition


def around(kind: type | tuple[type, ...], spoil: Callable[[Any, Any], AbstractContextManager[None]]) -> Transition:
    """Something is done to the state before and after each event of one kind."""

    def transition(state: Any, event: Any) -> None:
        if not isinstance(event, kind):
            honest(state, event)
            return
        with spoil(state, event):
            honest(state, event)

    return transition


def after(kind: type, effect: Callable[[Any, Any], None]) -> Transition:
    """Something is done to the state after each event of one kind."""

    @contextmanager
    def spoil(state: Any, event: Any) -> Iterator[None]:
        yield
        effect(state, event)

    return around(kind, spoil)


def compared(kind: type | tuple[type, ...], effect: Callable[[Any, Any, Any], None]) -> Transition:
    """Something is done to the state after each event of one kind, given the state before it."""

    @contextmanager
    def spoil(state: Any, event: Any) -> Iterator[None]:
        before = state.copy()
        yield
        effect(before, state, event)

    return around(kind, spoil)


def forbidding(kind: type, rule: Rule, forbidden: Callable[[Any, Any], bool]) -> Transition:
    """Events of one kind are refused where they are permitted: a false alarm."""

    def transition(state: Any, event: Any) -> None:
        if isinstance(event, kind) and forbidden(state, event):
            raise Violation(rule, f"{event}", "another")
        honest(state, event)

    return transition
