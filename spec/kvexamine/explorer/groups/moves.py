"""What may happen to a cache with several groups: every move, with tables right and wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product

from kvexamine.explorer.groups.observed import lies
from kvexamine.explorer.groups.world import (
    GroupsWorld,
    Move,
    blocks_of,
    computable,
    entries_needed,
    flights,
    flying,
    idle,
    running,
    signature,
    transfer_of,
    waiting,
)
from kvspec import events as ev
from kvspec.layout import Group, Table, Tables
from kvspec.state import PENDING, Block, Live, State
from kvspec.vocabulary import BlockId, StepId

Taken = set[BlockId]
"""Blocks that are spoken for."""


def admitted(state: State, live: Live, hit: int, end: int, tables: Sequence[Table]) -> Move:
    """A request begins on a hit, and is given slots for its first `end` tokens."""
    shared = [table[: hit // group.block_size] for group, table in zip(state.layout.groups, tables, strict=True)]
    start = ev.Start(live.request.id, hit, shared[0], tuple(shared[1:]))
    return start, ev.Reserve(live.request.id, end, tables[0], tuple(tables[1:]))


def computed(state: State, live: Live, count: int) -> Move:
    """A step is dispatched that computes the next tokens of a request."""
    first, *others = (tuple(table) for table in live.tables)
    step = ev.Compute(live.request.id, live.computed, count, first, more=tuple(others))
    return step, ev.Dispatch(StepId(state.step)), ev.EndStep()


def refused(state: State, live: Live, end: int) -> Move:
    """Homes for so many tokens are not given."""
    first, *others = entries_needed(state, live, end)
    return (ev.Refuse(live.request.id, first, (), tuple(others)),)


def proposals(small: GroupsWorld, state: State) -> Iterator[Move]:
    """Every move worth putting to the transition."""
    for live in waiting(state):
        yield from _admissions(small, state, live)
        if live.swapped is not None:
            yield from _returns(small, state, live)
    for live in running(state):
        yield from _running(small, state, live)
        yield from gives_way(small, state, live)
    yield from ((ev.TransferDone(transfer),) for transfer in state.transfers)
    yield from strays(state)
    yield from lies(state)


def strays(state: State) -> Iterator[Move]:
    """A step may be complete whose request has given way since."""
    known = {step for live in state.live() for step in flights(state, live)}
    yield from ((ev.Complete(step),) for step in state.in_flight if step not in known)


def gives_way(small: GroupsWorld, state: State, live: Live) -> Iterator[Move]:
    """A request that has tokens to sample is preempted, or its blocks go to the host."""
    if live.generated == live.request.max_new_tokens:
        return
    if "preempt" in small.may:
        yield ev.Preempt(live.request.id), ev.EndStep()
    if "swap" in small.may and live.transfer is None:
        yield ev.SwapOut(live.request.id, transfer_of(state, live)), ev.EndStep()


def returned(state: State, live: Live, tables: Sequence[Table]) -> Move:
    """A request comes back from the host."""
    return (ev.SwapIn(live.request.id, tables[0], transfer_of(state, live), tuple(tables[1:])),)


def _returns(small: GroupsWorld, state: State, live: Live) -> Iterator[Move]:
    """Tables that lack nothing, all that lies before some entry, or one entry more than that."""
    groups = state.layout.groups
    lengths = [group.entries(max(0, live.computed - group.lag)) for group in groups]
    for empty in range(max(lengths, default=0) + 1):
        before: list[Table] = [(None,) * min(empty, length) for length in lengths]
        missing = [length - len(table) for length, table in zip(lengths, before, strict=True)]
        for tables in extended(small, state, before, missing):
            yield returned(state, live, tables)
        if empty and len(groups) > 1:
            full_first: list[Table] = [(), *before[1:]]
            missing = [length - len(table) for length, table in zip(lengths, full_first, strict=True)]
            for tables in extended(small, state, full_first, missing):
                yield returned(state, live, tables)


def _running(small: GroupsWorld, state: State, live: Live) -> Iterator[Move]:
    id, most, on_device = live.request.id, computable(live), flights(state, live)
    for number, table in enumerate(live.tables):
        yield from ((ev.Trim(id, number, index),) for index, held in enumerate(table) if held is not None)
    if len(on_device) < small.capabilities.max_in_flight:
        yield from (computed(state, live, count) for count in range(1, most - live.computed + 1))
    if on_device:
        yield (ev.Complete(next(iter(on_device))),)
    else:
        yield (ev.Abort(id),)
        if live.computed == len(live.tokens) and live.generated < live.request.max_new_tokens:
            yield from ((ev.Sample(id, token),) for token in small.may_sample(live.tokens))
    for end in range(live.computed + 1, most + 1):
        yield refused(state, live, end)
        for tables in grown(small, state, live, end):
            yield (ev.Reserve(id, end, tables[0], tables[1:]),)


def grown(small: GroupsWorld, state: State, live: Live, end: int) -> Iterator[Tables]:
    """The tables with slots for `end` tokens, where they are longer than before."""
    groups = state.layout.groups
    missing = [max(0, group.entries(end) - len(table)) for group, table in zip(groups, live.tables, strict=True)]
    if any(missing):
        old = [tuple(table) for table in live.tables]
        yield from extended(small, state, old, missing)
        if small.takes == "any":
            yield from extended(small, state, old, [number + 1 for number in missing])


def extended(
    small: GroupsWorld, state: State, tables: Sequence[Table], missing: Sequence[int], taken: Taken | None = None
) -> Iterator[Tables]:
    """Tables with so many more entries: idle blocks and reserved ones, in an `any` world none and held ones as well."""
    number = next((number for number, count in enumerate(missing) if count), None)
    if number is None:
        yield tuple(tables)
        return
    spoken = taken if taken is not None else set()
    choices: list[BlockId | None] = list(idle(state, number, spoken))
    if small.takes == "first":
        del choices[1:]
    own = blocks_of(state, number)
    choices += [BlockId(own.start + id) for id in sorted(state.capabilities.reserved_blocks)]
    if small.takes == "any":
        choices += [None, *_held(state, number), *(id for id in sorted(spoken) if id in own)]
    fewer = [count - (place == number) for place, count in enumerate(missing)]
    for id in dict.fromkeys(choices):
        longer = [(*table, id) if place == number else table for place, table in enumerate(tables)]
        yield from extended(small, state, longer, fewer, spoken | ({id} if id is not None else set()))


def _held(state: State, number: int) -> list[BlockId]:
    """The first block of a group's pool that somebody holds."""
    return [BlockId(id) for id in blocks_of(state, number) if state.blocks[id].ref][:1]


