"""Whether a request can go on to its end from where it is, in any chunks, if it is only given the blocks it needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.moves import computed
from kvexamine.explorer.groups.reads import horizon, unread
from kvexamine.explorer.groups.world import computable, flights, running, takable
from kvexamine.explorer.sampling import next_token
from kvexamine.explorer.transition import Transition
from kvspec import events as ev
from kvspec import rules
from kvspec.state import Block, Live, State, Untouched
from kvspec.violation import Broken as Refused
from kvspec.violation import HarnessFault, Violation
from kvspec.vocabulary import BlockId, RequestId


def view(state: State, live: Live) -> Hashable:
    """All of a state on which the future of one request depends, if it gets fresh blocks: its own part of it."""
    held = tuple(tuple(None if id is None else _seen(state.blocks[id]) for id in table) for table in live.tables)
    starts = tuple(flights(state, live).values())
    return live.request.id, live.computed, tuple(live.tokens), tuple(live.filled), starts, held


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
            except (Violation, Refused, HarnessFault) as error:
                what = f"{live.request.id}, which computes {chunk} tokens at a time, cannot go on: {error}"
                rule = rules.PROGRESS_OR_REJECT if isinstance(error, HarnessFault) else error.rule
                return Broken(rule, what)
    return None


def _with_room(state: State, live: Live) -> State:
    """A copy with blocks beside the pools, unless the request is alone in pools that could hold all of it."""
    most = state.layout.most_blocks(live.request.limit)
    if len(running(state)) == 1 and all(need <= state.usable for need in most):
        return state.copy()
    return _widened(state, max(most))


def _widened(state: State, more: int) -> State:
    """The same state with so many more blocks in each pool, which moves the names of all but the first pool's."""
    size, after = state.world.num_blocks, state.copy()

    def moved(id: BlockId) -> BlockId:
        return BlockId(id + id // size * more)

    after.world = replace(state.world, num_blocks=size + more)
    fresh: list[Block] = [Untouched(1, -1 if state.layout.several else 0)] * more
    firsts = range(0, len(state.blocks), size)
    after.blocks = [block for first in firsts for block in (*after.blocks[first : first + size], *fresh)]
    idle = [BlockId(moved(BlockId(first)) + size + k) for first in firsts for k in range(more)]
    after.free = dict.fromkeys([*map(moved, state.free), *idle])
    after.in_flight = {step: frozenset(map(moved, touched)) for step, touched in state.in_flight.items()}
    after.transfers = {one: frozenset(map(moved, touched)) for one, touched in state.transfers.items()}
    for live in after.requests.values():
        live.tables = [[None if id is None else moved(id) for id in table] for table in live.tables]
    return after


def _future(state: State, id: RequestId, chunk: int, releases: bool) -> Iterator[ev.Event]:
    """The events of the rest of a request, each proposed in the state that the last one has made."""
    live, groups = state.requests[id], state.layout.groups
    while True:
        while on_device := flights(state, live):
            yield ev.Complete(next(iter(on_device)))
        if releases:
            yield from _loose(state, live)
        if live.computed == len(live.tokens):
            if live.generated >= live.request.max_new_tokens:
                break
            yield ev.Sample(id, next_token(live.tokens))
        end = min(live.computed + chunk, computable(live))
        if end > live.computed:
            if any(len(table) < group.entries(end) for table, group in zip(live.tables, groups, strict=True)):
                first, *others = (tuple(table) for table in _covering(state, live, end))
                yield ev.Reserve(id, end, first, tuple(others))
            yield from computed(state, live, end - live.computed)
        else:
            break
    yield ev.Abort(id)


def _loose(state: State, live: Live) -> Iterator[ev.Event]:
    """Everything that no later query reads is given back."""
    for number, group in enumerate(state.layout.groups):
        for index, held in enumerate(tuple(live.tables[number])):
            if held is not None and unread(group, index, live.computed, horizon(live.request)):
                yield ev.Trim(live.request.id, number, index)


def _covering(state: State, live: Live, end: int) -> Iterator[list[BlockId | None]]:
    """The tables with idle blocks where they are too short."""
    taken: set[BlockId] = set()
    for number, group in enumerate(state.layout.groups):
        table = list(live.tables[number])
        new = [id for id in takable(state, number) if id not in taken][: max(0, group.entries(end) - len(table))]
        taken |= set(new)
        yield [*table, *new]
