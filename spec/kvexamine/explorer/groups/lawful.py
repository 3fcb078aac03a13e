"""What a cache with several groups that works may do in a state: the transition must forbid none of it."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer.groups.observed import truth
from kvexamine.explorer.groups.reads import horizon, past, right, unread
from kvexamine.explorer.groups.world import GroupsWorld, Run, computable, entries_needed
from kvspec.groups import events as ev
from kvspec.groups.state import Live, State
from kvspec.groups.vocabulary import Table, Tables
from kvspec.vocabulary import BlockId, Request


def lawful(small: GroupsWorld, run: Run) -> Iterator[ev.Event]:
    """Admissions on every hit that all groups can go on from, steps, releases of what nobody reads, true refusals."""
    state = run.state
    yield truth(state)
    for request in small.requests:
        if request.id in run.waiting:
            yield from _admissions(state, request)
            yield from _refusals(state, request, 0, len(request.prompt))
    for live in state.requests.values():
        yield from _steps(state, live)
        yield from _refusals(state, live.request, live.computed, computable(live))


def _refusals(state: State, request: Request, start: int, length: int) -> Iterator[ev.Event]:
    """Refused is what needs more blocks of a pool than nobody holds, were all of them new."""
    free = state.free()
    for end in range(start + 1, length + 1):
        if any(entries_needed(state, request, end, pool) > free[pool] for pool in range(len(free))):
            yield ev.Refuse(request, end)


def _steps(state: State, live: Live) -> Iterator[ev.Event]:
    """Steps for which there are homes, and releases of entries that no query in flight or to come reads."""
    id, last, groups = live.request.id, horizon(live.request), state.layout.groups
    earliest = min((*live.flights.values(), live.computed))
    for number, group in enumerate(groups):
        for index, held in enumerate(live.tables[number]):
            if held is not None and unread(group, index, earliest, last):
                yield ev.Release(id, number, index)
    for end in range(live.computed + 1, computable(live) + 1):
        first = [slots // group.block_size for slots, group in zip(live.filled, groups, strict=True)]
        if all(
            len(table) >= group.entries(end) and None not in table[start : group.entries(end)]
            for table, group, start in zip(live.tables, groups, first, strict=True)
        ):
            yield ev.Compute(id, end - live.computed)
    yield ev.Complete(id) if live.flights else ev.End(id)


def _admissions(state: State, request: Request) -> Iterator[ev.Event]:
    """On every hit from which all groups can go on, or on the longest where that is declared."""
    hits = valid_hits(state, request)
    chosen = {max(hits): hits[max(hits)]} if "longest-hit" in state.capabilities.profiles else hits
    for hit, tables in chosen.items():
        for end in range(hit + 1, len(request.prompt) + 1):
            told = _with_new(state, tables, end)
            if told is not None:
                yield ev.Admit(request, hit, end, told)


def valid_hits(state: State, request: Request) -> dict[int, list[Table]]:
    """Each hit from which all groups can go on, with blocks where something is read and nothing elsewhere."""
    hits = {}
    for hit in range(0, len(request.prompt), state.layout.unit):
        tables = [_found(state, request, number, hit) for number in range(len(state.layout.groups))]
        if None not in tables:
            hits[hit] = [table for table in tables if table is not None]
    return hits


def _found(state: State, request: Request, number: int, hit: int) -> Table | None:
    """A block for each entry of which queries behind the hit read something, nothing elsewhere; None if one lacks."""
    group = state.layout.groups[number]
    table: list[BlockId | None] = [None] * (hit // group.block_size)
    needed = past(group, hit, hit, horizon(request))
    for entry in {held.entry for held in needed}:
        slots = [held for held in needed if held.entry == entry]
        for id, block in enumerate(state.pools[state.layout.pool_of(number)]):
            flying = state.capabilities.publishes == "computed" and any(map(state.in_flight, block.writers))
            full = block.owner == number and None not in block.contexts and -1 not in block.contexts and not flying
            if full and all(right(state, request.prompt, block, held) for held in slots):
                table[entry] = BlockId(id)
        if table[entry] is None:
            return None
    return tuple(table)


def _with_new(state: State, tables: list[Table], end: int) -> Tables | None:
    """The tables with idle blocks for the rest; None where there are too few."""
    taken = {(state.layout.pool_of(number), id) for number, table in enumerate(tables) for id in table}
    told = []
    for number, group in enumerate(state.layout.groups):
        pool, missing = state.layout.pool_of(number), group.entries(end) - len(tables[number])
        free = [BlockId(id) for id, block in enumerate(state.pools[pool]) if not block.ref and (pool, id) not in taken]
        new = [id for id in free if id not in state.capabilities.reserved_blocks][:missing]
        if len(new) < missing:
            return None
        taken |= {(pool, id) for id in new}
        told.append((*tables[number], *new))
    return tuple(told)
