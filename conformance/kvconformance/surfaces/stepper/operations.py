"""What happens to a scheduler beside what happens to every cache of blocks."""

from __future__ import annotations

from kvconformance.history import Operation


class Step(Operation, frozen=True):
    """The engine plans a step, the device runs it, the engine takes the result."""


class Begin(Operation, frozen=True):
    """The engine plans a step and dispatches it; the result comes later."""


class End(Operation, frozen=True):
    """The result of the oldest step in flight arrives."""


class Transfer(Operation, frozen=True):
    """A pending transfer between host and device finishes."""

    which: int = 0


class Abort(Operation, frozen=True):
    """The client of a live request cancels."""

    which: int = 0
