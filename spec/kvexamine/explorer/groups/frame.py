"""What an event leaves alone in a cache with several groups: contents, tokens, tables and steps in flight."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.state import Block, Live, State
from kvspec.groups.vocabulary import Group, Kind
from kvspec.vocabulary import BlockId, RequestId

Place = tuple[int, BlockId]
"""A block by its pool and its name."""


def disturbed(before: State, event: ev.Event, after: State) -> Broken | None:
    """The first thing that is another than before, and that the event does not say."""
    for check in (_lengths, _requests, _contents):
        for broken in check(before, event, after):
            return broken
    return None


def _requests(before: State, event: ev.Event, after: State) -> Iterator[Broken]:
    """One comes with its admission, as that says; one goes at its end; of the others only the event's own changes."""
    right = set(before.requests)
    right |= {event.request.id} if isinstance(event, ev.Admit) else set()
    right -= {event.request} if isinstance(event, ev.End) else set()
    if set(after.requests) != right:
        yield Broken(rules.CONSERVATION, f"{sorted(after.requests)} run where {sorted(right)} are right")
        return
    for id in right & set(before.requests):
        yield from _request(before, id, event, after.requests[id])
    if isinstance(event, ev.Admit):
        new, tables = after.requests[event.request.id], [list(table) for table in event.tables]
        if new.tokens != [*event.request.prompt] or new.computed != event.hit or new.tables != tables or new.flights:
            yield Broken(rules.CONTENT_MATCHES_KEY, f"{event.request.id} begins otherwise than its admission says")


def _request(state: State, id: RequestId, event: ev.Event, new: Live) -> Iterator[Broken]:
    """What a request has computed, sampled, in flight and in its tables, after an event of its own or another."""
    old = state.requests[id]
    tokens, computed, tables = old.tokens[:], old.computed, [table[:] for table in old.tables]
    flights, steps = list(old.flights.values()), list(old.flights)
    match event:
        case ev.Sample(request=who) if who == id:
            if computed < len(tokens):
                yield Broken(rules.COVERAGE_AND_LIMIT, f"{id} samples before its tokens are computed")
            tokens.append(event.token)
        case ev.Compute(request=who) if who == id:
            flights, steps = [*flights, computed], [*steps, *list(new.flights)[-1:]]
            computed += event.count
        case ev.Complete(request=who) if who == id:
            flights, steps = flights[1:], steps[1:]
        case ev.Grow(request=who) if who == id:
            tables = [list(table) for table in event.tables]
        case ev.Release(request=who) if who == id:
            tables[event.group][event.index] = None
    if new.tokens != tokens:
        yield Broken(rules.CONTENT_MATCHES_KEY, f"{id} has the tokens {new.tokens} where {tokens} are right")
    if new.computed != computed:
        yield Broken(rules.COVERAGE_AND_LIMIT, f"{id} has computed {new.computed} tokens where {computed} are right")
    if (list(new.flights.values()), list(new.flights)) != (flights, steps):
        yield Broken(rules.PUBLISH_ONLY_COMPUTED, f"of {id} other steps are in flight than were, and nothing says so")
    if new.tables != tables:
        yield Broken(rules.NO_DANGLING_REFERENCE, f"{id} has the tables {new.tables} where {tables} are right")


def _lengths(before: State, event: ev.Event, after: State) -> Iterator[Broken]:
    """Tables that an event gives reach as far as it says, and no further than declared."""
    if not isinstance(event, ev.Admit | ev.Grow):
        return
    for number, (group, table) in enumerate(zip(before.layout.groups, event.tables, strict=True)):
        least = -(-max(0, event.end - group.lag) // group.block_size)
        most = -(-event.end // group.block_size) + before.capabilities.lookahead_blocks
        if not least <= len(table) <= most:
            what = f"{len(table)} entries of group {number} for {event.end} tokens, where {least} to {most} are right"
            yield Broken(rules.COVERAGE_AND_LIMIT, what)


def _contents(before: State, event: ev.Event, after: State) -> Iterator[Broken]:
    """A block that is handed over is empty, and of all others only slots that are written become others."""
    handed, written = _handed(before, event), _written(before, event)
    for pool, blocks in enumerate(after.pools):
        for number, block in enumerate(blocks):
            place = pool, BlockId(number)
            old = before.pools[pool][number]
            if place in handed:
                group = handed[place]
                if block.owner != group or any(held is not None for held in (*block.contexts, *block.writers)):
                    yield Broken(rules.CONTENT_MATCHES_KEY, f"block {number} of pool {pool} is given and not empty")
            elif block.owner != old.owner or len(block.contexts) != len(old.contexts):
                yield Broken(rules.CONSERVATION, f"block {number} of pool {pool} changes hands, and nobody takes it")
            elif _changed(old, block) - written.get(place, set()):
                what = f"a slot of block {number} of pool {pool} changes, and nobody writes it"
                yield Broken(rules.SHARED_BYTES_NEVER_CHANGE, what)


def _changed(old: Block, new: Block) -> set[int]:
    """The slots that hold something else, or were written by another step."""
    slots = zip(old.contexts, old.writers, new.contexts, new.writers, strict=True)
    return {offset for offset, (held, wrote, holds, writes) in enumerate(slots) if (held, wrote) != (holds, writes)}


def _handed(state: State, event: ev.Event) -> dict[Place, int]:
    """The blocks that an event gives to a group for new content: all entries behind the hit, or behind the old ones."""
    handed: dict[Place, int] = {}
    if isinstance(event, ev.Admit | ev.Grow):
        for number, (group, table) in enumerate(zip(state.layout.groups, event.tables, strict=True)):
            if isinstance(event, ev.Admit):
                have = event.hit // group.block_size
            else:
                have = len(state.requests[event.request].tables[number])
            handed |= {(state.layout.pool_of(number), id): number for id in table[have:] if id is not None}
    return handed


def _written(state: State, event: ev.Event) -> dict[Place, set[int]]:
    """The slots that an event may write: those of the positions of a step, or of the draft from a sampled token."""
    written: dict[Place, set[int]] = {}
    if isinstance(event, ev.Compute | ev.Sample):
        live = state.requests[event.request]
        for number, group in enumerate(state.layout.groups):
            for slot in _slots(state, live, number, group, event):
                entry = slot // group.block_size
                id = live.tables[number][entry] if entry < len(live.tables[number]) else None
                if id is not None:
                    offset = 0 if group.kind is Kind.STATE else slot % group.block_size
                    written.setdefault((state.layout.pool_of(number), id), set()).add(offset)
    return written


def _slots(state: State, live: Live, number: int, group: Group, event: ev.Compute | ev.Sample) -> range:
    """By their number in the table: those that follow on the written ones, and the draft that waits for its token."""
    ahead = group.kind is Kind.DRAFT and state.capabilities.drafts_ahead
    if isinstance(event, ev.Compute):
        end = live.computed + event.count
        return range(live.filled[number], end if ahead else end - group.lag)
    return range(len(live.tokens) - group.lag, len(live.tokens) - group.lag + 1) if ahead else range(0)
