"""The queues in which an engine says that requests stand, and until when who has left may stand in one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import events as ev
from kvspec import rules
from tests.spec.test_transition import PLAIN, RUN_A, SWAPPED, after, breaks, request

pytestmark = pytest.mark.kills("law")

IDLE = replace(PLAIN, idle_steps=9)
LEFT = (*RUN_A, ev.Abort("A"))
STILL = ev.Observe(waiting=(), running=("A",))


DONE = (*RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep(), ev.Sample("A", 1), ev.Finish("A"))


SEEN, UNSEEN = (ev.Dispatch(1), ev.EndStep(), ev.Complete(1)), (ev.EndStep(), ev.EndStep())
"""The step after the one in which A leaves is done: as it is told, and as it follows from the end of the next one."""


@pytest.mark.parametrize("done", [SEEN, UNSEEN])
def test_who_has_left_stands_in_no_queue(done: tuple[ev.Event, ...]) -> None:
    seen = breaks(rules.ONE_QUEUE, *LEFT, *done, STILL)
    assert "A stands in a queue after it has left" in str(seen) and seen.facts["request"] == "A"
    after(*LEFT, *done, ev.Observe(waiting=(), running=()))
    breaks(rules.ONE_QUEUE, *DONE, *UNSEEN, STILL)


def test_a_step_that_was_not_dispatched_may_complete_until_the_next_one_ends() -> None:
    after(*LEFT, ev.EndStep(), STILL)
    after(*DONE, ev.EndStep(), STILL)
    after(*LEFT, ev.EndStep(), ev.Dispatch(2), STILL)
    breaks(rules.ONE_QUEUE, *LEFT, ev.EndStep(), ev.Dispatch(2), ev.EndStep(), ev.Complete(2), STILL)
    breaks(rules.ONE_QUEUE, *LEFT, *SEEN, ev.EndStep(), STILL)
    state = after(*LEFT, ev.EndStep())
    assert (state.step, state.oldest, state.unfinished) == (2, 1, (2,))
    assert after(*LEFT, *SEEN).oldest == 2


def test_an_empty_step_that_was_dispatched_may_tidy_up_when_it_completes() -> None:
    waits = (*LEFT, ev.Add(request("B", 1)), ev.Dispatch(1), ev.EndStep())
    named = ev.Observe(waiting=("B",), running=("A",))
    after(*waits, named, capabilities=IDLE)
    breaks(rules.ONE_QUEUE, *waits, ev.Complete(1), named, capabilities=IDLE)


def test_an_empty_step_on_the_device_is_an_idle_one() -> None:
    waits = (ev.Add(request("A", 1)), ev.Dispatch(0))
    breaks(rules.PROGRESS_OR_REJECT, *waits, ev.EndStep())
    flies = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep(), ev.Add(request("B", 1)), ev.Dispatch(1))
    after(*flies, ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *flies, ev.Complete(0), ev.EndStep())


def test_who_is_rejected_stands_in_no_queue() -> None:
    huge = (ev.Add(request("A", *(0,) * 20)), ev.Reject("A"))
    breaks(rules.ONE_QUEUE, *huge, *UNSEEN, ev.Observe(waiting=("A",)))
    after(*huge, ev.Observe(waiting=("A",)), ev.EndStep(), ev.Observe(waiting=()))


def test_a_queue_may_be_cleaned_in_the_step_after() -> None:
    after(*LEFT, STILL, ev.EndStep(), ev.Observe(waiting=(), running=()))


B_FLIES = (ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (2,)), ev.Dispatch(1), ev.EndStep())


def test_a_queue_may_be_cleaned_when_the_step_completes() -> None:
    named = ev.Observe(waiting=(), running=("A", "B"))
    for events in ((*RUN_A, ev.Abort("A"), *B_FLIES), (*RUN_A, *B_FLIES, ev.Abort("A"))):
        after(*events, named)
        after(*events, named, ev.Complete(1), ev.EndStep(), ev.Observe(waiting=(), running=("B",)), capabilities=IDLE)
        breaks(rules.ONE_QUEUE, *events, ev.Complete(1), *UNSEEN, named, capabilities=IDLE)


def test_who_still_holds_something_may_stand_in_a_queue() -> None:
    deferred = (*RUN_A, ev.Abort("A", deferred=True), ev.EndStep())
    after(*deferred, STILL)
    after(*deferred, ev.Release("A"), STILL)
    breaks(rules.ONE_QUEUE, *deferred, ev.Release("A"), *UNSEEN, STILL)
    moving = (*SWAPPED, ev.Abort("A"), ev.EndStep(), ev.EndStep())
    after(*moving, STILL)
    after(*moving, ev.TransferDone(7), STILL)
    breaks(rules.ONE_QUEUE, *moving, ev.TransferDone(7), *UNSEEN, STILL)


def test_a_victim_whose_transfer_is_done_has_not_left() -> None:
    after(*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.Observe(waiting=("A",)))
