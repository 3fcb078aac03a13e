"""What must hold of a cache with several groups: that every query to come reads its own past, in every group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.frame import disturbed
from kvexamine.explorer.groups.lawful import valid_hits
from kvexamine.explorer.groups.reads import Held, horizon, past, right
from kvexamine.explorer.groups.world import Run, entries_needed
from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.invariants import broken_invariants
from kvspec.groups.state import Live, State
from kvspec.groups.vocabulary import Group, Kind
from kvspec.vocabulary import BlockId


def broken_state(state: State) -> Broken | None:
    """The first thing that is wrong: an invariant of the specification, an owner, or something that is read."""
    for rule, what in broken_invariants(state):
        return Broken(rule, what)
    return next(_owners(state), None) or next(
        (b for live in state.requests.values() for b in _reads(state, live)), None
    )


def _owners(state: State) -> Iterator[Broken]:
    """A request names a block once, all that name a block are of one group, and nobody names a reserved one."""
    groups: dict[tuple[int, BlockId], set[int]] = {}
    for live in state.requests.values():
        named = [(state.layout.pool_of(g), id) for g, table in enumerate(live.tables) for id in table if id is not None]
        twice = next((place for place, number in Counter(named).items() if number > 1), None)
        if twice is not None:
            yield Broken(rules.CONSERVATION, f"{live.request.id} names block {twice[1]} of pool {twice[0]} twice")
        for number, table in enumerate(live.tables):
            for id in table:
                if id is not None:
                    groups.setdefault((state.layout.pool_of(number), id), set()).add(number)
    for place, owners in groups.items():
        if len(owners) > 1:
            yield Broken(
                rules.CONSERVATION, f"block {place[1]} of pool {place[0]} is in tables of the groups {sorted(owners)}"
            )


def _reads(state: State, live: Live) -> Iterator[Broken]:
    """What the next query and those in flight read is held, and the request's own."""
    for number, group in enumerate(state.layout.groups):
        for held in _needed(live, number, group):
            yield from _slot(state, live, number, held)


def _needed(live: Live, number: int, group: Group) -> tuple[Held, ...]:
    """What is read of what has been computed, by the last query that there will be.

    A state in flight is read and, inside a block, written over by the same step.
    """
    last, starts = live.request.limit - 2, [*live.flights.values(), live.computed]
    if group.kind is Kind.DRAFT:
        goes_on = live.computed <= last
        return past(group, live.filled[number], live.filled[number], horizon(live.request)) if goes_on else ()
    if group.kind is Kind.STATE:
        whole = [start for start in starts if start % group.block_size == 0 or start == live.computed]
        return tuple(held for start in whole for held in past(group, start, start, last))
    return past(group, starts[0], live.computed, last)


def _slot(state: State, live: Live, number: int, held: Held) -> Iterator[Broken]:
    who, table, draft = live.request.id, live.tables[number], state.layout.groups[number].kind is Kind.DRAFT
    id = table[held.entry] if held.entry < len(table) else None
    if id is None:
        rule = rules.DRAFT_GROUP_HIT if draft else rules.EVERY_GROUP_HIT
        yield Broken(rule, f"{who} will read entry {held.entry} of group {number}, where it holds nothing")
    elif not right(state, live.tokens, state.block(number, id), held):
        rule = rules.DRAFT_GROUP_HIT if draft else rules.CONTENT_MATCHES_KEY
        what = f"{who} will read block {id} slot {held.offset} in group {number}, which is not its position"
        yield Broken(rule, f"{what} {held.position}")


def broken_move(before: Run, event: ev.Event, after: Run) -> Broken | None:
    """What is wrong with a step: what it says of itself, or what else it does."""
    return _said(before, event) or disturbed(before.state, event, after.state)


def _said(before: Run, event: ev.Event) -> Broken | None:
    """A hit on everything or on what is not finished, a refusal of what fits."""
    match event:
        case ev.Admit() if event.hit >= len(event.request.prompt):
            return Broken(rules.ONE_TOKEN_LEFT, f"{event.request.id} has no token left to compute")
        case ev.Admit():
            return _unfinished(before.state, event) or _shorter(before.state, event)
        case ev.Observe():
            return Broken(rules.CONSERVATION, "what a cache says of itself is not so, and passes")
        case ev.Refuse():
            return _refused(before.state, event)
    return None


def _unfinished(state: State, event: ev.Admit) -> Broken | None:
    """A hit on blocks that a step in flight still computes, where it is not declared that they are known before."""
    if state.capabilities.publishes != "computed":
        return None
    for number, group in enumerate(state.layout.groups):
        for held in past(group, event.hit, event.hit, horizon(event.request)):
            id = event.tables[number][held.entry]
            writers = [] if id is None else state.block(number, id).writers
            if any(map(state.in_flight, writers[held.offset : held.offset + 1])):
                return Broken(rules.PUBLISH_ONLY_COMPUTED, f"{event.request.id} hits block {id}, which is not finished")
    return None


def _shorter(state: State, event: ev.Admit) -> Broken | None:
    """Where the longest hit is declared, a hit that is shorter than one from which all groups can go on."""
    if "longest-hit" not in state.capabilities.profiles:
        return None
    longest = max(valid_hits(state, event.request))
    if event.hit < longest:
        return Broken(rules.LONGEST_GROUP_HIT, f"{event.request.id} hits {event.hit} tokens where {longest} are there")
    return None


def _refused(state: State, event: ev.Refuse) -> Broken | None:
    """What is refused might not fit: in some pool its groups need more blocks, all new, than nobody holds.

    An engine may have declared blocks that it keeps back, or takes on top.
    """
    declared = state.capabilities
    spare = declared.watermark_blocks + declared.lookahead_blocks * len(state.layout.groups)
    for pool, blocks in enumerate(state.pools):
        idle = sum(not block.ref for block in blocks) - len(declared.reserved_blocks)
        if entries_needed(state, event.request, event.end, pool) + spare > idle:
            return None
    return Broken(rules.FIT_AGREES_WITH_ALLOCATE, f"{event.request.id} is refused {event.end} tokens that fit")
