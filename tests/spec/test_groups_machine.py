"""Requests with several groups under a scheduler: preempted, swapped, forked, reset, failed, in flight and evicted.

What is lawful is judged by what a query reads; beside each lawful history stands a step that is wrong, with its rule.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import Tally, rules
from kvspec import events as ev
from kvspec.blame import Judged, judge
from kvspec.rules import Rule
from kvspec.vocabulary import BlockId, Request, RequestId, StepId, TokenId, TransferId
from tests.spec.grouped import (
    A,
    B,
    C,
    Move,
    admit,
    broken,
    complete,
    compute,
    free,
    grow,
    having,
    ids,
    launch,
    lived,
    plan,
    play,
    ran,
    refuse,
    request,
    then,
    trim,
    violation,
    world,
)
from tests.spec.test_groups import DRAFTS, HYBRID, STATES

pytestmark = pytest.mark.kills("law", "layout")

RECURRENT, ALL = "window:2:3 state:2", "full:2 window:2:3 state:2"
TAIL_FIRST = frozenset({"tail-first"})
ONE, TWO = TransferId(1), TransferId(2)
FIVE = request(A, 0, 0, 0, 0, 1)
NEXT = ev.Sample(A, TokenId(0))
END = ev.EndStep()


def start(id: RequestId, hit: int, *tables: tuple[int | None, ...]) -> ev.Start:
    """A request that waits begins on a hit."""
    first, *others = ids(*tables)
    return ev.Start(id, hit, first, tuple(others))


def swap_in(transfer: TransferId, *tables: tuple[int | None, ...]) -> ev.SwapIn:
    """A comes back into these tables."""
    first, *others = ids(*tables)
    return ev.SwapIn(A, first, transfer, tuple(others))


def fork(who: Request, *tables: tuple[int | None, ...]) -> ev.Fork:
    """A is continued by another request."""
    first, *others = ids(*tables)
    return ev.Fork(A, who, first, tuple(others))


def copy(id: RequestId, index: int, source: int, target: int, group: int) -> ev.Copy:
    """An entry becomes private."""
    return ev.Copy(id, index, BlockId(source), BlockId(target), group=group)


def taking(*tables: tuple[int | None, ...]) -> Move:
    """C is given blocks for the two tokens that it has."""
    return admit(request(C, 1, 1), 0, 2, ids(*tables))


# A window and a recurrence: preempted, and resumed on a hit.


def victim() -> Judged:
    """A had five tokens: the window in blocks 1 to 3, the states after 2, 4 and 5 tokens in 4 to 6. It waits."""
    return play(ran(world(RECURRENT), FIVE, (1, 2, 3), (4, 5, 6)), ev.Preempt(A))


@pytest.mark.parametrize("unread", [((None, 2), (None, 5)), ((1, 2), (4, 5)), ((1, 2), (None, 5))])
def test_a_victim_resumes_where_the_window_and_the_state_are_still_there(
    unread: tuple[tuple[int | None, ...], ...],
) -> None:
    """The query at 4 sees positions 2 to 4, that is entry 1 on, and the state after four tokens."""
    resumed = play(victim(), END, start(A, 4, *unread))
    held = [(*table, new) for table, new in zip(unread, (3, 6), strict=True)]
    play(resumed, grow(A, 5, ids(*held)), compute(A, 1), complete(A), NEXT)


@pytest.mark.parametrize(
    "tables",
    [
        ((1, None), (None, 5)),
        ((None, 2), (4, None)),
        ((None, 2), (None, 4)),
        ((None, 2), (None, 6)),
        ((None, 1), (4, 5)),
    ],
    ids=("no window", "no state", "an older state", "a later state", "another window"),
)
def test_a_victim_does_not_resume_where_one_of_them_is_not(tables: tuple[tuple[int | None, ...], ...]) -> None:
    assert broken(play(victim(), END), start(A, 4, *tables)) is rules.EVERY_GROUP_HIT


def test_a_victim_resumes_on_what_it_gave_back_before_it_was_preempted() -> None:
    """The query at 5 needs nothing of these entries; the hit of 4 needs the state, the hit of 2 the first entry."""
    cache = play(ran(world(RECURRENT), FIVE, (1, 2, 3), (4, 5, 6)), trim(A, 0, 0), trim(A, 1, 0), trim(A, 1, 1))
    cache = play(cache, ev.Preempt(A), END)
    play(cache, start(A, 4, (None, 2), (None, 5)))
    play(cache, start(A, 2, (1,), (4,)))
    other = play(cache, taking((8,), (5,)))
    assert broken(other, start(A, 4, (None, 2), (None, 5))) is rules.EVERY_GROUP_HIT
    play(other, start(A, 2, (1,), (4,)))


def test_a_victim_begins_in_a_later_step_and_from_what_it_hits() -> None:
    assert broken(victim(), start(A, 4, (None, 2), (None, 5))) is rules.ONE_QUEUE
    resumed = play(victim(), END, start(A, 2, (1,), (4,)))
    first, others = ids((1, 7, 8), (4, 9, 10))
    skipping = ev.Compute(A, 4, 1, first, more=(others,))
    assert broken(resumed, skipping) is rules.RESUME_EQUALS_UNINTERRUPTED
    play(resumed, grow(A, 5, ids((1, 7, 8), (4, 9, 10))), compute(A, 3), complete(A), NEXT)


def test_a_step_of_before_the_preemption_reads_nothing_of_the_new_tables() -> None:
    """Its blocks are fenced until it is complete; what the victim resumes on is a matter of its new queries."""
    cache = play(world(HYBRID, publishes="scheduled"), admit(FIVE, 0, 5, ids((1, 2, 3), (4, 5, 6))), compute(A, 5))
    cache = play(cache, ev.Preempt(A), END, start(A, 4, (1, 2), (4, 5)))
    assert broken(cache, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    trimmed = play(cache, trim(A, 1, 0))
    assert broken(trimmed, taking((8,), (4,))) is rules.IN_FLIGHT_FENCE
    play(trimmed, ev.Complete(StepId(0)), taking((8,), (4,)))


# Swapped out and in.


def out(cache: Judged) -> Judged:
    """A is on the host."""
    return play(cache, ev.SwapOut(A, ONE), ev.TransferDone(ONE), END)


def trimmed() -> Judged:
    """A has five tokens in blocks 1 to 9, three for each group, and has given back what its query at 5 does not see."""
    cache = ran(world(ALL, num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6), (7, 8, 9))
    return play(cache, trim(A, 1, 0), trim(A, 2, 0), trim(A, 2, 1))


def test_what_is_still_read_comes_back_and_the_rest_need_not() -> None:
    tables = ((10, 11, 12), (None, 13, 14), (None, None, 15))
    back = play(out(trimmed()), swap_in(TWO, *tables))
    assert broken(play(back, NEXT), compute(A, 1)) is rules.IN_FLIGHT_FENCE
    play(back, ev.TransferDone(TWO), NEXT, grow(A, 6, ids(*tables)), compute(A, 1), complete(A))


@pytest.mark.parametrize(
    ("tables", "rule"),
    [
        (((10, 11, 12), (None, 13, 14), (None, 15, None)), rules.EVERY_GROUP_HIT),
        (((10, 11, 12), (None, None, 14), (None, None, 15)), rules.EVERY_GROUP_HIT),
        (((10, None, 12), (None, 13, 14), (None, None, 15)), rules.EVERY_GROUP_HIT),
        (((10, 11, 12), (None, 13, 14), (None, 15)), rules.COVERAGE_AND_LIMIT),
        (((10, 11, 12), (None, 13, 10), (None, None, 15)), rules.CONSERVATION),
        (((10, 11, 12), (None, 13, 14), (None, None, 0)), rules.RESERVED_BLOCK),
    ],
    ids=("the state", "half of the window", "an entry of all", "a short table", "a block twice", "the reserved block"),
)
def test_what_is_still_read_has_a_home_when_it_comes_back(
    tables: tuple[tuple[int | None, ...], ...], rule: Rule
) -> None:
    assert broken(out(trimmed()), swap_in(TWO, *tables)) is rule


def test_who_has_all_its_tokens_needs_nothing_back() -> None:
    """No query is to come."""
    cache = ran(world(STATES), request(A, 0, 0, new=1), (1,), (2,))
    assert broken(out(cache), swap_in(TWO, (3,), (None,))) is rules.EVERY_GROUP_HIT
    play(out(play(cache, NEXT)), swap_in(TWO, (None,), (None,)), ev.TransferDone(TWO), ev.Finish(A))


def test_nobody_shares_an_unread_block_that_a_transfer_still_brings() -> None:
    """Who hits two tokens reads the second alone; somebody else's first one is on its way into block 4."""
    left = out(ran(world("window:1:2 state:2"), request(A, 0, 1, new=2), (1, 2), (3,)))
    back, asked = play(left, swap_in(TWO, (4, 5), (6,))), request(B, 0, 1, 0)
    sharing = admit(asked, 2, 3, ids((4, 2, 7), (3, 8)))
    assert broken(back, sharing) is rules.IN_FLIGHT_FENCE
    play(back, admit(asked, 2, 3, ids((1, 2, 7), (3, 8))))
    play(back, ev.TransferDone(TWO), sharing)


