"""Caches with several groups: guards, effects and counts that mutation testing found untested.

The allowed event stands beside the nearest one that is not; written from `spec/cache.md` and the catalogue of rules.
"""

from __future__ import annotations

import pytest

from kvspec import HarnessFault, rules
from kvspec import events as ev
from kvspec.blame import Judged
from kvspec.hits import longest_hit
from kvspec.layout import Group, Kind, read_groups
from kvspec.needs import first_kept, reads, runs, slots_after, writes
from kvspec.rules import Rule
from kvspec.state import NOBODY, PENDING
from kvspec.vocabulary import BlockId, GroupsCapabilities, StepId, TokenId, TransferId
from tests.spec.grouped import (
    A,
    B,
    C,
    admit,
    broken,
    complete,
    compute,
    free,
    grow,
    having,
    ids,
    play,
    ran,
    refuse,
    request,
    trim,
    world,
)
from tests.spec.test_groups import DRAFTS, HYBRID

pytestmark = pytest.mark.kills("law", "layout")

REVERSED = "window:2:3 full:2"
ZEROS = (0, 0, 0, 0)
LEFT_BY_A = request(A, *ZEROS, 1)
LIKE_A = request(B, *ZEROS, 0)
HIT = admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 5, 8)))


def both(groups: str = HYBRID) -> Judged:
    """A has computed five tokens in blocks 1 to 3 of group 0 and 4 to 6 of group 1."""
    return ran(world(groups, num_blocks=20), LEFT_BY_A, (1, 2, 3), (4, 5, 6))


def long(groups: str = HYBRID) -> Judged:
    """A has computed seven tokens in blocks 1 to 4 of group 0 and 5 to 8 of group 1."""
    return ran(world(groups, num_blocks=20), request(A, *(0,) * 7), (1, 2, 3, 4), (5, 6, 7, 8))


def hit() -> Judged:
    """B has begun on a hit of four of A's tokens."""
    return play(both(), HIT)


# What queries read, and layouts.


def test_the_state_after_the_last_token_is_kept_and_those_before_it_may_go() -> None:
    """With blocks of one token, entry i is the cache after i + 1 tokens."""
    group = Group(Kind.STATE, 1)
    assert [first_kept(group, earliest) for earliest in range(5)] == [0, 0, 1, 2, 3]
    assert all(first_kept(group, n) == runs(group, reads(group, n))[0].entry for n in range(1, 5))


@pytest.mark.parametrize("text", ["full:2", "window:3:4", "state:1", "state:3", "draft:2:1"])
def test_what_is_read_and_written_lies_within_its_block(text: str) -> None:
    (group,) = read_groups(text)
    touched = [
        run for n in range(9) for slots in (reads(group, n), writes(group, n // 2, n)) for run in runs(group, slots)
    ]
    assert touched and all(run.offset >= 0 and run.offset + run.stop - run.first <= group.slots for run in touched)
    assert all(run.first < run.stop for run in touched)


@pytest.mark.parametrize("computed", [0, 1, 2])
def test_a_drafter_has_nothing_before_its_lag_is_known(computed: int) -> None:
    assert slots_after(Group(Kind.DRAFT, 2, lag=2), computed, 5, ahead=False) == 0
    assert slots_after(Group(Kind.DRAFT, 2, lag=2), computed, 1, ahead=True) == 0


@pytest.mark.parametrize(
    ("kind", "block_size", "window", "lag"),
    [
        (Kind.FULL, 2, 3, 0),
        (Kind.STATE, 2, 1, 0),
        (Kind.WINDOW, 2, 0, 0),
        (Kind.WINDOW, 2, -1, 0),
        (Kind.FULL, 2, 0, 1),
        (Kind.DRAFT, 2, 0, -1),
        (Kind.FULL, 0, 0, 0),
    ],
)
def test_sizes_that_mean_nothing_are_no_group(kind: Kind, block_size: int, window: int, lag: int) -> None:
    with pytest.raises(HarnessFault, match="not a group"):
        Group(kind, block_size, window, lag)


def test_who_declares_nothing_can_be_built_and_does_not_draft_ahead() -> None:
    plain = GroupsCapabilities()
    assert all(read_groups(text) for text in plain.layouts) and plain.layouts
    assert set(plain.pools) == {"shared"}
    assert (plain.states, plain.drafts_ahead) == ("every", False)
    assert plain.drafts_ahead is not None


# States.


def test_at_the_start_nothing_is_held_and_nothing_has_happened() -> None:
    cache = world(HYBRID, "own")
    assert free(cache) == (11, 11)
    assert {(block.owner, block.ref) for block in cache.state.blocks} == {(NOBODY, 0)}
    assert (cache.state.requests, cache.state.step, cache.past.last) == ({}, 0, None)


def test_steps_are_numbered_as_they_are_dispatched() -> None:
    cache = play(world(HYBRID), admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4))))
    cache = play(cache, compute(A, 2), compute(A, 1))
    assert cache.state.starts == {0: {A: 0}, 1: {A: 2}}
    assert cache.state.step == 2


