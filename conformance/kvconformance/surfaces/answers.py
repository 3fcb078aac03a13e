"""What an adapter answers must have the shape that its surface asks for; another shape is one named harness fault."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, TypeVar

from kvspec.violation import HarnessFault

Answer = TypeVar("Answer")
_PLAIN = (tuple, list)
"""Most answers; to ask an abstract type takes longer."""


def shaped(told: Any, kind: type[Answer], method: str) -> Answer:
    """The answer of `method`, which is a `kind`. Raises `HarnessFault` that names the method."""
    if not isinstance(told, kind):
        raise HarnessFault(f"{_called(method)} {_short(told)}, not {kind.__name__}")
    return told


def several(told: Any, method: str, *, again: bool = False) -> tuple[Any, ...]:
    """The answer of `method`, which is a sequence, not of characters. Raises `HarnessFault` that names the method.

    With `again` it has an order and can be read once more: it is neither a mapping or set nor an iterator.
    """
    if type(told) in _PLAIN:
        return tuple(told)
    if isinstance(told, str | bytes) or (again and (isinstance(told, Mapping) or not hasattr(told, "__getitem__"))):
        raise HarnessFault(f"{_called(method)} {_short(told)}, not a sequence")
    try:
        return tuple(told)
    except TypeError as error:
        raise HarnessFault(f"{_called(method)} {_short(told)}, not a sequence") from error


def mapping(told: Any, method: str) -> Mapping[Any, Any]:
    """The answer of `method`, which is a mapping. Raises `HarnessFault` that names the method."""
    if not isinstance(told, (dict, Mapping)):
        raise HarnessFault(f"{_called(method)} {_short(told)}, not a mapping")
    return told


def truth(told: Any, method: str) -> bool:
    """The answer of `method`, which is true or false, of whatever type. Raises `HarnessFault` that names the method."""
    try:
        answer = bool(told)
        same = bool(told == answer)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise HarnessFault(f"{_called(method)} {_short(told)}, not True or False")
    return answer


def whole(told: Any, method: str) -> int:
    """The answer of `method`, which counts or names something. Raises `HarnessFault` that names the method."""
    try:
        return operator.index(told)
    except TypeError as error:
        raise HarnessFault(f"{_called(method)} {_short(told)}, not a whole number") from error


def number(told: Any, method: str) -> int:
    """The answer of `method`, which is a whole number of whatever type. Raises `HarnessFault` that names the method."""
    try:
        return int(told)
    except (TypeError, ValueError) as error:
        raise HarnessFault(f"{_called(method)} {_short(told)}, not a number") from error


def _called(method: str) -> str:
    """The method, or the field of what it answers, as the beginning of a sentence."""
    return f"{method} is" if "()" in method else f"{method}() answers"


def _short(told: Any) -> str:
    return "None" if told is None else f"{type(told).__name__} {told!r:.60}"