def test_a_draft_that_was_hit_too_far_comes_back_without_a_key() -> None:
    """The hit on its second block is a known fault; the token that it would say is still to come."""
    left = ran(world("full:2 draft:2:2", num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6))
    left = play(left, NEXT, grow(A, 6, ids((1, 2, 3), (4, 5, 6))), compute(A, 1), complete(A))
    asked, waived = replace(FIVE, id=B), Tally([rules.DRAFT_GROUP_HIT])
    moves = (
        admit(asked, 4, 5, ids((1, 2, 7), (4, 5, 8))),
        ev.SwapOut(B, ONE),
        ev.TransferDone(ONE),
        END,
        ev.SwapIn(B, *ids((9, 10)), TWO, ids((11, 12))),
    )
    for move in moves:
        for event in move(left.state) if callable(move) else (move,):
            judge(left, event, waived)
    assert [left.state.blocks[id].key is None for id in (9, 10, 11, 12)] == [False, False, False, True]


def test_what_was_held_and_is_not_read_comes_back_where_it_has_a_home() -> None:
    """Entry 0 of the window was not given back: it is as good for others as before; without a slot it is none."""
    held = ran(world(HYBRID, num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6))
    back = play(out(held), swap_in(TWO, (10, 11, 12), (13, 14, 15)), ev.TransferDone(TWO))
    asked = request(B, 0, 0, 1)
    play(back, admit(asked, 2, 3, ids((10, 16), (13, 17))), compute(B, 1))
    without = play(out(held), swap_in(TWO, (10, 11, 12), (None, 14, 15)), ev.TransferDone(TWO))
    assert broken(without, admit(asked, 2, 3, ids((10, 16), (14, 17)))) is rules.EVERY_GROUP_HIT
    play(without, admit(asked, 2, 3, ids((10, 16), (4, 17))), compute(B, 1))


