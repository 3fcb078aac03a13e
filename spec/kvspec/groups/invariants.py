"""The invariants of a cache with several groups, each recomputed from scratch over a whole state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kvspec import rules
from kvspec.groups.needs import read_below
from kvspec.groups.state import Live, State
from kvspec.rules import Rule

Broken = Iterator[tuple[Rule, str]]


def broken_invariants(state: State) -> Broken:
    """Yield (rule, what is wrong) for every invariant that does not hold."""
    for pool, blocks in enumerate(state.pools):
        held = Counter(_named(state, pool))
        for id, block in enumerate(blocks):
            if block.ref != held[id]:
                yield (
                    rules.COUNT_EQUALS_HOLDERS,
                    f"block {id} of pool {pool} counts {block.ref}, has {held[id]} holders",
                )
            if held[id] and id in state.capabilities.reserved_blocks:
                yield rules.RESERVED_BLOCK, f"the reserved block {id} of pool {pool} is held"
    for live in state.requests.values():
        yield from _broken_request(state, live)


def _named(state: State, pool: int) -> Iterator[int]:
    for live in state.requests.values():
        for group, table in enumerate(live.tables):
            if state.layout.pool_of(group) == pool:
                yield from (id for id in table if id is not None)


def _broken_request(state: State, live: Live) -> Broken:
    """Every group holds what the next query reads, if one is to come, and its blocks are its own."""
    name, goes_on = live.request.id, live.generated < live.request.max_new_tokens
    for number, group in enumerate(state.layout.groups):
        table = live.tables[number]
        for id in table:
            if id is not None and state.block(number, id).owner != number:
                yield rules.CONSERVATION, f"{name} holds block {id} in group {number}, which belongs to another"
        for slot in read_below(group, live.filled[number]) if goes_on else ():
            held = table[slot.index] if slot.index < len(table) else None
            block = None if held is None else state.block(number, held)
            if block is None:
                yield rules.EVERY_GROUP_HIT, f"{name} holds nothing for entry {slot.index} of group {number}"
            elif block.owner == number and not live.owns(slot.position, block.contexts[slot.offset]):
                yield rules.CONTENT_MATCHES_KEY, f"{name} does not hold its position {slot.position} in group {number}"
