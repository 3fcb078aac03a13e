"""What must hold of a cache with several groups: that every query to come reads its own past, in every group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.frame import disturbed
from kvexamine.explorer.groups.lawful import valid_hits
from kvexamine.explorer.groups.observed import truth
from kvexamine.explorer.groups.reads import Held, horizon, past, right
from kvexamine.explorer.groups.world import Move, flights, flying, free, running
from kvspec import events as ev
from kvspec import rules
from kvspec.invariants import broken_invariants
from kvspec.layout import Group, Kind
from kvspec.state import Live, State
from kvspec.vocabulary import BlockId


def broken_state(state: State) -> Broken | None:
    """The first thing that is wrong: an invariant of the specification, an owner, or something that is read."""
    for rule, what in broken_invariants(state):
        return Broken(rule, what)
    return next(_owners(state), None) or next((b for live in running(state) for b in _reads(state, live)), None)


def _owners(state: State) -> Iterator[Broken]:
    """A request names a block once, all that name a block are of one group, and nobody names a reserved one."""
    groups: dict[BlockId, set[int]] = {}
    for live in running(state):
        named = [(number, id) for number, table in enumerate(live.tables) for id in table if id is not None]
        twice = next((id for id, times in Counter(id for _, id in named).items() if times > 1), None)
        if twice is not None:
            yield Broken(rules.CONSERVATION, f"{live.request.id} names block {twice} twice")
        for number, id in named:
            groups.setdefault(id, set()).add(number)
    for id, owners in groups.items():
        if len(owners) > 1:
            yield Broken(rules.CONSERVATION, f"block {id} is in tables of the groups {sorted(owners)}")


def _reads(state: State, live: Live) -> Iterator[Broken]:
    """What the next query and those in flight read is held, and the request's own."""
    for number, group in enumerate(state.layout.groups):
        for held in _needed(state, live, number, group):
            yield from _slot(state, live, number, held)


def _needed(state: State, live: Live, number: int, group: Group) -> tuple[Held, ...]:
    """What is read of what has been computed, by the last query that there will be.

    A state in flight is read and, inside a block, written over by the same step.
    """
    last, starts = live.request.limit - 2, [*flights(state, live).values(), live.computed]
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
    elif not right(state, live.tokens, state.blocks[id], held):
        rule = rules.DRAFT_GROUP_HIT if draft else rules.CONTENT_MATCHES_KEY
        what = f"{who} will read block {id} slot {held.offset} in group {number}, which is not its position"
        yield Broken(rule, f"{what} {held.position}")


def broken_move(before: State, move: Move, after: State) -> Broken | None:
    """What is wrong with a move: what it says of itself, or what else it does."""
    return _said(before, move) or disturbed(before, move, after)


def _said(before: State, move: Move) -> Broken | None:
    """A hit on everything or on what is not finished, a refusal of what fits."""
    match move[0]:
        case ev.Start() as start if start.hit >= len(before.requests[start.request].tokens):
            return Broken(rules.ONE_TOKEN_LEFT, f"{start.request} has no token left to compute")
        case ev.Start() as start:
            return _unfinished(before, start) or _shorter(before, start)
        case ev.Observe() if any(_is_lie(before, event) for event in move):
            return Broken(rules.CONSERVATION, "what a cache says of itself is not so, and passes")
        case ev.Refuse() as refusal:
            return _refused(before, refusal)
    return None


def _is_lie(state: State, event: ev.Event) -> bool:
    return event not in truth(state)


def _unfinished(state: State, event: ev.Start) -> Broken | None:
    """A hit on blocks that a step in flight still computes, where it is not declared that they are known before."""
    if state.capabilities.publishes != "computed":
        return None
    last = horizon(state.requests[event.request].request)
    for number, group in enumerate(state.layout.groups):
        for held in past(group, event.hit, event.hit, last):
            id = event.tables[number][held.entry]
            if id is not None and flying(state, state.blocks[id])[held.offset] is not None:
                return Broken(rules.PUBLISH_ONLY_COMPUTED, f"{event.request} hits block {id}, which is not finished")
    return None


def _shorter(state: State, event: ev.Start) -> Broken | None:
    """Where the longest hit is declared, a hit that is shorter than one from which all groups can go on."""
    if "longest-hit" not in state.capabilities.profiles:
        return None
    longest = max(valid_hits(state, state.requests[event.request]))
    if event.hit < longest:
        return Broken(rules.LONGEST_GROUP_HIT, f"{event.request} hits {event.hit} tokens where {longest} are there")
    return None


def _refused(state: State, event: ev.Refuse) -> Broken | None:
    """What is refused might not fit: in some pool its groups need more blocks, all new, than nobody holds.

    An engine may have declared blocks that it keeps back, or takes on top.
    """
    declared = state.capabilities
    spare = declared.watermark_blocks + declared.lookahead_blocks * len(state.layout.groups)
    needs = (event.need, *event.more)
    for number in range(len(state.layout.groups)):
        if needs[state.layout.pool_of(number)] + spare > len(free(state, number)):
            return None
    return Broken(rules.FIT_AGREES_WITH_ALLOCATE, f"{event.request} is refused blocks that are free")
