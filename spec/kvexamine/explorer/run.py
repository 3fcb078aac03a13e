"""Explore one scope, and say what was found in plain records."""

from __future__ import annotations

from dataclasses import dataclass

from kvexamine.explorer.liveness import broken_runs, longest_run
from kvexamine.explorer.moves import Transition
from kvexamine.explorer.scope import Scope
from kvexamine.explorer.search import Counterexample, Found, Progress, Search, honest
from kvexamine.explorer.tell import history

LIMIT = 12_000_000
"""Most states that one search keeps: at some 160 bytes each, about 2 GB."""


@dataclass(frozen=True)
class Violation:
    """Something broken, with the shortest way to it."""

    rule: str
    what: str
    history: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What is known of one scope. `longest` is the length of its longest run, None where runs need not end."""

    name: str
    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    violations: tuple[Violation, ...] = ()
    longest: int | None = None
    moves: int | None = None
    """Length of the way to what is broken."""


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
