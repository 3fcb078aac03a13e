"""Histories of caches with several groups in few words: a move is what happens at once, in the events that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from kvspec import Tally, Violation
from kvspec import events as ev
from kvspec.blame import Judged, begin, judge
from kvspec.invariants import broken_invariants
from kvspec.layout import Table, Tables
from kvspec.plans import Free, Held
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.vocabulary import BlockId, GroupsCapabilities, Request, RequestId, StepId, TokenId, World

UNLIMITED = 1 << 30
A, B, C = RequestId("A"), RequestId("B"), RequestId("C")
Move = ev.Event | Callable[[State], Iterable[ev.Event]]


def ids(*tables: tuple[int | None, ...]) -> Tables:
    return tuple(tuple(None if id is None else BlockId(id) for id in table) for table in tables)


def request(id: RequestId, *tokens: int, new: int = 4) -> Request:
    return Request(id, tuple(TokenId(token) for token in tokens), new)


def world(groups: str, pool: str = "shared", num_blocks: int = 12, **declared: Any) -> Judged:
    """Nobody is there; no step is limited, and block 0 of each pool is reserved where nothing else is declared."""
    capabilities = GroupsCapabilities(max_in_flight=2, idle_steps=UNLIMITED, preemptions=("recompute", "swap"))
    capabilities = replace(capabilities, **{"reserved_blocks": frozenset({BlockId(0)}), **declared})
    options = {"groups": groups, "pool": pool}
    return begin(World(num_blocks, 1, token_budget=UNLIMITED, max_running=UNLIMITED, options=options), capabilities)


def having(cache: Judged, **declared: Any) -> Judged:
    """The same with other capabilities."""
    other = cache.copy()
    other.state.capabilities = replace(cache.state.capabilities, **declared)
    return other


# Moves.


def admit(who: Request, hit: int, end: int, tables: Tables) -> Move:
    """A request is added, begins on a hit, and is given slots for its first `end` tokens."""

    def move(state: State) -> Iterator[ev.Event]:
        if who.id not in state.requests:
            yield ev.Add(who)
        first, *others = (
            table[: -(-hit // group.block_size)] for group, table in zip(state.layout.groups, tables, strict=False)
        )
        yield ev.Start(who.id, hit, first, tuple(others))
        yield ev.Reserve(who.id, end, tables[0], tables[1:])

    return move


def grow(id: RequestId, end: int, tables: Tables) -> Move:
    """A running request is given slots for its first `end` tokens."""
    return ev.Reserve(id, end, tables[0], tables[1:])


def trim(id: RequestId, group: int, index: int) -> Move:
    """An entry is given back that no query in flight or to come reads."""
    return ev.Trim(id, group, index)


def refuse(who: Request, end: int) -> Move:
    """Homes for `end` tokens are not given: at most what they need if every entry of every group is needed anew."""

    def move(state: State) -> Iterator[ev.Event]:
        if who.id not in state.requests:
            yield ev.Add(who)
        needs = state.layout.most_blocks(end)
        for number, table in enumerate(state.requests[who.id].tables):
            needs[state.layout.pool_of(number)] -= len(table)
        yield ev.Refuse(who.id, needs[0], (), tuple(needs[1:]))

    return move


def plan(id: RequestId, count: int) -> Move:
    """The step that is planned computes the next tokens of a request."""

    def move(state: State) -> Iterator[ev.Event]:
        live = state.requests[id]
        first, more = first_and_more(live)
        yield ev.Compute(id, live.computed, count, first, more=more)

    return move


def launch(state: State) -> Iterator[ev.Event]:
    """The step that is planned is dispatched, and the next one is planned."""
    yield ev.Dispatch(StepId(state.step))
    yield ev.EndStep()


def compute(id: RequestId, count: int) -> Move:
    """A step is dispatched that computes the next tokens of a request, and no other."""

    def move(state: State) -> Iterator[ev.Event]:
        yield from events(state, plan(id, count))
        yield from launch(state)

    return move


def then(*moves: Move) -> Move:
    """One move after the other."""

    def move(state: State) -> Iterator[ev.Event]:
        for each in moves:
            yield from events(state, each)

    return move


def complete(id: RequestId) -> Move:
    """The oldest step of a request is no longer on the device."""

    def move(state: State) -> Iterator[ev.Event]:
        yield ev.Complete(next(step for step, starts in state.starts.items() if id in starts))

    return move


def tell(free: Free | None = None, tables: Mapping[RequestId, Tables] | None = None, refs: Held | None = None) -> Move:
    """What is said of the pools and the groups; of requests that are not told of, the tables are the right ones."""

    def move(state: State) -> Iterator[ev.Event]:
        for number in range(len(state.layout.groups)):
            told: dict[RequestId, Table] | None = None
            if tables is not None:
                told = {id: tuple(live.tables[number]) for id, live in state.requests.items()}
                told |= {id: own[number] if own else () for id, own in tables.items()}
            counted = None if free is None else free[state.layout.pool_of(number)]
            yield ev.Observe(free=counted, tables=told, refs=refs if number == 0 else None, group=number)

    return move


def first_and_more(live: Live) -> tuple[Table, Tables]:
    """The tables of a request as events tell them."""
    first, *others = (tuple(table) for table in live.tables)
    return first, tuple(others)


# Histories.


def events(state: State, move: Move) -> Iterable[ev.Event]:
    """The events of a move; each is made in the state that those before it have left."""
    return move(state) if callable(move) else (move,)


def lived(cache: Judged, move: Move, tally: Tally | None = None) -> Judged:
    """After a move, whatever holds then. Raises what it breaks."""
    after, counted = cache.copy(), tally or Tally()
    for event in events(after.state, move):
        judge(after, event, counted)
    return after


def play(cache: Judged, *moves: Move) -> Judged:
    """After moves that are all allowed; the invariants hold all the while."""
    after = cache.copy()
    for move in moves:
        for event in events(after.state, move):
            judge(after, event, Tally())
            assert list(broken_invariants(after.state)) == []
    return after


def violation(cache: Judged, move: Move, tally: Tally | None = None) -> Violation:
    """What a move breaks."""
    with pytest.raises(Violation) as caught:
        lived(cache, move, tally)
    return caught.value


def broken(cache: Judged, move: Move, tally: Tally | None = None) -> Rule:
    """The rule that a move breaks."""
    return violation(cache, move, tally).rule


def ran(cache: Judged, who: Request, *tables: tuple[int | None, ...]) -> Judged:
    """A request has been admitted without a hit and its prompt is computed."""
    size = len(who.prompt)
    return play(cache, admit(who, 0, size, ids(*tables)), compute(who.id, size), complete(who.id))


def free(cache: Judged) -> Free:
    """Per pool, how many blocks could be handed out."""
    return tuple(cache.state.available_in(pool) for pool in range(cache.state.layout.num_pools))
