"""Judging a prefix hit: whether every group can go on from it, with what the blocks hold that it names."""

from __future__ import annotations

from collections.abc import Sequence

from kvspec import rules
from kvspec.layout import Group, Table, Tables
from kvspec.needs import Run, first_kept, reads, runs
from kvspec.state import Block, Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def check_hit(state: State, tally: Tally, live: Live, hit: int, tables: Tables) -> None:
    """Require that a hit of `hit` tokens is whole, fresh, computed, private to its tenant and right in every group.

    What a drafter lacks costs no token: it is judged last.

    Raises prefix/one-token-left, prefix/contiguous-chain, and what `_check_once`, `_check_group` and `_check_longest`
    raise.
    """
    if hit or any(tables):
        who, tokens, groups = live.request.id, len(live.tokens), state.layout.groups
        if hit + state.layout.unit > tokens - 1:
            tally.met(rules.ONE_TOKEN_LEFT)
            if hit >= tokens:
                tally.fail(rules.ONE_TOKEN_LEFT, "all", request=who, hit=hit, tokens=tokens, most=tokens - 1)
        in_order = sorted(range(len(groups)), key=lambda number: groups[number].drafts)
        for number in in_order:
            group, table = groups[number], tables[number]
            tally.met(rules.CONTIGUOUS_CHAIN)
            if hit % group.block_size or len(table) * group.block_size != hit:
                facts = {"group": number, "hit": hit, "blocks": len(table), "size": group.block_size}
                tally.fail(rules.CONTIGUOUS_CHAIN, "whole", request=who, **facts)
        if state.layout.several:
            tally.met(rules.EVERY_GROUP_HIT)
            _check_once(tally, live, tables)
        for number in in_order:
            _check_group(state, tally, live, number, hit, tables[number])
    if "longest-hit" in state.capabilities.profiles and state.world.caching:
        _check_longest(state, tally, live, hit)


def _check_once(tally: Tally, live: Live, tables: Tables) -> None:
    """No block stands in two places.

    Raises alloc/conservation.
    """
    tally.met(rules.CONSERVATION)
    seen: set[BlockId] = set()
    for table in tables:
        for id in table:
            if id is not None and id in seen:
                tally.fail(rules.CONSERVATION, "twice", request=live.request.id, block=id)
            seen.update(() if id is None else (id,))


def _check_group(state: State, tally: Tally, live: Live, number: int, hit: int, table: Table) -> None:
    """What queries behind the hit read is held and right; what they do not read is no block that is still written.

    Raises prefix/every-group-hit, prefix/draft-group-hit, and what `_check_unread` and `check_run` raise.
    """
    group = state.layout.groups[number]
    if group.drafts:
        tally.met(rules.DRAFT_GROUP_HIT)
    for id in table[: first_kept(group, hit)]:
        if id is not None:
            _check_unread(state, tally, live, number, id)
    for run in runs(group, reads(group, hit)):
        id = table[run.entry] if run.entry < len(table) else None
        if id is not None:
            check_run(state, tally, live, number, run, id)
        elif group.drafts:
            tally.fail(rules.DRAFT_GROUP_HIT, "empty", request=live.request.id, group=number, index=run.entry)
        else:
            tally.fail(rules.EVERY_GROUP_HIT, "empty", request=live.request.id, group=number, index=run.entry)


def _check_unread(state: State, tally: Tally, live: Live, number: int, id: BlockId) -> None:
    """A block of which nothing is read again is one of the group, to which nobody is still to write.

    Raises alloc/no-dangling-reference, alloc/conservation, prefix/publish-only-computed, alloc/in-flight-fence.
    """
    who, size = live.request.id, state.layout.groups[number].block_size
    if not in_pool(state, number, id):
        tally.fail(rules.NO_DANGLING_REFERENCE, "unread", request=who, id=id, group=number)
    owner = state.blocks[id].owner
    if owner != number:
        tally.fail(rules.CONSERVATION, "owner", request=who, block=id, group=number, owner=owner)
    for other in state.present.values():
        table = other.tables[number]
        if id in table and other.computed < (table.index(id) + 1) * size:
            facts = {"group": number, "other": other.request.id}
            tally.fail(rules.PUBLISH_ONLY_COMPUTED, "unread", request=who, block=id, **facts)
    if coming := state.blocks[id].fence & state.arriving:
        tally.fail(rules.IN_FLIGHT_FENCE, "unread", request=who, block=id, group=number, transfer=min(coming))


def check_entry(state: State, tally: Tally, live: Live, number: int, index: int, id: BlockId) -> None:
    """Require that block `id` may serve as entry `index` of a group: all of it is the request's own.

    Raises what `check_run` raises.
    """
    group = state.layout.groups[number]
    last = (index + 1) * group.block_size
    slots = range(last - 1, last) if group.recurs else range(index * group.block_size, last)
    for run in runs(group, slots):
        check_run(state, tally, live, number, run, id)


