"""Explore one small world of groups or of a radix tree, and say what was found in the records of the explorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvexamine.explorer.groups.model import GroupsModel
from kvexamine.explorer.groups.world import GroupsWorld
from kvexamine.explorer.results import LIMIT, Progress, Result, Violation
from kvexamine.explorer.scopes import Small
from kvexamine.explorer.search import Model, Search
from kvexamine.explorer.tree.model import TreeModel

Transition = Callable[[Any, Any], None]
"""Applies an event to a state of groups or of a tree in place; raises `Violation` where it is refused."""


def model_of(small: Small, transition: Transition | None = None) -> Model[Any, Any]:
    """The model of a world, under the specification's own transition or another."""
    chosen = {} if transition is None else {"transition": transition}
    if isinstance(small.world, GroupsWorld):
        return GroupsModel(small.world, **chosen)
    return TreeModel(small.world, **chosen)


def explore_small(
    small: Small, limit: int = LIMIT, progress: Progress | None = None, transition: Transition | None = None
) -> Result:
    """Explore one small world: its states, its steps, and what is permitted in each state."""
    model = model_of(small, transition)
    found = Search(model).run(limit, progress)
    violations: tuple[Violation, ...] = ()
    if found.broken is not None:
        violations = (Violation(found.broken.rule.id, found.broken.what, model.told(found.events, found.last)),)
    return Result(
        small.name,
        found.states,
        found.transitions,
        found.depth,
        found.seconds,
        found.complete,
        violations,
        moves=None if found.broken is None else len(found.events),
    )
