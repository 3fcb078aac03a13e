"""Engines that plan the next step before they know the tokens of the last: what of that is right, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import events as ev
from kvspec import rules
from kvspec.vocabulary import DONE
from tests.spec.grouped import broken, play, ran, violation, world
from tests.spec.test_blame import counted
from tests.spec.test_transition import PLAIN, RUN_A, WORLD, after, breaks, request

pytestmark = pytest.mark.kills("law")

ORDERED = replace(PLAIN, orders_steps=True)
FLYING = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 3, (0, 1)), ev.Dispatch(0), ev.EndStep())
"""A's whole prompt is being computed on the device, and the next step is planned."""
NEXT = (ev.Abort("A"), ev.Add(request("B", 1, 1)), ev.Start("B"))


# Steps that wait for each other on the device.


def test_a_step_may_have_what_one_before_it_touches_where_they_are_ordered() -> None:
    given = (*FLYING, *NEXT, ev.Compute("B", 0, 2, (0,)))
    assert after(*given, capabilities=ORDERED).blocks[0].writers == [("B", 1), ("B", 1)]
    seen = breaks(rules.IN_FLIGHT_FENCE, *given)
    assert "B receives block 0, which step 0 may still touch" in str(seen)


def test_a_transfer_fences_its_blocks_even_where_steps_are_ordered() -> None:
    saved = (*FLYING, ev.Complete(0), ev.SwapOut("A", 7), *NEXT[1:])
    seen = breaks(rules.IN_FLIGHT_FENCE, *saved, ev.Compute("B", 0, 2, (0,)), capabilities=ORDERED)
    assert "B receives block 0, which transfer 7 may still touch" in str(seen)
    done = (*saved, ev.TransferDone(7), ev.Compute("B", 0, 2, (0,)))
    after(*done, capabilities=ORDERED)


def test_the_order_of_steps_does_not_let_a_transfer_read_what_one_still_writes() -> None:
    breaks(rules.IN_FLIGHT_FENCE, *FLYING, ev.SwapOut("A", 7), capabilities=ORDERED)


# Preempted while nobody plans.


def test_who_is_preempted_between_two_plans_may_start_in_the_next() -> None:
    assert after(*RUN_A, ev.Preempt("A", between=True)).requests["A"].computed == 0
    again = (ev.Start("A"), ev.Compute("A", 0, 3, (2, 3)))
    state = after(*RUN_A, ev.Preempt("A", between=True), *again)
    assert state.requests["A"].computed == 3 and state.requests["A"].resumed
    breaks(rules.ONE_QUEUE, *RUN_A, ev.Preempt("A"), ev.Start("A"))
    after(*RUN_A[:2], ev.Preempt("A", between=True), ev.Start("A"))  # before the first step, too


def test_a_step_that_has_scheduled_somebody_is_planned() -> None:
    two = (*RUN_A, ev.Sample("A", 1), ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (2,)))
    seen = breaks(rules.ONE_QUEUE, *two, ev.Preempt("A", between=True))
    assert "A is preempted between two plans, while a step is planned with B" in str(seen)
    after(*two, ev.Preempt("A"))
    after(*two, ev.EndStep(), ev.Preempt("A", between=True), ev.Preempt("B", between=True))


# Steps for tokens that nobody will ever have.

DROPPED = (*RUN_A, ev.Waste("A", 1, (0, 1)))
"""The token that A's first step sampled was dropped; the next step computed its position all the same."""
ENDED = (ev.Add(request("A", 0, 1, 0, new=1)), *RUN_A[1:], ev.Sample("A", 1), ev.Waste("A", 1, (0, 1)), ev.EndStep())
"""A has ended with its only token; the step that was planned before that was known runs all the same."""


def test_what_is_wasted_is_nobodys_and_nothing_is_computed_or_published() -> None:
    state = after(*DROPPED)
    live, block = state.requests["A"], state.blocks[1]
    assert (live.computed, live.filled, live.wasted) == (3, [3], 1)
    assert block.contexts == [live.contexts[2], None] and block.writers[1] == ("A", 1) and block.key is None
    assert state.left == WORLD.token_budget - 1 and state.planned == {"A": 3}


def test_who_has_ended_leaves_behind_the_step_that_was_wasted_on_it() -> None:
    state = after(*ENDED, ev.Finish("A"), ev.Add(request("B", 0, 1, 0)), ev.Start("B", 2, (0,)))
    assert set(state.free) == {1, 2, 3}
    breaks(rules.PUBLISH_ONLY_COMPUTED, *ENDED, ev.Observe(keyed=frozenset({0, 1})))
    after(*ENDED, ev.Observe(keyed=frozenset({0})))


