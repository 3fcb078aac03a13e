"""The invariants S1 to S10 over a whole state, each recomputed from scratch.

The transition keeps them by construction for the events it allows; the explorer and the tests check that it does.
Every invariant speaks of one block, of one request with its blocks, or of the step that is being planned.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvspec import rules
from kvspec.needs import reads, runs
from kvspec.rules import Rule
from kvspec.state import Block, Live, State
from kvspec.vocabulary import RUNNING, WAITING, BlockId

Broken = Iterator[tuple[Rule, str]]


def broken_invariants(state: State) -> Broken:
    """Yield (rule, what is wrong) for every invariant that does not hold."""
    holders = state.holders()
    for id, block in enumerate(state.blocks):
        name = BlockId(id)
        yield from broken_block(block, id, holders.get(name, 0), name in state.free, state.reserved(name))
    for live in state.requests.values():
        yield from broken_request(state, live)
    yield from broken_step(state)


def broken_block(block: Block, id: int, holders: int, free: bool, reserved: bool) -> Broken:
    """S1, S2 and S4: the count, the place and the key of one block that so many tables name."""
    if block.ref != holders:
        yield rules.COUNT_EQUALS_HOLDERS, f"S1: block {id} counts {block.ref}, has {holders} holders"
    idle = block.ref == 0 and not block.fence and not reserved
    if idle != free:
        yield rules.CONSERVATION, f"S2: block {id} idle={idle}, free={free}"
    if reserved and holders:
        yield rules.RESERVED_BLOCK, f"S2: the reserved block {id} has {holders} holders"
    if block.key is not None and block.contexts[-1] != block.key:
        yield rules.CONTENT_MATCHES_KEY, f"S4: the key of block {id} is not its content"


def broken_request(state: State, live: Live) -> Broken:
    """S2, S5, S7, S8 and S10 for one request and the blocks of its tables."""
    name, held = live.request.id, list(live.held())
    if len(set(held)) != len(held):
        yield rules.CONSERVATION, f"S2: {name} names a block twice"
    if live.phase is RUNNING:
        yield from _broken_tables(state, live)
        if live.computed > len(live.tokens):
            yield rules.ONE_TOKEN_LEFT, f"S8: {name} computed {live.computed} of {len(live.tokens)} tokens"
    elif live.phase is WAITING and any(live.tables):
        yield rules.EVERY_EXIT_RELEASES, f"S7: {name} waits and holds {held}"
    if live.phase is RUNNING and live.transfer is None:
        for number in range(len(live.tables)):
            yield from _broken_view(state, live, number)


def _broken_tables(state: State, live: Live) -> Broken:
    lookahead, name, end = state.capabilities.lookahead_blocks, live.request.id, max(live.computed, live.allocated)
    for number, (group, table) in enumerate(zip(state.layout.groups, live.tables, strict=True)):
        if not group.entries(end - group.lag) <= len(table) <= group.entries(end) + lookahead:
            yield rules.ONE_PAGE_ROUNDING, f"S7: {name} has {len(table)} blocks for {live.computed} tokens"
        for id in table:
            block = None if id is None else state.blocks[id]
            if block is None:
                continue
            if block.owner != number:
                yield rules.CONSERVATION, f"S2: {name} holds block {id} in group {number}, which is of {block.owner}"
            coming = block.fence & state.arriving
            if coming and coming != {live.transfer}:
                first = min(coming)
                yield rules.IN_FLIGHT_FENCE, f"S1: {name} holds block {id}, which transfer {first} brings for another"


def _broken_view(state: State, live: Live, number: int) -> Broken:
    """What the next query reads, if one is to come, is held and the request's own."""
    group, table = state.layout.groups[number], live.tables[number]
    name, salt = live.request.id, live.request.parts.salt
    if group.recurs and live.wasted:
        return  # its state is that of tokens which nobody has, and no query is to come
    for run in runs(group, reads(group, live.filled[number])):
        if run.entry >= len(table):
            continue  # S7 says so
        id = table[run.entry]
        if id is None:
            if live.generated < live.request.max_new_tokens and not group.drafts:
                yield rules.EVERY_GROUP_HIT, f"S5: {name} holds nothing for entry {run.entry} of group {number}"
            continue
        block, size = state.blocks[id], run.stop - run.first
        held = block.contexts[run.offset : run.offset + size]
        if not block.failed and live.first_strange(held, run.first + group.lag) is not None:
            yield rules.SHARED_BYTES_NEVER_CHANGE, f"S5: {name} block {run.entry} is not its own context"
        for writer in block.writers[run.offset : run.offset + size]:
            if writer is not None and state.requests[writer[0]].request.parts.salt != salt:
                yield rules.ISOLATION, f"S10: {name} block {run.entry} was written by {writer[0]} under another salt"


def broken_step(state: State) -> Broken:
    """S9: what the step has scheduled keeps within the budget and the size of the batch."""
    if not 0 <= state.left <= state.world.token_budget:
        yield rules.STEP_BUDGET, f"S9: {state.left} of {state.world.token_budget} tokens are left of the budget"
    if len(state.planned) > state.world.max_running:
        yield rules.STEP_BUDGET, f"S9: {len(state.planned)} requests run, at most {state.world.max_running} may"
