"""Events and states of a cache with several groups in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kvexamine.explorer.groups.world import spelt
from kvspec.groups import events as ev
from kvspec.groups.state import PENDING, State
from kvspec.groups.vocabulary import Tables


def tell(event: ev.Event) -> str:
    """One event."""
    return _TELL[type(event)](event)


def contents(state: State) -> Iterator[str]:
    """The requests with their tables, and the blocks that hold something."""
    for live in state.requests.values():
        tokens = " ".join(map(str, live.tokens))
        flights = f", steps in flight from {list(live.flights.values())}" if live.flights else ""
        yield f"     {live.request.id} tokens [{tokens}], computed {live.computed}, tables {live.tables}{flights}"
    for pool, blocks in enumerate(state.pools):
        for id, block in enumerate(blocks):
            if block.owner is not None:
                held = " | ".join(_context(state, context) for context in block.contexts)
                yield f"     block {id} of pool {pool}: group {block.owner}, [{held}], {block.ref} references"


def _context(state: State, context: int | None) -> str:
    if context is None:
        return "nothing"
    return "pending" if context == PENDING else f"({' '.join(map(str, state.contexts.tokens(context)))})"


def _tables(tables: Tables) -> str:
    return " and ".join("[" + " ".join("-" if id is None else str(id) for id in table) + "]" for table in tables)


_TELL: dict[type, Callable[[Any], str]] = {
    ev.Admit: lambda e: (
        f"{e.request.id} ({spelt(e.request)}) is admitted on a hit of {e.hit}, homes for {e.end}: {_tables(e.tables)}"
    ),
    ev.Refuse: lambda e: f"{e.request.id} ({spelt(e.request)}) is refused homes for {e.end} tokens",
    ev.Grow: lambda e: f"{e.request} grows to homes for {e.end} tokens: {_tables(e.tables)}",
    ev.Release: lambda e: f"{e.request} gives back entry {e.index} of group {e.group}",
    ev.Compute: lambda e: f"{e.request} computes {e.count} tokens",
    ev.Complete: lambda e: f"the oldest step of {e.request} is complete",
    ev.Sample: lambda e: f"{e.request} samples {e.token}",
    ev.End: lambda e: f"{e.request} ends",
    ev.Observe: lambda e: f"the cache says: free {e.free}, references {e.refs}, tables {e.tables}",
}
