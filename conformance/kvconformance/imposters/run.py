"""Tries many imposters, two at a time, in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from kvconformance.imposters.registry import IMPOSTERS
from kvconformance.imposters.trial import Kill, try_imposter

WORKERS = 2


def run_all(names: Sequence[str], seed: int = 0, progress: Callable[[Kill], None] | None = None) -> list[Kill]:
    """Try the imposters of these names; `progress` is told of each as it is done. The order is that of the names."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        tries = {workers.submit(_try, name, seed): name for name in names}
        kills = {}
        for done in as_completed(tries):
            kills[tries[done]] = done.result()
            if progress:
                progress(done.result())
    return [kills[name] for name in names]


def _try(name: str, seed: int) -> Kill:
    """A class does not travel between processes by itself; its name does."""
    return try_imposter(next(one for one in IMPOSTERS if one.__name__ == name), seed)
