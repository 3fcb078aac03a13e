"""Which rule a wrong hit breaks, from who wrote the block, how that history differs, and what the request was told."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.blame.case import Case
from kvspec.blame.keys import History, blamed_part, equal_when_cut
from kvspec.hits import holds, in_pool
from kvspec.layout import Table
from kvspec.needs import reads, runs
from kvspec.rules import Rule
from kvspec.state import Block
from kvspec.vocabulary import BlockId


def not_whole(case: Case) -> Rule:
    """Of several groups, one has not what the hit says. A hit on as many blocks as there are tokens leaves none."""
    if case.state.layout.several:
        lacks = case.group.drafts and case.facts["hit"] % case.facts["size"] == 0
        return rules.DRAFT_GROUP_HIT if lacks else rules.EVERY_GROUP_HIT
    tokens = len(case.live.tokens)
    return rules.CONTIGUOUS_CHAIN if case.facts["blocks"] * case.facts["size"] < tokens else rules.ONE_TOKEN_LEFT


def wrong_content(case: Case) -> Rule:
    """A hit on a block that does not hold the request's own contexts."""
    block, expected = hit_block(case), wanted(case)
    if block.failed:
        return rules.INVALIDATE
    if case.state.layout.several:
        return rules.CONTENT_MATCHES_KEY if _wrong_everywhere(case) else rules.EVERY_GROUP_HIT
    if was_found_before(case) or changed_hands(case):
        return rules.FRESH_HIT
    written = held(block)
    if len(written) < len(expected):
        early = written == expected[: len(written)] and _lost_in(case) is None
        return rules.PUBLISH_ONLY_COMPUTED if early else rules.CONTENT_MATCHES_KEY
    contexts, writer = case.state.contexts, next((w for w in block.writers if w is not None), None)
    found, own = contexts.elements(written[-1]), contexts.elements(expected[-1])
    theirs = case.state.requests[writer[0]].request.parts if writer else None
    return blamed_part(found, own, case.live.request.parts, theirs) or _blamed_tokens(case, found, own, expected[-1])


def _wrong_everywhere(case: Case) -> bool:
    """Whether every group names blocks that are its own, and some do not hold what the hit needs: a wrong key."""
    tables = case.event.tables if isinstance(case.event, ev.Start | ev.Lookup) else ()
    return all(_wrong(case, number, table) for number, table in enumerate(tables))


def _wrong(case: Case, number: int, table: Table) -> bool:
    """Whether a group holds a block of its own for each slot that is read, and one of them is wrong."""
    group, found = case.state.layout.groups[number], False
    for run in runs(group, reads(group, len(table) * group.block_size)):
        id = table[run.entry]
        if id is None or not in_pool(case.state, number, id) or case.state.blocks[id].owner != number:
            return False
        found = found or not holds(case.live, group, number, run, case.state.blocks[id])
    return found


def hit_block(case: Case) -> Block:
    """The block that was hit."""
    id: BlockId = case.facts["block"]
    return case.state.blocks[id]


def wanted(case: Case) -> list[int]:
    """The contexts that it should hold, as far as the tokens of the request say."""
    stop = (case.facts["index"] + 1) * case.group.block_size + case.group.lag
    return case.live.contexts[stop - case.group.slots : stop]


def held(block: Block) -> list[int]:
    """The contexts that it holds."""
    return [context for context in block.contexts if context is not None]


def was_found_before(case: Case) -> bool:
    """Whether a lookup told the request of the block."""
    return case.facts["block"] in case.past.looked_up.get(case.facts["request"], ())


def changed_hands(case: Case) -> bool:
    """Whether the block held the right content, and lost it while the request waited, before this step."""
    now = case.state.step
    lost_in, since = _lost_in(case), case.past.waits_since.get(case.facts["request"], now)
    return lost_in is not None and since <= lost_in and since < now


def _lost_in(case: Case) -> int | None:
    """The step in which the block lost what it should hold, if it ever held that."""
    expected = wanted(case)
    return case.past.lost.get(case.facts["block"], {}).get(expected[-1]) if expected else None


def _blamed_tokens(case: Case, found: History, own: History, context: int) -> Rule:
    """Why a block of other tokens was hit: cut or forgotten tokens, a search gone astray, a collision, a stale key."""
    size = case.group.block_size
    if equal_when_cut(found, own):
        return rules.KEY_DOMAINS
    if [token for token, _ in found][-size:] == [token for token, _ in own][-size:]:
        return rules.COMPLETE_KEY
    live = case.live
    known = live.resumed or any(context in o.contexts for o in case.state.requests.values() if o is not live)
    if known or len(found) != len(own):
        return rules.CONTENT_MATCHES_KEY
    # Nobody else ever had these tokens, so nobody can have published their key: it is also the key of others.
    start = len(own) - size
    return rules.CONTIGUOUS_CHAIN if found[: start + 1] == own[: start + 1] else rules.KEY_DOMAINS