@pytest.mark.parametrize(("pool", "beyond"), [("shared", 12), ("own", 24)])
def test_there_is_no_block_outside_of_the_pools(pool: str, beyond: int) -> None:
    """The last blocks can be held; -1 is not the last, and what is behind it is none."""
    cache = world(HYBRID, pool, 12)
    last = ran(cache, request(A, 0), (10 if pool == "shared" else 11,), (beyond - 1,))
    assert last.state.holders().keys() == {10 if pool == "shared" else 11, beyond - 1}
    for id in (-1, beyond):
        assert broken(cache, admit(request(A, 0), 0, 1, ids((1,), (id,)))) is rules.NO_DANGLING_REFERENCE


@pytest.mark.parametrize("tables", [((1, 15), (None, 14)), ((1, 2), (None, 3)), ((1, 2), (3, 14))])
def test_a_block_of_the_pool_of_another_group_is_none(tables: tuple[tuple[int | None, ...], ...]) -> None:
    cache = play(ran(world(HYBRID, "own"), LEFT_BY_A, (1, 2, 3), (13, 14, 15)), ev.Add(LIKE_A))
    (right, others), (first, second) = ids((1, 2), (None, 14)), ids(*tables)
    play(cache, ev.Lookup(B, 4, right, (others,)))
    assert broken(cache, ev.Lookup(B, 4, first, (second,))) is rules.NO_DANGLING_REFERENCE


def test_holders_are_those_of_the_pool_that_is_asked_for() -> None:
    cache = ran(world(HYBRID, "own"), request(A, 0, 0, 0), (1, 2), (13, 15))
    assert cache.state.holders() == dict.fromkeys((1, 2, 13, 15), 1)


def test_the_context_that_was_made_first_is_as_strange_to_others_as_any() -> None:
    cache = ran(world("full:1"), request(A, 0), (1,))
    play(cache, admit(request(B, 0, 0), 1, 2, ids((1, 2))))
    assert broken(cache, admit(request(B, 1, 0), 1, 2, ids((1, 2)))) is rules.KEY_DOMAINS
    who = cache.state.requests[A]
    assert PENDING not in {cache.state.contexts.root(who.request.parts), *who.contexts}


# Tables.


@pytest.mark.parametrize("tables", [((1, 2, 3),), ((1, 2, 3), (4, 5, 6), (7, 8, 9))])
def test_there_is_a_table_for_each_group_or_it_is_our_fault(tables: tuple[tuple[int, ...], ...]) -> None:
    told = ids(*tables)
    out = play(both(), ev.SwapOut(A, TransferId(0)), ev.TransferDone(TransferId(0)))
    for cache, event in (
        (world(HYBRID), admit(LEFT_BY_A, 0, 5, told)),
        (both(), grow(A, 5, told)),
        (both(), ev.Fork(A, request(B, *ZEROS, 1), told[0], told[1:])),
        (both(), ev.Lookup(A, 4, told[0], told[1:])),
        (play(both(), ev.Sample(A, TokenId(0))), ev.Compute(A, 5, 1, told[0], more=told[1:])),
        (out, ev.SwapIn(A, told[0], TransferId(1), told[1:])),
    ):
        with pytest.raises(HarnessFault, match="tables are told of a cache with 2 groups"):
            play(cache, event)