def test_a_home_of_what_was_given_back_holds_nothing_and_has_no_key() -> None:
    back = play(out(trimmed()), swap_in(TWO, (10, 11, 12), (16, 13, 14), (17, 18, 15)), ev.TransferDone(TWO))
    assert [back.state.blocks[id].key for id in (16, 17, 18)] == [None] * 3
    assert back.state.blocks[13].key is not None
    hit = admit(request(B, 0, 0, 1), 2, 3, ids((10, 1), (16, 2), (7, 3)))
    assert broken(back, hit) is rules.EVERY_GROUP_HIT
    play(back, admit(request(B, 0, 0, 1), 2, 3, ids((10, 1), (4, 2), (7, 3))))


def test_what_is_on_its_way_out_is_fenced_and_what_was_given_back_is_not() -> None:
    leaving = play(trimmed(), ev.SwapOut(A, ONE))
    assert free(leaving) == (13,)
    for block in (1, 5, 9):
        assert broken(leaving, taking((block,), (16,), (17,))) is rules.IN_FLIGHT_FENCE
    play(leaving, taking((4,), (7,), (8,)))
    assert broken(play(leaving, END), swap_in(TWO, (10, 11, 12), (None, 13, 14), (None, None, 15))) is (
        rules.IN_FLIGHT_FENCE
    )


# Forked, and copied before a write.


FORKED = request(B, 0, 0, 0)


def parent(groups: str = "full:4 state:4") -> Judged:
    """A has computed three tokens, in block 1 of group 0 and block 2 of group 1."""
    return ran(world(groups), request(A, 0, 0, 0), (1,), (2,))


def test_a_state_is_copied_before_it_is_written_over() -> None:
    shared = play(parent(), fork(FORKED, (1,), (2,)), NEXT, ev.Sample(B, TokenId(1)))
    copied = play(shared, copy(A, 0, 1, 3, 0), copy(A, 0, 2, 4, 1), compute(A, 1))
    play(copied, compute(B, 1))
    assert copied.state.blocks[2].contexts != copied.state.blocks[4].contexts


@pytest.mark.parametrize(("group", "source"), [(0, 1), (1, 2)])
def test_a_copy_in_one_group_is_none_in_the_other(group: int, source: int) -> None:
    shared = play(parent(), fork(FORKED, (1,), (2,)), NEXT)
    told = violation(play(shared, copy(A, 0, source, 5, group)), compute(A, 1))
    assert told.rule is rules.SHARED_BYTES_NEVER_CHANGE and told.facts["group"] == 1 - group
    assert broken(shared, copy(A, 0, 3 - source, 5, group)) is rules.NO_DANGLING_REFERENCE


