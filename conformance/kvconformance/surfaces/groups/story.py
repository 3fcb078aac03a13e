"""Tells the events of a cache with several groups to a person, and what its blocks hold."""

from __future__ import annotations

from types import MappingProxyType

from kvconformance.history import History
from kvconformance.story import Story, Teller
from kvspec.groups import events as ev
from kvspec.groups.state import PENDING, State
from kvspec.groups.vocabulary import Layout, Table, Tables
from kvspec.violation import HarnessFault, Violation
from kvspec.vocabulary import RequestId


def world(history: History) -> str:
    """The pools and the groups of a world, in one line."""
    try:
        layout = Layout.of(history.world())
    except HarnessFault:
        return f"{history.num_blocks} blocks"
    own = "for each group" if layout.num_pools > 1 else "for all groups"
    return ", ".join(
        [f"{history.num_blocks} blocks {own}", f"groups {layout}", *([] if history.caching else ["no prefix cache"])]
    )


def ghost(state: State, violation: Violation) -> list[str]:
    """The tables of the request in question, and the contexts that their blocks hold."""
    live = state.requests.get(RequestId(str(violation.facts.get("request"))))
    block, group = violation.facts.get("block"), violation.facts.get("group")
    lines = []
    if live is not None:
        lines.append(f"{live.request.id}  tokens {list(live.tokens)}  computed {live.computed}")
        for number, table in enumerate(live.tables):
            lines.append(f"  group {number} ({state.layout.groups[number]}): {_table(tuple(table))}")
    if isinstance(block, int) and isinstance(group, int) and 0 <= block < state.world.num_blocks:
        held = state.pools[state.layout.pool_of(group)][block]
        told = " | ".join(_context(state, context) for context in held.contexts) or "nothing"
        lines.append(f"  block {block}: [{told}], last used by group {held.owner}")
    return lines


def _context(state: State, context: int | None) -> str:
    if context == PENDING:
        return "drafted from a token that is not known yet"
    return "nothing" if context is None else f"after ({' '.join(map(str, state.contexts.tokens(context)))})"


def _table(table: Table) -> str:
    return "[" + " ".join("·" if id is None else str(id) for id in table) + "]"


def _tables(tables: Tables) -> str:
    return " ".join(_table(table) for table in tables)


_TELL: dict[type, Teller] = {
    ev.Admit: lambda e, _: (
        f"{e.request.id} ({' '.join(map(str, e.request.prompt))}) starts on a hit of {e.hit} tokens, "
        f"tables {_tables(e.tables)}"
    ),
    ev.Refuse: lambda e, _: f"{e.request.id} is refused homes for {e.end} tokens",
    ev.Grow: lambda e, _: f"{e.request} has homes for {e.end} tokens, tables {_tables(e.tables)}",
    ev.Release: lambda e, _: f"{e.request} releases entry {e.index} of group {e.group}",
    ev.Compute: lambda e, _: f"a step computes {e.count} tokens of {e.request}",
    ev.Complete: lambda e, _: f"the oldest step of {e.request} finishes",
    ev.Sample: lambda e, _: f"{e.request} samples {e.token}",
    ev.End: lambda e, _: f"{e.request} ends",
}

_VERBS = {"add": "admit", "commit": "complete"}
STORY = Story(
    world=world,
    verbs=MappingProxyType(_VERBS),
    tell=MappingProxyType(_TELL),
    ghost=ghost,
)
