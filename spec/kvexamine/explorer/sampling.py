"""A model small enough to run inside a state: the next token depends on every slot that the request reads."""

from __future__ import annotations

from collections.abc import Sequence

from kvspec.state import Live, State
from kvspec.vocabulary import TokenId

VOCABULARY = 2


def next_token(tokens: Sequence[int], forked: bool = False) -> TokenId:
    """The token that follows `tokens`: a sum that no single slot can be taken out of unnoticed. A fork goes astray."""
    total = sum((place + 1) * token for place, token in enumerate(tokens)) + len(tokens)
    return TokenId((total + forked) % VOCABULARY)


def sampled(state: State, live: Live) -> TokenId:
    """What the model samples from the slots that the block table of `live` names, whatever they hold."""
    size = state.world.block_size
    held = [state.blocks[live.table[p // size]].contexts[p % size] for p in range(live.computed)]
    seen = [VOCABULARY if one is None else state.contexts.tokens(one)[-1] for one in held]
    return next_token(seen, live.forked > 0)


def could_be_alone(live: Live) -> bool:
    """S15: whether the tokens are those of the request alone, in one piece, without a cache.

    Those of a fork are its parent's up to some place, and its own from there on.
    """
    tokens, first = live.tokens, len(live.request.prompt)
    if tokens[:first] != list(live.request.prompt):
        return False
    own = [tokens[p] == next_token(tokens[:p], live.forked > 0) for p in range(first, len(tokens))]
    as_parent = [tokens[p] == next_token(tokens[:p]) for p in range(first, len(tokens))]
    places = range(len(own) + 1) if live.forked else (0,)
    return any(all(as_parent[:place]) and all(own[place:]) for place in places)