def check_run(state: State, tally: Tally, live: Live, number: int, run: Run, id: BlockId) -> None:
    """Require that block `id` may serve for slots of one entry: it holds the request's own contexts.

    Raises alloc/no-dangling-reference, prefix/content-matches-key, prefix/draft-group-hit, and what `_check_allowed`
    raises.
    """
    group, who = state.layout.groups[number], live.request.id
    if not in_pool(state, number, id):
        tally.fail(rules.NO_DANGLING_REFERENCE, "hit", request=who, id=id, group=number)
    block = state.blocks[id]
    tally.met(rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED)
    if run.entry:
        tally.met(rules.COMPLETE_KEY)  # the key of a later block must cover the blocks before it
    if state.epoch or block.failed:
        tally.met(rules.INVALIDATE)
    if holds(live, group, number, run, block):
        _check_allowed(state, tally, live, number, run, id)
    elif group.drafts:
        tally.fail(rules.DRAFT_GROUP_HIT, "hit", request=who, block=id, index=run.entry, group=number)
    else:
        tally.fail(rules.CONTENT_MATCHES_KEY, "hit", request=who, block=id, index=run.entry, group=number)


def holds(live: Live, group: Group, number: int, run: Run, block: Block) -> bool:
    """Whether slots of a block, which is one of the group, hold the request's own contexts."""
    held = block.contexts[run.offset : run.offset + run.stop - run.first]
    own = live.contexts[run.first + group.lag : run.stop + group.lag]
    return block.owner == number and (held == own or live.first_strange(held, run.first + group.lag) is None)


def _check_allowed(state: State, tally: Tally, live: Live, number: int, run: Run, id: BlockId) -> None:
    """The content is right; require that this request may use it, and may use it now.

    Raises prefix/invalidate, prefix/publish-only-computed, alloc/in-flight-fence, sec/isolation.
    """
    block, facts = state.blocks[id], {"request": live.request.id, "block": id, "index": run.entry, "group": number}
    if block.failed:
        tally.fail(rules.INVALIDATE, "failed", **facts)
    if block.epoch < state.epoch:
        tally.fail(rules.INVALIDATE, "reset", **facts)
    if writer := _unfinished(state, block, run):
        tally.fail(rules.PUBLISH_ONLY_COMPUTED, "unfinished", writer=writer, **facts)
    if coming := block.fence & state.arriving:
        tally.fail(rules.IN_FLIGHT_FENCE, "hit", transfer=min(coming), **facts)
    if stranger := _other_tenant(state, live, block, run):
        tally.fail(rules.ISOLATION, "hit", writer=stranger, **facts)


def _unfinished(state: State, block: Block, run: Run) -> str | None:
    """Who writes a slot in a step that is not complete, where that does not publish."""
    if state.capabilities.publishes != "computed":
        return None
    for writer in block.writers[run.offset : run.offset + run.stop - run.first]:
        if writer is not None and writer[1] in state.unfinished:
            return writer[0]
    return None


def _other_tenant(state: State, live: Live, block: Block, run: Run) -> str | None:
    """Who wrote the last of the slots, if that was under another salt."""
    writer = block.writers[run.offset + run.stop - run.first - 1]
    if writer is None or state.requests[writer[0]].request.parts.salt == live.request.parts.salt:
        return None
    return writer[0]


def in_pool(state: State, number: int, id: BlockId) -> bool:
    """Whether the block exists, in the pool of the group."""
    return id // state.world.num_blocks == state.layout.pool_of(number)


def _check_longest(state: State, tally: Tally, live: Live, hit: int) -> None:
    """Profile longest-hit: no longer length would have been valid for all groups.

    Raises prefix/longest-group-hit.
    """
    longest = longest_hit(state, live)
    if longest or hit:
        tally.met(rules.LONGEST_GROUP_HIT)
    if longest > hit:
        tally.fail(rules.LONGEST_GROUP_HIT, "longest", request=live.request.id, hit=hit, longest=longest)


def longest_hit(state: State, live: Live) -> int:
    """The longest hit for which every group has whole blocks that the request may use, whoever holds them, or 0."""
    unit = state.layout.unit
    for hit in range((len(live.tokens) - 1) // unit * unit, 0, -unit):
        if all(_findable(state, live, number, hit) for number in range(len(state.layout.groups))):
            return hit
    return 0


def _findable(state: State, live: Live, number: int, hit: int) -> bool:
    """Whether for each entry that is read behind the hit some block is whole and right."""
    group = state.layout.groups[number]
    for index in {run.entry for run in runs(group, reads(group, hit))}:
        last = (index + 1) * group.block_size - 1
        whole = Run(index, 0, last - group.slots + 1, last + 1)
        if not any(_usable(state, live, number, whole, block) for block in state.blocks):
            return False
    return True


def _usable(state: State, live: Live, number: int, run: Run, block: Block) -> bool:
    """Whether the request may use the slots, and may use them now; never where a token that they need is to come."""
    group = state.layout.groups[number]
    own: Sequence[int | None] = live.contexts[run.first + group.lag : run.stop + group.lag]
    if block.owner != number or block.contexts != own or block.failed or block.epoch < state.epoch:
        return False
    if block.fence & state.arriving or _other_tenant(state, live, block, run):
        return False
    return not any(writer is not None and writer[1] in state.unfinished for writer in block.writers)