@pytest.mark.parametrize("number", [-1, 2])
def test_a_group_is_one_of_the_layout_or_it_is_our_fault(number: int) -> None:
    one = BlockId(1)
    for event in (
        ev.Trim(A, number, 0),
        ev.Copy(A, 0, one, BlockId(9), group=number),
        ev.Remap(A, 0, one, group=number),
        ev.Observe(tables={}, group=number),
        ev.Observe(free=13, group=number),
    ):
        with pytest.raises(HarnessFault, match=f"an event names group {number} of 2"):
            play(both(), event)


def test_a_table_is_longer_by_the_declared_lookahead_and_no_more() -> None:
    one = admit(LIKE_A, 0, 5, ids((1, 2, 3, 4), (5, 6, 7)))
    two = admit(LIKE_A, 0, 5, ids((1, 2, 3), (4, 5, 6, 7, 8)))
    play(having(world(HYBRID), lookahead_blocks=1), one)
    assert broken(having(world(HYBRID), lookahead_blocks=1), two) is rules.ONE_PAGE_ROUNDING
    assert broken(world(HYBRID), one) is rules.ONE_PAGE_ROUNDING


@pytest.mark.parametrize("unread", [(None, None), (5, 6), (6, 5), (None, 5)])
def test_entries_that_no_query_reads_may_name_any_block_of_the_group(unread: tuple[int | None, ...]) -> None:
    play(long(), admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (*unread, 7, 10))))


def test_entries_that_no_query_reads_do_not_name_a_block_twice() -> None:
    twice = admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (5, 5, 7, 10)))
    assert broken(long(), twice) is rules.CONSERVATION


@pytest.mark.parametrize("other", [4, 12])
def test_entries_that_no_query_reads_name_no_block_of_another_group_and_no_unused_one(other: int) -> None:
    strange = admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (other, 6, 7, 10)))
    assert broken(long(), strange) is rules.CONSERVATION


def test_a_block_of_a_later_group_is_not_shared_either() -> None:
    strange = admit(request(B, *(0,) * 7), 6, 7, ids((8, 2, 3, 9), (5, 6, 7, 10)))
    assert broken(long(REVERSED), strange) is rules.CONSERVATION


@pytest.mark.parametrize("unread", [(14, None), (None, 14)])
def test_entries_that_no_query_reads_name_no_block_to_which_somebody_is_still_to_write(
    unread: tuple[int | None, ...],
) -> None:
    asked = admit(request(C, *(0,) * 7), 0, 7, ids((9, 10, 11, 12), (13, 14, 15, 16)))
    half = play(long(), asked, compute(C, 3), complete(C))
    shared = admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 17), (*unread, 7, 18)))
    for cache in (half, having(half, publishes="scheduled")):
        assert broken(cache, shared) is rules.PUBLISH_ONLY_COMPUTED
        play(cache, compute(C, 1), complete(C), shared)


@pytest.mark.parametrize("id", [-1, 20])
def test_a_new_block_is_one_of_the_pool(id: int) -> None:
    assert broken(both(), admit(request(B, 1), 0, 1, ids((id,), (7,)))) is rules.NO_DANGLING_REFERENCE


def test_the_first_and_the_last_block_may_be_handed_out_where_none_is_reserved() -> None:
    cache = world(HYBRID, num_blocks=20, reserved_blocks=frozenset())
    cache = ran(cache, LEFT_BY_A, (0, 19, 1), (2, 3, 4))
    play(cache, admit(LIKE_A, 4, 5, ids((0, 19, 7), (None, 3, 8))))


def test_a_table_does_not_lose_its_entries_to_smaller_ids() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0), (4,), (5,))
    assert broken(cache, grow(A, 3, ids((1, 6), (5, 7)))) is rules.NO_DANGLING_REFERENCE
    assert broken(cache, grow(A, 3, ids((4, 6), (1, 7)))) is rules.NO_DANGLING_REFERENCE


# Hits.