def test_only_who_starts_anew_goes_on_after_a_wasted_step() -> None:
    wasted = (*DROPPED, ev.EndStep())
    seen = breaks(rules.CHUNK_INDEPENDENCE, *wasted, ev.Sample("A", 1))
    assert "A goes on after 1 positions were computed for nobody; expected it starts anew, or leaves" in str(seen)
    breaks(rules.CHUNK_INDEPENDENCE, *ENDED, ev.Compute("A", 3, 1, (0, 1)))
    anew = (*wasted, ev.Preempt("A", between=True), ev.Start("A", 2, (0,)), ev.Compute("A", 2, 1, (0, 1)), ev.EndStep())
    after(*anew, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)))
    breaks(rules.RESUME_EQUALS_UNINTERRUPTED, *anew, ev.Waste("A", 1, (0, 1)), ev.EndStep(), ev.Sample("A", 1))


def test_steps_that_were_planned_further_ahead_waste_the_positions_behind() -> None:
    state = after(*DROPPED, ev.EndStep(), ev.Waste("A", 1, (0, 1, 2)))
    assert state.requests["A"].wasted == 2 and state.planned == {"A": 4}
    assert [state.blocks[id].writers for id in (1, 2)] == [[("A", 0), ("A", 1)], [("A", 2), None]]
    breaks(rules.COVERAGE_AND_LIMIT, *DROPPED, ev.EndStep(), ev.Waste("A", 1, (0, 1)))
    breaks(rules.ONE_PAGE_ROUNDING, *RUN_A, ev.Waste("A", 1, (0, 1, 2)))


def test_a_step_that_leaves_tokens_to_compute_is_not_wasted() -> None:
    half = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    seen = breaks(rules.CHUNK_INDEPENDENCE, *half, ev.Waste("A", 1, (0,)))
    assert "A computes positions for nobody with 1 of 3 tokens computed" in str(seen)
    nearly = (*half, ev.Compute("A", 1, 1, (0,)), ev.EndStep())
    wasted = counted(*nearly, ev.Waste("A", 1, (0, 1)))
    assert wasted[rules.CHUNK_INDEPENDENCE] == counted(*nearly)[rules.CHUNK_INDEPENDENCE] + 1