def test_a_state_that_the_next_entry_follows_is_not_written_over() -> None:
    """After four tokens the state at the end of entry 0 stays: the next one is written to entry 1."""
    cache = ran(world("full:4 state:4"), request(A, 0, 0, 0, 0), (1,), (2,))
    cache = play(cache, fork(request(B, 0, 0, 0, 0), (1,), (2,)), NEXT, ev.Sample(B, TokenId(1)))
    play(cache, grow(A, 5, ids((1, 3), (2, 4))), compute(A, 1), grow(B, 5, ids((1, 5), (2, 6))), compute(B, 1))


def test_a_fork_with_copies_of_its_own_writes_them() -> None:
    forked = play(parent(), fork(FORKED, (3,), (4,)), NEXT, ev.Sample(B, TokenId(1)))
    play(forked, compute(A, 1), compute(B, 1))
    assert broken(parent(), fork(FORKED, (3,), (3,))) is rules.CONSERVATION
    assert broken(parent(), fork(FORKED, (3,), (1,))) is rules.CONSERVATION


def test_a_fork_has_what_its_queries_read_and_need_not_have_more() -> None:
    """The query at 5 sees positions 3 to 5 in the window, that is entry 1 on, and the state after five tokens."""
    cache, who = ran(world(ALL, num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6), (7, 8, 9)), request(B, 0, 0, 0, 0, 1)
    after = play(cache, fork(who, (1, 2, 10), (None, 5, 11), (None, None, 12)), ev.Sample(B, TokenId(1)), compute(B, 1))
    assert after.state.requests[B].computed == 6
    play(cache, fork(who, (1, 2, 3), (4, 5, 6), (7, 8, 9)))
    for tables in (
        ((1, None, 3), (None, 5, 6), (None, None, 9)),
        ((1, 2, 3), (None, None, 6), (None, None, 9)),
        ((1, 2, 3), (None, 5, 6), (7, 8, None)),
        ((1, 2, 3), (5, 6), (None, None, 9)),
    ):
        assert broken(cache, fork(who, *tables)) is rules.COVERAGE_AND_LIMIT


def test_a_fork_has_nothing_where_its_parent_has_nothing() -> None:
    cache, who = trimmed(), request(B, 0, 0, 0, 0, 1)
    play(cache, fork(who, (1, 2, 3), (None, 5, 6), (None, None, 9)))
    assert broken(cache, fork(who, (1, 2, 3), (10, 5, 6), (None, None, 9))) is rules.COVERAGE_AND_LIMIT


def test_who_gives_back_an_entry_leaves_it_to_its_fork() -> None:
    """The block that both hold may be handed out when both have given it back."""
    cache = ran(world(HYBRID, num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6))
    both = play(cache, fork(request(B, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6)), trim(A, 1, 0))
    assert broken(both, taking((8,), (4,))) is rules.CONSERVATION
    play(both, trim(B, 1, 0), taking((8,), (4,)))


def test_what_a_drafter_made_of_a_token_to_come_is_of_the_request_that_has_it() -> None:
    """The slot behind the last token was drafted from what A samples; its fork samples another."""
    cache = ran(world(DRAFTS, drafts_ahead=True), request(A, 0, 0), (1,), (3,))
    cache = play(cache, fork(request(B, 0, 0), (1,), (3,)))
    told = lived(lived(cache, ev.Sample(A, TokenId(1))), ev.Sample(B, TokenId(0)))
    lived(told, then(grow(A, 3, ids((1, 5), (3, 6))), compute(A, 1)))
    assert broken(told, then(grow(B, 3, ids((1, 5), (3, 6))), compute(B, 1))) is rules.DRAFT_GROUP_HIT
    same = lived(lived(cache, ev.Sample(A, TokenId(1))), ev.Sample(B, TokenId(1)))
    play(same, grow(A, 3, ids((1, 5), (3, 6))), compute(A, 1), grow(B, 3, ids((1, 7), (3, 8))), compute(B, 1))


# Reset, and failed.


def test_after_a_reset_nothing_is_hit_in_any_group_and_who_holds_goes_on() -> None:
    cache = play(ran(world(RECURRENT), FIVE, (1, 2, 3), (4, 5, 6)), ev.Reset(accepted=True))
    hit = admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((None, 2, 7), (None, 5, 8)))
    assert broken(cache, hit) is rules.INVALIDATE
    play(cache, NEXT, compute(A, 1), complete(A))