@pytest.mark.parametrize(
    ("tables", "rule"),
    [
        (((None, None, 7), (None, None, 8)), rules.EVERY_GROUP_HIT),
        (((9, 10, 7), (None, 11, 8)), rules.EVERY_GROUP_HIT),
        (((20, 2, 7), (None, 5, 8)), rules.NO_DANGLING_REFERENCE),
        (((-1, 2, 7), (None, 5, 8)), rules.NO_DANGLING_REFERENCE),
        (((1, 2, 7), (None, 20, 8)), rules.NO_DANGLING_REFERENCE),
        (((1, 2, 7), (20, 5, 8)), rules.NO_DANGLING_REFERENCE),
    ],
    ids=("nothing", "unused", "beyond the pool", "before the pool", "beyond the pool in the window", "unread"),
)
def test_what_is_not_there_in_every_group_is_not_a_matter_of_keys(
    tables: tuple[tuple[int | None, ...], ...], rule: Rule
) -> None:
    assert broken(both(), admit(LIKE_A, 4, 5, ids(*tables))) is rule


def test_no_block_is_counted_from_the_end_of_the_pool() -> None:
    """The last block of the pool holds what B asks for."""
    cache = ran(world(HYBRID, num_blocks=20), LEFT_BY_A, (19, 2, 3), (4, 5, 6))
    play(cache, admit(LIKE_A, 4, 5, ids((19, 2, 7), (None, 5, 8))))
    assert broken(cache, admit(LIKE_A, 4, 5, ids((-1, 2, 7), (None, 5, 8)))) is rules.NO_DANGLING_REFERENCE


@pytest.mark.parametrize("tables", [((1, 2, 13), (None, 8, 14)), ((1, 11, 13), (None, 5, 14))])
def test_the_right_context_in_a_block_of_another_group_is_no_hit(tables: tuple[tuple[int | None, ...], ...]) -> None:
    other = request(C, *ZEROS, 1)
    cache = play(both(), admit(other, 0, 5, ids((7, 8, 9), (10, 11, 12))), compute(C, 5), complete(C))
    assert broken(cache, admit(LIKE_A, 4, 5, ids(*tables))) is rules.EVERY_GROUP_HIT


def test_a_hit_beyond_the_table_is_none() -> None:
    assert broken(both(), admit(LIKE_A, 4, 2, ids((1,), (4,)))) is rules.EVERY_GROUP_HIT
    cache = ran(world("full:1 draft:1:1"), request(A, 0, 0, 0), (1, 2, 3), (4, 5))
    play(cache, admit(request(B, 0, 0, 0), 2, 2, ids((1, 2), (4, 5))))
    assert broken(cache, admit(request(B, 0, 0, 0), 2, 2, ids((1, 2), (4,)))) is rules.DRAFT_GROUP_HIT


