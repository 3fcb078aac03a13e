"""Caches with several groups: guards, effects and counts that mutation testing found untested.

The allowed event stands beside the nearest one that is not; written from `spec/groups.md` and the catalogue of rules.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import HarnessFault, rules
from kvspec.groups import events as ev
from kvspec.groups.hits import longest_hit
from kvspec.groups.needs import first_kept, read_below, slots_after, written
from kvspec.groups.state import PENDING, State
from kvspec.groups.transition import step
from kvspec.groups.vocabulary import Group, GroupsCapabilities, Kind, read_groups
from kvspec.vocabulary import BlockId, RequestId, TokenId
from tests.spec.test_groups import DRAFTS, HYBRID, A, B, broken, ids, play, ran, request, world

C = RequestId("C")
REVERSED = "window:2:3 full:2"
ZEROS = (0, 0, 0, 0)
LEFT_BY_A = request(A, *ZEROS, 1)
LIKE_A = request(B, *ZEROS, 0)
HIT = ev.Admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 5, 8)))


def having(state: State, **declared: object) -> State:
    """The state with other capabilities."""
    return replace(state, capabilities=replace(state.capabilities, **declared))  # type: ignore[arg-type]


def both(groups: str = HYBRID) -> State:
    """A has computed five tokens in blocks 1 to 3 of group 0 and 4 to 6 of group 1."""
    return ran(world(groups, num_blocks=20), LEFT_BY_A, (1, 2, 3), (4, 5, 6))


def long(groups: str = HYBRID) -> State:
    """A has computed seven tokens in blocks 1 to 4 of group 0 and 5 to 8 of group 1."""
    return ran(world(groups, num_blocks=20), request(A, *(0,) * 7), (1, 2, 3, 4), (5, 6, 7, 8))


def hit() -> State:
    """B has begun on a hit of four of A's tokens."""
    return play(both(), HIT)


# What queries read, and layouts.


def test_the_state_after_the_last_token_is_kept_and_those_before_it_may_go() -> None:
    """With blocks of one token, entry i is the state after i + 1 tokens."""
    group = Group(Kind.STATE, 1)
    assert [first_kept(group, earliest) for earliest in range(5)] == [0, 0, 1, 2, 3]
    assert all(first_kept(group, n) == read_below(group, n)[0].index for n in range(1, 5))


@pytest.mark.parametrize("text", ["full:2", "window:3:4", "state:1", "state:3", "draft:2:1"])
def test_what_is_read_and_written_lies_within_its_block(text: str) -> None:
    (group,) = read_groups(text)
    slots = [slot for n in range(9) for slot in (*read_below(group, n), *written(group, n // 2, n))]
    assert slots and all(0 <= slot.offset < group.slots for slot in slots)


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
    state = world(HYBRID, "own")
    assert state.free() == (11, 11)
    assert {(block.owner, block.ref) for pool in state.pools for block in pool} == {(None, 0)}
    assert (state.requests, state.steps, state.last) == ({}, 0, "start")


def test_steps_are_numbered_as_they_are_dispatched() -> None:
    state = play(world(HYBRID), ev.Admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4))))
    state = play(state, ev.Compute(A, 2), ev.Compute(A, 1))
    assert state.requests[A].flights == {0: 0, 1: 2}
    assert state.steps == 2


@pytest.mark.parametrize("id", [-1, 12])
def test_there_is_no_block_outside_of_the_pool(id: int) -> None:
    state = world(HYBRID, num_blocks=12)
    assert state.block(1, BlockId(0)) is state.pools[0][0]
    with pytest.raises(KeyError):
        state.block(1, BlockId(id))


def test_holders_are_those_of_the_pool_that_is_asked_for() -> None:
    state = ran(world(HYBRID, "own"), request(A, 0, 0, 0), (1, 2), (1, 3))
    assert [state.holders(pool, BlockId(1)) for pool in (0, 1)] == [[(A, 0)], [(A, 1)]]
    assert [state.holders(pool, BlockId(id)) for pool, id in ((0, 3), (1, 2), (1, 9))] == [[], [], []]