@pytest.mark.parametrize("again", [0, 1])
def test_after_a_reset_every_group_is_written_anew(again: int) -> None:
    """B computes the same tokens after the reset; of A's blocks of before it none may stand among them."""
    cache = play(ran(world(RECURRENT, num_blocks=20), FIVE, (1, 2, 3), (4, 5, 6)), ev.Reset(accepted=True))
    cache = ran(cache, request(B, 0, 0, 0, 0, 1), (7, 8, 9), (10, 11, 12))
    like, new = request(C, 0, 0, 0, 0, 0), ((None, 8, 13), (None, 11, 14))
    play(cache, admit(like, 4, 5, ids(*new)), compute(C, 1))
    old = ((None, 2, 13), (None, 5, 14))
    mixed = [old[number] if number == again else new[number] for number in (0, 1)]
    assert broken(cache, admit(like, 4, 5, ids(*mixed))) is rules.INVALIDATE


def test_a_refused_reset_leaves_the_hits_of_every_group() -> None:
    cache = play(ran(world(RECURRENT), FIVE, (1, 2, 3), (4, 5, 6)), ev.Reset(accepted=False))
    play(cache, admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((None, 2, 7), (None, 5, 8))))


def failed() -> Judged:
    """A has computed two tokens in step 0; step 1, with the two behind them, has failed."""
    asked = request(A, 0, 0, 0, 0)
    cache = play(world(RECURRENT), admit(asked, 0, 4, ids((1, 2), (4, 5))), compute(A, 2), complete(A), compute(A, 2))
    return play(cache, ev.FailStep(StepId(1)), ev.Complete(StepId(1)))


def test_what_a_failed_step_wrote_is_garbage_in_every_group() -> None:
    like = request(B, 0, 0, 0, 0, 1)
    play(failed(), admit(like, 2, 5, ids((1, 7, 8), (4, 9, 10))), compute(B, 3))
    for first, second in (((None, 2), (None, 5)), ((1, 2), (4, 5))):
        assert broken(failed(), admit(like, 4, 5, ids((*first, 7), (*second, 8)))) is rules.INVALIDATE
    assert broken(failed(), copy(A, 1, 5, 7, 1)) is rules.INVALIDATE
    assert broken(failed(), fork(request(B, 0, 0, 0, 0), (1, 7), (4, 8))) is rules.INVALIDATE


def test_who_lost_a_step_resumes_on_what_it_had_before() -> None:
    assert (
        broken(play(failed(), NEXT), then(grow(A, 5, ids((1, 2, 7), (4, 5, 8))), compute(A, 1)))
        is rules.SHARED_BYTES_NEVER_CHANGE
    )
    waits = play(failed(), ev.Preempt(A), END)
    play(waits, start(A, 2, (1,), (4,)), grow(A, 4, ids((1, 7), (4, 8))), compute(A, 2), complete(A), NEXT)
    assert broken(waits, start(A, 2, (2,), (4,))) is rules.INVALIDATE


def test_garbage_goes_to_the_host_and_comes_back_as_garbage() -> None:
    back = play(out(failed()), swap_in(TWO, (7, 8), (9, 10)), ev.TransferDone(TWO))
    like = request(B, 0, 0, 0, 0, 1)
    assert broken(back, admit(like, 4, 5, ids((7, 8, 1), (9, 10, 2)))) is rules.INVALIDATE
    play(back, admit(like, 2, 5, ids((7, 1, 2), (9, 3, 4))), compute(B, 3))


# Steps in flight.


SEVEN = request(A, 0, 0, 0, 0, 0, 0, 0)


def chunked(*chunks: int, groups: str = HYBRID) -> Judged:
    """A's seven tokens have slots 1 to 4 and 5 to 8; a step for each chunk is on the device."""
    tables = ids((1, 2, 3, 4), (5, 6, 7, 8))
    return play(world(groups, num_blocks=20), admit(SEVEN, 0, 7, tables), *(compute(A, chunk) for chunk in chunks))


