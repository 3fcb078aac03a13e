"""The footprint of a state: equal footprints mean that the same events are allowed from here on.

It is the state without what only words a finding and without the absolute numbers of releases.
Merging states of one footprint is therefore sound: it never changes whether a later event is allowed. Where no event
will ever name a block, the names of blocks are left out as well, because the rules do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from kvspec.state import Block, Live, State, Untouched
from kvspec.vocabulary import BlockId

_ONLY_WORDS: Final[dict[type, set[str]]] = {
    State: {"releases"},
    Live: {"hit"},
    Block: {"release", "depth"},
}
"""Fields that a rule asks for its name or its count only; releases and depths are told by `_batches`."""

_APART: Final[dict[type, set[str]]] = {
    State: {"requests", "present", "blocks", "free", "in_flight", "transfers", "starts"}
    | {"contexts", "world", "capabilities", "layout", "mirror", "shown", "kept"},
    Live: {"tables"},
    Block: set(),
}
"""Fields that are told in another way, or that follow from what was shown and so are equal in all compatible states."""


def _reader(record: type) -> Any:
    """Reads all fields that count at once."""
    left_out = _ONLY_WORDS[record] | _APART[record]
    return attrgetter(*(field.name for field in fields(record) if field.name not in left_out))


_STATE, _LIVE, _BLOCK = _reader(State), _reader(Live), _reader(Block)


def footprint(state: State, nameless: bool = False) -> object:
    """A hashable value that two states share only if the same events are allowed in both.

    They are compared with states of one world and one trie that have come by the same observations. With `nameless`,
    two states share it also if they differ in the names of blocks.
    """
    order = _order(state) if nameless else [BlockId(id) for id in range(len(state.blocks))]
    names = {id: place for place, id in enumerate(order)}
    idle = [names[id] for id in state.free]
    present = [live for live in state.requests.values() if _matters(state, live)]
    return (
        _frozen(_STATE(state)),
        () if nameless else (state.shown, state.kept),
        len(state.requests),
        tuple((_frozen(_LIVE(live)), _renamed_tables(live, names)) for live in present),
        tuple(_looks(state, order)),
        tuple(idle) if "lru" in state.capabilities.profiles else frozenset(idle),
        _batches([state.blocks[id] for id in order]),
        _renamed(state.in_flight, names),
        _renamed(state.transfers, names),
        _frozen(state.starts) if state.layout.trims else None,
    )


def _looks(state: State, order: Sequence[BlockId]) -> Iterator[object]:
    """What each block looks like; the one that stands for all that were never handed out is looked at once."""
    untouched: object = None
    for id in order:
        block = state.blocks[id]
        if type(block) is not Untouched:
            yield _frozen(_BLOCK(block))
        else:
            untouched = untouched or _frozen(_BLOCK(block))
            yield untouched


def kind(state: State, id: BlockId) -> object:
    """What distinguishes an idle block where blocks have no names: two of one kind may stand for each other."""
    block = state.blocks[id]
    return _look(state, id), block.key is not None and (block.release, block.depth)


def _look(state: State, id: BlockId) -> object:
    reserved = state.reserved(id)
    flying = sorted(step for step, touched in state.in_flight.items() if id in touched)
    return _frozen((*_BLOCK(state.blocks[id]), reserved, flying))


def _order(state: State) -> Sequence[BlockId]:
    """The blocks in an order that does not depend on their names: by the tables, the order of eviction, their look."""

    def look(id: BlockId) -> tuple[int, str]:
        return state.blocks[id].depth, repr(_look(state, id))

    held = dict.fromkeys(id for live in state.requests.values() for id in live.held())
    idle = list(state.free) if "lru" in state.capabilities.profiles else sorted(state.free, key=look)
    others = [BlockId(id) for id in range(len(state.blocks)) if id not in held and id not in state.free]
    return [*held, *idle, *sorted(others, key=look)]


def _renamed_tables(live: Live, names: Mapping[BlockId, int]) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(None if id is None else names[id] for id in table) for table in live.tables)


def _renamed(touched: Mapping[Any, Iterable[BlockId]], names: Mapping[BlockId, int]) -> frozenset[object]:
    return frozenset((key, frozenset(names[id] for id in blocks)) for key, blocks in touched.items())


def _matters(state: State, live: Live) -> bool:
    """A request that has left and given its blocks back can only be named again to be refused, save by lazy queues."""
    return not live.gone or live.left_in >= state.oldest


def _batches(blocks: Iterable[Block]) -> tuple[tuple[int, int] | None, ...]:
    """For each block without an owner that may be evicted as one of a chain: its batch of release and its depth.

    Batches are numbered as they come; what is given back later begins a new one, whatever its number.
    """
    names: dict[int, int] = {}
    told: list[tuple[int, int] | None] = []
    for block in blocks:
        counts = block.ref == 0 and (block.key is not None or block.fence)
        told.append((names.setdefault(block.release, len(names)), block.depth) if counts else None)
    return tuple(told)


def _frozen(value: Any) -> Any:
    """Lists, sets and dictionaries as values that can be hashed."""
    if isinstance(value, tuple | list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return frozenset((key, _frozen(item)) for key, item in value.items())
    return value
