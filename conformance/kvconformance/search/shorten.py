"""Makes a failing history short: leaves out operations as long as the rest still fails.

Hypothesis shrinks well and slowly; leaving out is quick, because every sub-list of a history is a history.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from kvconformance.history import History

Kept = TypeVar("Kept")


def shorten(history: History, attempt: Callable[[History], Kept | None], seconds: float) -> Kept | None:
    """What `attempt` gave for the smallest failing history found in time (None: no smaller one fails).

    `attempt` runs a history and returns something unless the history no longer fails in the same way.
    """
    until = time.monotonic() + seconds
    best, progress = None, True
    while progress:
        progress = False
        for smaller in _smaller(history):
            if time.monotonic() > until:
                return best
            kept = attempt(smaller)
            if kept is not None:
                history, best, progress = smaller, kept, True
                break
    return best


def _smaller(history: History) -> Iterator[History]:
    """Histories that are a little smaller, those that leave out most first."""
    operations = history.operations
    width = len(operations)
    while width:
        for start in range(0, len(operations), width):
            yield msgspec.structs.replace(history, operations=operations[:start] + operations[start + width :])
        width //= 2
    for place, operation in enumerate(operations):
        for simpler in operation.simpler():
            changed = (*operations[:place], simpler, *operations[place + 1 :])
            yield msgspec.structs.replace(history, operations=changed)
