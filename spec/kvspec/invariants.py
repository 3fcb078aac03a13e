"""The invariants S1 to S8 over a whole state, each recomputed from scratch.

The transition keeps them by construction for the events it allows; the explorer and the tests check that it does.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.vocabulary import BlockId, Phase


def broken_invariants(state: State) -> Iterator[tuple[Rule, str]]:
    """Yield (rule, what is wrong) for every invariant that does not hold."""
    yield from _counts(state)
    yield from _partition(state)
    yield from _keys(state)
    yield from _views(state)
    yield from _tables(state)


def _counts(state: State) -> Iterator[tuple[Rule, str]]:
    holders = state.holders()
    for id, block in enumerate(state.blocks):
        held = holders.get(BlockId(id), 0)
        if block.ref != held:
            yield rules.COUNT_EQUALS_HOLDERS, f"S1: block {id} counts {block.ref}, has {held} holders"


def _partition(state: State) -> Iterator[tuple[Rule, str]]:
    for id, block in enumerate(state.blocks):
        idle = block.ref == 0 and not block.fence and id not in state.capabilities.reserved_blocks
        if idle != (id in state.evictable):
            yield rules.CONSERVATION, f"S2: block {id} idle={idle}, evictable={id in state.evictable}"


def _keys(state: State) -> Iterator[tuple[Rule, str]]:
    for id, block in enumerate(state.blocks):
        if block.key is not None and block.contexts[-1] != block.key:
            yield rules.CONTENT_MATCHES_KEY, f"S4: the key of block {id} is not its content"


def _views(state: State) -> Iterator[tuple[Rule, str]]:
    size = state.world.block_size
    for live in state.requests.values():
        if live.phase is not Phase.RUNNING or live.transfer is not None:
            continue
        for index, id in enumerate(live.table):
            wanted = live.contexts[index * size : min((index + 1) * size, live.computed)]
            if not state.blocks[id].failed and state.blocks[id].contexts[: len(wanted)] != wanted:
                yield rules.SHARED_BYTES_NEVER_CHANGE, f"S5: {live.request.id} block {index} is not its own context"


def _tables(state: State) -> Iterator[tuple[Rule, str]]:
    lookahead = state.capabilities.lookahead_blocks
    for live in state.requests.values():
        name = live.request.id
        if len(set(live.table)) != len(live.table):
            yield rules.CONSERVATION, f"S2: {name} names a block twice"
        if live.phase is Phase.RUNNING:
            exact = state.world.blocks_for(max(live.computed, live.homes))
            if not exact <= len(live.table) <= exact + lookahead:
                yield rules.ONE_PAGE_ROUNDING, f"S7: {name} has {len(live.table)} blocks for {live.computed} tokens"
            if live.computed > len(live.tokens):
                yield rules.ONE_TOKEN_LEFT, f"S8: {name} computed {live.computed} of {len(live.tokens)} tokens"