def test_what_is_wasted_is_written_where_nobody_else_reads() -> None:
    fork = (*RUN_A, ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    seen = breaks(rules.SHARED_BYTES_NEVER_CHANGE, *fork, ev.Waste("A", 1, (0, 1)))
    assert "A writes position 3 into block 1, held by A and B" in str(seen)
    after(*fork, ev.Copy("A", 1, 1, 2), ev.Waste("A", 1, (0, 2)))


def test_a_wasted_step_takes_its_place_in_the_step() -> None:
    breaks(rules.ONE_QUEUE, *DROPPED, ev.Waste("A", 1, (0, 1)))
    breaks(rules.ONE_QUEUE, *DROPPED, ev.Preempt("A"))
    breaks(rules.ONE_QUEUE, *RUN_A, ev.Preempt("A"), ev.Waste("A", 1, (0, 1)))
    breaks(rules.STEP_BUDGET, *RUN_A, ev.Waste("A", 0, (0, 1)))
    breaks(rules.STEP_BUDGET, *RUN_A, ev.Waste("A", 5, (0, 1, 2, 3)))
    one = replace(WORLD, max_running=1)
    breaks(rules.STEP_BUDGET, *DROPPED, *NEXT[1:], ev.Compute("B", 0, 2, (2,)), world=one)


def test_a_block_that_is_handed_to_a_wasted_step_has_lost_what_it_held() -> None:
    short = (ev.Add(request("A", 0, 1)), ev.Start("A"), ev.Compute("A", 0, 2, (1,)), ev.EndStep())
    cached = (ev.Add(request("C", 1, 1)), ev.Start("C"), ev.Compute("C", 0, 2, (0,)), ev.EndStep(), ev.Abort("C"))
    taken = (*cached, *short, ev.Waste("A", 1, (1, 0)))
    assert after(*taken).blocks[0].key is None
    late = (*taken, ev.EndStep(), ev.Abort("A"), ev.Observe(keyed=frozenset({0, 1})))
    breaks(rules.CONTENT_MATCHES_KEY, *late)


def test_a_step_that_fails_spoils_no_more_than_what_it_wasted() -> None:
    state = after(*DROPPED, ev.EndStep(), ev.FailStep(1))
    assert state.blocks[0].key is not None and state.blocks[1].failed


def test_in_every_group_what_is_wasted_lies_behind_what_is_kept_but_for_a_state() -> None:
    cache = ran(world("full:2 window:2:2 state:2 draft:2:1"), request("A", 0, 1, 0), (1, 2), (3, 4), (5, 6), (7,))
    own = list(cache.state.requests["A"].contexts)
    wasted = ev.Waste("A", 1, (1, 2), more=((3, 4), (5, 6), (7, 8)))
    played = play(cache, wasted)
    held = {id: played.state.blocks[id].contexts for id in range(1, 9)}
    assert held[2] == held[4] == [own[2], None] and held[5] == [own[1]]
    assert held[6] == [None] and held[7] == own[1:] and held[8] == [None, None]
    assert played.state.blocks[8].writers[0] == ("A", cache.state.step)
    assert played.state.requests["A"].filled == [3, 3, 3, 2]
    assert broken(cache, replace(wasted, more=((3, 4), (5, 6), (7,)))) is rules.COVERAGE_AND_LIMIT


def test_a_drafter_that_runs_ahead_wastes_the_slots_that_the_step_would_have_drafted_from() -> None:
    cache = ran(world("full:2 draft:2:1", drafts_ahead=True), request("A", 0, 1, 0), (1, 2), (3, 4))
    played = play(cache, ev.Sample("A", 1), ev.Waste("A", 1, (1, 2), more=((3, 4),)))
    assert played.state.blocks[4].contexts == [played.state.requests["A"].contexts[3], None]
    assert played.state.blocks[4].writers[1] == ("A", cache.state.step)
    without = ran(world("full:2 draft:1:1", drafts_ahead=True), request("A", 0, 1), (1,), (3, 4))
    assert play(without, ev.Waste("A", 1, (1, 2), more=((3, 4),))).state.requests["A"].tables == [[1, 2], [3, 4]]


def test_a_drafter_wastes_no_slot_that_another_reads() -> None:
    cache = ran(world("full:2 draft:2:1"), request("A", 0, 1, 0), (1, 2), (3, 4))
    shared = play(cache, ev.Fork("A", request("B", 0, 1, 0), (1, 2), more=((3, 4),)), ev.Copy("A", 1, 2, 5))
    seen = violation(shared, ev.Waste("A", 1, (1, 5), more=((3, 4),)))
    assert seen.rule is rules.SHARED_BYTES_NEVER_CHANGE and "A writes position 3 into block 4" in str(seen)


def test_a_window_may_have_given_back_where_a_wasted_step_would_write() -> None:
    cache = ran(world("full:2 window:2:2"), request("A", 0, 1), (1,), (3,))
    played = play(cache, ev.Waste("A", 1, (1, 2), more=((3, None),)))
    assert played.state.requests["A"].tables == [[1, 2], [3, None]]


# Requests that stop early.

STOPPING = (ev.Add(replace(request("A", 0, 1, 0, new=3), stops=frozenset({0, 7}))), *RUN_A[1:])


def test_a_request_may_finish_early_with_a_token_that_stops_it() -> None:
    state = after(*STOPPING, ev.Sample("A", 7), ev.Finish("A"))
    assert state.requests["A"].phase is DONE and len(state.free) == 4
    seen = breaks(rules.CHUNK_INDEPENDENCE, *STOPPING, ev.Sample("A", 1), ev.Finish("A"))
    assert "A finishes with 1 of 3 new tokens; expected no token is lost" in str(seen)
    breaks(rules.CHUNK_INDEPENDENCE, *RUN_A, ev.Sample("A", 1), ev.Finish("A"))


def test_it_is_the_last_new_token_that_stops_a_request_and_none_of_its_prompt() -> None:
    breaks(rules.CHUNK_INDEPENDENCE, *STOPPING, ev.Finish("A"))
    more = (*STOPPING, ev.Sample("A", 7), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep(), ev.Sample("A", 1))
    breaks(rules.CHUNK_INDEPENDENCE, *more, ev.Finish("A"))
    after(*more, ev.Compute("A", 4, 1, (0, 1, 2)), ev.EndStep(), ev.Sample("A", 2), ev.Finish("A"))


def test_who_was_preempted_and_stops_without_a_token_that_stops_it_lost_tokens_by_that() -> None:
    again = (*STOPPING, ev.Preempt("A", between=True), ev.Start("A", 2, (0,)), ev.Compute("A", 2, 1, (0, 1)))
    sampled = (*again, ev.EndStep(), ev.Sample("A", 1))
    breaks(rules.RESUME_EQUALS_UNINTERRUPTED, *sampled, ev.Finish("A"))
