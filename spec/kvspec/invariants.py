"""The invariants S1 to S10 over a whole state, each recomputed from scratch.

The transition keeps them by construction for the events it allows; the explorer and the tests check that it does.
Every invariant speaks of one block, of one request with its blocks, or of the step that is being planned.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import Block, Live, State
from kvspec.vocabulary import BlockId, Phase

Broken = Iterator[tuple[Rule, str]]


def broken_invariants(state: State) -> Broken:
    """Yield (rule, what is wrong) for every invariant that does not hold."""
    holders = state.holders()
    for id, block in enumerate(state.blocks):
        name = BlockId(id)
        reserved = name in state.capabilities.reserved_blocks
        yield from broken_block(block, id, holders.get(name, 0), name in state.evictable, reserved)
    for live in state.requests.values():
        yield from broken_request(state, live)
    yield from broken_step(state)


def broken_block(block: Block, id: int, holders: int, evictable: bool, reserved: bool) -> Broken:
    """S1, S2 and S4: the count, the place and the key of one block that so many tables name."""
    if block.ref != holders:
        yield rules.COUNT_EQUALS_HOLDERS, f"S1: block {id} counts {block.ref}, has {holders} holders"
    idle = block.ref == 0 and not block.fence and not reserved
    if idle != evictable:
        yield rules.CONSERVATION, f"S2: block {id} idle={idle}, evictable={evictable}"
    if reserved and holders:
        yield rules.RESERVED_BLOCK, f"S2: the reserved block {id} has {holders} holders"
    if block.key is not None and block.contexts[-1] != block.key:
        yield rules.CONTENT_MATCHES_KEY, f"S4: the key of block {id} is not its content"


def broken_request(state: State, live: Live) -> Broken:
    """S2, S5, S7, S8 and S10 for one request and the blocks of its table."""
    name = live.request.id
    if len(set(live.table)) != len(live.table):
        yield rules.CONSERVATION, f"S2: {name} names a block twice"
    if live.phase is Phase.RUNNING:
        yield from _broken_table(state, live)
        if live.computed > len(live.tokens):
            yield rules.ONE_TOKEN_LEFT, f"S8: {name} computed {live.computed} of {len(live.tokens)} tokens"
    elif live.phase is Phase.WAITING and live.table:
        yield rules.EVERY_EXIT_RELEASES, f"S7: {name} waits and holds {live.table}"
    if live.phase is Phase.RUNNING and live.transfer is None:
        yield from _broken_view(state, live)


def _broken_table(state: State, live: Live) -> Broken:
    lookahead, name = state.capabilities.lookahead_blocks, live.request.id
    exact = state.world.blocks_for(max(live.computed, live.homes))
    if not exact <= len(live.table) <= exact + lookahead:
        yield rules.ONE_PAGE_ROUNDING, f"S7: {name} has {len(live.table)} blocks for {live.computed} tokens"
    for id in live.table:
        coming = state.blocks[id].fence & state.arriving
        if coming and coming != {live.transfer}:
            yield rules.IN_FLIGHT_FENCE, f"S1: {name} holds block {id}, which transfer {min(coming)} brings for another"


def _broken_view(state: State, live: Live) -> Broken:
    size, name, salt = state.world.block_size, live.request.id, live.request.parts.salt
    for index, id in enumerate(live.table):
        block = state.blocks[id]
        wanted = live.contexts[index * size : min((index + 1) * size, live.computed)]
        if not block.failed and block.contexts[: len(wanted)] != wanted:
            yield rules.SHARED_BYTES_NEVER_CHANGE, f"S5: {name} block {index} is not its own context"
        for writer in block.writers[: len(wanted)]:
            if writer is not None and state.requests[writer[0]].request.parts.salt != salt:
                yield rules.ISOLATION, f"S10: {name} block {index} was written by {writer[0]} under another salt"


def broken_step(state: State) -> Broken:
    """S9: what the step has scheduled keeps within the budget and the size of the batch."""
    if not 0 <= state.left <= state.world.token_budget:
        yield rules.STEP_BUDGET, f"S9: {state.left} of {state.world.token_budget} tokens are left of the budget"
    if len(state.planned) > state.world.max_running:
        yield rules.STEP_BUDGET, f"S9: {len(state.planned)} requests run, at most {state.world.max_running} may"
