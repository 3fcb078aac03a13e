"""Each guard of the transition: the event that it allows, and the nearest one that it does not.

Written from S1 to S15 of `spec/cache.md`: the comments name the paragraph, the worlds are as small as the rule allows.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import (
    Broken,
    Capabilities,
    Judged,
    KeyParts,
    Media,
    Request,
    State,
    Tally,
    Violation,
    World,
    begin,
    initial,
    judge,
    rules,
    step,
)
from kvspec import events as ev
from kvspec.invariants import broken_invariants
from kvspec.rules import Rule
from kvspec.violation import HarnessFault

pytestmark = pytest.mark.kills("law")

WORLD = World(num_blocks=4, block_size=2, token_budget=4, max_running=2)
PLAIN = Capabilities(salts=True, adapters=True, media=True, preemptions=("recompute", "swap"))


def request(id: str, *prompt: int, new: int = 2, **parts: object) -> Request:
    return Request(id, prompt, new, 0, KeyParts(**parts))  # type: ignore[arg-type]


def after(*events: ev.Event, world: World = WORLD, capabilities: Capabilities = PLAIN) -> State:
    state = initial(world, capabilities)
    for event in events:
        state = step(state, event)
        assert list(broken_invariants(state)) == []
    return state


def judged(*events: ev.Event, world: World = WORLD, capabilities: Capabilities = PLAIN) -> Judged:
    """The state after events, with what went before it."""
    new = begin(world, capabilities)
    for event in events:
        judge(new, event, Tally())
    return new


def breaks(rule: Rule, *events: ev.Event, world: World = WORLD, capabilities: Capabilities = PLAIN) -> Violation:
    """The last event breaks `rule`, those before it are allowed, and the refused event changes nothing.

    The law alone refuses it too; only what is published has its words from the law (`Violation`).
    """
    state = after(*events[:-1], world=world, capabilities=capabilities)
    before = repr(state)
    with pytest.raises((Broken, Violation)):
        step(state, events[-1])
    assert repr(state) == before
    with pytest.raises(Violation) as caught:
        judge(judged(*events[:-1], world=world, capabilities=capabilities), events[-1], Tally())
    assert caught.value.rule is rule, str(caught.value)
    return caught.value


RUN_A = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 3, (0, 1)), ev.EndStep())
CACHED_A = (*RUN_A, ev.Sample("A", 1), ev.Abort("A"))
"""A's first block (0 1) stays cached in block 0; block 1 holds (0 1 0)."""


def test_step_leaves_the_state_it_is_given_alone() -> None:
    state = after(*RUN_A)
    before = repr(state)
    step(state, ev.Abort("A"))
    assert repr(state) == before


# Admission and hits: S4, S8, S10.


def test_a_hit_on_a_whole_computed_block_is_allowed() -> None:
    state = after(*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)), ev.Compute("B", 2, 1, (0, 2)))
    assert state.blocks[0].ref == 1
    assert state.requests["B"].computed == 3


def test_a_hit_leaves_one_token_to_compute() -> None:
    seen = breaks(rules.ONE_TOKEN_LEFT, *CACHED_A, ev.Add(request("B", 0, 1)), ev.Start("B", 2, (0,)))
    assert seen.facts["most"] == 1


def test_a_hit_is_made_of_whole_blocks() -> None:
    breaks(rules.CONTIGUOUS_CHAIN, *CACHED_A, ev.Add(request("B", 0, 1, 0, 1, 1)), ev.Start("B", 3, (0, 1)))


def test_a_hit_on_a_block_that_nobody_wrote() -> None:
    breaks(rules.PUBLISH_ONLY_COMPUTED, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (3,)))


