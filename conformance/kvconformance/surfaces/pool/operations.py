"""What is done to a pool beside what is done to every cache of blocks."""

from __future__ import annotations

from kvconformance.history import Operation, Prompt


class FreeAgain(Operation, frozen=True):
    """A request that has ended is released once more."""

    which: int = 0


class Lookup(Operation, frozen=True):
    """The prefix hit of a prompt is asked for and not used."""

    prompt: Prompt
    salt: str | None = None
    adapter: str | None = None
