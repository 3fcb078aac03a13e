"""What is known of a scope after a search, in plain records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[int, int], None]
"""Told how many states are known, and how deep."""

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
