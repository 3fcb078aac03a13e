"""The requests of a history: their names, and which of them an operation means."""

from __future__ import annotations

from kvspec.state import Live
from kvspec.vocabulary import RequestId

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def name(number: int) -> RequestId:
    """The name of the request with this number: A, B, …, Z, A1, B1 and so on."""
    letter, round_ = NAMES[number % len(NAMES)], number // len(NAMES)
    return RequestId(f"{letter}{round_}" if round_ else letter)


def pick(candidates: list[Live], which: int) -> Live | None:
    """The candidate an operation names, modulo their number."""
    return candidates[which % len(candidates)] if candidates else None
