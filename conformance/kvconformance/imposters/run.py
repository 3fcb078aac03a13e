"""Tries many imposters, two at a time, in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from kvconformance.imposters.registry import IMPOSTERS
from kvconformance.imposters.trial import Kill, try_imposter, try_without

WORKERS = 2


def run_all(
    names: Sequence[str], seed: int = 0, progress: Callable[[Kill], None] | None = None, *, alone: bool = False
) -> list[Kill]:
    """Try the imposters of these names; `progress` is told of each as it is done. The order is that of the names.

    With `alone`, each is tried again without the check that killed it.
    """
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        tries = {workers.submit(_try, name, seed, alone): name for name in names}
        kills = {}
        for done in as_completed(tries):
            kills[tries[done]] = done.result()
            if progress:
                progress(done.result())
    return [kills[name] for name in names]


def _try(name: str, seed: int, alone: bool) -> Kill:
    """A class does not travel between processes by itself; its name does."""
    imposter = next(one for one in IMPOSTERS if one.__name__ == name)
    kill = try_imposter(imposter, seed)
    return try_without(imposter, kill, seed) if alone else kill
