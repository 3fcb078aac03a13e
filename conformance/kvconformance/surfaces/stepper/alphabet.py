"""Which operations apply to a scheduler after a history, for the search of every history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kvconformance import history as h
from kvconformance.surfaces.base import Letters
from kvconformance.surfaces.situation import Operations, Situation
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step, Transfer
from kvspec.vocabulary import Capabilities

if TYPE_CHECKING:
    from kvexamine.explorer import Scope


def after(scope: Scope, capabilities: Capabilities, done: Operations, now: Situation) -> Iterator[h.Operation]:
    """The operations that may apply to a scheduler."""
    flying = in_flight(done, capabilities.max_in_flight)
    busy = now.busy or flying > 0
    # With nobody there a second step in a row is left out: nothing has happened that it could find.
    if busy or not now.idled:
        yield Step()
    if busy and scope.has("dispatch"):
        yield Begin()
    # A step that begins and ends with none before it is a Step, which is one operation shorter.
    if flying and not (flying == 1 and isinstance(done[-1], Begin)):
        yield End()
    if busy and scope.has("fail"):
        yield h.Fail()
    if scope.has("abort") and capabilities.aborts:
        yield from map(Abort, range(now.live))
    yield from map(Transfer, range(now.transfers))


def in_flight(done: Operations, most: int) -> int:
    """How many steps of a Stepper are in flight after the operations, when at most `most` can be."""
    flying = 0
    for operation in done:
        if isinstance(operation, Begin):
            flying = min(flying, most - 1) + 1
        elif isinstance(operation, End):
            flying -= 1
        elif isinstance(operation, Step | h.Fail):
            flying = 0
    return flying


def lacks(scope: Scope, capabilities: Capabilities) -> Iterator[str]:
    """What a scope asks of a scheduler that this one does not have."""
    low, high = capabilities.token_budgets
    if not low <= scope.world.token_budget <= high:
        yield f"takes budgets of {low} to {high} tokens only"
    if scope.has("swap") and "swap" not in capabilities.preemptions:
        yield "does not swap"
    if scope.has("lookup"):
        yield "is not asked for prefixes by themselves"


LETTERS = Letters(after, lacks)