@pytest.mark.parametrize("groups", [DRAFTS, "draft:2:1 full:2"])
def test_what_the_target_lacks_is_told_before_what_the_drafter_lacks(groups: str) -> None:
    cache = ran(world(groups), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    lacking = admit(request(B, 0, 0, 1, 0), 2, 4, ids((None, 5), (None, 6)))
    assert broken(cache, lacking) is rules.EVERY_GROUP_HIT


def drafted() -> Judged:
    """A's block 3 is drafted up to a token that is not told yet; what follows it stands in C's block 9."""
    cache = ran(having(world(DRAFTS), drafts_ahead=True), request(A, 0, 0), (1,), (3,))
    asked = admit(request(C, 0, 0, 1, 1, 1), 0, 5, ids((5, 6, 7), (8, 9, 10)))
    return play(cache, asked, compute(C, 5), complete(C))


def test_a_draft_from_a_token_not_told_yet_excuses_no_other() -> None:
    tables = ids((1, 6, 2), (3, 9, 4))
    play(drafted(), admit(request(B, 0, 0, 1, 1, 1), 4, 5, tables))
    assert broken(drafted(), admit(request(B, 0, 0, 1, 1, 0), 4, 5, tables)) is rules.DRAFT_GROUP_HIT


def test_a_hit_of_one_token_is_the_longest_where_blocks_hold_one() -> None:
    cache = having(ran(world("full:1"), request(A, 0), (1,)), profiles=frozenset({"longest-hit"}))
    assert broken(cache, admit(request(B, 0, 0), 0, 2, ids((2, 3)))) is rules.LONGEST_GROUP_HIT
    play(cache, admit(request(B, 0, 0), 1, 2, ids((1, 3))))


def test_a_drafter_finds_nothing_that_needs_a_token_which_the_request_does_not_have() -> None:
    cache = ran(world("full:2 draft:2:2"), request(A, *(0,) * 6), (1, 2, 3), (4, 5, 6))
    cache = having(cache, profiles=frozenset({"longest-hit"}))
    short = play(cache, admit(request(B, 0, 0, 0), 0, 3, ids((7, 8), (9, 10))))
    assert longest_hit(short.state, short.state.requests[B]) == 0
    assert broken(cache, admit(request(B, *ZEROS), 0, 4, ids((7, 8), (9, 10)))) is rules.LONGEST_GROUP_HIT


@pytest.mark.parametrize("hit", [-1, -2])
def test_a_hit_of_less_than_nothing_is_none(hit: int) -> None:
    assert broken(both(), admit(LIKE_A, hit, 1, ids((7,), (8,)))) is rules.EVERY_GROUP_HIT


# Steps and releases.


def test_a_step_writes_no_further_than_the_tables_reach() -> None:
    cache = play(world(HYBRID), admit(LEFT_BY_A, 0, 4, ids((1, 2), (4, 5))))
    play(cache, compute(A, 4))
    assert broken(cache, compute(A, 5)) is rules.COVERAGE_AND_LIMIT


def test_what_is_drafted_from_the_sampled_token_needs_a_home_where_a_token_is_sampled() -> None:
    """Slot 2 needs the token behind the third, which is sampled; if that is the last one, nobody reads the slot."""
    cache = having(world("full:1 draft:1:1"), drafts_ahead=True)
    for new in (2, 3):
        begun = play(cache, admit(request(A, 0, 0, new=new), 0, 2, ids((1, 2), (3, 4))), compute(A, 2))
        grown = play(begun, ev.Sample(A, TokenId(0)), grow(A, 3, ids((1, 2, 5), (3, 4))))
        if new == 2:
            play(grown, compute(A, 1), complete(A), complete(A), ev.Sample(A, TokenId(0)), ev.Abort(A))
        else:
            assert broken(grown, compute(A, 1)) is rules.COVERAGE_AND_LIMIT


def test_what_is_drafted_from_the_last_token_needs_no_home() -> None:
    cache = having(world("full:1 draft:1:1"), drafts_ahead=True)
    last, other = (play(cache, admit(request(A, 0, 0, new=new), 0, 2, ids((1, 2), (3,)))) for new in (1, 2))
    assert broken(other, compute(A, 2)) is rules.COVERAGE_AND_LIMIT
    play(last, compute(A, 2), complete(A), ev.Sample(A, TokenId(0)), ev.Abort(A))


def test_what_is_drafted_from_tokens_behind_the_sampled_one_needs_no_home() -> None:
    """Slot 1 needs the token that is sampled after all three are computed, slot 2 the one behind it."""
    cache = having(world("full:2 draft:1:2"), drafts_ahead=True)
    one = play(cache, admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3,))))
    play(one, compute(A, 2))
    assert broken(one, compute(A, 3)) is rules.COVERAGE_AND_LIMIT
    play(cache, admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4))), compute(A, 3))
    play(cache, admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4, 5))), compute(A, 3))


def test_a_step_reads_what_is_held() -> None:
    cache = hit()
    cache.state.requests[B].tables[1][1] = None
    assert broken(cache, compute(B, 1)) is rules.EVERY_GROUP_HIT
    cache = play(drafted(), admit(request(B, 0, 0, 1, 1, 1), 4, 5, ids((1, 6, 2), (3, 9, 4))))
    cache.state.requests[B].tables[1][1] = None
    assert broken(cache, compute(B, 1)) is rules.DRAFT_GROUP_HIT


def test_a_release_of_an_entry_that_is_not_there_is_our_fault() -> None:
    cache = ran(world(REVERSED), LEFT_BY_A, (1, 2, 3), (4, 5, 6))
    assert free(play(cache, trim(A, 0, 0))) == (6,)
    for group, index in ((0, 3), (0, -1)):
        with pytest.raises(HarnessFault, match="no entry"):
            play(cache, trim(A, group, index))


def test_what_the_sampled_token_has_drafted_is_not_drafted_again() -> None:
    """B has hit the block that A's drafter filled when the token was told."""
    cache = ran(having(world(DRAFTS), drafts_ahead=True), request(A, 0, 0), (1,), (3,))
    cache = play(cache, ev.Sample(A, TokenId(1)), admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6))))
    play(cache, grow(A, 3, ids((1, 2), (3, 4))), compute(A, 1), compute(B, 1))