def test_the_context_that_was_made_first_is_as_strange_to_others_as_any() -> None:
    state = ran(world("full:1"), request(A, 0), (1,))
    play(state, ev.Admit(request(B, 0, 0), 1, 2, ids((1, 2))))
    assert broken(state, ev.Admit(request(B, 1, 0), 1, 2, ids((1, 2)))) is rules.CONTENT_MATCHES_KEY
    who = state.requests[A]
    assert PENDING not in {state.contexts.root(who.request.parts), *who.contexts}


# Tables.


@pytest.mark.parametrize("tables", [((1, 2, 3),), ((1, 2, 3), (4, 5, 6), (7, 8, 9))])
def test_there_is_a_table_for_each_group_or_it_is_our_fault(tables: tuple[tuple[int, ...], ...]) -> None:
    told = ids(*tables)
    for state, event in (
        (world(HYBRID), ev.Admit(LEFT_BY_A, 0, 5, told)),
        (both(), ev.Grow(A, 5, told)),
        (both(), ev.Observe(tables={A: told})),
        (both(), ev.Observe(tables={B: told})),
    ):
        with pytest.raises(HarnessFault, match="tables"):
            step(state, event)


def test_a_table_is_longer_by_the_declared_lookahead_and_no_more() -> None:
    one = ev.Admit(LIKE_A, 0, 5, ids((1, 2, 3, 4), (5, 6, 7)))
    two = ev.Admit(LIKE_A, 0, 5, ids((1, 2, 3), (4, 5, 6, 7, 8)))
    play(having(world(HYBRID), lookahead_blocks=1), one)
    assert broken(having(world(HYBRID), lookahead_blocks=1), two) is rules.COVERAGE_AND_LIMIT
    assert broken(world(HYBRID), one) is rules.COVERAGE_AND_LIMIT


@pytest.mark.parametrize("unread", [(None, None), (5, 6), (6, 5), (None, 5)])
def test_entries_that_no_query_reads_may_name_any_block_of_the_group(unread: tuple[int | None, ...]) -> None:
    play(long(), ev.Admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (*unread, 7, 10))))


def test_entries_that_no_query_reads_do_not_name_a_block_twice() -> None:
    twice = ev.Admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (5, 5, 7, 10)))
    assert broken(long(), twice) is rules.CONSERVATION


@pytest.mark.parametrize("other", [4, 12])
def test_entries_that_no_query_reads_name_no_block_of_another_group_and_no_unused_one(other: int) -> None:
    strange = ev.Admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 9), (other, 6, 7, 10)))
    assert broken(long(), strange) is rules.CONSERVATION


def test_a_block_of_a_later_group_is_not_shared_either() -> None:
    strange = ev.Admit(request(B, *(0,) * 7), 6, 7, ids((8, 2, 3, 9), (5, 6, 7, 10)))
    assert broken(long(REVERSED), strange) is rules.CONSERVATION


@pytest.mark.parametrize("unread", [(14, None), (None, 14)])
def test_entries_that_no_query_reads_name_no_block_to_which_somebody_is_still_to_write(
    unread: tuple[int | None, ...],
) -> None:
    asked = ev.Admit(request(C, *(0,) * 7), 0, 7, ids((9, 10, 11, 12), (13, 14, 15, 16)))
    half = play(long(), asked, ev.Compute(C, 3), ev.Complete(C))
    shared = ev.Admit(request(B, *(0,) * 7), 6, 7, ids((1, 2, 3, 17), (*unread, 7, 18)))
    for state in (half, having(half, publishes="scheduled")):
        assert broken(state, shared) is rules.PUBLISH_ONLY_COMPUTED
        play(state, ev.Compute(C, 1), ev.Complete(C), shared)


@pytest.mark.parametrize("id", [-1, 20])
def test_a_new_block_is_one_of_the_pool(id: int) -> None:
    assert broken(both(), ev.Admit(request(B, 1), 0, 1, ids((id,), (7,)))) is rules.NO_DANGLING_REFERENCE


