"""Holes that the specification once had: what an engine says of strangers, and what a refusal or a failure leaves.

Each test stands beside the nearest honest engine, which must not be accused.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvexamine.explorer.paged.scopes import SCOPES
from kvspec import Tally, judge, rules, step
from kvspec import events as ev
from kvspec.violation import HarnessFault
from tests.spec.test_blame import counted
from tests.spec.test_transition import PLAIN, RUN_A, SWAPPED, WORLD, after, breaks, judged, request

REFUSED = (*RUN_A, ev.Add(request("B", *(1,) * 5)), ev.Refuse("B", 3))
IDLE = replace(PLAIN, idle_steps=9)
RESERVED = replace(PLAIN, reserved_blocks=frozenset({3}))


# Requests that nobody has added.


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (ev.Observe(tables={"A": (0, 1), "?": (2,)}), r"has the table \[2\]"),
        (ev.Observe(waiting=("?",), running=("A",)), "stands in a queue"),
        (ev.Observe(waiting=(), running=("A", "?")), "stands in a queue"),
    ],
)
def test_a_request_that_nobody_has_added_is_a_slip_of_the_teller(claim: ev.Observe, told: str) -> None:
    for events in (RUN_A, (*RUN_A, ev.Reset(True))):
        with pytest.raises(HarnessFault, match=r"\?, which was never added, " + told):
            judge(judged(*events), claim, Tally())


@pytest.mark.parametrize(
    "claim",
    [
        ev.Observe(tables={"A": (0, 1), "C": (2,)}),
        ev.Observe(waiting=("B", "C"), running=("A",)),
    ],
)
def test_what_a_refused_fork_leaves_behind(claim: ev.Observe) -> None:
    seen = breaks(rules.FAILURE_IS_ATOMIC, *REFUSED, claim)
    assert "C, which was never added" in str(seen) and seen.facts["request"] == "C"


def test_an_empty_table_and_padding_are_nobody() -> None:
    after(*RUN_A, ev.Observe(tables={"A": (0, 1), "?": ()}))
    after(*RUN_A, ev.Observe(tables={"A": (0, 1), "?": (3, 3)}), capabilities=RESERVED)
    with pytest.raises(HarnessFault):
        judge(judged(*RUN_A, capabilities=RESERVED), ev.Observe(tables={"A": (0, 1), "?": (3, 2)}), Tally())


# Queues that name who has left.

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


# A reset that is refused.

SHOWN = ev.Observe(keyed=frozenset({0}))
EMPTY = ev.Observe(keyed=frozenset())


def test_a_refused_reset_forgets_nothing() -> None:
    after(*RUN_A, SHOWN, ev.Reset(False), SHOWN)
    seen = breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, SHOWN, ev.Reset(False), EMPTY)
    assert "forgets block 0" in str(seen)


def test_an_engine_may_evict_in_the_background_of_a_step() -> None:
    after(*RUN_A, SHOWN, ev.EndStep(), ev.Reset(False), EMPTY, capabilities=IDLE)
    after(*RUN_A, SHOWN, ev.Reset(False), ev.EndStep(), EMPTY, capabilities=IDLE)
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.EndStep(), SHOWN, ev.Reset(False), EMPTY, capabilities=IDLE)


def test_a_refused_reset_is_a_refusal() -> None:
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(free=4))
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(refs={0: 1}))
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(tables={}))
    breaks(rules.COUNT_EQUALS_HOLDERS, *RUN_A, ev.Reset(True), ev.Observe(free=4))


def test_the_index_may_shrink_otherwise() -> None:
    after(*RUN_A, SHOWN, ev.Reset(True), EMPTY)
    after(*RUN_A, SHOWN, EMPTY)
    after(*RUN_A, ev.Reset(False), EMPTY)
    after(*RUN_A, SHOWN, ev.Reset(False), SHOWN, EMPTY)
    after(*RUN_A, SHOWN, ev.Reset(False), ev.Observe(free=2), ev.Abort("A"), EMPTY)
    after(*RUN_A, SHOWN, ev.Sample("A", 1), ev.Reset(False), EMPTY)
    after(*RUN_A, EMPTY, ev.Reset(False), SHOWN)
    after(*RUN_A, SHOWN, ev.Reset(True), ev.Reset(False), EMPTY)


def test_a_refused_reset_is_counted_where_the_index_is_shown_before_and_after() -> None:
    met = counted(*RUN_A, SHOWN, ev.Reset(False), SHOWN)
    assert met[rules.FAILURE_IS_ATOMIC] == 1
    assert counted(*RUN_A, ev.Reset(False), SHOWN)[rules.FAILURE_IS_ATOMIC] == 0


# What a failed step wrote, on its way through the host.

FAILED_OUT = (*RUN_A, ev.FailStep(0), ev.SwapOut("A", 7), ev.TransferDone(7), ev.EndStep())
OUT_FAILED = (*SWAPPED, ev.FailStep(0), ev.TransferDone(7), ev.EndStep())
BACK = (ev.SwapIn("A", (2, 3), 8), ev.TransferDone(8))


@pytest.mark.parametrize("out", [FAILED_OUT, OUT_FAILED], ids=["fails on the device", "fails once it is on the host"])
def test_garbage_comes_back_from_the_host_as_garbage(out: tuple[ev.Event, ...]) -> None:
    state = after(*out, *BACK)
    assert [(state.blocks[id].failed, state.blocks[id].key) for id in (2, 3)] == [(True, None)] * 2
    breaks(rules.INVALIDATE, *out, *BACK, ev.Observe(keyed=frozenset({2})))
    breaks(rules.INVALIDATE, *out, *BACK, ev.Copy("A", 0, 2, 0))
    breaks(rules.INVALIDATE, *out, *BACK, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))


def test_what_another_step_wrote_comes_back_whole() -> None:
    grown = (*RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep())
    for events in (
        (*grown, ev.FailStep(1), ev.SwapOut("A", 7), ev.TransferDone(7), ev.EndStep()),
        (*grown, ev.SwapOut("A", 7), ev.FailStep(1), ev.TransferDone(7), ev.EndStep()),
    ):
        state = after(*events, *BACK)
        assert [state.blocks[id].failed for id in (2, 3)] == [False, True]
        assert state.blocks[2].key is not None
        after(*events, *BACK, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))
    first = after(*grown, ev.SwapOut("A", 7), ev.FailStep(0), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [[c is not None for c in first.blocks[id].contexts] for id in (2, 3)] == [[False, False], [False, True]]
    both = after(*grown, ev.SwapOut("A", 7), ev.FailStep(0), ev.FailStep(1), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [both.blocks[id].failed for id in (2, 3)] == [True, True]
    later = after(*grown, ev.FailStep(1), ev.SwapOut("A", 7), ev.FailStep(9), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [c is not None for c in later.blocks[3].contexts] == [True, False]
    sound = (*SWAPPED, ev.FailStep(5), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [block.failed for block in after(*sound).blocks] == [False] * 4


def test_who_begins_anew_instead_has_nothing_on_the_host() -> None:
    anew = (*OUT_FAILED, ev.Start("A"), ev.Compute("A", 0, 4, (2, 3)), ev.EndStep())
    assert [after(*anew).blocks[id].failed for id in (2, 3)] == [False, False]


def test_no_scope_of_the_explorer_needs_to_know_who_wrote_what_is_on_the_host() -> None:
    """It drops `swapped_by` and `garbage` from its keys, which only a failure reads and writes."""
    assert not [name for name, scope in SCOPES.items() if scope.has("swap") and scope.has("fail")]


# A swap that nobody declares.


def test_a_swap_is_declared_or_asked_for() -> None:
    recompute = replace(PLAIN, preemptions=("recompute",))
    with pytest.raises(HarnessFault, match="A is swapped out, and no preemption by swap"):
        step(after(*RUN_A, capabilities=recompute), ev.SwapOut("A", 7))
    after(*RUN_A, ev.SwapOut("A", 7), capabilities=replace(PLAIN, preemptions=("swap",)))
    after(*RUN_A, ev.SwapOut("A", 7), world=replace(WORLD, preemption="swap"), capabilities=recompute)


# Merging the blocks of who has left.

MERGING = replace(PLAIN, remaps_duplicates=True)


def test_only_who_runs_is_remapped() -> None:
    two = (*RUN_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)), ev.EndStep())
    after(*two, ev.Remap("B", 0, 0), capabilities=MERGING)
    left = (*two, ev.Abort("B", deferred=True))
    seen = breaks(rules.ONE_QUEUE, *left, ev.Remap("B", 0, 0), capabilities=MERGING)
    assert "B is remapped while it is done" in str(seen)


# A victim without blocks.


def test_preempting_a_victim_that_holds_nothing_is_no_idle_step() -> None:
    """It frees no block (L1), but an honest scheduler may take it for a way to make room, once for each victim."""
    idle = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"))
    after(*idle, ev.Preempt("A"), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *idle, ev.EndStep())
