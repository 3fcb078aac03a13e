"""What a cache with several groups would truthfully say of itself, and lies that must not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kvspec.groups import events as ev
from kvspec.groups.state import State
from kvspec.groups.vocabulary import Held, Tables
from kvspec.vocabulary import BlockId, RequestId


def truth(state: State) -> ev.Observe:
    """The tables of everybody; how often they name a block of each pool; how many blocks of each they do not."""
    tables: dict[RequestId, Tables] = {id: tuple(map(tuple, live.tables)) for id, live in state.requests.items()}
    refs = tuple(_named(state, pool) for pool in range(len(state.pools)))
    usable = state.world.num_blocks - len(state.capabilities.reserved_blocks)
    return ev.Observe(tuple(usable - len(held) for held in refs), tables, refs)


def lies(state: State) -> Iterator[ev.Observe]:
    """The truth with one thing wrong: a free block too many or too few, a reference, an entry."""
    right = truth(state)
    free, tables, refs = right.free or (), dict(right.tables or {}), right.refs or ()
    for pool, number in enumerate(free):
        yield from (replace(right, free=(*free[:pool], number + off, *free[pool + 1 :])) for off in (-1, 1))
        more = {**refs[pool], BlockId(0): refs[pool].get(BlockId(0), 0) + 1}
        yield replace(right, refs=(*refs[:pool], more, *refs[pool + 1 :]))
    for id, own in tables.items():
        yield replace(right, tables={**tables, id: (*own[:-1], (*own[-1], None))})
        yield replace(right, tables={**tables, id: (own[0][:-1], *own[1:])})


def _named(state: State, pool: int) -> Held:
    return Counter(
        id
        for live in state.requests.values()
        for number, table in enumerate(live.tables)
        if state.layout.pool_of(number) == pool
        for id in table
        if id is not None
    )
