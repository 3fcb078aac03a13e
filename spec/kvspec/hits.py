"""Judging a prefix hit: whether its blocks hold what the request may reuse."""

from __future__ import annotations

from kvspec import rules
from kvspec.state import Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def check_hit(state: State, tally: Tally, live: Live, hit: int, blocks: tuple[BlockId, ...]) -> None:
    """Require that a hit of `hit` tokens in `blocks` is whole, fresh, computed, private to its tenant and right.

    Raises prefix/one-token-left, prefix/contiguous-chain, and what `check_hit_block` raises.
    """
    if hit == 0 and not blocks:
        return
    who, size, tokens = live.request.id, state.world.block_size, len(live.tokens)
    if hit + size > tokens - 1:
        tally.met(rules.ONE_TOKEN_LEFT)
        if hit >= tokens:
            tally.fail(rules.ONE_TOKEN_LEFT, "all", request=who, hit=hit, tokens=tokens, most=tokens - 1)
    tally.met(rules.CONTIGUOUS_CHAIN)
    if hit % size or len(blocks) * size != hit:
        tally.fail(rules.CONTIGUOUS_CHAIN, "whole", request=who, hit=hit, blocks=len(blocks), size=size)
    for index, block in enumerate(blocks):
        check_hit_block(state, tally, live, index, block)


def check_hit_block(state: State, tally: Tally, live: Live, index: int, id: BlockId) -> None:
    """Require that block `id` may serve as block `index` of the request: it holds the request's own contexts.

    Raises alloc/no-dangling-reference, prefix/content-matches-key, and what `_check_allowed` raises.
    """
    size, who = state.world.block_size, live.request.id
    if not 0 <= id < len(state.blocks):
        tally.fail(rules.NO_DANGLING_REFERENCE, "hit", request=who, id=id)
    block = state.blocks[id]
    tally.met(rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED)
    if index:
        tally.met(rules.COMPLETE_KEY)  # the key of a later block must cover the blocks before it
    if state.epoch or block.failed:
        tally.met(rules.INVALIDATE)
    if block.contexts == live.contexts[index * size : (index + 1) * size]:
        _check_allowed(state, tally, live, index, id)
    else:
        tally.fail(rules.CONTENT_MATCHES_KEY, "hit", request=who, block=id, index=index)


def _check_allowed(state: State, tally: Tally, live: Live, index: int, id: BlockId) -> None:
    """The content is right; require that this request may use it, and may use it now.

    Raises prefix/invalidate, prefix/publish-only-computed, alloc/in-flight-fence, sec/isolation.
    """
    block, who, writer = state.blocks[id], live.request.id, state.blocks[id].writers[-1]
    if block.failed:
        tally.fail(rules.INVALIDATE, "failed", request=who, block=id, index=index)
    if block.epoch < state.epoch:
        tally.fail(rules.INVALIDATE, "reset", request=who, block=id, index=index)
    if state.capabilities.publishes == "computed" and writer is not None and writer[1] in state.unfinished:
        tally.fail(rules.PUBLISH_ONLY_COMPUTED, "unfinished", request=who, block=id, index=index, writer=writer[0])
    if coming := block.fence & state.arriving:
        tally.fail(rules.IN_FLIGHT_FENCE, "hit", request=who, block=id, index=index, transfer=min(coming))
    if writer is not None and state.requests[writer[0]].request.parts.salt != live.request.parts.salt:
        tally.fail(rules.ISOLATION, "hit", request=who, block=id, index=index, writer=writer[0])
