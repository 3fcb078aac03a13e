"""Judging a prefix hit: whether a block holds what the request may reuse and, if not, which rule its key broke."""

from __future__ import annotations

from kvspec import rules
from kvspec.contexts import Element
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, KeyParts, TokenId

_History = tuple[Element, ...]

_NARROW_WIDTHS = (8, 16)
"""Bits to which engines have cut token ids (vllm-mlx #444) or identities (LMCache #3301)."""


def check_hit(state: State, tally: Tally, live: Live, hit: int, blocks: tuple[BlockId, ...]) -> None:
    """Require that a hit of `hit` tokens in `blocks` is whole, fresh, computed, private to its tenant and right."""
    size = state.world.block_size
    if hit or state.world.caching:
        _count_variants(state, tally, live)
    if hit == 0 and not blocks:
        return
    tokens = len(live.tokens)
    if hit + size > tokens - 1:
        tally.require(
            hit < tokens,
            rules.ONE_TOKEN_LEFT,
            lambda: (
                f"{live.request.id} hits {hit} of its {tokens} tokens and has none left to compute",
                f"a hit of at most {tokens - 1}",
            ),
        )
    tally.require(
        hit % size == 0 and len(blocks) * size == hit,
        rules.CONTIGUOUS_CHAIN if len(blocks) * size < tokens else rules.ONE_TOKEN_LEFT,
        lambda: (f"a hit of {hit} tokens in {len(blocks)} blocks of {size}", "whole blocks, one per block size"),
    )
    for index, block in enumerate(blocks):
        check_hit_block(state, tally, live, index, block)


def check_hit_block(state: State, tally: Tally, live: Live, index: int, id: BlockId) -> None:
    """Require that block `id` may serve as block `index` of the request."""
    size = state.world.block_size
    if not 0 <= id < len(state.blocks):
        tally.broken(rules.NO_DANGLING_REFERENCE, f"a hit names block {id}", f"ids 0 to {len(state.blocks) - 1}")
    block = state.blocks[id]
    expected = live.contexts[index * size : (index + 1) * size]
    tally.met(rules.CONTENT_MATCHES_KEY)
    tally.met(rules.PUBLISH_ONLY_COMPUTED)
    if index:
        tally.met(rules.COMPLETE_KEY)  # the key of a later block must cover the blocks before it
    if live.looked_up:
        tally.met(rules.FRESH_HIT)
    if state.epoch or block.failed:
        tally.met(rules.INVALIDATE)
    if block.contexts == expected:
        _check_allowed(state, tally, live, index, id)
    else:
        rule, seen = _blame(state, live, index, id, expected)
        tally.broken(
            rule, seen, "the keys and values of its own tokens", request=live.request.id, block=id, index=index
        )


def _check_allowed(state: State, tally: Tally, live: Live, index: int, id: BlockId) -> None:
    """The content is right; require that this request may use it, and may use it now."""
    block, who = state.blocks[id], live.request.id
    facts = {"request": who, "block": id, "index": index}
    if block.failed:
        tally.broken(rules.INVALIDATE, f"{who} hits block {id}, written by a failed step", "a miss", **facts)
    if block.epoch < state.epoch:
        tally.broken(
            rules.INVALIDATE, f"{who} hits block {id}, cached before the reset", "a miss after a reset", **facts
        )
    writer = block.writers[-1]
    if state.capabilities.publishes == "computed" and writer is not None and writer[1] in state.unfinished:
        tally.broken(
            rules.PUBLISH_ONLY_COMPUTED,
            f"{who} hits block {id}, which {writer[0]} computes in a step that is not finished",
            "a hit only on blocks of finished steps (the engine does not declare publish at schedule)",
            **facts,
        )
    coming = block.fence & state.arriving
    if coming:
        tally.broken(
            rules.IN_FLIGHT_FENCE,
            f"{who} hits block {id}, which transfer {min(coming)} still brings",
            "a hit only on blocks whose content is there",
            **facts,
        )
    if writer is not None:
        salt = state.requests[writer[0]].request.parts.salt
        if salt != live.request.parts.salt:
            tally.broken(
                rules.ISOLATION,
                f"{who} (salt {live.request.parts.salt!r}) hits block {id} of {writer[0]} (salt {salt!r})",
                "no hit across salts",
                **facts,
            )