def test_what_no_query_in_flight_reads_is_handed_out_while_it_flies() -> None:
    """Step 1 has its first query at 4, which sees positions 2 on: entry 0 is free, whoever takes it."""
    flying = play(chunked(4, 3), ev.Complete(StepId(0)))
    assert broken(flying, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    assert broken(flying, trim(A, 0, 0)) is rules.EVERY_GROUP_HIT
    taken = play(flying, trim(A, 1, 0), taking((9,), (5,)), compute(C, 2))
    play(taken, ev.Complete(StepId(2)), ev.Complete(StepId(1)), trim(A, 1, 1))


@pytest.mark.parametrize("block", [1, 4, 6, 7, 8])
def test_what_a_query_in_flight_reads_waits_even_if_its_request_has_left(block: int) -> None:
    left = play(play(chunked(4, 3), ev.Complete(StepId(0))), ev.Abort(A))
    assert broken(left, taking((9,), (block,))) is rules.IN_FLIGHT_FENCE
    play(left, taking((9,), (5,)))
    play(left, ev.Complete(StepId(1)), taking((9,), (block,)))


def test_the_older_of_two_steps_in_flight_keeps_what_it_reads() -> None:
    """Of a state, step 0 reads nothing; step 1 reads the state after 4 tokens, which stands in entry 1."""
    flying = chunked(4, 3, groups=STATES)
    assert broken(flying, trim(A, 1, 0)) is rules.EVERY_GROUP_HIT
    after = play(flying, ev.Complete(StepId(0)), trim(A, 1, 0))
    assert broken(after, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    play(after, ev.Complete(StepId(1)), trim(A, 1, 1), trim(A, 1, 2))
    assert broken(play(after, ev.Complete(StepId(1))), trim(A, 1, 3)) is rules.EVERY_GROUP_HIT


def test_a_query_that_is_planned_keeps_what_it_reads_before_it_is_dispatched() -> None:
    planned = play(chunked(4), ev.Complete(StepId(0)), plan(A, 3))
    assert broken(planned, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    play(planned, trim(A, 1, 0), launch, taking((9,), (5,)))
    planned = play(chunked(2), ev.Complete(StepId(0)), plan(A, 5))
    assert broken(planned, trim(A, 1, 0)) is rules.EVERY_GROUP_HIT


def test_a_request_in_flight_keeps_its_window_and_another_in_the_same_step_its_own() -> None:
    """Both are computed in one step: A from 4 on, which sees entry 1 on, and B from 0 on, which sees all."""
    cache = play(chunked(4), ev.Complete(StepId(0)))
    cache = play(cache, admit(request(B, 1, 0, 0, 0), 0, 4, ids((9, 10), (11, 12))), plan(A, 3), plan(B, 4), launch)
    play(cache, trim(A, 1, 0))
    assert broken(cache, trim(B, 1, 0)) is rules.EVERY_GROUP_HIT
    left = play(cache, ev.Abort(A), ev.Abort(B))
    for block, wrong in ((5, False), (6, True), (11, True), (12, True)):
        if wrong:
            assert broken(left, taking((13,), (block,))) is rules.IN_FLIGHT_FENCE
        else:
            play(left, taking((13,), (block,)))


# The order of eviction.


def aside(*profiles: str, pool: str = "shared", blocks: int = 9) -> Judged:
    """A has gone, and then B: the tails of A's two tables are blocks 2 and 4, those of B's 6 and 8."""
    cache = world(HYBRID, pool, blocks, profiles=frozenset(profiles))
    cache = ran(cache, request(A, 0, 0, 0, 0), (1, 2), (3, 4))
    cache = ran(cache, request(B, 1, 1, 1, 1), (5, 6), (7, 8))
    return play(cache, ev.Abort(A), ev.Abort(B))


@pytest.mark.parametrize(
    "tables",
    [((2,), (4,)), ((4,), (2,)), ((2, 1), (4, 3)), ((3, 4), (2, 1)), ((2, 3), (1, 4)), ((2,), (7,)), ((6,), (3,))],
)
@pytest.mark.parametrize("profile", ["lru", "tail-first"])
def test_a_chain_of_all_goes_from_its_tail_and_a_window_as_it_may(
    tables: tuple[tuple[int, ...], ...], profile: str
) -> None:
    """Which of several groups is first is nobody's business."""
    size = 2 * len(tables[0])
    play(aside(profile), admit(request(C, *(1,) * size), 0, size, ids(*tables)))


@pytest.mark.parametrize("tables", [((1,), (4,)), ((4,), (1,)), ((3,), (1,)), ((2,), (5,)), ((5,), (6,))])
@pytest.mark.parametrize("profile", ["lru", "tail-first"])
def test_no_head_of_a_chain_of_all_goes_before_its_tail(tables: tuple[tuple[int, ...], ...], profile: str) -> None:
    assert broken(aside(profile), taking(*tables)) is rules.CONTIGUOUS_CHAIN
    play(aside(), taking(*tables))


@pytest.mark.parametrize("profile", ["lru", "tail-first"])
def test_a_drafter_keeps_a_chain_too(profile: str) -> None:
    cache = ran(world(DRAFTS, profiles=frozenset({profile})), FIVE, (1, 2, 3), (4, 5))
    cache = play(cache, ev.Abort(A))
    play(cache, taking((2,), (5,)))
    play(cache, taking((5,), (2,)))
    for tables in (((2,), (4,)), ((4,), (2,)), ((1,), (5,))):
        assert broken(cache, taking(*tables)) is rules.CONTIGUOUS_CHAIN


def test_an_entry_that_was_given_back_early_is_no_head_of_what_comes_later() -> None:
    cache = ran(world(HYBRID, num_blocks=9, profiles=frozenset({"lru"})), request(A, *(0,) * 6), (1, 2, 3), (4, 5, 6))
    cache = play(cache, trim(A, 1, 0), trim(A, 1, 1), ev.Abort(A))
    play(cache, taking((4,), (5,)))
    play(cache, taking((3,), (4,)))
    assert broken(cache, taking((2,), (4,))) is rules.CONTIGUOUS_CHAIN


def test_a_chain_is_judged_in_its_pool() -> None:
    cache = world(HYBRID, "own", 4, profiles=frozenset({"lru"}))
    cache = play(ran(cache, request(A, 0, 0, 0, 0), (1, 2), (5, 6)), ev.Abort(A))
    play(cache, taking((2,), (5,)))
    assert broken(cache, taking((1,), (5,))) is rules.CONTIGUOUS_CHAIN


# Pools.


def pools(num_blocks: int, **declared: object) -> Judged:
    """A has three tokens, of which the full group has a block each, the window two."""
    return ran(world("full:1 window:2:3", "own", num_blocks, **declared), request(A, 0, 0, 0), (1, 2, 3), _in(1, 2))


def _in(*numbers: int, size: int = 6) -> tuple[int, ...]:
    """The blocks with these numbers of pool 1."""
    return tuple(size + number for number in numbers)


def test_a_pool_that_is_full_is_reason_enough_to_refuse_and_another_is_not() -> None:
    cache = play(pools(6), ev.Add(request(B, 0, 0, 0)))
    play(cache, refuse(request(B, 0, 0, 0), 3))
    assert broken(cache, refuse(request(B, 0, 0, 0), 2)) is rules.FIT_AGREES_WITH_ALLOCATE
    play(cache, ev.Refuse(B, 0, (), (4,)))
    assert broken(cache, ev.Refuse(B, 2, (), (3,))) is rules.FIT_AGREES_WITH_ALLOCATE


@pytest.mark.parametrize("idle", [4, 5])
def test_idle_blocks_of_a_hit_are_counted_in_their_pool(idle: int) -> None:
    """A's blocks are idle: three of pool 0 and two of pool 1, beside two and three that are free."""
    cache = play(pools(6), ev.Abort(A), ev.Add(request(B, 0, 0, 0)))
    play(cache, ev.Refuse(B, 3, (BlockId(1), BlockId(2), BlockId(3)), (0,)))
    assert broken(cache, ev.Refuse(B, 3, (BlockId(7), BlockId(8)), (0,))) is rules.FIT_AGREES_WITH_ALLOCATE
    if idle == 4:
        play(cache, ev.Refuse(B, 0, (BlockId(7), BlockId(8)), (idle,)))
        assert broken(cache, ev.Refuse(B, 0, (BlockId(1),), (idle,))) is rules.FIT_AGREES_WITH_ALLOCATE
    else:
        assert broken(cache, ev.Refuse(B, 0, (), (idle,))) is rules.FIT_AGREES_WITH_ALLOCATE
        assert broken(cache, ev.Refuse(B, 0, (BlockId(1),), (idle,))) is rules.FIT_AGREES_WITH_ALLOCATE
        assert broken(cache, ev.Refuse(B, idle, (BlockId(7),), (0,))) is rules.FIT_AGREES_WITH_ALLOCATE


def test_what_one_pool_lacks_excuses_a_decode_and_what_it_has_does_not() -> None:
    """A's next token needs a block of pool 0 and none of pool 1."""
    asked = play(pools(6, profiles=frozenset({"decode-first"})), NEXT)
    assert broken(asked, END) is rules.BOUNDED_DECODE_GAP
    full = play(asked, admit(request(C, 1, 1), 0, 2, ids((4, 5), _in(3))), plan(C, 2))
    play(full, END)
    other = play(asked, admit(request(C, 1), 0, 1, ids((4,), _in(3))), plan(C, 1))
    assert broken(other, END) is rules.BOUNDED_DECODE_GAP


# A cache whose only group keeps less than everything.


def test_a_block_that_nobody_ever_had_is_no_hit_where_its_first_slots_are_not_read() -> None:
    """The query at 2 sees position 1 only, the second slot of its block."""
    cache = ran(world("window:2:2"), request(A, 0, 0, 0), (1, 2))
    play(cache, admit(request(B, 0, 0, 1), 2, 3, ids((1, 3))))
    assert broken(cache, admit(request(B, 0, 0, 1), 2, 3, ids((5, 3)))) is rules.PUBLISH_ONLY_COMPUTED


def test_a_window_alone_is_trimmed_and_resumed_like_one_beside_others() -> None:
    cache = ran(world("window:2:3"), FIVE, (1, 2, 3))
    assert broken(cache, trim(A, 0, 1)) is rules.EVERY_GROUP_HIT
    cache = play(cache, trim(A, 0, 0), ev.Preempt(A), END)
    play(cache, start(A, 4, (None, 2)), grow(A, 5, ids((None, 2, 7))), compute(A, 1))
    assert broken(cache, start(A, 4, (2, None))) is rules.EVERY_GROUP_HIT


def test_what_came_back_in_part_has_a_key_once_it_is_whole() -> None:
    """Of the second blocks two slots of three were computed before the swap, and the third after it."""
    cache = ran(world("full:3 window:3:2", num_blocks=20), FIVE, (1, 2), (4, 5))
    back = play(out(cache), swap_in(TWO, (7, 8), (None, 9)), ev.TransferDone(TWO), NEXT)
    assert (back.state.blocks[8].key, back.state.blocks[9].key) == (None, None)
    back = play(back, compute(A, 1), complete(A))
    assert (back.state.blocks[8].key, back.state.blocks[9].key) == (back.state.requests[A].contexts[5],) * 2


def test_the_end_of_a_chain_in_one_group_holds_up_no_eviction_in_another() -> None:
    """Both tables are given back at once; the chain of group 0 is longer."""
    cache = having(ran(world("full:2 full:4"), request(A, *(0,) * 8), (1, 2, 3, 4), (5, 6)), profiles=TAIL_FIRST)
    cache = play(cache, ev.Abort(A), ev.Add(request(B, 1)))
    play(cache, admit(request(B, 1), 0, 1, ids((4,), (6,))))
    for table, other in (((3,), (6,)), ((4,), (5,))):
        assert broken(cache, admit(request(B, 1), 0, 1, ids(table, other))) is rules.CONTIGUOUS_CHAIN


def test_of_the_blocks_behind_it_the_first_that_is_idle_is_named() -> None:
    cache = having(ran(world("full:2"), request(A, *(0,) * 6), (1, 2, 3)), profiles=TAIL_FIRST)
    seen = violation(play(cache, ev.Abort(A)), admit(request(B, 1), 0, 1, ids((1,))))
    assert (seen.rule, seen.facts["behind"]) == (rules.CONTIGUOUS_CHAIN, 3)


def test_a_block_before_an_empty_entry_is_given_back_too() -> None:
    """A hit may name a block that nobody reads, and leave out the next."""
    cache = ran(world("full:2 window:2:3", num_blocks=20), request(A, *(0,) * 7), (1, 2, 3, 4), (5, 6, 7, 8))
    hit = admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (5, None, 7, 10)))
    after = play(cache, ev.Abort(A), hit, ev.Abort(B))
    assert free(after) == (19,)


@pytest.mark.parametrize(("victim", "other"), [(A, B), (B, A)])
def test_a_victim_takes_along_what_flies_for_it_and_nothing_else(victim: RequestId, other: RequestId) -> None:
    asked = request(A, *(0,) * 7), request(B, *(1,) * 7)
    cache = world("full:2 window:2:3", num_blocks=30)
    tables = ids((1, 2, 3, 4), (5, 6, 7, 8)), ids((9, 10, 11, 12), (13, 14, 15, 16))
    admitted = [admit(who, 0, 7, table) for who, table in zip(asked, tables, strict=True)]
    cache = play(cache, *admitted, plan(A, 7), plan(B, 7), launch, ev.Preempt(victim))
    assert broken(cache, trim(other, 1, 0)) is rules.EVERY_GROUP_HIT
    play(cache, complete(other), trim(other, 1, 0))
