"""The records in which an adapter answers, looked at field by field; nothing is changed, wrong types are named.

What a field says is for the rules to judge. Here only its type is looked at, so that a slip in an adapter is told as
one, and neither as our error nor as a fault of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any, Final, TypeVar

from kvconformance.answers import mapping, several, shaped, whole
from kvspec import plans
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.violation import HarnessFault
from kvspec.vocabulary import KeyParts, RequestId

Record = TypeVar("Record")
Value = TypeVar("Value")
Check = Callable[[Any, str], object]


def record(told: Any, kind: type[Record], method: str) -> Record:
    """The answer of `method`, a `kind` whose fields have their types. Raises `HarnessFault` that names the field."""
    shaped(told, kind, method)
    for field, check in _FIELDS[kind].items():
        check(getattr(told, field), f"{method}().{field}")
    return told  # type: ignore[no-any-return]


def numbers(told: Any, where: str) -> None:
    """A sequence of whole numbers, such as a block table or tokens; it is read more than once, so no iterator."""
    for item in several(told, where, again=True):
        whole(item, where)


def name(told: Any, where: str) -> None:
    """The id of a request."""
    shaped(told, str, where)


def maybe(check: Check) -> Check:
    """The same, or None for what an engine does not tell."""
    return lambda told, where: None if told is None else check(told, where)


def _listed(kinds: tuple[type, ...]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def _key(told: Any, where: str) -> None:
    try:
        hash(told)
    except TypeError as error:
        raise HarnessFault(f"{where} is no key: {error}") from error


def _keys(told: Any, where: str) -> None:
    for key in several(told, where, again=True):
        _key(key, where)


def _parts(told: Any, where: str) -> None:
    shaped(told, KeyParts, where)
    _key(told, where)


def _slots(told: Any, where: str) -> None:
    for slot in several(told, where):
        numbers(slot, where)
        if len(slot) != 2:
            raise HarnessFault(f"{where} has the slot {slot!r:.60}, not (block, offset)")


def _copies(told: Any, where: str) -> None:
    for copy in several(told, where):
        record(copy, plans.BlockCopy, where)


def _actions(told: Any, where: str) -> None:
    for action in several(told, where):
        if type(action) not in _ACTIONS:
            raise HarnessFault(f"{where} has a {type(action).__name__}, none of {_listed(_ACTIONS)}")
        record(action, type(action), f"plan() -> {type(action).__name__}")


def published(told: Any, method: str) -> tuple[Published, ...]:
    """The messages that were published since the last call."""
    messages = several(told, method)
    for message in messages:
        if type(message) not in _MESSAGES:
            raise HarnessFault(f"{method}() has a {type(message).__name__}, none of {_listed(_MESSAGES)}")
        record(message, type(message), f"{method}() -> {type(message).__name__}")
    return messages


def counts(told: Any, method: str) -> Mapping[Any, int]:
    """A whole number for each of some blocks."""
    found = mapping(told, method)
    numbers(tuple(found), method)
    numbers(tuple(found.values()), method)
    return found


def tables(told: Any, method: str) -> Mapping[Any, tuple[Any, ...]]:
    """A block table for each of some requests."""
    found = mapping(told, method)
    for id, table in found.items():
        name(id, method)
        numbers(table, method)
    return found


def listed(told: Any, method: str) -> tuple[Any, ...]:
    """Some blocks, each as often as it is named."""
    found = several(told, method)
    numbers(found, method)
    return found


def blocks(told: Any, method: str) -> frozenset[Any]:
    """Some blocks, in no order."""
    if not isinstance(told, Set):
        told = several(told, method)
    numbers(tuple(told), method)
    return frozenset(told)


def pair(told: Any, method: str, check: Callable[[Any, str], Value]) -> tuple[Value, Value]:
    """Two things of one kind."""
    both = several(told, method)
    if len(both) != 2:
        raise HarnessFault(f"{method}() answers {len(both)} things, not 2")
    return check(both[0], method), check(both[1], method)


def names(told: Any, method: str) -> tuple[RequestId, ...]:
    """Some requests."""
    found = several(told, method)
    for id in found:
        name(id, method)
    return found


_ACTIONS: Final = plans.Action.__args__
_MESSAGES: Final = (BlockStored, BlockRemoved, AllBlocksCleared)
_FIELDS: Final[Mapping[type, Mapping[str, Check]]] = {
    plans.Admission: {"hit": whole, "count": whole, "table": numbers},
    plans.Extension: {"table": numbers, "copies": _copies},
    plans.Hit: {"tokens": whole, "blocks": numbers},
    plans.StepPlan: {"actions": _actions},
    plans.Scheduled: {
        "request": name,
        "start": whole,
        "count": whole,
        "table": numbers,
        "slots": maybe(_slots),
        "tokens": maybe(numbers),
    },
    plans.Admitted: {"request": name, "hit": whole, "table": numbers},
    plans.BlockCopy: {"request": name, "source": whole, "target": whole, "extent": maybe(whole)},
    plans.Preempted: {"request": name},
    plans.TurnedAway: {"request": name},
    plans.Released: {"request": name},
    plans.SwappedOut: {"request": name, "transfer": whole},
    plans.SwappedIn: {"request": name, "table": numbers, "transfer": whole},
    BlockStored: {
        "keys": _keys,
        "parent": maybe(_key),
        "tokens": numbers,
        "block_size": whole,
        "parts": _parts,
        "medium": name,
    },
    BlockRemoved: {"keys": _keys, "medium": name},
    AllBlocksCleared: {},
}
