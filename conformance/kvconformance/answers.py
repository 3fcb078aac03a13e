"""What an adapter answers must have the shape that its surface asks for; another shape is one named harness fault."""

from __future__ import annotations

from typing import Any, TypeVar

from kvspec.violation import HarnessFault

Answer = TypeVar("Answer")


def shaped(told: Any, kind: type[Answer], method: str) -> Answer:
    """The answer of `method`, which is a `kind`. Raises `HarnessFault` that names the method."""
    if not isinstance(told, kind):
        raise HarnessFault(f"{method}() answers {_short(told)}, not {kind.__name__}")
    return told


def several(told: Any, method: str) -> tuple[Any, ...]:
    """The answer of `method`, which is a sequence. Raises `HarnessFault` that names the method."""
    try:
        return tuple(told)
    except TypeError as error:
        raise HarnessFault(f"{method}() answers {_short(told)}, not a sequence") from error


def number(told: Any, method: str) -> int:
    """The answer of `method`, which is a whole number of whatever type. Raises `HarnessFault` that names the method."""
    try:
        return int(told)
    except (TypeError, ValueError) as error:
        raise HarnessFault(f"{method}() answers {_short(told)}, not a number") from error


def _short(told: Any) -> str:
    return "None" if told is None else f"{type(told).__name__} {told!r:.60}"
