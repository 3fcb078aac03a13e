"""How a transition is spoiled: guards that do not see a rule, states in disguise, effects that are changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from kvexamine.explorer.blind import Blind
from kvexamine.explorer.results import Result
from kvexamine.explorer.run import Transition, explore_small
from kvexamine.explorer.scopes import Small
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.transition import advance as advance_paged
from kvspec.tree.words import judge as advance_tree
from kvspec.violation import Tally, Violation

LIMIT = 600
"""States of a small world after which a fault counts as unnoticed."""

_TALLY = Tally()


@dataclass(frozen=True)
class SmallFault:
    """One fault of the transition as groups need it (`of` is `groups`) or of radix trees (`tree`)."""

    name: str
    of: str
    says: str
    transition: Transition

    def tried(self, small: Small, limit: int = LIMIT) -> Result:
        """What exploring a world says of the fault."""
        return explore_small(small, limit, transition=self.transition)


def advance(state: Any, event: Any, tally: Tally = _TALLY) -> None:
    """The specification's own transition of either kind of state."""
    (advance_paged if isinstance(state, State) else advance_tree)(state, event, tally)


def without(kind: type, *blind: Rule) -> Transition:
    """Events of one kind are not held to some rules."""
    tally = Blind(*blind)
    return lambda state, event: advance(state, event, tally if isinstance(event, kind) else _TALLY)


def around(kind: type, spoil: Callable[[Any, Any], AbstractContextManager[None]]) -> Transition:
    """Something is done to the state before and after each event of one kind."""

    def transition(state: Any, event: Any) -> None:
        if not isinstance(event, kind):
            advance(state, event)
            return
        with spoil(state, event):
            advance(state, event)

    return transition


def after(kind: type, effect: Callable[[Any, Any], None]) -> Transition:
    """Something is done to the state after each event of one kind."""

    def transition(state: Any, event: Any) -> None:
        advance(state, event)
        if isinstance(event, kind):
            effect(state, event)

    return transition


def forbidding(kind: type, rule: Rule, forbidden: Callable[[Any, Any], bool]) -> Transition:
    """Events of one kind are refused where they are permitted: a false alarm."""

    def transition(state: Any, event: Any) -> None:
        if isinstance(event, kind) and forbidden(state, event):
            raise Violation(rule, f"{event}", "another")
        advance(state, event)

    return transition