def test_a_hit_on_a_block_that_is_half_computed() -> None:
    events = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    breaks(rules.PUBLISH_ONLY_COMPUTED, *events, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_by_a_key_that_the_block_had_before_it_changed_hands() -> None:
    before = (ev.Add(request("C", 1, 1)), ev.Start("C"), ev.Compute("C", 0, 2, (0,)), ev.EndStep(), ev.Abort("C"))
    breaks(rules.CONTENT_MATCHES_KEY, *before, *CACHED_A, ev.Add(request("B", 1, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_by_a_key_that_nobody_can_have_published_is_a_collision() -> None:
    breaks(rules.KEY_DOMAINS, *CACHED_A, ev.Add(request("B", 1, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_on_the_right_tokens_behind_another_prefix() -> None:
    chain = (ev.Add(request("A", 1, 1, 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
    breaks(rules.COMPLETE_KEY, *chain, ev.Add(request("B", 0, 1, 0)), ev.Start("B", 2, (1,)))


def test_a_hit_across_adapters() -> None:
    breaks(rules.COMPLETE_KEY, *CACHED_A, ev.Add(request("B", 0, 1, 1, adapter="x")), ev.Start("B", 2, (0,)))


def test_a_hit_across_images() -> None:
    media = (Media("aaaa1", 0),)
    breaks(rules.COMPLETE_KEY, *CACHED_A, ev.Add(request("B", 0, 1, 1, media=media)), ev.Start("B", 2, (0,)))


def test_a_hit_across_versions_of_an_adapter_or_of_the_weights() -> None:
    breaks(rules.INVALIDATE, *CACHED_A, ev.Add(request("B", 0, 1, 1, weights=1)), ev.Start("B", 2, (0,)))


def test_a_hit_where_an_adapter_imitates_a_salt() -> None:
    first = (ev.Add(request("A", 0, 1, 0, salt="x")), *RUN_A[1:], ev.Abort("A"))
    breaks(rules.KEY_DOMAINS, *first, ev.Add(request("B", 0, 1, 1, adapter="x")), ev.Start("B", 2, (0,)))


def test_a_hit_on_tokens_that_are_equal_in_eight_bits() -> None:
    breaks(rules.KEY_DOMAINS, *CACHED_A, ev.Add(request("B", 256, 257, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_across_salts() -> None:
    breaks(rules.ISOLATION, *CACHED_A, ev.Add(request("B", 0, 1, 1, salt="s")), ev.Start("B", 2, (0,)))


def test_a_hit_within_the_step_that_computes_it_must_be_declared() -> None:
    events = (*RUN_A[:-1], ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))
    breaks(rules.PUBLISH_ONLY_COMPUTED, *events)
    after(*events, capabilities=replace(PLAIN, publishes="scheduled"))


def test_a_hit_on_a_block_cached_before_a_reset() -> None:
    breaks(rules.INVALIDATE, *CACHED_A, ev.Reset(True), ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))
    after(*CACHED_A, ev.Reset(False), ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_on_a_block_of_a_failed_step() -> None:
    failed = (*RUN_A, ev.FailStep(0), ev.Abort("A"))
    breaks(rules.INVALIDATE, *failed, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_hit_remembered_from_before_the_block_changed_hands() -> None:
    taken = (ev.Add(request("C", 1, 1)), ev.Start("C"), ev.Compute("C", 0, 2, (0,)), ev.EndStep())
    looked_up = (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Lookup("B", 2, (0,)))
    after(*looked_up, ev.Start("B", 2, (0,)))
    breaks(rules.FRESH_HIT, *looked_up, *taken, ev.Start("B", 2, (0,)))


def test_a_length_scheduled_that_was_counted_before_the_hit() -> None:
    start = (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))
    breaks(rules.FRESH_HIT, *start, ev.Compute("B", 2, 3, (0, 2, 3)))


# Blocks: S1, S2, S6, S7.


def test_a_block_with_an_owner_is_not_handed_out() -> None:
    breaks(rules.CONSERVATION, *RUN_A, ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (1,)))


def test_a_block_is_handed_out_once() -> None:
    breaks(rules.CONSERVATION, ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 3, (2, 2)))


def test_the_reserved_block_is_never_handed_out() -> None:
    reserved = replace(PLAIN, reserved_blocks=frozenset({0}))
    events = (ev.Add(request("A", 0)), ev.Start("A"))
    after(*events, ev.Compute("A", 0, 1, (1,)), capabilities=reserved)
    breaks(rules.RESERVED_BLOCK, *events, ev.Compute("A", 0, 1, (0,)), capabilities=reserved)


def test_a_position_without_a_home() -> None:
    breaks(rules.COVERAGE_AND_LIMIT, ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 3, (0,)))


def test_more_blocks_than_the_limit_needs() -> None:
    start = (ev.Add(request("A", 0, new=1)), ev.Start("A"))
    breaks(rules.COVERAGE_AND_LIMIT, *start, ev.Compute("A", 0, 1, (0, 1)))


def test_more_blocks_than_the_tokens_need() -> None:
    start = (ev.Add(request("A", 0, 1, new=3)), ev.Start("A"))
    breaks(rules.ONE_PAGE_ROUNDING, *start, ev.Compute("A", 0, 2, (0, 1)))
    after(*start, ev.Compute("A", 0, 2, (0, 1)), capabilities=replace(PLAIN, lookahead_blocks=1))


def test_a_table_entry_that_changes_under_a_running_request() -> None:
    breaks(rules.NO_DANGLING_REFERENCE, *RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 2)))


def test_a_write_into_a_shared_block() -> None:
    fork = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
    breaks(rules.SHARED_BYTES_NEVER_CHANGE, *fork, ev.Compute("A", 3, 1, (0, 1)))
    after(*fork, ev.Copy("A", 1, 1, 2), ev.Compute("A", 3, 1, (0, 2)), ev.Compute("B", 3, 1, (0, 1)))


def test_a_write_into_a_slot_of_somebody_else() -> None:
    b = (*RUN_A, ev.Add(request("B", 1)), ev.Start("B"))
    breaks(rules.SHARED_BYTES_NEVER_CHANGE, *b, ev.Compute("B", 0, 1, (2,), slots=((0, 0),)))


def test_a_copy_that_moves_less_than_the_valid_extent() -> None:
    long = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 3, (0, 1)), ev.EndStep())
    fork = (*long, ev.Fork("A", request("B", 0, 1, 0, 1), (0, 1)))
    breaks(rules.SHARED_BYTES_NEVER_CHANGE, *fork, ev.Copy("B", 1, 1, 2, extent=0))


def test_merging_duplicates_must_be_declared_and_right() -> None:
    twice = (*RUN_A, ev.Add(request("B", 0, 1, 0)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)), ev.EndStep())
    breaks(rules.NO_DANGLING_REFERENCE, *twice, ev.Remap("B", 0, 0))
    merging = replace(PLAIN, remaps_duplicates=True)
    state = after(*twice, ev.Remap("B", 0, 0), capabilities=merging)
    assert state.blocks[0].ref == 2 and 2 in state.free
    breaks(rules.CONTENT_MATCHES_KEY, *twice, ev.Remap("B", 0, 1), capabilities=merging)


# Steps: S8, S9, S13, S14.


def test_a_step_has_a_budget() -> None:
    breaks(rules.STEP_BUDGET, ev.Add(request("A", *(0,) * 5)), ev.Start("A"), ev.Compute("A", 0, 5, (0, 1, 2)))


def test_a_scheduled_request_computes_at_least_one_token() -> None:
    breaks(rules.STEP_BUDGET, ev.Add(request("A", 0)), ev.Start("A"), ev.Compute("A", 0, 0, ()))


def test_a_step_runs_at_most_so_many_requests() -> None:
    starts = [e for id in "ABC" for e in (ev.Add(request(id, 0)), ev.Start(id))]
    runs = [ev.Compute(id, 0, 1, (n,)) for n, id in enumerate("ABC")]
    breaks(rules.STEP_BUDGET, *starts, *runs)


def test_nobody_is_scheduled_twice_in_a_step() -> None:
    start = (ev.Add(request("A", 0, 1)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)))
    breaks(rules.ONE_QUEUE, *start, ev.Compute("A", 1, 1, (0,)))


def test_nobody_is_scheduled_and_preempted_in_a_step() -> None:
    breaks(rules.ONE_QUEUE, *RUN_A[:-1], ev.Preempt("A"))


def test_a_victim_does_not_start_again_in_the_step_that_preempts_it() -> None:
    breaks(rules.ONE_QUEUE, *RUN_A, ev.Preempt("A"), ev.Start("A", 2, (0,)))


def test_nobody_runs_who_is_gone() -> None:
    breaks(rules.ONE_QUEUE, *RUN_A, ev.Abort("A"), ev.Compute("A", 3, 1, (0, 1)))


def test_a_chunk_continues_where_the_last_one_ended() -> None:
    start = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    after(*start, ev.Compute("A", 1, 2, (0, 1)))
    breaks(rules.CHUNK_INDEPENDENCE, *start, ev.Compute("A", 2, 1, (0, 1)))
    breaks(rules.CHUNK_INDEPENDENCE, *start, ev.Compute("A", 0, 2, (0,)))


def test_the_tokens_fed_are_the_tokens_of_the_request() -> None:
    start = (ev.Add(request("A", 0, 1)), ev.Start("A"))
    breaks(rules.CHUNK_INDEPENDENCE, *start, ev.Compute("A", 0, 2, (0,), tokens=(0, 0)))


def test_a_resumed_request_keeps_its_sampled_tokens() -> None:
    resumed = (*RUN_A, ev.Sample("A", 1), ev.Preempt("A"), ev.EndStep(), ev.Start("A", 2, (0,)))
    after(*resumed, ev.Compute("A", 2, 2, (0, 2), tokens=(0, 1)))
    breaks(rules.RESUME_EQUALS_UNINTERRUPTED, *resumed, ev.Compute("A", 2, 2, (0, 2), tokens=(0, 0)))
    breaks(rules.FRESH_HIT, *resumed, ev.Compute("A", 2, 3, (0, 2, 3)))
    cold = (*resumed[:-1], ev.Start("A"))
    breaks(rules.RESUME_EQUALS_UNINTERRUPTED, *cold, ev.Compute("A", 0, 3, (2, 3), tokens=(0, 1, 1)))


def test_no_token_is_lost_or_won() -> None:
    breaks(rules.CHUNK_INDEPENDENCE, *RUN_A, ev.Sample("A", 1), ev.Finish("A"))
    breaks(
        rules.CHUNK_INDEPENDENCE,
        ev.Add(request("A", 0, 1)),
        ev.Start("A"),
        ev.Compute("A", 0, 1, (0,)),
        ev.Sample("A", 1),
    )


def test_an_empty_step_while_work_waits() -> None:
    breaks(rules.PROGRESS_OR_REJECT, ev.Add(request("A", 0)), ev.EndStep())
    after(ev.EndStep())
    after(ev.Add(request("A", 0)), ev.EndStep(), capabilities=replace(PLAIN, idle_steps=1))


FLYING = replace(PLAIN, idle_steps=1)
IDLE = (ev.Add(request("A", 0, 1)), ev.Dispatch(0), ev.EndStep(), ev.Complete(0))
WORKS = (ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.Dispatch(1), ev.EndStep(), ev.Complete(1))


def test_idle_steps_are_counted_in_a_row_whether_or_not_the_step_between_them_has_come_back() -> None:
    after(*IDLE, *WORKS, ev.Dispatch(2), ev.EndStep(), capabilities=FLYING)
    after(*IDLE, *WORKS[:-1], ev.Dispatch(2), ev.EndStep(), ev.Complete(1), capabilities=FLYING)


def test_one_idle_step_more_in_a_row_than_declared() -> None:
    breaks(rules.PROGRESS_OR_REJECT, *IDLE, ev.Dispatch(1), ev.EndStep(), capabilities=FLYING)
    breaks(rules.PROGRESS_OR_REJECT, *IDLE, *WORKS, ev.EndStep(), ev.EndStep(), capabilities=FLYING)
    breaks(rules.PROGRESS_OR_REJECT, ev.Add(request("A", 0, 1)), *WORKS[:2], ev.EndStep(), ev.EndStep())


def test_only_what_can_never_fit_is_rejected() -> None:
    seen = breaks(rules.PROGRESS_OR_REJECT, ev.Add(request("A", 0)), ev.Reject("A"))
    assert seen.facts["limit"] == 3
    after(ev.Add(request("A", *(0,) * 8)), ev.Reject("A"))


def test_what_fits_is_given() -> None:
    breaks(rules.FIT_AGREES_WITH_ALLOCATE, ev.Add(request("A", 0)), ev.Refuse("A", need=1))
    after(*RUN_A, ev.Add(request("B", 1, 1, 1, 1, 1)), ev.Refuse("B", need=3))


def test_idle_blocks_of_a_hit_are_not_counted_as_free() -> None:
    # A's two blocks are idle, B holds the other two: a hit of one block leaves one, not two.
    b = (ev.Add(request("B", 1, 1, 1)), ev.Start("B"), ev.Compute("B", 0, 3, (2, 3)), ev.EndStep())
    after(*CACHED_A, *b, ev.Add(request("C", 0, 1, 1, 1, 1)), ev.Refuse("C", need=2, hit=(0,)))
    breaks(rules.FIT_AGREES_WITH_ALLOCATE, *CACHED_A, *b, ev.Add(request("C", 0, 1, 1)), ev.Refuse("C", 1, (0,)))


# Transfers and steps in flight.

SWAPPED = (*RUN_A, ev.Sample("A", 1), ev.SwapOut("A", 7))


def test_a_block_is_fenced_while_a_transfer_reads_it() -> None:
    b = (ev.Add(request("B", 1)), ev.Start("B"))
    breaks(rules.IN_FLIGHT_FENCE, *SWAPPED, *b, ev.Compute("B", 0, 1, (0,)))
    after(*SWAPPED, ev.TransferDone(7), *b, ev.Compute("B", 0, 1, (0,)))


def test_a_request_does_not_compute_before_it_is_back() -> None:
    back = (*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8))
    breaks(rules.IN_FLIGHT_FENCE, *back, ev.Compute("A", 3, 1, (2, 3)))
    state = after(*back, ev.TransferDone(8), ev.Compute("A", 3, 1, (2, 3)))
    assert state.requests["A"].computed == 4


def test_a_block_is_fenced_while_a_dispatched_step_may_touch_it() -> None:
    flying = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep(), ev.Abort("A"), ev.Add(request("B", 1)), ev.Start("B"))
    breaks(rules.IN_FLIGHT_FENCE, *flying, ev.Compute("B", 0, 1, (0,)))
    after(*flying, ev.Compute("B", 0, 1, (2,)))
    after(*flying, ev.Complete(0), ev.Compute("B", 0, 1, (0,)))


# What the engine says of itself.


@pytest.mark.parametrize(
    ("events", "free", "rule"),
    [
        (RUN_A, 3, rules.COUNT_EQUALS_HOLDERS),
        (RUN_A, 1, rules.CONSERVATION),
        ((*RUN_A, ev.Abort("A")), 3, rules.EVERY_EXIT_RELEASES),
        ((*RUN_A, ev.Add(request("B", *(1,) * 5)), ev.Refuse("B", 3)), 1, rules.FAILURE_IS_ATOMIC),
        ((*CACHED_A, ev.ReleaseAgain("A")), 5, rules.COUNT_EQUALS_HOLDERS),
    ],
)
def test_a_wrong_number_of_free_blocks(events: tuple[ev.Event, ...], free: int, rule: Rule) -> None:
    right = after(*events).available_in(0)
    after(*events, ev.Observe(free=right))
    breaks(rule, *events, ev.Observe(free=free))


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        (ev.Observe(refs={0: 2, 1: 1}), rules.COUNT_EQUALS_HOLDERS),
        (ev.Observe(free_set=(2, 3, 3)), rules.COUNT_EQUALS_HOLDERS),
        (ev.Observe(free_set=(1, 2, 3)), rules.NO_DANGLING_REFERENCE),
        (ev.Observe(tables={"A": (0, 2)}), rules.NO_DANGLING_REFERENCE),
        (ev.Observe(keyed=frozenset({3})), rules.PUBLISH_ONLY_COMPUTED),
        (ev.Observe(waiting=("A",), running=("A",)), rules.ONE_QUEUE),
        (ev.Observe(waiting=(), running=()), rules.ONE_QUEUE),
        (ev.Observe(counters=(2, 3)), rules.COUNTERS),
        (ev.Observe(counters=(3, 1)), rules.COUNTERS),
    ],
)
def test_a_claim_that_is_wrong(claim: ev.Observe, rule: Rule) -> None:
    breaks(rule, *RUN_A, claim)


