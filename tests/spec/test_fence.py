"""The fence between steps and transfers: what a transfer reads is there, what it touches is nobody else's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import Judged, Tally, Violation, judge
from kvspec import events as ev
from kvspec.rules import IN_FLIGHT_FENCE
from kvspec.state import State, initial
from kvspec.transition import step
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, StepId, TokenId, TransferId, World

CAPABILITIES = Capabilities(preemptions=("swap",), max_in_flight=2, forks=True)
A, B = RequestId("A"), RequestId("B")
FIRST, SECOND = StepId(0), StepId(1)


def blocks(*ids: int) -> tuple[BlockId, ...]:
    return tuple(BlockId(id) for id in ids)


def after(*events: ev.Event, capabilities: Capabilities = CAPABILITIES) -> State:
    state = initial(World(4, 2, preemption="swap"), capabilities)
    for event in events:
        state = step(state, event)
    return state


def request(id: RequestId, *tokens: int) -> Request:
    return Request(id, tuple(TokenId(token) for token in tokens), 3)


FLYING = (
    ev.Add(request(A, 1, 1, 2)),
    ev.Start(A),
    ev.Compute(A, 0, 3, blocks(0, 1)),
    ev.Dispatch(FIRST),
    ev.EndStep(),
)
"""A's whole prompt is being computed on the device, and the next step is planned."""
OUT = ev.SwapOut(A, TransferId(1))
SAVED = (*FLYING, ev.Complete(FIRST), OUT, ev.TransferDone(TransferId(1)))
ARRIVING = (*SAVED, ev.SwapIn(A, blocks(2, 3), TransferId(2)))


def broken(state: State, event: ev.Event) -> str:
    with pytest.raises(Violation) as caught:
        judge(Judged(state), event, Tally())
    assert caught.value.rule is IN_FLIGHT_FENCE
    return caught.value.seen


def test_a_save_waits_for_the_step_that_writes_what_it_reads() -> None:
    assert "which step 0 still writes" in broken(after(*FLYING), OUT)
    step(after(*FLYING, ev.Complete(FIRST)), OUT)


def test_unless_the_device_orders_them() -> None:
    step(after(*FLYING, capabilities=replace(CAPABILITIES, orders_transfers=True)), OUT)


def test_what_is_saved_is_not_given_away_before_it_is_saved() -> None:
    state = after(*FLYING, ev.Complete(FIRST), OUT, ev.Add(request(B, 5)), ev.Start(B))
    assert "transfer 1 may still touch" in broken(state, ev.Reserve(B, 1, blocks(0)))
    step(step(state, ev.TransferDone(TransferId(1))), ev.Reserve(B, 1, blocks(0)))


def test_what_a_step_in_flight_touches_is_not_given_away_before_it_is_complete() -> None:
    state = after(*FLYING, ev.Abort(A), ev.Add(request(B, 5)), ev.Start(B))
    assert "step 0 may still touch" in broken(state, ev.Reserve(B, 1, blocks(0)))
    step(step(state, ev.Complete(FIRST)), ev.Reserve(B, 1, blocks(0)))


def test_what_arrives_is_no_hit_before_it_is_there() -> None:
    state = after(*ARRIVING, ev.Add(request(B, 1, 1, 2)))
    assert "which transfer 2 still brings" in broken(state, ev.Start(B, 2, blocks(2)))
    step(step(state, ev.TransferDone(TransferId(2))), ev.Start(B, 2, blocks(2)))


def test_what_arrives_is_not_computed_on_before_it_is_there() -> None:
    state = after(*ARRIVING, ev.EndStep())
    done = step(state, ev.TransferDone(TransferId(2)))
    sampled = step(done, ev.Sample(A, TokenId(7)))
    step(sampled, ev.Compute(A, 3, 1, blocks(2, 3)))
    early = step(state, ev.Sample(A, TokenId(7)))
    assert "still brings its blocks back" in broken(early, ev.Compute(A, 3, 1, blocks(2, 3)))


def test_what_arrives_is_not_sent_away_again_before_it_is_there() -> None:
    assert "which transfer 2 still brings" in broken(after(*ARRIVING), ev.SwapOut(A, TransferId(3)))


def test_a_place_to_which_something_comes_is_not_given_away() -> None:
    state = after(*ARRIVING, ev.Abort(A), ev.Add(request(B, 5)), ev.Start(B))
    assert "transfer 2 may still touch" in broken(state, ev.Reserve(B, 1, blocks(2)))


def test_a_victim_may_be_computed_anew_while_its_old_blocks_are_still_being_saved() -> None:
    state = after(*FLYING, ev.Complete(FIRST), OUT, ev.EndStep(), ev.Start(A))
    state = step(state, ev.Compute(A, 0, 3, blocks(2, 3)))
    assert state.requests[A].computed == 3


def test_a_request_whose_blocks_are_still_on_their_way_does_not_compute() -> None:
    state = after(*ARRIVING, ev.Sample(A, TokenId(0)))
    assert "still brings" in broken(state, ev.Compute(A, 3, 1, blocks(2, 3)))
