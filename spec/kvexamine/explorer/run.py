"""Explore one scope of any model, and say what was found in plain records."""

from __future__ import annotations

from typing import Any

from kvexamine.explorer.groups.model import GroupsModel
from kvexamine.explorer.groups.world import GroupsWorld
from kvexamine.explorer.paged.liveness import broken_runs, longest_run
from kvexamine.explorer.paged.looking import Looking
from kvexamine.explorer.paged.model import PagedModel
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.results import LIMIT, Progress, Result, Violation
from kvexamine.explorer.scope import WorldScope
from kvexamine.explorer.search import Model, Search
from kvexamine.explorer.transition import Transition, honest
from kvexamine.explorer.tree.model import TreeModel
from kvexamine.explorer.tree.world import TreeWorld

AnyScope = Scope | WorldScope[GroupsWorld] | WorldScope[TreeWorld]


def model_of(scope: AnyScope, transition: Transition = honest) -> Model[Any, Any]:
    """The model of a scope, under the specification's own transition or another."""
    if isinstance(scope, Scope):
        return PagedModel(scope, transition)
    if isinstance(scope.world, GroupsWorld):
        return GroupsModel(scope.world, transition)
    return TreeModel(scope.world, transition)


def search_of(scope: AnyScope, transition: Transition = honest) -> Search[Any, Any]:
    """The search of a scope: it looks moves up where what happens to a request depends on its own blocks only."""
    model = model_of(scope, transition)
    return Search(model, Looking(model) if isinstance(model, PagedModel) and model.scope.local else None)


def explore_one(
    scope: AnyScope, limit: int = LIMIT, progress: Progress | None = None, transition: Transition = honest
) -> Result:
    """Explore one scope: its states, its moves, what is permitted, dead ends, and what can be said of whole runs."""
    search = search_of(scope, transition)
    found = search.run(limit, progress, graph=isinstance(scope, Scope) and not scope.large)
    broken, moves, last, longest = found.broken, found.moves, found.last, None
    if found.complete and found.edges and isinstance(scope, Scope):
        longest = longest_run(found.edges) if scope.fcfs else None
        if (runs := broken_runs(found.edges, fcfs=scope.fcfs)) is not None:
            place, broken = runs
            walked, last = search.walk(place)
            moves = tuple(walked)
    violations: tuple[Violation, ...] = ()
    if broken is not None:
        violations = (Violation(broken.rule.id, broken.what, search.model.history(moves, last)),)
    return Result(
        scope.name,
        found.states,
        found.transitions,
        found.depth,
        found.seconds,
        found.complete,
        violations,
        longest,
        None if broken is None else len(moves),
    )