def test_claims_that_are_right() -> None:
    after(
        *RUN_A,
        ev.Observe(2, {0: 1, 1: 1}, {"A": (0, 1)}, (2, 3), frozenset({0}), (), ("A",), (3, 0)),
    )


def test_counters_only_grow() -> None:
    breaks(rules.COUNTERS, ev.Observe(counters=(3, 0)), ev.Observe(counters=(2, 0)))


# Profiles.


def test_profile_lru_takes_the_block_released_longest_ago() -> None:
    lru = replace(PLAIN, profiles=frozenset({"lru"}))
    start = (ev.Add(request("A", 0)), ev.Start("A"))
    after(*start, ev.Compute("A", 0, 1, (0,)), capabilities=lru)
    breaks(rules.LRU_ORDER, *start, ev.Compute("A", 0, 1, (1,)), capabilities=lru)


def test_profile_tail_first_evicts_the_end_of_a_chain_first() -> None:
    tail = replace(PLAIN, profiles=frozenset({"tail-first"}))
    chain = (ev.Add(request("A", *(0,) * 4)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep(), ev.Abort("A"))
    b = (ev.Add(request("B", 1)), ev.Start("B"))
    after(*chain, *b, ev.Compute("B", 0, 1, (1,)), capabilities=tail)
    breaks(rules.CONTIGUOUS_CHAIN, *chain, *b, ev.Compute("B", 0, 1, (0,)), capabilities=tail)


def test_a_victim_that_took_blocks_unseen_leaves_no_order_of_eviction() -> None:
    tail = replace(PLAIN, profiles=frozenset({"tail-first"}))
    chain = (ev.Add(request("A", *(0,) * 4)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep(), ev.Abort("A"))
    b = (ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (2,)), ev.EndStep(), ev.Sample("B", 1))
    c = (ev.Preempt("B"), ev.Add(request("C", 1, 1)), ev.Start("C"))
    breaks(rules.CONTIGUOUS_CHAIN, *chain, *b, *c, ev.Compute("C", 0, 2, (0,)), capabilities=tail)
    after(*chain, *b, *c, ev.Compute("C", 0, 2, (0,)), capabilities=replace(tail, hides_lost_takes=True))


def test_profile_fcfs_starts_in_order_of_arrival() -> None:
    fcfs = replace(PLAIN, profiles=frozenset({"fcfs"}))
    breaks(rules.FCFS_ORDER, ev.Add(request("A", 0)), ev.Add(request("B", 0)), ev.Start("B"), capabilities=fcfs)


def test_profile_fcfs_under_a_priority_policy_starts_the_smallest_number_first() -> None:
    fcfs = replace(PLAIN, profiles=frozenset({"fcfs"}))
    world = replace(WORLD, policy="priority")
    adds = (ev.Add(Request("A", (0,), 1, 5)), ev.Add(Request("B", (0,), 1, 1)))  # type: ignore[arg-type]
    after(*adds, ev.Start("B"), world=world, capabilities=fcfs)
    breaks(rules.FCFS_ORDER, *adds, ev.Start("A"), world=world, capabilities=fcfs)


def test_profile_decode_first_skips_no_running_request_that_fits() -> None:
    first = replace(PLAIN, profiles=frozenset({"decode-first"}))
    b = (ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (2,)))
    breaks(rules.BOUNDED_DECODE_GAP, *RUN_A, ev.Sample("A", 1), *b, ev.EndStep(), capabilities=first)


def test_an_adapter_that_names_a_stranger_is_a_harness_fault() -> None:
    with pytest.raises(HarnessFault):
        step(initial(WORLD, PLAIN), ev.Start("Z"))


def test_every_rule_put_to_the_test_is_counted() -> None:
    tally = Tally()
    state = begin(WORLD, PLAIN)
    for event in (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,))):
        judge(state, event, tally)
    assert tally.exercised[rules.CONTENT_MATCHES_KEY] == 1
    assert tally.exercised[rules.ONE_TOKEN_LEFT] == 1
    assert tally.exercised[rules.ISOLATION] == 0
