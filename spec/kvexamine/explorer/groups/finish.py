"""Whether a request can go on to its end from where it is, in any chunks, if it is only given the blocks it needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.reads import horizon, unread
from kvexamine.explorer.groups.world import computable, copied
from kvexamine.explorer.paged.model import next_token
from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.state import Block, Live, State
from kvspec.violation import HarnessFault, Violation
from kvspec.vocabulary import BlockId, RequestId

Transition = Callable[[State, ev.Event], None]
"""Applies one event in place; raises `Violation` where it is refused."""


def view(state: State, live: Live) -> Hashable:
    """All of a state on which the future of one request depends, if it gets fresh blocks: its own part of it."""
    held = tuple(
        tuple(None if id is None else _seen(state.block(number, id)) for id in table)
        for number, table in enumerate(live.tables)
    )
    return live.request.id, live.computed, tuple(live.tokens), tuple(live.filled), tuple(live.flights.values()), held


def _seen(block: Block) -> Hashable:
    return block.owner, tuple(block.contexts), block.ref > 1


def broken_future(state: State, live: Live, transition: Transition) -> Broken | None:
    """The first continuation that is forbidden: one token at a time or all at once, releasing nothing or all it may.

    A request that is alone in pools that could hold it takes its blocks from there, any other one from beside them.
    One that was given no block where it will write is stopped by the rule that says so, in the step that writes.
    """
    starts = [slots // group.block_size for slots, group in zip(live.filled, state.layout.groups, strict=True)]
    if any(None in table[start:] for table, start in zip(live.tables, starts, strict=True)):
        return None
    for chunk in (1, len(live.tokens) + live.request.max_new_tokens):
        for releases in (False, True):
            after = _with_room(state, live)
            try:
                for event in _future(after, live.request.id, chunk, releases):
                    transition(after, event)
            except (Violation, HarnessFault) as error:
                what = f"{live.request.id}, which computes {chunk} tokens at a time, cannot go on: {error}"
                rule = error.rule if isinstance(error, Violation) else rules.PROGRESS_OR_REJECT
                return Broken(rule, what)
    return None


def _with_room(state: State, live: Live) -> State:
    """A copy with blocks beside the pools, unless the request is alone in pools that could hold all of it."""
    after = copied(state)
    most = state.layout.most_blocks(live.request.limit)
    if len(state.requests) > 1 or any(need > state.usable for need in most):
        for pool in after.pools:
            pool.extend(Block() for _ in range(max(most)))
    return after


def _future(state: State, id: RequestId, chunk: int, releases: bool) -> Iterator[ev.Event]:
    """The events of the rest of a request, each proposed in the state that the last one has made."""
    live, groups = state.requests[id], state.layout.groups
    while True:
        while live.flights:
            yield ev.Complete(id)
        if releases:
            yield from _loose(state, live)
        if live.computed == len(live.tokens):
            if live.generated >= live.request.max_new_tokens:
                break
            yield ev.Sample(id, next_token(live.tokens))
        end = min(live.computed + chunk, computable(live))
        if end > live.computed:
            if any(len(table) < group.entries(end) for table, group in zip(live.tables, groups, strict=True)):
                yield ev.Grow(id, end, tuple(tuple(table) for table in _covering(state, live, end)))
            yield ev.Compute(id, end - live.computed)
        else:
            break
    yield ev.End(id)


def _loose(state: State, live: Live) -> Iterator[ev.Event]:
    """Everything that no later query reads is given back."""
    for number, group in enumerate(state.layout.groups):
        for index, held in enumerate(tuple(live.tables[number])):
            if held is not None and unread(group, index, live.computed, horizon(live.request)):
                yield ev.Release(live.request.id, number, index)


def _covering(state: State, live: Live, end: int) -> Iterator[list[BlockId | None]]:
    """The tables with idle blocks where they are too short."""
    taken: set[tuple[int, int]] = set()
    for number, group in enumerate(state.layout.groups):
        pool, table = state.layout.pool_of(number), list(live.tables[number])
        for id, block in enumerate(state.pools[pool]):
            if len(table) >= group.entries(end):
                break
            if not block.ref and (pool, id) not in taken and id not in state.capabilities.reserved_blocks:
                taken.add((pool, id))
                table.append(BlockId(id))
        yield table