def test_the_first_and_the_last_block_may_be_handed_out_where_none_is_reserved() -> None:
    state = having(world(HYBRID, num_blocks=20), reserved_blocks=frozenset())
    state = ran(state, LEFT_BY_A, (0, 19, 1), (2, 3, 4))
    play(state, ev.Admit(LIKE_A, 4, 5, ids((0, 19, 7), (None, 3, 8))))


def test_a_table_does_not_lose_its_entries_to_smaller_ids() -> None:
    state = ran(world(HYBRID), request(A, 0, 0), (4,), (5,))
    assert broken(state, ev.Grow(A, 3, ids((1, 6), (5, 7)))) is rules.NO_DANGLING_REFERENCE
    assert broken(state, ev.Grow(A, 3, ids((4, 6), (1, 7)))) is rules.NO_DANGLING_REFERENCE


# Hits.


@pytest.mark.parametrize(
    "tables",
    [
        ((None, None, 7), (None, None, 8)),
        ((9, 10, 7), (None, 11, 8)),
        ((20, 2, 7), (None, 5, 8)),
        ((-1, 2, 7), (None, 5, 8)),
        ((1, 2, 7), (None, 20, 8)),
    ],
    ids=("nothing", "unused", "beyond the pool", "before the pool", "beyond the pool in the window"),
)
def test_what_is_not_there_in_every_group_is_not_a_matter_of_keys(tables: tuple[tuple[int | None, ...], ...]) -> None:
    assert broken(both(), ev.Admit(LIKE_A, 4, 5, ids(*tables))) is rules.EVERY_GROUP_HIT


def test_no_block_is_counted_from_the_end_of_the_pool() -> None:
    """The last block of the pool holds what B asks for."""
    state = ran(world(HYBRID, num_blocks=20), LEFT_BY_A, (19, 2, 3), (4, 5, 6))
    play(state, ev.Admit(LIKE_A, 4, 5, ids((19, 2, 7), (None, 5, 8))))
    assert broken(state, ev.Admit(LIKE_A, 4, 5, ids((-1, 2, 7), (None, 5, 8)))) is rules.EVERY_GROUP_HIT


@pytest.mark.parametrize("tables", [((1, 2, 13), (None, 8, 14)), ((1, 11, 13), (None, 5, 14))])
def test_the_right_context_in_a_block_of_another_group_is_no_hit(tables: tuple[tuple[int | None, ...], ...]) -> None:
    other = request(C, *ZEROS, 1)
    state = play(both(), ev.Admit(other, 0, 5, ids((7, 8, 9), (10, 11, 12))), ev.Compute(C, 5), ev.Complete(C))
    assert broken(state, ev.Admit(LIKE_A, 4, 5, ids(*tables))) is rules.EVERY_GROUP_HIT


def test_a_hit_beyond_the_table_is_none() -> None:
    assert broken(both(), ev.Admit(LIKE_A, 4, 2, ids((1,), (4,)))) is rules.EVERY_GROUP_HIT
    state = ran(world("full:1 draft:1:1"), request(A, 0, 0, 0), (1, 2, 3), (4, 5))
    play(state, ev.Admit(request(B, 0, 0, 0), 2, 2, ids((1, 2), (4, 5))))
    assert broken(state, ev.Admit(request(B, 0, 0, 0), 2, 2, ids((1, 2), (4,)))) is rules.DRAFT_GROUP_HIT