def _admissions(small: GroupsWorld, state: State, live: Live) -> Iterator[Move]:
    """Hits of every length up to the whole prompt, with slots for any part of the rest."""
    length = len(live.tokens)
    for end in range(1, length + 1):
        yield refused(state, live, end)
    for hit in range(length + 1):
        shared = [_hits(small, state, live, number, hit) for number in range(len(state.layout.groups))]
        for tables in product(*(product(*entries) for entries in shared)):
            yield from _admitted(small, state, live, hit, tables)


def _admitted(small: GroupsWorld, state: State, live: Live, hit: int, tables: Sequence[Table]) -> Iterator[Move]:
    taken = {id for table in tables for id in table if id is not None}
    for end in range(max(hit, 1), len(live.tokens) + 1):
        missing = [group.entries(end) - len(table) for group, table in zip(state.layout.groups, tables, strict=True)]
        for told in extended(small, state, tables, missing, taken):
            yield admitted(state, live, hit, end, told)


def _hits(small: GroupsWorld, state: State, live: Live, number: int, hit: int) -> list[list[BlockId | None]]:
    """For each entry of a hit what may stand there: nothing, blocks that end as they should, or any block."""
    group = state.layout.groups[number]
    whole = hit // group.block_size
    if hit % state.layout.unit or small.takes != "any":
        return [_ending(state, live, number, group, index) for index in range(whole)]
    kinds = dict[Hashable, BlockId]()
    for id in blocks_of(state, number):
        block = state.blocks[id]
        if not _untold(state, block):
            kinds.setdefault(signature(state, block) if not block.ref else id, BlockId(id))
    return [[None, *kinds.values()] for _ in range(whole)]


def _untold(state: State, block: Block) -> bool:
    """Whether a block ends in a draft from a token that nobody was told yet.

    What it is worth is judged when that is told. Until its step is finished it must not be hit anyhow.
    """
    unfinished = state.capabilities.publishes == "computed" and any(step is not None for step in flying(state, block))
    return PENDING in block.contexts and not unfinished


def _ending(state: State, live: Live, number: int, group: Group, index: int) -> list[BlockId | None]:
    """Blocks of a group whose last slot has the tokens that it has at this entry, those of one kind once, and none."""
    last = (index + 1) * group.block_size - 1
    own, kinds = live.tokens[: last + 1 + group.lag], dict[Hashable, BlockId]()
    for id in blocks_of(state, number):
        block = state.blocks[id]
        if block.owner != number or (context := block.contexts[-1]) is None or _untold(state, block):
            continue
        if context == PENDING or list(state.contexts.tokens(context)) == own:
            kinds.setdefault(signature(state, block) if not block.ref else id, BlockId(id))
    return [*kinds.values(), None]
