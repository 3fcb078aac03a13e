"""The scopes of all models by name, and how to explore several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from kvexamine.explorer.groups.scopes import GROUPS
from kvexamine.explorer.naming import look_up
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import SCOPES
from kvexamine.explorer.results import LIMIT, Progress, Result
from kvexamine.explorer.run import AnyScope, explore_one
from kvexamine.explorer.tree.scopes import TREES

ALL: dict[str, AnyScope] = {**SCOPES, **GROUPS, **TREES}


def find(name: str) -> AnyScope:
    """The scope of this name. Raises `KeyError` with the names that there are."""
    return look_up(name, ALL)


def everyday() -> Iterator[AnyScope]:
    """The scopes that run without being asked for by name."""
    return (scope for scope in ALL.values() if not scope.large)


def explore(
    scopes: Iterable[AnyScope],
    jobs: int = 1,
    limit: int = LIMIT,
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[Result]:
    """The results of several scopes, each as soon as it is there.

    `progress` is told the scope, the states known and the depth; with more than one job, in the other processes.
    """
    wanted = sorted(scopes, key=lambda scope: isinstance(scope, Scope) and scope.local)
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
