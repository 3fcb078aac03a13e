"""What the transition must allow: lawful events in given states, one test for each kind that could be forbidden unseen.

The explorer notices a guard that is too strict only where it makes a dead end. Each event here follows from the text of
S1 to S15; the comments say why nobody may object. What is checked of the state after it is what must not have changed.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import State
from kvspec import events as ev
from kvspec.vocabulary import Phase
from tests.spec.test_transition import CACHED_A, PLAIN, RUN_A, WORLD, after, request

ADD_B, HIT_B = ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,))
LONG_A = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"))


def keys(state: State) -> list[int | None]:
    return [block.key for block in state.blocks]


def cached(state: State) -> list[tuple[int, ...] | None]:
    """The tokens by which each block can be hit."""
    return [None if key is None else tuple(state.contexts.tokens(key)) for key in keys(state)]


# Steps.


@pytest.mark.parametrize("chunks", [(4,), (3, 1), (1, 3), (2, 2), (1, 1, 1, 1)], ids=str)
def test_chunks_of_any_length_are_allowed(chunks: tuple[int, ...]) -> None:
    """A step computes as many tokens as its budget has; S15: the output does not depend on it."""
    events: list[ev.Event] = [*LONG_A]
    for number, count in enumerate(chunks):
        start = sum(chunks[:number])
        table = (0, 1)[: -(-(start + count) // 2)]
        events += [ev.Compute("A", start, count, table), ev.EndStep()]
    state = after(*events)
    assert state.requests["A"].computed == 4 and cached(state) == [(0, 1), (0, 1, 0, 1), None, None]


@pytest.mark.parametrize("when", ["flying", "landed"])
def test_a_dispatched_step_may_fail(when: str) -> None:
    """A device fails when it likes; what it wrote is garbage, what was there before is not."""
    events = (*CACHED_A, ADD_B, HIT_B, ev.Compute("B", 2, 1, (0, 2)), ev.Dispatch(1), ev.EndStep())
    state = after(*events, *(() if when == "flying" else (ev.Complete(1),)), ev.FailStep(1))
    assert state.blocks[2].failed and state.blocks[2].contexts == [None, None]
    assert not state.blocks[0].failed and cached(state)[0] == (0, 1)


# Admission, refusals and forks.


def test_what_does_not_fit_is_refused_and_nothing_changes() -> None:
    """A holds two of four blocks: three more are too many, for a newcomer and for itself."""
    before = after(*RUN_A, ADD_B)
    for refusal in (ev.Refuse("B", 3), ev.Refuse("A", 3), ev.Decline("A")):
        state = after(*RUN_A, ADD_B, refusal)
        assert state == replace(before, contexts=state.contexts)


def test_an_idle_hit_counts_among_the_blocks_that_a_refusal_lacks() -> None:
    """Four blocks are idle, one of which the hit would take: four more do not fit beside it."""
    state = after(*CACHED_A, ADD_B, ev.Refuse("B", 4, (0,)))
    assert cached(state)[0] == (0, 1) and state.available_in(0) == 4


def test_a_hit_on_a_block_that_another_holds() -> None:
    state = after(*RUN_A, ADD_B, HIT_B)
    assert [block.ref for block in state.blocks] == [2, 1, 0, 0]


@pytest.mark.parametrize("table", [(0, 1), (0, 2), (2, 1), (2, 3)], ids=str)
def test_a_running_request_is_forked_with_shared_blocks_or_copies(table: tuple[int, ...]) -> None:
    state = after(*RUN_A, ev.Fork("A", request("B", 0, 1, 0), table))
    child = state.requests["B"]
    assert (child.phase, child.computed, child.table) == (Phase.RUNNING, 3, list(table))
    assert [state.blocks[id].contexts for id in table] == [state.blocks[id].contexts for id in (0, 1)]


def test_a_fork_is_forked_again() -> None:
    forked = (*RUN_A, ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    state = after(*forked, ev.Fork("B", request("C", 0, 1, 0), (0, 1)), world=replace(WORLD, max_running=3))
    assert [block.ref for block in state.blocks] == [3, 3, 0, 0]


@pytest.mark.parametrize("extent", [None, 1, 2], ids=str)
@pytest.mark.parametrize("who", ["A", "B"])
def test_a_shared_block_is_copied_before_it_is_written(who: str, extent: int | None) -> None:
    """Either of two that share it; at least the one token that is computed there, or the whole block."""
    forked = (*RUN_A, ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    copy = ev.Copy(who, 1, source=1, target=2, extent=extent)
    state = after(*forked, copy, ev.Sample(who, 1), ev.Compute(who, 3, 1, (0, 2)), ev.EndStep())
    assert state.requests[who].computed == 4 and state.blocks[1].ref == state.blocks[2].ref == 1
    assert cached(state) == [(0, 1), None, (0, 1, 0, 1), None]


# Exits.


def test_a_running_request_is_preempted_and_its_block_hit_by_itself_and_by_another() -> None:
    """What a victim leaves behind stays cached, through the start of one that hits nothing."""
    victim = (*RUN_A, ev.Preempt("A"), ev.EndStep())
    assert keys(after(*victim)) == keys(after(*RUN_A))
    after(*victim, ev.Start("A", 2, (0,)), ev.Compute("A", 2, 1, (0, 1)))
    after(*victim, ADD_B, HIT_B, ev.Compute("B", 2, 1, (0, 3)))
    state = after(*victim, ev.Add(request("C", 1, 1)), ev.Start("C"), ADD_B, HIT_B)
    assert cached(state)[0] == (0, 1)


def test_the_blocks_of_a_finished_request_are_hit() -> None:
    """What a request leaves at its end stays cached, with what it has sampled."""
    ends = (*RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep(), ev.Sample("A", 0), ev.Finish("A"))
    assert cached(after(*ends)) == [(0, 1), (0, 1, 0, 1), None, None]
    after(*ends, ADD_B, HIT_B)
    after(*ends, ev.Add(request("B", 0, 1, 0, 1, 1)), ev.Start("B", 4, (0, 1)), ev.Compute("B", 4, 1, (0, 1, 2)))


def test_the_blocks_of_an_aborted_request_are_hit_steps_later() -> None:
    other = (ev.Add(request("C", 1, 1, 1)), ev.Start("C"), ev.Compute("C", 0, 2, (2,)), ev.EndStep())
    state = after(*CACHED_A, *other, ev.Compute("C", 2, 1, (2, 3)), ev.EndStep(), ADD_B, HIT_B)
    assert state.blocks[0].ref == 1 and state.requests["B"].computed == 2 and cached(state)[0] == (0, 1)


@pytest.mark.parametrize("computed", [0, 1, 3])
@pytest.mark.parametrize("deferred", [False, True])
def test_a_running_request_is_aborted_whenever_its_client_likes(computed: int, deferred: bool) -> None:
    table = (0, 1)[: -(-computed // 2)]
    steps = (ev.Compute("A", 0, computed, table), ev.EndStep()) if computed else ()
    state = after(ev.Add(request("A", 0, 1, 0)), ev.Start("A"), *steps, ev.Abort("A", deferred))
    assert state.requests["A"].phase is Phase.DONE and state.available_in(0) == (4 - len(table) if deferred else 4)
    if deferred:
        assert after(*RUN_A, ev.Abort("A", True), ev.Release("A")).available_in(0) == 4


def test_a_waiting_request_is_aborted() -> None:
    after(ev.Add(request("A", 0, 1, 0)), ev.Abort("A"))
    after(*RUN_A, ev.Preempt("A"), ev.Abort("A"))


def test_a_running_request_is_swapped_out_and_comes_back() -> None:
    """The device is free once the transfer is done, and any idle blocks will do for the way back."""
    out = (*RUN_A, ev.SwapOut("A", 7), ev.EndStep(), ev.TransferDone(7))
    assert after(*out).available_in(0) == 4
    back = (ev.SwapIn("A", (3, 2), 8), ev.TransferDone(8), ev.Sample("A", 1), ev.Compute("A", 3, 1, (3, 2)))
    state = after(*out, *back, ev.EndStep())
    assert state.requests["A"].computed == 4 and list(state.requests["A"].tokens) == [0, 1, 0, 1]


def test_a_running_request_is_swapped_out_while_another_runs() -> None:
    both = (*RUN_A, ADD_B, HIT_B, ev.Compute("B", 2, 1, (0, 2)), ev.EndStep())
    state = after(*both, ev.SwapOut("A", 7), ev.Sample("B", 0), ev.Compute("B", 3, 1, (0, 2)), ev.EndStep())
    assert state.requests["B"].computed == 4


# Resets.


@pytest.mark.parametrize("accepted", [True, False])
def test_a_cache_is_reset_while_something_runs_or_the_reset_is_refused(accepted: bool) -> None:
    """Who runs keeps its blocks and goes on either way; what is keyed stays so where the reset is refused."""
    asked = (*RUN_A, ADD_B, ev.Reset(accepted))
    state = after(*asked)
    assert keys(state) == ([None] * 4 if accepted else keys(after(*RUN_A)))
    after(*asked, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep())
    after(*asked, *((ev.Start("B"),) if accepted else (HIT_B,)))


def test_a_cache_is_reset_while_a_step_is_on_the_device() -> None:
    flying = (*CACHED_A, ADD_B, HIT_B, ev.Compute("B", 2, 1, (0, 2)), ev.Dispatch(1), ev.EndStep())
    after(*flying, ev.Reset(True), ev.Complete(1), ev.Sample("B", 0), ev.Compute("B", 3, 1, (0, 2)), ev.EndStep())
    after(*flying, ev.Reset(False), ev.Complete(1))


def test_a_preemption_that_is_declared_is_all_that_is_needed() -> None:
    recompute = replace(PLAIN, preemptions=("recompute",))
    after(*RUN_A, ev.Preempt("A"), ev.EndStep(), ev.Start("A", 2, (0,)), capabilities=recompute)
