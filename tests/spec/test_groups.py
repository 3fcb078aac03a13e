"""Caches with several groups: what queries read by the definition of attention, and every guard of the relation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import HarnessFault, Tally, rules
from kvspec import events as ev
from kvspec.hits import longest_hit
from kvspec.invariants import broken_invariants
from kvspec.layout import Group, Kind, Layout, read_groups
from kvspec.needs import Run, first_kept, reads, runs, slots_after, writes
from kvspec.rules import Rule
from kvspec.vocabulary import BlockId, StepId, TokenId, World
from tests.spec.grouped import (
    A,
    B,
    Move,
    admit,
    broken,
    complete,
    compute,
    free,
    grow,
    having,
    ids,
    lived,
    play,
    ran,
    refuse,
    request,
    tell,
    trim,
    world,
)

pytestmark = pytest.mark.kills("law", "layout")

FAR = 40
HYBRID, STATES, DRAFTS = "full:2 window:2:3", "full:2 state:2", "full:2 draft:2:1"


def sees(window: int | None, query: int) -> set[int]:
    """The positions that the attention of a query sees, from the definition."""
    return {q for q in range(query + 1) if window is None or q > query - window}


# What queries read.


@pytest.mark.parametrize("block_size", [1, 2, 3, 5])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("start", [0, 1, 2, 5, 6, 11])
def test_a_window_needs_what_any_query_behind_the_hit_sees(block_size: int, window: int, start: int) -> None:
    group = Group(Kind.WINDOW, block_size, window)
    seen = set().union(*(sees(window, query) for query in range(start, FAR)))
    assert set(reads(group, start)) == {q for q in seen if q < start}
    assert {run.entry for run in runs(group, reads(group, start))} == {q // block_size for q in seen if q < start}


@pytest.mark.parametrize("block_size", [1, 2, 3, 5])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("earliest", [0, 1, 2, 5, 6, 11])
def test_an_entry_may_go_just_when_no_query_sees_any_of_it(block_size: int, window: int, earliest: int) -> None:
    group = Group(Kind.WINDOW, block_size, window)
    seen = set().union(*(sees(window, query) for query in range(earliest, FAR)))
    unseen = [i for i in range(8) if not seen & set(range(i * block_size, (i + 1) * block_size))]
    assert unseen == list(range(min(first_kept(group, earliest), 8)))


@pytest.mark.parametrize("kind", [Kind.FULL, Kind.DRAFT])
def test_full_attention_needs_everything_and_releases_nothing(kind: Kind) -> None:
    group = Group(kind, 2)
    assert list(reads(group, 5)) == [0, 1, 2, 3, 4]
    assert first_kept(group, 5) == 0


def test_a_state_is_needed_exactly_at_the_hit() -> None:
    group = Group(Kind.STATE, 4)
    assert runs(group, reads(group, 8)) == [Run(1, 0, 7, 8)]
    assert list(reads(group, 0)) == []
    assert [first_kept(group, n) for n in (0, 4, 5, 8, 9)] == [0, 0, 1, 1, 2]
    assert runs(group, writes(group, 3, 10)) == [Run(0, 0, 3, 4), Run(1, 0, 7, 8), Run(2, 0, 9, 10)]


def test_a_drafter_is_its_lag_behind_and_its_slots_need_the_tokens_after_them() -> None:
    group = Group(Kind.DRAFT, 2, lag=1)
    assert slots_after(group, 4, 6, ahead=False) == 3
    assert [slots_after(group, 4, known, ahead=True) for known in (4, 5, 6)] == [3, 4, 4]
    assert runs(group, writes(group, 1, 3)) == [Run(0, 1, 1, 2), Run(1, 0, 2, 3)]


# Layouts.


def test_a_layout_reads_as_it_is_written() -> None:
    text = "full:2 window:2:5 state:4 draft:2:1"
    layout = Layout(read_groups(text))
    assert str(layout) == text
    assert (layout.unit, layout.num_pools, replace(layout, pool="own").num_pools) == (4, 1, 4)
    assert layout.most_blocks(5) == [3 + 3 + 2 + 3]
    assert replace(layout, pool="own").most_blocks(5) == [3, 3, 2, 3]


@pytest.mark.parametrize(
    "text", ["", "full", "full:0", "window:2", "window:2:0", "full:2:1", "ring:2", "full:-1", "full:2,"]
)
def test_what_is_no_layout_is_our_fault(text: str) -> None:
    with pytest.raises(HarnessFault, match="not a"):
        read_groups(text)


def test_a_pool_is_shared_or_own() -> None:
    with pytest.raises(HarnessFault, match="not 'half'"):
        Layout.of(World(4, 1, options={"groups": HYBRID, "pool": "half"}))


# The relation.


def test_a_hit_is_valid_for_full_and_window_together() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    after = play(cache, admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))), compute(B, 1))
    assert free(after) == (3,)
    assert after.state.requests[B].filled == [5, 5]


@pytest.mark.parametrize(
    ("hit", "tables", "rule"),
    [
        (4, ((1, 2, 7), (None, None, 8)), rules.EVERY_GROUP_HIT),
        (4, ((1, 2, 7), (None, 4, 8)), rules.EVERY_GROUP_HIT),
        (4, ((1, None, 7), (None, 5, 8)), rules.EVERY_GROUP_HIT),
        (4, ((1, 2, 7), (None, 3, 8)), rules.EVERY_GROUP_HIT),
        (4, ((2, 1, 7), (None, 4, 8)), rules.CONTENT_MATCHES_KEY),
        (3, ((1, 2, 7), (4, 5, 8)), rules.EVERY_GROUP_HIT),
        (4, ((1, 2, 5), (None, 5, 8)), rules.CONSERVATION),
        (4, ((1, 2, 9), (None, 5, 9)), rules.CONSERVATION),
        (4, ((1, 2, 3), (None, 5, 8)), rules.CONSERVATION),
        (4, ((1, 2, 0), (None, 5, 8)), rules.RESERVED_BLOCK),
        (4, ((1, 2, 99), (None, 5, 8)), rules.NO_DANGLING_REFERENCE),
        (4, ((1, 2), (None, 5, 8)), rules.COVERAGE_AND_LIMIT),
        (4, ((1, 2, 7, 9), (None, 5, 8)), rules.ONE_PAGE_ROUNDING),
    ],
)
def test_a_hit_that_one_group_lacks_is_refused_by_the_right_rule(
    hit: int, tables: tuple[tuple[int | None, ...], ...], rule: Rule
) -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    assert broken(cache, admit(request(B, 0, 0, 0, 0, 0), hit, 5, ids(*tables))) is rule


def test_one_token_is_left() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, 0, 0), (1, 2), (4, 5))
    assert broken(cache, admit(request(B, 0, 0, 0, 0), 4, 4, ids((1, 2), (4, 5)))) is rules.ONE_TOKEN_LEFT


def test_a_block_in_flight_is_hit_only_where_publishing_when_scheduled_is_declared() -> None:
    cache = world(HYBRID)
    cache = play(cache, admit(request(A, 0, 0, 1), 0, 3, ids((1, 2), (3, 4))), compute(A, 3))
    hit = admit(request(B, 0, 0, 0), 2, 3, ids((1, 5), (3, 6)))
    assert broken(cache, hit) is rules.PUBLISH_ONLY_COMPUTED
    play(having(cache, publishes="scheduled"), hit)


def test_a_state_hit_needs_the_state_at_its_length() -> None:
    cache = ran(world(STATES), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    play(cache, admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))))
    for table in ((4, None, 8), (5, 4, 8), (None, 6, 8)):
        hit = admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), table))
        assert broken(cache, hit) is rules.EVERY_GROUP_HIT


def test_states_between_need_not_be_kept_but_the_last_must() -> None:
    cache = world(STATES)
    play(cache, admit(request(A, 0, 0, 0, 0), 0, 4, ids((1, 2), (None, 5))), compute(A, 4))
    cache = play(cache, admit(request(A, 0, 0, 0, 0), 0, 4, ids((1, 2), (5, None))))
    assert broken(cache, compute(A, 4)) is rules.COVERAGE_AND_LIMIT


def test_an_engine_that_keeps_the_last_state_only_leaves_the_others_stale() -> None:
    cache = having(world(STATES), states="last")
    cache = ran(cache, request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    hit = admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8)))
    assert broken(cache, hit) is rules.EVERY_GROUP_HIT


def test_a_draft_hit_needs_the_token_behind_it_to_be_the_same() -> None:
    cache = ran(world(DRAFTS), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    play(cache, admit(request(B, 0, 0, 1, 0), 2, 4, ids((1, 5), (3, 6))))
    other = admit(request(B, 0, 0, 0, 0), 2, 4, ids((1, 5), (3, 6)))
    assert broken(cache, other) is rules.DRAFT_GROUP_HIT


def test_a_drafter_that_runs_ahead_has_used_the_sampled_token() -> None:
    cache = having(world(DRAFTS), drafts_ahead=True)
    cache = ran(cache, request(A, 0, 0), (1,), (3,))
    hit = admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6)))
    play(cache, ev.Sample(A, TokenId(1)), hit, compute(B, 1))
    assert broken(play(cache, ev.Sample(A, TokenId(0))), hit) is rules.DRAFT_GROUP_HIT


def test_a_draft_from_a_token_not_told_yet_is_judged_when_it_is_told() -> None:
    cache = having(world(DRAFTS), drafts_ahead=True)
    cache = ran(cache, request(A, 0, 0), (1,), (3,))
    cache = play(cache, admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6))))
    play(cache, ev.Sample(A, TokenId(1)), compute(B, 1))
    assert broken(lived(cache, ev.Sample(A, TokenId(0))), compute(B, 1)) is rules.DRAFT_GROUP_HIT


def test_a_release_waits_for_the_query_in_flight() -> None:
    grown = request(A, 0, 0, 0, 0, 0, 0)
    cache = ran(world(HYBRID, num_blocks=20), request(A, 0, 0, 0, 0), (1, 2), (4, 5))
    assert free(play(cache, trim(A, 1, 0))) == (16,)
    assert broken(cache, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    assert broken(cache, trim(A, 0, 0)) is rules.EVERY_GROUP_HIT
    cache = play(world(HYBRID, num_blocks=20), admit(grown, 0, 2, ids((1,), (4,))), compute(A, 2))
    cache = play(cache, grow(A, 6, ids((1, 2, 3), (4, 5, 6))), compute(A, 4))
    assert broken(cache, trim(A, 1, 0)) is rules.EVERY_GROUP_HIT
    cache = play(cache, complete(A))
    assert broken(cache, trim(A, 1, 0)) is rules.EVERY_GROUP_HIT
    cache = play(cache, complete(A), trim(A, 1, 0), trim(A, 1, 1))
    assert broken(cache, trim(A, 1, 2)) is rules.EVERY_GROUP_HIT


def test_a_table_keeps_its_entries_when_it_grows() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, new=3), (1,), (4,))
    cache = play(cache, ev.Sample(A, TokenId(0)))
    assert broken(cache, grow(A, 3, ids((2, 3), (4, 5)))) is rules.NO_DANGLING_REFERENCE
    play(cache, grow(A, 3, ids((1, 3), (4, 5))), compute(A, 1))


def test_nobody_writes_what_two_tables_name() -> None:
    cache = ran(world("full:4"), request(A, 0, 0, 0, 0, 0), (1, 2))
    cache = play(cache, admit(request(B, 0, 0, 0, 0, 1), 4, 5, ids((1, 3))))
    cache.state.requests[B].tables[0][1] = BlockId(2)
    cache.state.blocks[2].ref += 1
    assert broken(cache, compute(B, 1)) is rules.SHARED_BYTES_NEVER_CHANGE


def test_blocks_are_numbered_through_pools_of_their_own() -> None:
    cache = ran(world(HYBRID, "own", 4), request(A, 0, 0, 0), (1, 2), (5, 6))
    assert free(cache) == (1, 1)
    assert free(play(cache, ev.Abort(A))) == (3, 3)


def test_only_what_may_not_fit_is_refused() -> None:
    cache = ran(world(HYBRID, num_blocks=7), request(A, 0, 0), (1,), (2,))
    assert broken(cache, refuse(request(B, 0, 0, 0), 3)) is rules.FIT_AGREES_WITH_ALLOCATE
    play(cache, refuse(request(B, 0, 0, 0, 0, 0), 5))


LAST: dict[str, tuple[Move, ...]] = {
    "compute": (),
    "refusal": (refuse(request(B, *(0,) * 8), 8),),
    "exit": (admit(request(B, 1), 0, 1, ids((5,), (6,))), ev.Abort(B)),
}


@pytest.mark.parametrize(
    ("last", "told", "rule"),
    [
        ("compute", 8, rules.COUNT_EQUALS_HOLDERS),
        ("compute", 6, rules.CONSERVATION),
        ("refusal", 6, rules.FAILURE_IS_ATOMIC),
        ("exit", 6, rules.EVERY_EXIT_RELEASES),
    ],
)
def test_a_wrong_free_count_is_blamed_on_what_happened_last(last: str, told: int, rule: Rule) -> None:
    cache = play(ran(world(HYBRID), request(A, 0, 0, 0), (1, 2), (3, 4)), *LAST[last])
    play(cache, tell(free=(7,)))
    assert broken(cache, tell(free=(told,))) is rule


def test_tables_and_counts_are_those_of_the_holders() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, 0), (1, 2), (3, 4))
    once = dict.fromkeys((BlockId(id) for id in (1, 2, 3, 4)), 1)
    left = play(cache, admit(request(B, 1), 0, 1, ids((5,), (6,))), ev.Abort(B))
    for each in (cache, left):
        play(each, tell(tables={A: ids((1, 2), (3, 4)), B: ids((), ())}, refs=once))
        assert broken(each, tell(tables={A: ids((1, 2), (3, 5))})) is rules.NO_DANGLING_REFERENCE
    assert broken(left, tell(tables={B: ids((1,), ())})) is rules.EVERY_EXIT_RELEASES
    assert broken(cache, tell(refs={**once, BlockId(5): 1})) is rules.COUNT_EQUALS_HOLDERS


def test_the_longest_hit_is_demanded_where_it_is_declared() -> None:
    cache = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    shorter = admit(request(B, 0, 0, 0, 0, 0), 2, 5, ids((1, 7, 8), (4, 9, 10)))
    play(cache, shorter)
    cache = having(cache, profiles=frozenset({"longest-hit"}))
    assert broken(cache, shorter) is rules.LONGEST_GROUP_HIT
    play(cache, admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))))


def test_absence_in_one_group_shortens_the_longest_hit() -> None:
    cache = ran(world(HYBRID, num_blocks=20), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    asked = request(B, 0, 0, 0, 0, 0, 0, 0)
    cache = play(cache, trim(A, 1, 0), admit(asked, 0, 7, ids((7, 8, 9, 10), (11, 12, 13, 14))))
    live = cache.state.requests[B]
    assert longest_hit(cache.state, live) == 4
    cache.state.blocks[5].hand_over(1, 2)
    assert longest_hit(cache.state, live) == 2
    cache.state.blocks[4].hand_over(1, 2)
    assert longest_hit(cache.state, live) == 0


def test_a_known_fault_of_the_drafter_does_not_end_an_example() -> None:
    cache = ran(world(DRAFTS), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    tally = Tally((rules.DRAFT_GROUP_HIT,))
    cache = lived(cache, admit(request(B, 0, 0, 0, 0), 2, 4, ids((1, 5), (3, 6))), tally)
    cache = lived(cache, compute(B, 2), tally)
    assert cache.state.requests[B].computed == 4


def test_a_known_fault_of_a_drafter_that_is_far_behind_does_not_either() -> None:
    """The last slot of the hit needs a token that the request does not have."""
    cache = ran(world("full:2 draft:2:2"), request(A, *(0,) * 6), (1, 2, 3), (4, 5, 6))
    hit = admit(request(B, *(0,) * 3), 2, 3, ids((1, 7), (4, 8)))
    assert broken(cache, hit) is rules.DRAFT_GROUP_HIT
    tally = Tally((rules.DRAFT_GROUP_HIT,))
    cache = lived(cache, hit, tally)
    assert [rule for rule, _ in broken_invariants(cache.state)] == [rules.SHARED_BYTES_NEVER_CHANGE]
    before = tally.exercised[rules.DRAFT_GROUP_HIT]
    assert lived(cache, compute(B, 1), tally).state.requests[B].computed == 3
    assert tally.exercised[rules.DRAFT_GROUP_HIT] > before
    assert broken(cache, compute(B, 1)) is rules.DRAFT_GROUP_HIT


@pytest.mark.parametrize(
    "event",
    [
        ev.Compute(B, 0, 1, (BlockId(7),), more=ids((8,))),
        ev.Complete(StepId(0)),
        ev.Complete(StepId(1)),
        ev.Abort(B),
        ev.Trim(A, 2, 0),
        ev.Trim(A, 1, 1),
    ],
    ids=repr,
)
def test_what_cannot_be_is_our_fault(event: ev.Event) -> None:
    cache = ran(world(HYBRID), request(A, 0, 0), (1,), (2,))
    with pytest.raises(HarnessFault):
        play(cache, event)


@pytest.mark.parametrize(("count", "rule"), [(0, rules.STEP_BUDGET), (1, rules.CHUNK_INDEPENDENCE)])
def test_no_more_is_computed_than_there_is_and_something_is(count: int, rule: Rule) -> None:
    cache = ran(world(HYBRID), request(A, 0, 0), (1,), (2,))
    assert broken(cache, compute(A, count)) is rule


# Steps in flight.


def test_an_entry_that_no_query_in_flight_reads_changes_hands_while_the_step_flies() -> None:
    """A fence around whole tables is a false alarm: the query at 5 sees positions 3 to 5, entry 1 of the window on."""
    flying = request(A, 0, 0, 0, 0, 0, 0)
    cache = play(world(HYBRID, num_blocks=20), admit(flying, 0, 6, ids((1, 2, 3), (4, 5, 6))), compute(A, 5))
    cache = play(cache, complete(A), compute(A, 1))
    assert broken(cache, trim(A, 1, 1)) is rules.EVERY_GROUP_HIT
    assert broken(cache, admit(request(B, 1), 0, 1, ids((7,), (4,)))) is rules.CONSERVATION
    cache = play(cache, trim(A, 1, 0), admit(request(B, 1), 0, 1, ids((7,), (4,))), compute(B, 1))
    play(cache, complete(B), complete(A))
