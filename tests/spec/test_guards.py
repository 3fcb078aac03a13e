"""Guards and effects that mutation testing found untested: the allowed event beside the nearest one that is not.

Written from S1 to S15, as test_transition.py. The last part breaks states by hand, one invariant at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kvspec import Judged, Request, State, Tally, begin, judge, rules, step
from kvspec import events as ev
from kvspec.invariants import broken_invariants
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Violation
from kvspec.vocabulary import BlockId, Phase
from tests.spec.test_transition import CACHED_A, PLAIN, RUN_A, SWAPPED, WORLD, after, breaks, request

pytestmark = pytest.mark.kills("law")

LRU, TAIL, FCFS, DECODE = (
    replace(PLAIN, profiles=frozenset({name})) for name in ("lru", "tail-first", "fcfs", "decode-first")
)
BIG = replace(WORLD, num_blocks=6, token_budget=8)
START_A = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"))
START_B = (ev.Add(request("B", 1)), ev.Start("B"))

# Admission.


def test_a_step_that_only_rejects_a_request_has_made_progress() -> None:
    big = ev.Add(request("B", *(0,) * 8))
    after(ev.Add(request("A", 0)), big, ev.Reject("B"), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, ev.Add(request("A", 0)), big, ev.EndStep())


@pytest.mark.parametrize("kept", [{"watermark_blocks": 1}, {"lookahead_blocks": 1}])
def test_blocks_that_an_engine_declares_to_keep_are_not_offered(kept: dict[str, int]) -> None:
    two = (*RUN_A, ev.Add(request("B", 1, 1, 1)))
    after(*two, ev.Refuse("B", need=2), capabilities=replace(PLAIN, **kept))  # type: ignore[arg-type]
    breaks(rules.FIT_AGREES_WITH_ALLOCATE, *two, ev.Refuse("B", need=2))
    breaks(rules.FIT_AGREES_WITH_ALLOCATE, *two, ev.Refuse("B", 1), capabilities=replace(PLAIN, **kept))  # type: ignore[arg-type]


def test_profile_fcfs_binds_newcomers_and_not_those_who_have_begun_before() -> None:
    both = (ev.Add(request("A", 0)), ev.Add(request("B", 1)), ev.Start("A"), ev.Start("B"))
    computed = (ev.Compute("A", 0, 1, (0,)), ev.Compute("B", 0, 1, (1,)), ev.EndStep())
    victims = (*both, *computed, ev.Preempt("B"), ev.Preempt("A"), ev.EndStep())
    after(*victims, ev.Start("B"), capabilities=FCFS)
    breaks(rules.ONE_QUEUE, *victims, ev.Add(request("C", 1)), ev.Start("C"), capabilities=FCFS)


def test_a_wrong_count_of_hits_is_told_with_those_of_resumed_requests() -> None:
    hit = (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))
    again = (ev.Preempt("B"), ev.EndStep(), ev.Start("B", 2, (0,)))
    seen = breaks(rules.COUNTERS, *hit, *again, *again, ev.Observe(counters=(9, 6)))
    assert "2 tokens were hit (4 more by resumed requests" in str(seen)


def test_a_fork_has_as_many_blocks_as_its_parent() -> None:
    child = request("B", 0, 1, 0)
    breaks(rules.COVERAGE_AND_LIMIT, *RUN_A, ev.Fork("A", child, (0,)))
    breaks(rules.COVERAGE_AND_LIMIT, *RUN_A, ev.Fork("A", child, (0, 1, 2)))


@pytest.mark.parametrize(
    "child",
    [request("B", 0, 1), request("B", 0, 1, 1), request("B", 0, 1, 0, salt="x")],
    ids=("less", "more", "salted"),
)
def test_a_fork_of_another_prompt_or_salt_is_a_harness_fault(child: Request) -> None:
    with pytest.raises(HarnessFault):
        step(after(*RUN_A), ev.Fork("A", child, (0, 1)))


@pytest.mark.parametrize("table", [(2, 3), (0, 3)])
def test_a_fork_may_receive_copies_in_blocks_of_its_own(table: tuple[int, ...]) -> None:
    # Of both orders: A's second block has a smaller number than the copy, and once a greater one.
    state = after(*RUN_A, ev.Fork("A", request("B", 0, 1, 0), table))
    assert state.requests["B"].table == list(table)
    assert state.blocks[3].contexts == state.blocks[1].contexts
    assert state.blocks[1].ref == 1 and state.blocks[3].ref == 1


def test_a_fork_copies_into_blocks_of_smaller_numbers_too() -> None:
    high = (*START_A, ev.Compute("A", 0, 3, (3, 2)), ev.EndStep())
    state = after(*high, ev.Fork("A", request("B", 0, 1, 0), (1, 0)))
    assert [state.blocks[b].ref for b in range(4)] == [1, 1, 1, 1]
    assert state.blocks[1].contexts == state.blocks[3].contexts


# Blocks change hands.


@pytest.mark.parametrize("id", [-1, 4])
def test_a_block_that_the_pool_does_not_have_is_not_handed_out(id: int) -> None:
    breaks(rules.NO_DANGLING_REFERENCE, *START_B, ev.Compute("B", 0, 1, (id,)))


@pytest.mark.parametrize("id", [-1, 4])
def test_a_hit_on_a_block_that_the_pool_does_not_have(id: int) -> None:
    breaks(rules.NO_DANGLING_REFERENCE, *CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (id,)))


def test_who_receives_a_held_block_is_named_with_its_owners() -> None:
    seen = breaks(rules.CONSERVATION, *RUN_A, *START_B, ev.Compute("B", 0, 1, (1,)))
    assert "B receives block 1, which A still holds" in str(seen)
    assert (seen.facts["request"], seen.facts["block"]) == ("B", 1)


CHAIN = (ev.Add(request("A", *(0,) * 4)), ev.Start("A"), ev.Compute("A", 0, 4, (1, 0)), ev.EndStep(), ev.Abort("A"))


def test_tails_go_first_whatever_their_numbers() -> None:
    after(*CHAIN, *START_B, ev.Compute("B", 0, 1, (0,)), capabilities=TAIL)
    breaks(rules.CONTIGUOUS_CHAIN, *CHAIN, *START_B, ev.Compute("B", 0, 1, (1,)), capabilities=TAIL)


def test_where_no_order_is_declared_any_idle_block_may_be_evicted() -> None:
    after(*CHAIN, *START_B, ev.Compute("B", 0, 1, (1,)))


def test_a_block_that_caches_nothing_may_go_before_those_behind_it() -> None:
    # The head of the chain was written by a step that failed: it is garbage, while the block behind it is cached.
    half = (ev.Add(request("A", *(0,) * 4)), ev.Start("A"), ev.Compute("A", 0, 2, (1,)), ev.EndStep())
    whole = (*half, ev.Compute("A", 2, 2, (1, 0)), ev.EndStep(), ev.FailStep(0), ev.Abort("A"))
    after(*whole, *START_B, ev.Compute("B", 0, 1, (1,)), capabilities=TAIL)


def test_a_copy_of_a_block_is_as_old_as_the_block() -> None:
    fork = (*RUN_A, ev.Fork("A", request("B", 0, 1, 0), (0, 1)), ev.Reset(True))
    copied = (*fork, ev.Copy("B", 0, 0, 2), ev.Abort("B"), ev.Add(request("C", 0, 1, 1)))
    breaks(rules.INVALIDATE, *copied, ev.Start("C", 2, (2,)))


# Computing.


def test_a_copy_of_the_valid_extent_and_no_more_is_enough() -> None:
    fork = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    state = after(*fork, ev.Copy("B", 1, 1, 2, extent=1), ev.Compute("B", 3, 1, (0, 2)))
    assert state.blocks[2].contexts == state.requests["B"].contexts[2:4]
    breaks(rules.SHARED_BYTES_NEVER_CHANGE, *fork, ev.Copy("B", 1, 1, 2, extent=0))


def test_a_copy_of_more_than_a_block_is_nonsense_and_of_more_than_is_valid_harmless() -> None:
    fork = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    state = after(*fork, ev.Copy("B", 1, 1, 2, extent=2))
    for extent in (-1, 0, 3, 2**53 - 1):
        with pytest.raises(Violation) as caught:
            judge(Judged(state.copy()), ev.Copy("A", 1, 1, 3, extent=extent), Tally())
        assert caught.value.rule is rules.SHARED_BYTES_NEVER_CHANGE
        assert caught.value.seen == f"block 1 has 1 valid tokens, and {extent} are copied to block 3"
        assert caught.value.expected == "at least the valid extent is copied, and at most the 2 tokens of a block"


def test_nobody_samples_beyond_its_limit() -> None:
    one = (ev.Add(request("A", 0, new=1)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep(), ev.Sample("A", 1))
    breaks(rules.CHUNK_INDEPENDENCE, *one, ev.Compute("A", 1, 1, (0,)), ev.Sample("A", 1))


@pytest.mark.parametrize("slots", [((0, 0),), ((0, 0), (0, 1), (1, 0))])
def test_a_position_has_one_slot(slots: tuple[tuple[int, int], ...]) -> None:
    breaks(rules.COVERAGE_AND_LIMIT, *START_A, ev.Compute("A", 0, 2, (0,), slots=slots))


@pytest.mark.parametrize("slot", [(-1, 0), (4, 0), (0, -1), (0, 2)])
def test_a_slot_lies_in_a_block_of_the_pool(slot: tuple[int, int]) -> None:
    breaks(rules.COVERAGE_AND_LIMIT, *START_B, ev.Compute("B", 0, 1, (0,), slots=(slot,)))


def test_who_writes_into_a_block_of_others_is_named_with_its_owners() -> None:
    fork = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    seen = breaks(rules.SHARED_BYTES_NEVER_CHANGE, *fork, ev.Compute("A", 3, 1, (0, 1)))
    assert "A writes position 3 into block 1, held by A and B; expected a block that only A holds" in str(seen)
    assert (seen.facts["request"], seen.facts["block"]) == ("A", 1)


LONG = (ev.Add(request("A", 0, 1, 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 3, (0, 1)), ev.EndStep())
ASTRAY = ev.Compute("A", 3, 2, (0, 1, 2), slots=((2, 1), (2, 0)))
"""Position 3 belongs into block 1 slot 1, which stays empty."""


def test_what_a_step_computes_is_read_back_through_the_table() -> None:
    seen = breaks(rules.CHUNK_INDEPENDENCE, *LONG, ASTRAY, world=BIG)
    assert "A reads position 3 from block 1 slot 1, which holds nothing that was computed" in str(seen)
    assert "its own position 3 (token 1)" in str(seen)
    assert (seen.facts["block"], seen.facts["slot"], seen.facts["position"]) == (1, 1, 3)
    after(*LONG, replace(ASTRAY, slots=((1, 1), (2, 0))), world=BIG)


def test_the_first_wrong_slot_of_a_block_is_named() -> None:
    begun = (ev.Add(request("A", *(0,) * 7)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
    astray = ev.Compute("A", 4, 3, (0, 1, 2), slots=((1, 1), (2, 1), (2, 0)))
    seen = breaks(rules.CHUNK_INDEPENDENCE, *begun, astray, world=replace(BIG, block_size=3))
    assert (seen.facts["block"], seen.facts["slot"], seen.facts["position"]) == (1, 2, 5)


def test_a_resumed_request_that_reads_what_was_never_computed() -> None:
    back = (*LONG, ev.Preempt("A"), ev.EndStep(), ev.Start("A", 2, (0,)), ev.Compute("A", 2, 1, (0, 1)), ev.EndStep())
    breaks(rules.RESUME_EQUALS_UNINTERRUPTED, *back, ASTRAY, world=BIG)


def test_a_request_that_overwrites_its_own_positions() -> None:
    again = replace(ASTRAY, count=1, table=(0, 1), slots=((0, 1),))
    seen = breaks(rules.SHARED_BYTES_NEVER_CHANGE, *LONG, again, world=BIG)
    assert "A reads position 1 from block 0 slot 1, which holds A's position 3 (token 1), written in step 1" in str(
        seen
    )


def test_the_rule_of_a_read_is_that_of_the_way_by_which_it_came() -> None:
    tally = Tally()
    state = begin(WORLD, PLAIN)
    for event in RUN_A:
        judge(state, event, tally)
    assert tally.exercised[rules.CHUNK_INDEPENDENCE] > 0
    assert tally.exercised[rules.RESUME_EQUALS_UNINTERRUPTED] == 0
    resumed = Tally()
    for event in (ev.Preempt("A"), ev.EndStep(), ev.Start("A"), ev.Compute("A", 0, 2, (2,))):
        judge(state, event, resumed)
    assert resumed.exercised[rules.RESUME_EQUALS_UNINTERRUPTED] == 3  # no position past its tokens, in order, read
    assert resumed.exercised[rules.CHUNK_INDEPENDENCE] == 0


def test_a_chunk_that_leaves_positions_out_is_told_as_such() -> None:
    start = (*START_A, ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    seen = breaks(rules.CHUNK_INDEPENDENCE, *start, ev.Compute("A", 2, 1, (0, 1)))
    assert "A computes from position 2 on with 1 computed" in str(seen)


def test_declared_lookahead_comes_on_top_of_what_the_limit_needs() -> None:
    ahead = replace(PLAIN, lookahead_blocks=1)
    start = (ev.Add(request("A", 0, 1, 0, new=1)), ev.Start("A"))
    after(*start, ev.Compute("A", 0, 3, (0, 1, 2)), capabilities=ahead)
    breaks(rules.COVERAGE_AND_LIMIT, *start, ev.Compute("A", 0, 3, (0, 1, 2, 3)), capabilities=ahead)


@pytest.mark.parametrize(("index", "source"), [(1, 0), (1, 3), (2, 1), (-1, 1)])
def test_a_copy_moves_the_block_that_its_entry_names(index: int, source: int) -> None:
    copied = ev.Copy("A", index, source, 2)
    breaks(rules.NO_DANGLING_REFERENCE, *RUN_A, ev.Sample("A", 1), copied)


def test_under_a_policy_of_another_name_order_of_arrival_counts() -> None:
    urgent = (ev.Add(Request("A", (0,), 1, 5)), ev.Add(Request("B", (0,), 1, 1)))  # type: ignore[arg-type]
    after(*urgent, ev.Start("A"), world=replace(WORLD, policy="shortest-first"), capabilities=FCFS)


# Leaving, and steps as a whole.


def test_a_step_in_which_only_somebody_leaves_has_made_progress() -> None:
    waiting = (*RUN_A, ev.Add(request("B", 1)))
    after(*waiting, ev.Abort("A"), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *waiting, ev.EndStep())


def test_a_step_in_which_only_blocks_are_given_back_has_made_progress() -> None:
    kept = (*RUN_A, ev.Add(request("B", 1)), ev.Abort("A", deferred=True), ev.EndStep())
    after(*kept, ev.Release("A"), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *kept, ev.EndStep())


def test_after_a_reset_nothing_is_cached_that_an_order_of_eviction_could_protect() -> None:
    after(*CHAIN, ev.Reset(True), *START_B, ev.Compute("B", 0, 1, (1,)), capabilities=TAIL)
    breaks(rules.CONTIGUOUS_CHAIN, *CHAIN, ev.Reset(False), *START_B, ev.Compute("B", 0, 1, (1,)), capabilities=TAIL)


def test_a_second_reset_forgets_what_was_cached_after_the_first() -> None:
    again = (*CACHED_A, ev.Reset(True), ev.Add(request("B", 0, 1, 1)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)))
    cached = (*again, ev.EndStep(), ev.Abort("B"))
    after(*cached, ev.Add(request("C", 0, 1, 1)), ev.Start("C", 2, (2,)))
    breaks(rules.INVALIDATE, *cached, ev.Reset(True), ev.Add(request("C", 0, 1, 1)), ev.Start("C", 2, (2,)))


IN_FLIGHT = (
    *RUN_A[:-1],
    ev.Dispatch(0),
    ev.EndStep(),
    *START_B,
    ev.Compute("B", 0, 1, (2,)),
    ev.Dispatch(1),
    ev.EndStep(),
)


def test_a_step_that_fails_spoils_what_it_wrote_and_nothing_else() -> None:
    state = after(*IN_FLIGHT, ev.FailStep(0))
    assert state.blocks[0].contexts == [None, None] and state.blocks[0].failed and state.blocks[0].key is None
    assert state.blocks[2].contexts == [state.requests["B"].contexts[0], None] and not state.blocks[2].failed
    state = after(*IN_FLIGHT, ev.FailStep(1))
    assert not state.blocks[0].failed and state.blocks[0].key is not None and state.blocks[2].failed


def test_what_a_failed_step_wrote_leaves_the_index() -> None:
    breaks(rules.INVALIDATE, *RUN_A, ev.FailStep(0), ev.Observe(keyed=frozenset({0})))
    after(*RUN_A, ev.FailStep(0), ev.Observe(keyed=frozenset()))


def test_blocks_missing_after_a_failure_were_not_released() -> None:
    breaks(rules.EVERY_EXIT_RELEASES, *RUN_A, ev.FailStep(0), ev.Observe(free=1))


# Profile decode-first: who runs, and fits into budget, batch and pool, is scheduled.

DECODING = (*RUN_A, ev.Sample("A", 1))
"""A has one token to compute, for which its second block has room."""
FULL = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep(), ev.Sample("A", 1))
"""A has one token to compute and needs a third block for it."""


def b_computes(count: int, *table: int) -> tuple[ev.Event, ...]:
    return (ev.Add(request("B", *(1,) * count)), ev.Start("B"), ev.Compute("B", 0, count, table), ev.EndStep())


def test_decode_first_asks_nothing_of_a_step_whose_budget_is_spent() -> None:
    after(*DECODING, *b_computes(4, 2, 3), capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *DECODING, *b_computes(3, 2, 3), capabilities=DECODE)


def test_decode_first_asks_nothing_of_a_step_whose_batch_is_full() -> None:
    after(*DECODING, *b_computes(1, 2), world=replace(WORLD, max_running=1), capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *DECODING, *b_computes(1, 2), world=WORLD, capabilities=DECODE)


def test_decode_first_asks_nothing_where_no_block_is_left_for_the_next_token() -> None:
    after(*FULL, *b_computes(3, 2, 3), capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *FULL, *b_computes(1, 2), capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *DECODING, *b_computes(3, 2, 3), capabilities=DECODE)


def test_decode_first_asks_nothing_of_who_has_nothing_to_compute_or_does_not_run() -> None:
    after(*RUN_A, *b_computes(1, 2), capabilities=DECODE)
    after(*DECODING, ev.Preempt("A"), *b_computes(1, 2), capabilities=DECODE)
    after(*SWAPPED, ev.TransferDone(7), *b_computes(1, 0), capabilities=DECODE)


def test_decode_first_asks_nothing_of_who_is_still_on_its_way_back() -> None:
    back = (*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8))
    after(*back, *b_computes(1, 0), capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *back, ev.TransferDone(8), *b_computes(1, 0), capabilities=DECODE)


def test_decode_first_is_content_with_who_is_scheduled() -> None:
    chunk = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    after(*chunk, capabilities=DECODE)
    breaks(rules.BOUNDED_DECODE_GAP, *chunk, *b_computes(1, 2), capabilities=DECODE)


MERGING = replace(PLAIN, remaps_duplicates=True)


@pytest.mark.parametrize("index", [-1, 1, 2])
def test_only_a_whole_block_of_the_table_is_merged(index: int) -> None:
    twice = (*RUN_A, ev.Add(request("B", 0, 1, 0)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)), ev.EndStep())
    breaks(rules.NO_DANGLING_REFERENCE, *twice, ev.Remap("B", index, 1), capabilities=MERGING)
    after(*twice, ev.Remap("B", 0, 0), capabilities=MERGING)


def test_a_transfer_that_does_not_wait_for_the_step_in_flight_must_be_declared_ordered() -> None:
    flying = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep())
    seen = breaks(rules.IN_FLIGHT_FENCE, *flying, ev.SwapOut("A", 7))
    assert "which step 0 still writes" in str(seen)
    after(*flying, ev.Complete(0), ev.SwapOut("A", 7))
    after(*flying, ev.SwapOut("A", 7), capabilities=replace(PLAIN, orders_transfers=True))


def test_a_block_that_two_transfers_touch_is_fenced_until_both_are_done() -> None:
    both = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)), ev.SwapOut("A", 7))
    out = (*both, ev.SwapOut("B", 8), ev.Add(request("C", 1)), ev.Start("C"))
    for first, second in ((7, 8), (8, 7)):
        breaks(rules.IN_FLIGHT_FENCE, *out, ev.TransferDone(first), ev.Compute("C", 0, 1, (0,)))
        after(*out, ev.TransferDone(first), ev.TransferDone(second), ev.Compute("C", 0, 1, (0,)))


def test_what_comes_from_the_host_was_computed_in_no_step_of_now() -> None:
    at_once = (*SWAPPED, ev.TransferDone(7), ev.SwapIn("A", (2, 3), 8), ev.TransferDone(8))
    after(*at_once, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))
    for number in (0, 1):
        state = after(*at_once, ev.FailStep(number))
        assert state.blocks[2].contexts == state.requests["A"].contexts[:2] and not state.blocks[2].failed


@pytest.mark.parametrize("reader", [ev.Copy("A", 1, 1, 2), ev.Fork("A", request("B", 0, 1, 0), (0, 2))])
def test_what_a_failed_step_wrote_is_not_copied(reader: ev.Event) -> None:
    seen = breaks(rules.INVALIDATE, *RUN_A, ev.FailStep(0), reader)
    assert "copies block 1, written by a failed step" in str(seen)
    after(*RUN_A, reader)


@pytest.mark.parametrize("number", [0, 2])
def test_a_step_is_dispatched_when_it_is_planned(number: int) -> None:
    planned = after(*RUN_A, *START_B, ev.Compute("B", 0, 1, (2,)))
    with pytest.raises(HarnessFault):
        step(planned, ev.Dispatch(number))
    assert 1 in step(planned, ev.Dispatch(1)).in_flight


# What a transfer still brings is not read.

COMING = (*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8))
CHILD = request("B", 0, 1, 0)


@pytest.mark.parametrize(
    "reader",
    [ev.Copy("A", 1, 3, 0), ev.Fork("A", CHILD, (2, 0)), ev.SwapOut("A", 9)],
    ids=lambda one: type(one).__name__,
)
def test_a_block_is_not_read_while_a_transfer_still_brings_it(reader: ev.Event) -> None:
    seen = breaks(rules.IN_FLIGHT_FENCE, *COMING, reader)
    assert "which transfer 8 still brings" in str(seen)
    after(*COMING, ev.TransferDone(8), reader)


def test_a_fork_may_share_blocks_that_are_on_their_way() -> None:
    after(*COMING, ev.Fork("A", CHILD, (2, 3)))


def test_a_block_that_is_only_read_by_a_transfer_may_be_read() -> None:
    # C is on its way back into block 3, A on its way out of blocks 0 and 1, of which B copies one.
    two = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", CHILD, (0, 1)), ev.Add(request("C", 1)), ev.Start("C"))
    gone = (ev.Compute("C", 0, 1, (2,)), ev.EndStep(), ev.SwapOut("C", 5), ev.TransferDone(5), ev.EndStep())
    after(*two, *gone, ev.SwapIn("C", (3,), 6), ev.SwapOut("A", 7), ev.Copy("B", 1, 1, 4), world=BIG)


TWO_COMING = (
    *(*RUN_A, ev.Sample("A", 1), ev.Add(request("C", 1)), ev.Start("C"), ev.Compute("C", 0, 1, (2,)), ev.EndStep()),
    *(ev.SwapOut("A", 5), ev.TransferDone(5), ev.SwapOut("C", 6), ev.TransferDone(6), ev.EndStep()),
    *(ev.SwapIn("A", (3, 4), 7), ev.SwapIn("C", (5,), 8)),
)
"""Transfer 7 brings A into blocks 3 and 4, transfer 8 brings C into block 5."""


def test_of_two_transfers_each_is_awaited() -> None:
    copy_a, copy_c = ev.Copy("A", 1, 4, 0), ev.Copy("C", 0, 5, 1)
    breaks(rules.IN_FLIGHT_FENCE, *TWO_COMING, copy_a, world=BIG)
    breaks(rules.IN_FLIGHT_FENCE, *TWO_COMING, copy_c, world=BIG)
    breaks(rules.IN_FLIGHT_FENCE, *TWO_COMING, ev.TransferDone(7), copy_c, world=BIG)
    breaks(rules.IN_FLIGHT_FENCE, *TWO_COMING, ev.TransferDone(8), copy_a, world=BIG)
    after(*TWO_COMING, ev.TransferDone(7), ev.TransferDone(8), copy_a, copy_c, world=BIG)


def test_what_a_transfer_brought_may_be_hit_and_only_under_its_salt() -> None:
    back = (*COMING, ev.TransferDone(8), ev.EndStep())
    after(*back, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))
    breaks(rules.ISOLATION, *back, ev.Add(request("B", 0, 1, 1, salt="x")), ev.Start("B", 2, (2,)))


def test_a_step_in_which_only_a_transfer_begins_and_ends_has_made_progress() -> None:
    after(*COMING, ev.TransferDone(8), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *COMING, ev.TransferDone(8), ev.EndStep(), ev.EndStep())


def test_every_full_block_that_a_transfer_brings_has_its_key() -> None:
    state = after(*COMING, world=WORLD)
    assert [state.blocks[b].key for b in (2, 3)] == [state.requests["A"].contexts[1], None]
    out = (ev.Add(request("A", 0, 1)), ev.Start("A"), ev.Compute("A", 0, 2, (0, 1)), ev.EndStep(), ev.SwapOut("A", 7))
    tokens = (*out, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8))
    state = after(*tokens, world=replace(WORLD, block_size=1))
    assert [state.blocks[b].key for b in (2, 3)] == state.requests["A"].contexts


# The invariants, each broken alone.

FULL_A = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
SALTED = (
    ev.Add(request("A", 0, 1, 0, salt="x")),
    *RUN_A[1:],
    ev.Add(request("B", 1, salt="y")),
    ev.Start("B"),
    ev.Compute("B", 0, 1, (2,)),
)
HERE, GONE = BlockId(0), BlockId(3)


def broken(state: State) -> list[tuple[Rule, str]]:
    """The rule and the paragraph of every invariant that does not hold."""
    return [(rule, text.partition(":")[0]) for rule, text in broken_invariants(state)]


def count_one_more(state: State) -> None:
    state.blocks[0].ref += 1


def count_one_less(state: State) -> None:
    state.blocks[0].ref -= 1
    state.free[HERE] = None


def forget_an_idle_block(state: State) -> None:
    del state.free[GONE]


def offer_a_held_block(state: State) -> None:
    state.free[HERE] = None


def offer_a_fenced_block(state: State) -> None:
    state.own(GONE).fence = frozenset({7})  # type: ignore[arg-type]


def key_of_other_content(state: State) -> None:
    state.blocks[0].key = state.requests["A"].contexts[0]  # type: ignore[index]


def key_without_content(state: State) -> None:
    state.own(GONE).key = 0


def name_a_block_twice(state: State) -> None:
    state.requests["A"].table[1] = HERE  # type: ignore[index]
    state.blocks[0].ref, state.blocks[1].ref = 2, 0
    state.free[BlockId(1)] = None
    state.blocks[0].contexts = [*state.requests["A"].contexts[2:3], None]  # type: ignore[index]


def compute_beyond_the_tokens(state: State) -> None:
    state.requests["A"].computed = 4  # type: ignore[index]


def hold_one_block_too_many(state: State) -> None:
    state.requests["A"].table.append(GONE)  # type: ignore[index]
    state.own(GONE).ref = 1
    del state.free[GONE]


def hold_one_block_too_few(state: State) -> None:
    state.requests["A"].table.pop()  # type: ignore[index]
    state.blocks[1].ref = 0
    state.free[BlockId(1)] = None


def wait_and_hold(state: State) -> None:
    state.requests["A"].phase = Phase.WAITING  # type: ignore[index]


def change_the_first_slot(state: State) -> None:
    state.blocks[0].contexts[0] = None


def wait_and_hold_other_content(state: State) -> None:
    wait_and_hold(state)
    change_the_last_computed_slot(state)


def change_the_last_computed_slot(state: State) -> None:
    state.blocks[1].contexts[0] = None


def spend_too_much(state: State) -> None:
    state.left = -1


def win_budget(state: State) -> None:
    state.left = WORLD.token_budget + 1


def run_too_many(state: State) -> None:
    state.planned = dict.fromkeys(["A", "B", "C"], 0)  # type: ignore[arg-type]


def bring_the_block_of_another(state: State) -> None:
    state.arriving = frozenset({7})  # type: ignore[arg-type]
    state.blocks[0].fence = frozenset({7})  # type: ignore[arg-type]


BROKEN: list[tuple[Callable[[State], None], set[tuple[Rule, str]]]] = [
    (count_one_more, {(rules.COUNT_EQUALS_HOLDERS, "S1")}),
    (count_one_less, {(rules.COUNT_EQUALS_HOLDERS, "S1")}),
    (forget_an_idle_block, {(rules.CONSERVATION, "S2")}),
    (offer_a_held_block, {(rules.CONSERVATION, "S2")}),
    (offer_a_fenced_block, {(rules.CONSERVATION, "S2")}),
    (key_of_other_content, {(rules.CONTENT_MATCHES_KEY, "S4")}),
    (key_without_content, {(rules.CONTENT_MATCHES_KEY, "S4")}),
    (compute_beyond_the_tokens, {(rules.ONE_TOKEN_LEFT, "S8")}),
    (hold_one_block_too_many, {(rules.ONE_PAGE_ROUNDING, "S7")}),
    (hold_one_block_too_few, {(rules.ONE_PAGE_ROUNDING, "S7")}),
    (wait_and_hold, {(rules.EVERY_EXIT_RELEASES, "S7")}),
    (wait_and_hold_other_content, {(rules.EVERY_EXIT_RELEASES, "S7")}),
    (change_the_first_slot, {(rules.SHARED_BYTES_NEVER_CHANGE, "S5")}),
    (change_the_last_computed_slot, {(rules.SHARED_BYTES_NEVER_CHANGE, "S5")}),
    (spend_too_much, {(rules.STEP_BUDGET, "S9")}),
    (win_budget, {(rules.STEP_BUDGET, "S9")}),
    (run_too_many, {(rules.STEP_BUDGET, "S9")}),
    (bring_the_block_of_another, {(rules.IN_FLIGHT_FENCE, "S1")}),
]


@pytest.mark.parametrize(("change", "expected"), BROKEN, ids=[change.__name__ for change, _ in BROKEN])
def test_an_invariant_that_does_not_hold_is_named(
    change: Callable[[State], None], expected: set[tuple[Rule, str]]
) -> None:
    state = after(*RUN_A)
    change(state)
    assert set(broken(state)) == expected


def test_a_block_in_a_table_twice_breaks_conservation() -> None:
    state = after(*RUN_A)
    name_a_block_twice(state)
    assert (rules.CONSERVATION, "S2: A names a block twice") in list(broken_invariants(state))


def test_a_block_that_was_written_under_another_salt_breaks_isolation() -> None:
    state = after(*SALTED)
    state.blocks[2].writers[0] = ("A", 0)  # type: ignore[assignment]
    assert broken(state) == [(rules.ISOLATION, "S10")]
    state.blocks[2].writers[0] = None
    assert broken(state) == []


# Merging the blocks of who has left, and preempting who has none.

MERGING = replace(PLAIN, remaps_duplicates=True)


def test_only_who_runs_is_remapped() -> None:
    two = (*RUN_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)), ev.EndStep())
    after(*two, ev.Remap("B", 0, 0), capabilities=MERGING)
    left = (*two, ev.Abort("B", deferred=True))
    seen = breaks(rules.ONE_QUEUE, *left, ev.Remap("B", 0, 0), capabilities=MERGING)
    assert "B is remapped while it is done" in str(seen)


def test_preempting_a_victim_that_holds_nothing_is_no_idle_step() -> None:
    """It frees no block (L1), but an honest scheduler may take it for a way to make room, once for each victim."""
    idle = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"))
    after(*idle, ev.Preempt("A"), ev.EndStep())
    breaks(rules.PROGRESS_OR_REJECT, *idle, ev.EndStep())


def test_any_entry_is_remapped_to_a_block_of_the_same_content() -> None:
    """The second block of each holds the same tokens behind the same first block, or behind another."""
    world = replace(WORLD, num_blocks=8, token_budget=20)
    own = (ev.Add(request("A", 0, 1, 0, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 5, (0, 1, 2)))

    def beside(*prompt: int) -> tuple[ev.Event, ...]:
        other = (ev.Add(request("B", *prompt)), ev.Start("B"), ev.Compute("B", 0, 5, (3, 4, 5)), ev.EndStep())
        return (*own, *other)

    after(*beside(0, 1, 0, 0, 0), ev.Remap("B", 1, 1), world=world, capabilities=MERGING)
    wrong = (*beside(1, 1, 0, 0, 0), ev.Remap("B", 1, 1))
    breaks(rules.COMPLETE_KEY, *wrong, world=world, capabilities=MERGING)
