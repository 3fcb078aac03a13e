"""The records in which an adapter answers, looked at field by field; wrong types are named.

Nothing is changed, save that what can be read only once is written down: then the record is made anew around it.

What a field says is for the rules to judge. Here only its type is looked at, so that a slip in an adapter is told as
one, and neither as our error nor as a fault of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, TypeVar

from kvconformance.surfaces.answers import mapping, several, shaped, whole
from kvspec import plans
from kvspec.plans import GroupAdmission
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.tree.vocabulary import Found, Inserted, Node
from kvspec.violation import HarnessFault
from kvspec.vocabulary import KeyParts, RequestId

Record = TypeVar("Record")
Value = TypeVar("Value")
Check = Callable[[Any, str], Any]
"""Looks at one field and gives what to keep of it: mostly what was told."""


def record(told: Any, kind: type[Record], method: str) -> Record:
    """The answer of `method`, a `kind` whose fields have their types. Raises `HarnessFault` that names the field."""
    shaped(told, kind, method)
    anew: dict[str, Any] = {}
    for field, check in _FIELDS[kind].items():
        where, value = f"{method}().{field}", getattr(told, field)
        kept = check(_written(value, where), where)
        if kept is not value:
            anew[field] = kept
    return replace(told, **anew) if anew else told  # type: ignore[no-any-return]


def _written(told: Any, where: str) -> Any:
    """The same, where it can be read once only as something that can be read again."""
    return several(told, where) if type(told) not in _AGAIN and isinstance(told, Iterator) else told


def _each(told: Any, where: str, check: Check) -> Any:
    """Several things of one kind: as they were told, unless one of them was written down."""
    items = several(told, where)
    kept = tuple(check(_written(item, where), where) for item in items)
    return told if all(new is old for new, old in zip(kept, items, strict=True)) else kept


def number(told: Any, where: str) -> Any:
    """A whole number, of whatever type."""
    whole(told, where)
    return told


def numbers(told: Any, where: str) -> Any:
    """A sequence of whole numbers, such as a block table or tokens; it is read more than once."""
    for item in several(told, where, again=True):
        whole(item, where)
    return told


def entries(told: Any, where: str) -> Any:
    """A block table: a whole number for each entry, or None where nothing is held."""
    for item in several(told, where, again=True):
        if item is not None:
            whole(item, where)
    return told


def _tables(told: Any, where: str) -> Any:
    return _each(told, where, entries)


def name(told: Any, where: str) -> Any:
    """The id of a request."""
    return shaped(told, str, where)


def maybe(check: Check) -> Check:
    """The same, or None for what an engine does not tell."""
    return lambda told, where: None if told is None else check(told, where)


def _listed(kinds: tuple[type, ...]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def _key(told: Any, where: str) -> Any:
    try:
        hash(told)
    except TypeError as error:
        raise HarnessFault(f"{where} is no key: {error}") from error
    return told


def _keys(told: Any, where: str) -> Any:
    for key in several(told, where, again=True):
        _key(key, where)
    return told


def _parts(told: Any, where: str) -> Any:
    return _key(shaped(told, KeyParts, where), where)


def _slot(told: Any, where: str) -> Any:
    if len(numbers(told, where)) != 2:
        raise HarnessFault(f"{where} has the slot {told!r:.60}, not (block, offset)")
    return told


def _copy(told: Any, where: str) -> Any:
    return record(told, plans.BlockCopy, where)


def _action(told: Any, where: str) -> Any:
    kind = type(told)
    if kind not in _ACTIONS:
        raise HarnessFault(f"{where} has a {kind.__name__}, none of {_listed(_ACTIONS)}")
    return record(told, kind, f"plan() -> {kind.__name__}")


def _slots(told: Any, where: str) -> Any:
    return _each(told, where, _slot)


def _copies(told: Any, where: str) -> Any:
    return _each(told, where, _copy)


def _actions(told: Any, where: str) -> Any:
    return _each(told, where, _action)


def published(told: Any, method: str) -> tuple[Published, ...]:
    """The messages that were published since the last call."""
    messages = several(told, method)
    for message in messages:
        if type(message) not in _MESSAGES:
            raise HarnessFault(f"{method}() has a {type(message).__name__}, none of {_listed(_MESSAGES)}")
    return tuple(record(message, type(message), f"{method}() -> {type(message).__name__}") for message in messages)


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
        entries(table, method)
    return found


def grouped_tables(told: Any, method: str, groups: int) -> Sequence[Mapping[Any, Any]]:
    """Of each group, the block table of each of some requests, which are told with one table for each group."""
    found: list[dict[Any, Any]] = [{} for _ in range(groups)]
    for id, own in mapping(told, method).items():
        name(id, method)
        tables = several(own, method)
        if len(tables) not in {0, groups}:
            raise HarnessFault(f"{method}() has {len(tables)} tables of {id} for {groups} groups")
        for number, table in enumerate(tables):
            found[number][id] = tuple(entries(several(table, method), method))
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


_AGAIN: Final = frozenset({tuple, list, str, int, type(None), *plans.Action.__args__})
_ACTIONS: Final = plans.Action.__args__
_MESSAGES: Final = (BlockStored, BlockRemoved, AllBlocksCleared)
_FIELDS: Final[Mapping[type, Mapping[str, Check]]] = {
    plans.Admission: {"hit": number, "count": number, "table": numbers},
    plans.Extension: {"table": numbers, "copies": _copies},
    plans.Hit: {"tokens": number, "blocks": numbers},
    plans.StepPlan: {"actions": _actions},
    plans.Scheduled: {
        "request": name,
        "start": number,
        "count": number,
        "table": entries,
        "slots": maybe(_slots),
        "tokens": maybe(numbers),
        "more": _tables,
    },
    plans.Admitted: {"request": name, "hit": number, "table": entries, "more": _tables},
    plans.BlockCopy: {"request": name, "source": number, "target": number, "extent": maybe(number)},
    plans.Preempted: {"request": name},
    plans.Trimmed: {"request": name, "group": number, "index": number},
    plans.TurnedAway: {"request": name},
    plans.Released: {"request": name},
    plans.SwappedOut: {"request": name, "transfer": number},
    plans.SwappedIn: {"request": name, "table": entries, "transfer": number, "more": _tables},
    BlockStored: {
        "keys": _keys,
        "parent": maybe(_key),
        "tokens": numbers,
        "block_size": number,
        "parts": _parts,
        "medium": name,
    },
    BlockRemoved: {"keys": _keys, "medium": name},
    AllBlocksCleared: {},
    GroupAdmission: {"hit": number, "count": number},
    Found: {"tokens": number, "slots": maybe(numbers)},
    Inserted: {"known": number, "slots": maybe(numbers)},
    Node: {"prefix": numbers, "length": number, "locks": number, "parts": _parts},
}
