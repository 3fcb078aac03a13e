"""Explore scopes, in several processes if asked to, and say what was found in plain records."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from kvspec.explorer.liveness import broken_runs, longest_run
from kvspec.explorer.moves import Transition
from kvspec.explorer.scope import Scope
from kvspec.explorer.scopes import find
from kvspec.explorer.search import Counterexample, Found, Progress, Search, honest
from kvspec.explorer.tell import history

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


def explore(
    scopes: Iterable[Scope],
    jobs: int = 1,
    limit: int = LIMIT,
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[Result]:
    """The results of several scopes, each as soon as it is there.

    `progress` is told the scope, the states known and the depth; with more than one job, in the other processes.
    """
    wanted = sorted(scopes, key=lambda scope: scope.local)
    if jobs == 1 or len(wanted) == 1:
        for scope in wanted:
            yield explore_one(scope, limit, _of(progress, scope.name))
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(_by_name, scope.name, limit, progress) for scope in wanted]
        for done in as_completed(running):
            yield done.result()


def _of(progress: Callable[[str, int, int], None] | None, name: str) -> Progress | None:
    return None if progress is None else lambda states, depth: progress(name, states, depth)


def _by_name(name: str, limit: int, progress: Callable[[str, int, int], None] | None) -> Result:
    return explore_one(find(name), limit, _of(progress, name))
