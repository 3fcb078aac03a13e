"""Block tables that engines tell and show, and the events that lead from one to the next: trims, remaps, copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kvspec import events as ev
from kvspec.layout import Table, Tables
from kvspec.needs import first_kept
from kvspec.plans import Action, Admitted, BlockCopy, Scheduled, SwappedIn
from kvspec.state import Live, State
from kvspec.vocabulary import Phase, RequestId


def entry(live: Live, copy: BlockCopy) -> int:
    """The entry of a request's table that a copy moves; of a stray one the entry that it fills, or the one behind all.

    The specification judges it: an engine that copies from a block which the request does not hold is wrong.
    """
    table = live.tables[group_of(live, copy)]
    named = (block for block in (copy.source, copy.target) if block in table)
    return next((table.index(block) for block in named), len(table))


def group_of(live: Live, copy: BlockCopy) -> int:
    """The group of whose table a copy moves an entry; of a stray one the first."""
    named = (block for block in (copy.source, copy.target) if block in live.held())
    return next((number for block in named for number, table in enumerate(live.tables) if block in table), 0)


def tables_of(action: Action) -> Tables:
    """The tables of all groups; of a copy, the block that it fills."""
    if isinstance(action, BlockCopy):
        return ((action.target,),)
    if not isinstance(action, Scheduled | Admitted | SwappedIn):
        return ()
    return (tuple(action.table), *(tuple(table) for table in action.more))


def trims(live: Live, table: Table, number: int) -> Iterator[ev.Trim]:
    """The entries that a request held in a group and that its table names no more."""
    for index, (before, after) in enumerate(zip(live.tables[number][:], table, strict=False)):
        if before is not None and after is None:
            yield ev.Trim(live.request.id, number, index)


def remaps(state: State, tables: Mapping[RequestId, Table], number: int = 0) -> Iterator[ev.Remap]:
    """The entries of running requests that have moved to other blocks, in one group."""
    for id, table in tables.items():
        live = state.requests.get(id)
        if live is not None and live.phase is Phase.RUNNING:
            for index, (old, new) in enumerate(zip(live.tables[number][:], table, strict=False)):
                if old != new and new is not None:
                    yield ev.Remap(id, index, new, number)


def handed_on(state: State, action: Action, shown: Sequence[Mapping[RequestId, Table]]) -> Iterator[ev.Trim]:
    """The entries of which nothing is read again, whose blocks the plan hands to somebody else.

    A plan does not show when it gave them back; the tables that the engine shows after it name them no more.
    """
    named = {block for table in tables_of(action) for block in table}
    for number, tables in enumerate(shown):
        for live in state.live():
            kept = first_kept(state.layout.groups[number], state.earliest(live))
            for index, block in enumerate(live.tables[number][:kept]):
                gone = block is not None and block not in tables.get(live.request.id, ())
                if gone and block in named and live.phase is Phase.RUNNING:
                    yield ev.Trim(live.request.id, number, index)