def flying() -> Judged:
    """All tokens of A are computed in a step that is on the device."""
    return play(world(HYBRID, num_blocks=20), admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), compute(A, 5))


def test_who_runs_does_not_begin_again() -> None:
    with pytest.raises(HarnessFault, match="twice"):
        play(flying(), ev.Add(LEFT_BY_A))
    assert broken(flying(), admit(LEFT_BY_A, 0, 5, ids((7, 8, 9), (10, 11, 12)))) is rules.ONE_QUEUE


@pytest.mark.parametrize("id", [1, 3, 4, 6])
def test_who_leaves_under_a_step_in_flight_leaves_what_that_may_touch(id: int) -> None:
    """The step has its first query at position 0, and so every entry of both groups."""
    left = play(flying(), ev.Abort(A))
    taken = admit(request(B, 1), 0, 1, ids((7,), (id,)))
    assert broken(left, taken) is rules.IN_FLIGHT_FENCE
    play(left, ev.Complete(StepId(0)), taken)


@pytest.mark.parametrize("computed", [1, 4])
def test_a_token_is_sampled_once_all_are_computed(computed: int) -> None:
    cache = play(world(HYBRID), admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), compute(A, computed))
    assert broken(cache, ev.Sample(A, TokenId(0))) is rules.CHUNK_INDEPENDENCE
    play(cache, compute(A, 5 - computed), ev.Sample(A, TokenId(0)))


# Refusals.


@pytest.mark.parametrize(
    ("kept", "spare"),
    [
        ({}, 0),
        ({"watermark_blocks": 1}, 1),
        ({"lookahead_blocks": 1}, 2),
        ({"watermark_blocks": 1, "lookahead_blocks": 1}, 3),
        ({"watermark_blocks": 3, "lookahead_blocks": 1}, 5),
    ],
)
def test_blocks_that_an_engine_declares_to_keep_are_not_offered(kept: dict[str, int], spare: int) -> None:
    """Two blocks for two tokens, one of them block 0, which is reserved; lookahead is for each group."""
    refused = refuse(request(B, 0, 0), 2)
    play(having(world(HYBRID, num_blocks=1 + 1 + spare), **kept), refused)
    assert broken(having(world(HYBRID, num_blocks=1 + 2 + spare), **kept), refused) is rules.FIT_AGREES_WITH_ALLOCATE


def test_a_running_request_is_refused_what_does_not_fit_beside_what_it_has() -> None:
    def running(num_blocks: int) -> Judged:
        return ran(world(HYBRID, num_blocks=num_blocks), request(A, *ZEROS), (1, 2), (3, 4))

    play(running(6), refuse(request(A, *ZEROS), 6))
    assert broken(running(7), refuse(request(A, *ZEROS), 6)) is rules.FIT_AGREES_WITH_ALLOCATE


def test_one_full_pool_is_reason_enough_to_refuse() -> None:
    def own(num_blocks: int) -> Judged:
        return ran(world("full:1 window:2:3", "own", num_blocks), request(A, 0, 0), (1, 2), (num_blocks + 1,))

    play(own(4), refuse(request(B, 0, 0), 2))
    assert broken(own(5), refuse(request(B, 0, 0), 2)) is rules.FIT_AGREES_WITH_ALLOCATE


def test_a_state_is_remapped_to_the_same_state_and_to_no_other() -> None:
    """Entry i of a recurrence is the state after its last token; the two requests part in the third."""
    empty = world("full:2 state:2", num_blocks=20, remaps_duplicates=True, states="every")
    one = ran(empty, request(A, 0, 0, 1, 1, 0), (1, 2, 3), (4, 5, 6))

    def beside(*tokens: int) -> Judged:
        return ran(one, request(B, *tokens), (7, 8, 9), (10, 11, 12))

    play(beside(0, 0, 1, 1, 1), ev.Remap(B, 1, BlockId(5), group=1))
    assert broken(beside(0, 0, 0, 1, 1), ev.Remap(B, 1, BlockId(5), group=1)) is rules.CONTENT_MATCHES_KEY
    assert broken(beside(0, 0, 1, 1, 1), ev.Remap(B, 1, BlockId(4), group=1)) is rules.CONTENT_MATCHES_KEY
