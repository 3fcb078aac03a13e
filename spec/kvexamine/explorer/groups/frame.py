"""What a move leaves alone in a cache with several groups: contents, tokens, tables and steps in flight."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.world import Move, flights
from kvspec import events as ev
from kvspec import rules
from kvspec.layout import Group, Kind
from kvspec.state import Block, Live, State
from kvspec.vocabulary import BlockId, Phase, RequestId


def disturbed(before: State, move: Move, after: State) -> Broken | None:
    """The first thing that is another than before, and that the move does not say."""
    for check in (_lengths, _requests, _contents):
        for broken in check(before, move, after):
            return broken
    return None


def _requests(before: State, move: Move, after: State) -> Iterator[Broken]:
    """Nobody comes who was not added, and of everybody only what the move says changes."""
    if set(after.requests) != set(before.requests):
        there, right = sorted(after.requests), sorted(before.requests)
        yield Broken(rules.CONSERVATION, f"{there} are there where {right} are right")
        return
    for id in before.requests:
        yield from _request(before, id, move, after)


def _request(before: State, id: RequestId, move: Move, after: State) -> Iterator[Broken]:
    """What a request has computed, sampled, in flight and in its tables, after a move of its own or another."""
    old, new = before.requests[id], after.requests[id]
    right, on_device = old.copy(), flights(before, old)
    for event in move:
        if isinstance(event, ev.Complete):
            on_device.pop(event.step, None)
        if getattr(event, "request", None) != id:
            continue
        if isinstance(event, ev.Sample) and right.computed < len(right.tokens):
            yield Broken(rules.COVERAGE_AND_LIMIT, f"{id} samples before its tokens are computed")
        if isinstance(event, ev.Compute):
            on_device |= dict.fromkeys(list(flights(after, new))[-1:], right.computed)
        if isinstance(event, ev.Preempt | ev.SwapOut):
            on_device = {}
        _told(right, event)
    yield from _differences(new, right)
    if list(flights(after, new).items()) != list(on_device.items()):
        yield Broken(rules.PUBLISH_ONLY_COMPUTED, f"of {id} other steps are in flight than were, and nothing says so")


def _told(live: Live, event: ev.Event) -> None:
    """What an event of its own says of a request."""
    match event:
        case ev.Start():
            live.phase, live.computed = Phase.RUNNING, event.hit
        case ev.Sample():
            live.tokens.append(event.token)
        case ev.Compute():
            live.computed += event.count
        case ev.Reserve():
            live.tables = [list(table) for table in event.tables]
        case ev.Trim():
            live.tables[event.group][event.index] = None
        case ev.Abort():
            live.phase, live.tables = Phase.DONE, [[] for _ in live.tables]
        case ev.Preempt():
            live.phase, live.computed, live.tables = Phase.WAITING, 0, [[] for _ in live.tables]
        case ev.SwapOut():
            live.phase, live.tables = Phase.WAITING, [[] for _ in live.tables]
        case ev.SwapIn():
            live.phase, live.tables = Phase.RUNNING, [list(table) for table in event.tables]


def _differences(new: Live, right: Live) -> Iterator[Broken]:
    """What of a request is not as it should be."""
    id = new.request.id
    if new.phase is not right.phase:
        yield Broken(rules.ONE_QUEUE, f"{id} is {new.phase.value} where {right.phase.value} is right")
    if new.tokens != right.tokens:
        yield Broken(rules.CONTENT_MATCHES_KEY, f"{id} has the tokens {new.tokens} where {right.tokens} are right")
    if new.computed != right.computed:
        what = f"{id} has computed {new.computed} tokens where {right.computed} are right"
        yield Broken(rules.COVERAGE_AND_LIMIT, what)
    if new.tables != right.tables:
        what = f"{id} has the tables {new.tables} where {right.tables} are right"
        yield Broken(rules.NO_DANGLING_REFERENCE, what)


def _lengths(before: State, move: Move, after: State) -> Iterator[Broken]:
    """Tables that a move gives reach as far as it says, and no further than declared."""
    for event in move:
        if not isinstance(event, ev.Reserve):
            continue
        for number, (group, table) in enumerate(zip(before.layout.groups, event.tables, strict=True)):
            least = -(-max(0, event.end - group.lag) // group.block_size)
            most = -(-event.end // group.block_size) + before.capabilities.lookahead_blocks
            if not least <= len(table) <= most:
                said = f"{len(table)} entries of group {number} for {event.end} tokens"
                yield Broken(rules.COVERAGE_AND_LIMIT, f"{said}, where {least} to {most} are right")


def _contents(before: State, move: Move, after: State) -> Iterator[Broken]:
    """A block that is handed over is empty, and of all others only slots that are written become others."""
    handed, written = _handed(before, move), _written(before, move)
    for id, (old, block) in enumerate(zip(before.blocks, after.blocks, strict=True)):
        if id in handed:
            if block.owner != handed[BlockId(id)] or _strange(before, move, block):
                yield Broken(rules.CONTENT_MATCHES_KEY, f"block {id} is given and not empty")
        elif block.owner != old.owner or len(block.contexts) != len(old.contexts):
            yield Broken(rules.CONSERVATION, f"block {id} changes hands, and nobody takes it")
        elif _changed(old, block) - written.get(BlockId(id), set()):
            yield Broken(rules.SHARED_BYTES_NEVER_CHANGE, f"a slot of block {id} changes, and nobody writes it")


def _strange(state: State, move: Move, block: Block) -> bool:
    """Whether a block that is given holds something, but for what comes back from the host."""
    event = move[0]
    own = set(state.requests[event.request].contexts) if isinstance(event, ev.SwapIn) else set()
    return any(context is not None and context not in own for context in block.contexts)


def _changed(old: Block, new: Block) -> set[int]:
    """The slots that hold something else, or were written by another step."""
    slots = zip(old.contexts, old.writers, new.contexts, new.writers, strict=True)
    return {offset for offset, (held, wrote, holds, writes) in enumerate(slots) if (held, wrote) != (holds, writes)}


def _handed(state: State, move: Move) -> dict[BlockId, int]:
    """The blocks that a move gives to a group for new content: all entries behind the hit, or behind the old ones."""
    handed: dict[BlockId, int] = {}
    start = move[0] if isinstance(move[0], ev.Start) else None
    for event in move:
        if isinstance(event, ev.SwapIn):
            handed |= {id: number for number, table in enumerate(event.tables) for id in table if id is not None}
        if isinstance(event, ev.Reserve):
            for number, (group, table) in enumerate(zip(state.layout.groups, event.tables, strict=True)):
                have = (
                    len(state.requests[event.request].tables[number])
                    if start is None
                    else start.hit // group.block_size
                )
                handed |= {id: number for id in table[have:] if id is not None}
    return handed


def _written(state: State, move: Move) -> dict[BlockId, set[int]]:
    """The slots that a move may write: those of the positions of a step, or of the draft from a sampled token."""
    written: dict[BlockId, set[int]] = {}
    event = move[0]
    if isinstance(event, ev.Compute | ev.Sample):
        live = state.requests[event.request]
        for number, group in enumerate(state.layout.groups):
            for slot in _slots(state, live, number, group, event):
                entry = slot // group.block_size
                id = live.tables[number][entry] if entry < len(live.tables[number]) else None
                if id is not None:
                    written.setdefault(id, set()).add(0 if group.kind is Kind.STATE else slot % group.block_size)
    return written


def _slots(state: State, live: Live, number: int, group: Group, event: ev.Compute | ev.Sample) -> range:
    """By their number in the table: those that follow on the written ones, and the draft that waits for its token."""
    ahead = group.kind is Kind.DRAFT and state.capabilities.drafts_ahead
    if isinstance(event, ev.Compute):
        end = live.computed + event.count
        return range(live.filled[number], end if ahead else end - group.lag)
    return range(len(live.tokens) - group.lag, len(live.tokens) - group.lag + 1) if ahead else range(0)
