"""Which operations apply to a pool after a history, for the search of every history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kvconformance import history as h
from kvconformance.surfaces.base import Letters
from kvconformance.surfaces.pool.operations import FreeAgain, Lookup
from kvconformance.surfaces.situation import Operations, Situation
from kvspec.vocabulary import Capabilities

if TYPE_CHECKING:
    from kvexamine.explorer import Scope


def after(scope: Scope, capabilities: Capabilities, done: Operations, now: Situation) -> Iterator[h.Operation]:
    """The operations that may apply to a pool."""
    chunk = scope.world.token_budget
    yield from (h.Grow(which, chunk) for which in range(now.running))
    yield from map(h.Commit, range(now.pending))
    yield from map(h.Free, range(now.live))
    if scope.has("abort"):
        yield from map(FreeAgain, range(sum(isinstance(operation, h.Free | h.Fail) for operation in done)))
    if scope.has("fail") and now.pending:
        yield h.Fail()
    if scope.has("lookup"):
        asked = dict.fromkeys((tuple(one.prompt), one.parts.salt, one.parts.adapter) for one in scope.requests)
        yield from (Lookup(*one) for one in asked)


def lacks(scope: Scope, capabilities: Capabilities) -> Iterator[str]:
    """Nobody gives way on a pool."""
    if scope.has("swap"):
        yield "does not swap"


LETTERS = Letters(after, lacks, chunks=True)