@pytest.mark.parametrize("groups", [DRAFTS, "draft:2:1 full:2"])
def test_what_the_target_lacks_is_told_before_what_the_drafter_lacks(groups: str) -> None:
    state = ran(world(groups), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    lacking = ev.Admit(request(B, 0, 0, 1, 0), 2, 4, ids((None, 5), (None, 6)))
    assert broken(state, lacking) is rules.EVERY_GROUP_HIT


def drafted() -> State:
    """A's block 3 is drafted up to a token that is not told yet; what follows it stands in C's block 9."""
    state = ran(having(world(DRAFTS), drafts_ahead=True), request(A, 0, 0), (1,), (3,))
    asked = ev.Admit(request(C, 0, 0, 1, 1, 1), 0, 5, ids((5, 6, 7), (8, 9, 10)))
    return play(state, asked, ev.Compute(C, 5), ev.Complete(C))


def test_a_draft_from_a_token_not_told_yet_excuses_no_other() -> None:
    tables = ids((1, 6, 2), (3, 9, 4))
    play(drafted(), ev.Admit(request(B, 0, 0, 1, 1, 1), 4, 5, tables))
    assert broken(drafted(), ev.Admit(request(B, 0, 0, 1, 1, 0), 4, 5, tables)) is rules.DRAFT_GROUP_HIT


def test_a_hit_of_one_token_is_the_longest_where_blocks_hold_one() -> None:
    state = having(ran(world("full:1"), request(A, 0), (1,)), profiles=frozenset({"longest-hit"}))
    assert broken(state, ev.Admit(request(B, 0, 0), 0, 2, ids((2, 3)))) is rules.LONGEST_GROUP_HIT
    play(state, ev.Admit(request(B, 0, 0), 1, 2, ids((1, 3))))


def test_a_drafter_finds_nothing_that_needs_a_token_which_the_request_does_not_have() -> None:
    state = ran(world("full:2 draft:2:2"), request(A, *(0,) * 6), (1, 2, 3), (4, 5, 6))
    state = having(state, profiles=frozenset({"longest-hit"}))
    short = play(state, ev.Admit(request(B, 0, 0, 0), 0, 3, ids((7, 8), (9, 10))))
    assert longest_hit(short, short.requests[B]) == 0
    assert broken(state, ev.Admit(request(B, *ZEROS), 0, 4, ids((7, 8), (9, 10)))) is rules.LONGEST_GROUP_HIT


@pytest.mark.parametrize("hit", [-1, -2])
def test_a_hit_of_less_than_nothing_is_our_fault(hit: int) -> None:
    with pytest.raises(HarnessFault, match="hit"):
        step(both(), ev.Admit(LIKE_A, hit, 1, ids((7,), (8,))))


# Steps and releases.


def test_a_step_writes_no_further_than_the_tables_reach() -> None:
    state = play(world(HYBRID), ev.Admit(LEFT_BY_A, 0, 4, ids((1, 2), (4, 5))))
    play(state, ev.Compute(A, 4))
    assert broken(state, ev.Compute(A, 5)) is rules.COVERAGE_AND_LIMIT


def test_what_is_drafted_from_the_sampled_token_needs_a_home_where_a_token_is_sampled() -> None:
    """Slot 2 needs the token behind the third, which is sampled; if that is the last one, nobody reads the slot."""
    state = having(world("full:1 draft:1:1"), drafts_ahead=True)
    for new in (2, 3):
        begun = play(state, ev.Admit(request(A, 0, 0, new=new), 0, 2, ids((1, 2), (3, 4))), ev.Compute(A, 2))
        grown = play(begun, ev.Sample(A, TokenId(0)), ev.Grow(A, 3, ids((1, 2, 5), (3, 4))))
        if new == 2:
            play(grown, ev.Compute(A, 1), ev.Complete(A), ev.Complete(A), ev.Sample(A, TokenId(0)), ev.End(A))
        else:
            assert broken(grown, ev.Compute(A, 1)) is rules.COVERAGE_AND_LIMIT


def test_what_is_drafted_from_the_last_token_needs_no_home() -> None:
    state = having(world("full:1 draft:1:1"), drafts_ahead=True)
    last, other = (play(state, ev.Admit(request(A, 0, 0, new=new), 0, 2, ids((1, 2), (3,)))) for new in (1, 2))
    assert broken(other, ev.Compute(A, 2)) is rules.COVERAGE_AND_LIMIT
    play(last, ev.Compute(A, 2), ev.Complete(A), ev.Sample(A, TokenId(0)), ev.End(A))


def test_what_is_drafted_from_tokens_behind_the_sampled_one_needs_no_home() -> None:
    """Slot 1 needs the token that is sampled after all three are computed, slot 2 the one behind it."""
    state = having(world("full:2 draft:1:2"), drafts_ahead=True)
    one = play(state, ev.Admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3,))))
    play(one, ev.Compute(A, 2))
    assert broken(one, ev.Compute(A, 3)) is rules.COVERAGE_AND_LIMIT
    play(state, ev.Admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4))), ev.Compute(A, 3))
    play(state, ev.Admit(request(A, 0, 0, 0), 0, 3, ids((1, 2), (3, 4, 5))), ev.Compute(A, 3))


