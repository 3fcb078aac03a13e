"""Engines that plan the next step before they know the tokens of the last: what of that is right, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import events as ev
from kvspec import rules
from tests.spec.test_transition import PLAIN, RUN_A, after, breaks, request

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
