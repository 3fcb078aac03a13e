"""Explore one scope of the paged cache, and say what was found in plain records."""

from __future__ import annotations

from kvexamine.explorer.paged.liveness import broken_runs, longest_run
from kvexamine.explorer.paged.moves import Transition
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.search import Counterexample, Found, Search, honest
from kvexamine.explorer.paged.tell import history
from kvexamine.explorer.results import LIMIT, Progress, Result, Violation


def explore_one(
    scope: Scope, limit: int = LIMIT, progress: Progress | None = None, transition: Transition = honest
) -> Result:
    """Explore one scope: invariants in every state, dead ends, and what can be said of whole runs."""
    search = Search(scope, transition)
    found = search.run(limit, progress, graph=not scope.large)
    counterexample, longest = found.counterexample, None
    if found.complete and found.edges:
        longest = longest_run(found.edges) if scope.fcfs else None
        if (wrong := broken_runs(found.edges, fcfs=scope.fcfs)) is not None:
            counterexample = search.way_to(*wrong)
    return _result(found, counterexample, longest)


def _result(found: Found, counterexample: Counterexample | None, longest: int | None) -> Result:
    violations: tuple[Violation, ...] = ()
    if counterexample is not None:
        told = history(found.scope, counterexample.moves, counterexample.state)
        violations = (Violation(counterexample.broken.rule.id, counterexample.broken.what, told),)
    return Result(
        found.scope.name,
        found.states,
        found.transitions,
        found.depth,
        found.seconds,
        found.complete,
        violations,
        longest,
        None if counterexample is None else len(counterexample.moves),
    )