def test_a_step_reads_what_is_held() -> None:
    state = hit()
    state.requests[B].tables[1][1] = None
    assert broken(state, ev.Compute(B, 1)) is rules.EVERY_GROUP_HIT
    state = play(drafted(), ev.Admit(request(B, 0, 0, 1, 1, 1), 4, 5, ids((1, 6, 2), (3, 9, 4))))
    state.requests[B].tables[1][1] = None
    assert broken(state, ev.Compute(B, 1)) is rules.DRAFT_GROUP_HIT


def test_a_release_of_an_entry_that_is_not_there_is_our_fault() -> None:
    state = ran(world(REVERSED), LEFT_BY_A, (1, 2, 3), (4, 5, 6))
    assert play(state, ev.Release(A, 0, 0)).free() == (6,)
    for group, index in ((2, 0), (-1, 0), (0, 3), (0, -1)):
        with pytest.raises(HarnessFault, match="no entry"):
            step(state, ev.Release(A, group, index))


def test_what_the_sampled_token_has_drafted_is_not_drafted_again() -> None:
    """B has hit the block that A's drafter filled when the token was told."""
    state = ran(having(world(DRAFTS), drafts_ahead=True), request(A, 0, 0), (1,), (3,))
    state = play(state, ev.Sample(A, TokenId(1)), ev.Admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6))))
    play(state, ev.Grow(A, 3, ids((1, 2), (3, 4))), ev.Compute(A, 1), ev.Compute(B, 1))


@pytest.mark.parametrize("event", [ev.Admit(LEFT_BY_A, 0, 5, ids((7, 8, 9), (10, 11, 12))), ev.End(A)])
def test_who_runs_does_not_begin_again_nor_end_under_a_step_in_flight(event: ev.Event) -> None:
    state = play(world(HYBRID, num_blocks=20), ev.Admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), ev.Compute(A, 5))
    with pytest.raises(HarnessFault, match=r"twice|in flight"):
        step(state, event)


@pytest.mark.parametrize("computed", [1, 4])
def test_a_token_is_sampled_once_all_are_computed(computed: int) -> None:
    state = play(world(HYBRID), ev.Admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), ev.Compute(A, computed))
    with pytest.raises(HarnessFault, match="samples before"):
        step(state, ev.Sample(A, TokenId(0)))
    play(state, ev.Compute(A, 5 - computed), ev.Sample(A, TokenId(0)))


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
    refused = ev.Refuse(request(B, 0, 0), 2)
    play(having(world(HYBRID, num_blocks=1 + 1 + spare), **kept), refused)
    assert broken(having(world(HYBRID, num_blocks=1 + 2 + spare), **kept), refused) is rules.FIT_AGREES_WITH_ALLOCATE


def test_a_running_request_is_refused_what_does_not_fit_beside_what_it_has() -> None:
    def running(num_blocks: int) -> State:
        return ran(world(HYBRID, num_blocks=num_blocks), request(A, *ZEROS), (1, 2), (3, 4))

    play(running(6), ev.Refuse(request(A, *ZEROS), 6))
    assert broken(running(7), ev.Refuse(request(A, *ZEROS), 6)) is rules.FIT_AGREES_WITH_ALLOCATE


def test_one_full_pool_is_reason_enough_to_refuse() -> None:
    def own(num_blocks: int) -> State:
        return ran(world("full:1 window:2:3", "own", num_blocks), request(A, 0, 0), (1, 2), (1,))

    play(own(4), ev.Refuse(request(B, 0, 0), 2))
    assert broken(own(5), ev.Refuse(request(B, 0, 0), 2)) is rules.FIT_AGREES_WITH_ALLOCATE
