"""Guards and effects on blocks: tables that cover, sharing, taking, giving back, reading and writing."""

from __future__ import annotations

from kvspec import rules
from kvspec.groups.needs import Slot
from kvspec.groups.state import PENDING, Block, Live, State
from kvspec.groups.vocabulary import Kind, Tables
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import BlockId


def require_tables(state: State, tally: Tally, live: Live, tables: Tables, end: int) -> None:
    """A table per group, long enough for `end` tokens and no longer than declared; no block stands in two places."""
    groups, who = state.layout.groups, live.request.id
    if len(tables) != len(groups):
        raise HarnessFault(f"{who} has {len(tables)} tables for {len(groups)} groups")
    tally.met(rules.COVERAGE_AND_LIMIT)
    for number, (group, table) in enumerate(zip(groups, tables, strict=True)):
        least, most = group.entries(max(0, end - group.lag)), group.entries(end) + state.capabilities.lookahead_blocks
        if not least <= len(table) <= most:
            seen = f"{who} has {len(table)} entries in group {number} ({group}) for {end} tokens"
            tally.broken(rules.COVERAGE_AND_LIMIT, seen, f"{least} to {most}", request=who, group=number)
    tally.met(rules.CONSERVATION)
    seen_before: set[tuple[int, BlockId]] = set()
    for number, table in enumerate(tables):
        for id in table:
            place = (state.layout.pool_of(number), id)
            if id is not None and place in seen_before:
                tally.broken(rules.CONSERVATION, f"the tables of {who} name block {id} twice", "once", block=id)
            seen_before.add(place)  # type: ignore[arg-type]


def share(state: State, tally: Tally, live: Live, number: int, id: BlockId | None) -> None:
    """One more holder of a block, which is one of the same group."""
    if id is None:
        return
    block = _known(state, tally, live, number, id)
    if block.owner != number:
        seen = f"{live.request.id} shares block {id} in group {number}, whose owner is group {block.owner}"
        tally.broken(rules.CONSERVATION, seen, "a block belongs to one group", block=id, group=number)
    _require_filled(state, tally, live, number, id)
    block.ref += 1


def take(state: State, tally: Tally, live: Live, number: int, id: BlockId | None) -> None:
    """A block for new content, which nobody holds."""
    if id is None:
        return
    block = _known(state, tally, live, number, id)
    if block.ref:
        holders = state.holders(state.layout.pool_of(number), id)
        owners = " and ".join(f"{who} (group {group})" for who, group in holders)
        seen = f"{live.request.id} receives block {id} in group {number}, which {owners} holds"
        tally.broken(rules.CONSERVATION, seen, "a block without an owner", block=id, group=number)
    block.hand_over(number, state.layout.groups[number].slots)


def _require_filled(state: State, tally: Tally, live: Live, number: int, id: BlockId) -> None:
    """Nobody is still to write to a block that is shared, even where nothing is read of it."""
    size = state.layout.groups[number].block_size
    for other in state.requests.values():
        table = other.tables[number]
        if id in table and other.computed < (table.index(id) + 1) * size:
            seen = (
                f"{live.request.id} shares block {id} in group {number}, to which {other.request.id} is still to write"
            )
            tally.broken(rules.PUBLISH_ONLY_COMPUTED, seen, "a block of computed tokens", block=id, group=number)


def give_back(state: State, number: int, id: BlockId | None) -> None:
    """One holder fewer; the content stays until the block changes hands."""
    if id is not None:
        state.block(number, id).ref -= 1


def read(state: State, tally: Tally, live: Live, number: int, slot: Slot) -> None:
    """A query reads a slot, which holds the request's own context."""
    draft = rules.DRAFT_GROUP_HIT if state.layout.groups[number].kind is Kind.DRAFT else None
    tally.met(draft or rules.CONTENT_MATCHES_KEY)
    who, id = live.request.id, _entry(live, number, slot)
    if id is None:
        seen = f"{who} reads entry {slot.index} of group {number}, where it holds nothing"
        tally.broken(draft or rules.EVERY_GROUP_HIT, seen, "what a query reads is held", request=who, group=number)
    elif not live.owns(slot.position, state.block(number, id).contexts[slot.offset]):
        seen = f"{who} reads block {id} slot {slot.offset} in group {number}, which holds another context"
        expected = f"that of its tokens up to position {slot.position}"
        tally.broken(draft or rules.CONTENT_MATCHES_KEY, seen, expected, request=who, group=number, block=id)


def write(state: State, tally: Tally, live: Live, number: int, slot: Slot, *, must: bool) -> None:
    """A position is written to a block that nobody else holds; without a block only where it need not be kept."""
    who, id = live.request.id, _entry(live, number, slot)
    if must:
        tally.require(
            id is not None,
            rules.COVERAGE_AND_LIMIT,
            lambda: (
                f"{who} computes position {slot.position}, for which group {number} has no block",
                "a home for what it writes",
            ),
            request=who,
            group=number,
        )
    if id is None:
        return
    tally.met(rules.SHARED_BYTES_NEVER_CHANGE)
    block = state.block(number, id)
    if block.ref > 1:
        seen = f"{who} writes position {slot.position} to block {id} of group {number}, which {block.ref} tables name"
        tally.broken(rules.SHARED_BYTES_NEVER_CHANGE, seen, "one owner", request=who, group=number, block=id)
    fill(state, live, number, slot, state.steps)


def fill(state: State, live: Live, number: int, slot: Slot, step: int | None = None) -> None:
    """A slot now holds the request's context, or is pending; a step has written it (None: one that has finished)."""
    id = _entry(live, number, slot)
    if id is not None:
        block = state.block(number, id)
        known = slot.position < len(live.contexts)
        block.contexts[slot.offset] = live.contexts[slot.position] if known else PENDING
        block.writers[slot.offset] = step


def _entry(live: Live, number: int, slot: Slot) -> BlockId | None:
    table = live.tables[number]
    return table[slot.index] if slot.index < len(table) else None


def _known(state: State, tally: Tally, live: Live, number: int, id: BlockId) -> Block:
    """The block with this id, which is one that can be handed out."""
    pool, who = state.pools[state.layout.pool_of(number)], live.request.id
    if not 0 <= id < len(pool):
        tally.broken(rules.NO_DANGLING_REFERENCE, f"{who} receives block {id}", f"ids 0 to {len(pool) - 1}")
    if state.capabilities.reserved_blocks:
        tally.met(rules.RESERVED_BLOCK)
        if id in state.capabilities.reserved_blocks:
            tally.broken(rules.RESERVED_BLOCK, f"{who} receives the reserved block {id}", "it is never handed out")
    return pool[id]
