"""What a cache with several groups that works may do in a state: the transition must forbid none of it."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer.groups.moves import admitted, computed, gives_way, refused, returned, strays
from kvexamine.explorer.groups.observed import truth
from kvexamine.explorer.groups.reads import horizon, past, right, unread
from kvexamine.explorer.groups.world import (
    GroupsWorld,
    Move,
    blocks_of,
    computable,
    earliest,
    entries_needed,
    flights,
    flying,
    free,
    running,
    takable,
    waiting,
)
from kvspec import events as ev
from kvspec.layout import Table, Tables
from kvspec.state import Live, State
from kvspec.vocabulary import BlockId


def lawful(small: GroupsWorld, state: State) -> Iterator[Move]:
    """Admissions on every hit that all groups can go on from, steps, releases of what nobody reads, true refusals.

    Who runs may give way, to the host once nothing is on its way; who is there comes back with what is still read.
    """
    yield truth(state)
    for live in waiting(state):
        yield from _admissions(state, live)
        yield from _refusals(state, live, 0, len(live.tokens))
        if live.swapped is not None and live.transfer is None:
            yield from _returns(state, live)
    for live in running(state):
        written = any(step is not None for id in live.held() for step in flying(state, state.blocks[id]))
        if live.transfer is None:
            yield from _steps(state, live)
            yield from (move for move in gives_way(small, state, live) if not (_is_swap(move) and written))
        yield from _refusals(state, live, live.computed, computable(live))
    yield from ((ev.TransferDone(transfer),) for transfer in state.transfers)
    yield from strays(state)


def _is_swap(move: Move) -> bool:
    return isinstance(move[0], ev.SwapOut)


def _returns(state: State, live: Live) -> Iterator[Move]:
    """With a block for each entry of which a later query reads something, and none elsewhere."""
    tables: list[Table] = []
    taken: set[BlockId] = set()
    for number, group in enumerate(state.layout.groups):
        needed = past(group, live.filled[number], live.filled[number], horizon(live.request))
        read = {held.entry for held in needed}
        idle = iter([id for id in takable(state, number) if id not in taken])
        count = group.entries(max(0, live.computed - group.lag))
        table = tuple(next(idle, None) if entry in read else None for entry in range(count))
        if any(table[entry] is None for entry in read):
            return
        taken |= {id for id in table if id is not None}
        tables.append(table)
    yield returned(state, live, tables)


def _refusals(state: State, live: Live, start: int, length: int) -> Iterator[Move]:
    """Refused is what needs more blocks of a pool than nobody holds, were all of them new."""
    idle = [0] * state.layout.num_pools
    for number in range(len(state.layout.groups)):
        idle[state.layout.pool_of(number)] = len(free(state, number))
    for end in range(start + 1, length + 1):
        if any(need > there for need, there in zip(entries_needed(state, live, end), idle, strict=True)):
            yield refused(state, live, end)


def _steps(state: State, live: Live) -> Iterator[Move]:
    """Steps for which there are slots, and releases of entries that no query in flight or to come reads."""
    id, last, groups = live.request.id, horizon(live.request), state.layout.groups
    for number, group in enumerate(groups):
        for index, held in enumerate(live.tables[number]):
            if held is not None and unread(group, index, earliest(state, live), last):
                yield (ev.Trim(id, number, index),)
    for end in range(live.computed + 1, computable(live) + 1):
        first = [slots // group.block_size for slots, group in zip(live.filled, groups, strict=True)]
        if all(
            len(table) >= group.entries(end) and None not in table[start : group.entries(end)]
            for table, group, start in zip(live.tables, groups, first, strict=True)
        ):
            yield computed(state, live, end - live.computed)
    on_device = flights(state, live)
    yield (ev.Complete(next(iter(on_device))),) if on_device else (ev.Abort(id),)


def _admissions(state: State, live: Live) -> Iterator[Move]:
    """On every hit from which all groups can go on, or on the longest where that is declared."""
    hits = valid_hits(state, live)
    chosen = {max(hits): hits[max(hits)]} if "longest-hit" in state.capabilities.profiles else hits
    for hit, tables in chosen.items():
        for end in range(hit + 1, len(live.tokens) + 1):
            told = _with_new(state, tables, end)
            if told is not None:
                yield admitted(state, live, hit, end, told)


def valid_hits(state: State, live: Live) -> dict[int, list[Table]]:
    """Each hit from which all groups can go on, with blocks where something is read and nothing elsewhere."""
    hits = {}
    for hit in range(0, len(live.tokens), state.layout.unit):
        tables = [_found(state, live, number, hit) for number in range(len(state.layout.groups))]
        if None not in tables:
            hits[hit] = [table for table in tables if table is not None]
    return hits


def _found(state: State, live: Live, number: int, hit: int) -> Table | None:
    """A block for each entry of which queries behind the hit read something, nothing elsewhere; None if one lacks."""
    group = state.layout.groups[number]
    table: list[BlockId | None] = [None] * (hit // group.block_size)
    needed = past(group, hit, hit, horizon(live.request))
    for entry in {held.entry for held in needed}:
        slots = [held for held in needed if held.entry == entry]
        for id in blocks_of(state, number):
            block = state.blocks[id]
            unfinished = state.capabilities.publishes == "computed" and any(s is not None for s in flying(state, block))
            full = block.owner == number and None not in block.contexts and -1 not in block.contexts and not unfinished
            full = full and not block.fence & state.arriving
            if full and all(right(state, live.tokens, block, held) for held in slots):
                table[entry] = BlockId(id)
        if table[entry] is None:
            return None
    return tuple(table)


def _with_new(state: State, tables: list[Table], end: int) -> Tables | None:
    """The tables with idle blocks for the rest; None where there are too few."""
    taken = {id for table in tables for id in table}
    told = []
    for number, group in enumerate(state.layout.groups):
        missing = group.entries(end) - len(tables[number])
        new = [id for id in takable(state, number) if id not in taken][:missing]
        if len(new) < missing:
            return None
        taken |= set(new)
        told.append((*tables[number], *new))
    return tuple(told)
