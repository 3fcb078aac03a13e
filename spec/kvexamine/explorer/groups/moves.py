"""What may happen to a cache with several groups: every event, with tables right and wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product

from kvexamine.explorer.groups.observed import lies
from kvexamine.explorer.groups.world import GroupsWorld, Run, computable, idle, signature
from kvspec.groups import events as ev
from kvspec.groups.state import PENDING, Block, Live, State
from kvspec.groups.vocabulary import Group, Table, Tables
from kvspec.vocabulary import BlockId, Request

Taken = set[tuple[int, BlockId]]
"""Pool and name of blocks that are spoken for."""


def proposals(small: GroupsWorld, run: Run) -> Iterator[ev.Event]:
    """Every event worth putting to the transition."""
    for request in small.requests:
        if request.id in run.waiting:
            yield from _admissions(small, run.state, request)
        elif request.id in run.state.requests:
            yield from _running(small, run.state, run.state.requests[request.id])
    yield from lies(run.state)


def _running(small: GroupsWorld, state: State, live: Live) -> Iterator[ev.Event]:
    id, most = live.request.id, computable(live)
    for number, table in enumerate(live.tables):
        yield from (ev.Release(id, number, index) for index, held in enumerate(table) if held is not None)
    if len(live.flights) < small.capabilities.max_in_flight:
        yield from (ev.Compute(id, count) for count in range(1, most - live.computed + 1))
    if live.flights:
        yield ev.Complete(id)
    else:
        yield ev.End(id)
        if live.computed == len(live.tokens) and live.generated < live.request.max_new_tokens:
            yield from (ev.Sample(id, token) for token in small.may_sample(live.tokens))
    for end in range(live.computed + 1, most + 1):
        yield ev.Refuse(live.request, end)
        yield from (ev.Grow(id, end, tables) for tables in grown(small, state, live, end))


def grown(small: GroupsWorld, state: State, live: Live, end: int) -> Iterator[Tables]:
    """The tables with homes for `end` tokens, where they are longer than before."""
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
    pool = state.layout.pool_of(number)
    spoken = taken if taken is not None else set()
    choices: list[BlockId | None] = list(idle(state, pool, spoken))
    if small.takes == "first":
        del choices[1:]
    choices += sorted(state.capabilities.reserved_blocks)
    if small.takes == "any":
        choices += [None, *_held(state, pool), *(id for place, id in sorted(spoken) if place == pool)]
    fewer = [count - (place == number) for place, count in enumerate(missing)]
    for id in dict.fromkeys(choices):
        longer = [(*table, id) if place == number else table for place, table in enumerate(tables)]
        yield from extended(small, state, longer, fewer, spoken | ({(pool, id)} if id is not None else set()))


def _held(state: State, pool: int) -> list[BlockId]:
    """The first block of a pool that somebody holds."""
    return [BlockId(number) for number, block in enumerate(state.pools[pool]) if block.ref][:1]


def _admissions(small: GroupsWorld, state: State, request: Request) -> Iterator[ev.Event]:
    """Hits of every length up to the whole prompt, with homes for any part of the rest."""
    length = len(request.prompt)
    for end in range(1, length + 1):
        yield ev.Refuse(request, end)
    for hit in range(length + 1):
        shared = [_hits(small, state, request, number, hit) for number in range(len(state.layout.groups))]
        for tables in product(*(product(*entries) for entries in shared)):
            yield from _admitted(small, state, request, hit, tables)


def _admitted(
    small: GroupsWorld, state: State, request: Request, hit: int, tables: Sequence[Table]
) -> Iterator[ev.Event]:
    groups, pool_of = state.layout.groups, state.layout.pool_of
    taken = {(pool_of(number), id) for number, table in enumerate(tables) for id in table if id is not None}
    for end in range(max(hit, 1), len(request.prompt) + 1):
        missing = [group.entries(end) - len(table) for group, table in zip(groups, tables, strict=True)]
        for told in extended(small, state, tables, missing, taken):
            yield ev.Admit(request, hit, end, told)


def _hits(small: GroupsWorld, state: State, request: Request, number: int, hit: int) -> list[list[BlockId | None]]:
    """For each entry of a hit what may stand there: nothing, blocks that end as they should, or any block."""
    group = state.layout.groups[number]
    whole = hit // group.block_size
    if hit % state.layout.unit or small.takes != "any":
        return [_ending(state, request, number, group, index) for index in range(whole)]
    kinds = dict[Hashable, BlockId]()
    for id, block in enumerate(state.pools[state.layout.pool_of(number)]):
        if not _untold(state, block):
            kinds.setdefault(signature(state, block) if not block.ref else id, BlockId(id))
    return [[None, *kinds.values()] for _ in range(whole)]


def _untold(state: State, block: Block) -> bool:
    """Whether a block ends in a draft from a token that nobody was told yet.

    What it is worth is judged when that is told. Until its step is finished it must not be hit anyhow.
    """
    flying = state.capabilities.publishes == "computed" and any(map(state.in_flight, block.writers))
    return PENDING in block.contexts and not flying


def _ending(state: State, request: Request, number: int, group: Group, index: int) -> list[BlockId | None]:
    """Blocks of a group whose last slot has the tokens that it has at this entry, those of one kind once, and none."""
    last = (index + 1) * group.block_size - 1
    own, kinds = list(request.prompt[: last + 1 + group.lag]), dict[Hashable, BlockId]()
    for id, block in enumerate(state.pools[state.layout.pool_of(number)]):
        if block.owner != number or (context := block.contexts[-1]) is None or _untold(state, block):
            continue
        if context == PENDING or list(state.contexts.tokens(context)) == own:
            kinds.setdefault(signature(state, block) if not block.ref else id, BlockId(id))
    return [*kinds.values(), None]
