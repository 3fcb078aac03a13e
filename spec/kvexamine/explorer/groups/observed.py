"""What a cache with several groups would truthfully say of itself, and lies that must not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kvexamine.explorer.groups.world import Move, running
from kvspec import events as ev
from kvspec.state import State
from kvspec.vocabulary import BlockId


def truth(state: State) -> tuple[ev.Observe, ...]:
    """Of each group the tables of everybody, and how many blocks of its pool are free; who names each block.

    Free is what no table names and no transfer touches.
    """
    held = Counter(id for live in running(state) for table in live.tables for id in table if id is not None)
    size, usable = state.world.num_blocks, state.world.num_blocks - len(state.capabilities.reserved_blocks)
    told = []
    for number in range(len(state.layout.groups)):
        fenced = (id for id, block in enumerate(state.blocks) if block.fence and id not in held)
        named = sum(id // size == state.layout.pool_of(number) for id in (*held, *fenced))
        tables = {live.request.id: tuple(live.tables[number]) for live in running(state)}
        told.append(ev.Observe(free=usable - named, refs=dict(held), tables=tables, group=number))
    return tuple(told)


def lies(state: State) -> Iterator[Move]:
    """The truth about a group with one thing wrong: a free block too many or too few, a reference, an entry."""
    for right in truth(state):
        free, refs, tables = right.free or 0, right.refs or {}, right.tables or {}
        first = BlockId(state.layout.pool_of(right.group) * state.world.num_blocks)
        yield from ((replace(right, free=free + off),) for off in (-1, 1))
        if not state.blocks[first].fence:
            yield (replace(right, refs={**refs, first: refs.get(first, 0) + 1}),)
        for id, own in tables.items():
            yield (replace(right, tables={**tables, id: (*own, None)}),)
            if own:
                yield (replace(right, tables={**tables, id: own[:-1]}),)