def _blame(state: State, live: Live, index: int, id: BlockId, expected: list[int]) -> tuple[Rule, str]:
    """Which rule a wrong hit breaks, from who wrote the block and how that context differs."""
    block, who = state.blocks[id], live.request.id
    if block.failed:
        return rules.INVALIDATE, f"{who} hits block {id}, whose step failed"
    written = [context for context in block.contexts if context is not None]
    writer = next((w for w in block.writers if w is not None), None)
    if id in live.looked_up:
        return rules.FRESH_HIT, f"{who} is admitted on block {id}, found before the block changed hands"
    lost_in = block.lost.get(expected[-1])
    if lost_in is not None and live.waits_since <= lost_in and live.waits_since < state.step:
        return rules.FRESH_HIT, f"{who} is admitted on block {id}, which changed hands while {who} waited"
    if len(written) < len(expected):
        if not written:
            seen = f"{who} hits block {id}, in which nothing is computed"
        else:
            seen = f"{who} hits block {id}, of which only {len(written)} of {len(expected)} tokens are computed"
        if written == expected[: len(written)] and lost_in is None:
            return rules.PUBLISH_ONLY_COMPUTED, seen
        return rules.CONTENT_MATCHES_KEY, seen
    found = state.contexts.elements(written[-1])
    wanted = state.contexts.elements(expected[-1])
    owner = state.requests[writer[0]].request if writer else None
    described = f"{who} hits block {id}, which holds {_spell(found)} of {owner.id if owner else 'nobody'}"
    theirs = owner.parts if owner else None
    blamed = _blame_parts(found, wanted, live.request.parts, theirs)
    return blamed or _blame_tokens(state, live, found, wanted, expected[-1]), described


def _blame_parts(found: _History, wanted: _History, ours: KeyParts, theirs: KeyParts | None) -> Rule | None:
    """The part of the key besides the tokens that failed to separate two histories; None if their tokens differ."""
    if found == wanted and theirs is not None:
        if _imitates(ours, theirs):
            return rules.KEY_DOMAINS
        return rules.INVALIDATE if ours.adapter == theirs.adapter else rules.COMPLETE_KEY
    if [token for token, _ in found] != [token for token, _ in wanted]:
        return None
    media = [(a, b) for (_, a), (_, b) in zip(found, wanted, strict=True) if a != b]
    cut = all(a is not None and b is not None and a[:4] == b[:4] for a, b in media)
    return rules.KEY_DOMAINS if cut else rules.COMPLETE_KEY


def _blame_tokens(state: State, live: Live, found: _History, wanted: _History, context: int) -> Rule:
    """Why a block of other tokens was hit: cut or forgotten tokens, a search gone astray, a collision, a stale key."""
    size = state.world.block_size
    ours, theirs = [token for token, _ in wanted], [token for token, _ in found]
    for bits in _NARROW_WIDTHS:
        mask = (1 << bits) - 1
        if [t & mask for t in theirs] == [t & mask for t in ours]:
            return rules.KEY_DOMAINS
    if theirs[-size:] == ours[-size:]:
        return rules.COMPLETE_KEY
    known = live.resumed or any(context in o.contexts for o in state.requests.values() if o is not live)
    if known or len(found) != len(wanted):
        return rules.CONTENT_MATCHES_KEY
    # Nobody else ever had these tokens, so nobody can have published their key: it is also the key of others.
    start = len(wanted) - size
    partly = found[: start + 1] == wanted[: start + 1]
    return rules.CONTIGUOUS_CHAIN if partly else rules.KEY_DOMAINS


def _count_variants(state: State, tally: Tally, live: Live) -> None:
    """Count the key rules where another request has the same, or nearly the same, first block of tokens."""
    ours, first = live.request.parts, tuple(live.request.prompt[: state.world.block_size])
    for tokens, parts in state.variants.get(narrow(first), ()):
        if tokens != first:
            tally.met(rules.KEY_DOMAINS)
            continue
        if parts == ours:
            continue
        if parts.salt != ours.salt:
            tally.met(rules.ISOLATION)
        if parts.adapter == ours.adapter and parts.computes != ours.computes:
            tally.met(rules.INVALIDATE)
        elif parts.computes != ours.computes or parts.media != ours.media:
            tally.met(rules.COMPLETE_KEY)
        if _imitates(parts, ours):
            tally.met(rules.KEY_DOMAINS)


def narrow(tokens: tuple[TokenId, ...]) -> tuple[int, ...]:
    """Tokens cut to eight bits, as a faulty key might cut them."""
    return tuple(token & 0xFF for token in tokens)


def _imitates(a: KeyParts, b: KeyParts) -> bool:
    """Whether two key parts differ as typed values but are equal once their types are forgotten."""
    if a == b or a.media != b.media:
        return False
    left = "".join(sorted(part for part in (a.salt, a.adapter) if part))
    right = "".join(sorted(part for part in (b.salt, b.adapter) if part))
    return bool(left) and left == right and (a.salt, a.adapter) != (b.salt, b.adapter)


def _spell(elements: tuple[tuple[int, str | None], ...]) -> str:
    return "(" + " ".join(str(token) + (f"/{media}" if media else "") for token, media in elements) + ")"
