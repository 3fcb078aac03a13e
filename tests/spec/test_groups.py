"""Caches with several groups: what queries read by the definition of attention, and every guard of the relation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import HarnessFault, Tally, Violation, rules
from kvspec.groups import events as ev
from kvspec.groups.hits import longest_hit
from kvspec.groups.invariants import broken_invariants
from kvspec.groups.needs import first_kept, read_below, slots_after, written
from kvspec.groups.state import State, initial
from kvspec.groups.transition import step
from kvspec.groups.vocabulary import Group, GroupsCapabilities, Kind, Layout, Tables, read_groups
from kvspec.rules import Rule
from kvspec.vocabulary import BlockId, Request, RequestId, TokenId, World

FAR = 40
A, B = RequestId("A"), RequestId("B")
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
    assert {slot.position for slot in read_below(group, start)} == {q for q in seen if q < start}
    assert {slot.index for slot in read_below(group, start)} == {q // block_size for q in seen if q < start}


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
    assert [slot.position for slot in read_below(group, 5)] == [0, 1, 2, 3, 4]
    assert first_kept(group, 5) == 0


def test_a_state_is_needed_exactly_at_the_hit() -> None:
    group = Group(Kind.STATE, 4)
    assert [(slot.index, slot.position) for slot in read_below(group, 8)] == [(1, 7)]
    assert read_below(group, 0) == []
    assert [first_kept(group, n) for n in (0, 4, 5, 8, 9)] == [0, 0, 1, 1, 2]
    assert [(slot.index, slot.position) for slot in written(group, 3, 10)] == [(0, 3), (1, 7), (2, 9)]


def test_a_drafter_is_its_lag_behind_and_its_slots_need_the_tokens_after_them() -> None:
    group = Group(Kind.DRAFT, 2, lag=1)
    assert slots_after(group, 4, 6, ahead=False) == 3
    assert [slots_after(group, 4, known, ahead=True) for known in (4, 5, 6)] == [3, 4, 4]
    assert [(slot.index, slot.offset, slot.position) for slot in written(group, 1, 3)] == [(0, 1, 2), (1, 0, 3)]


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


def world(groups: str, pool: str = "shared", num_blocks: int = 12) -> State:
    options = {"groups": groups, "pool": pool}
    capabilities = GroupsCapabilities(reserved_blocks=frozenset({BlockId(0)}), max_in_flight=2)
    return initial(World(num_blocks, 1, options=options), capabilities)


def ids(*tables: tuple[int | None, ...]) -> Tables:
    return tuple(tuple(None if id is None else BlockId(id) for id in table) for table in tables)


def request(id: RequestId, *tokens: int, new: int = 4) -> Request:
    return Request(id, tuple(TokenId(token) for token in tokens), new)


def play(state: State, *events: ev.Event) -> State:
    """The state after events that are all allowed; its invariants hold."""
    for event in events:
        state = step(state, event)
        assert list(broken_invariants(state)) == []
    return state


def broken(state: State, event: ev.Event, tally: Tally | None = None) -> Rule:
    """The rule that an event breaks."""
    with pytest.raises(Violation) as caught:
        step(state, event, tally)
    return caught.value.rule


def ran(state: State, who: Request, *tables: tuple[int | None, ...]) -> State:
    """A request has been admitted without a hit and its prompt is computed."""
    size = len(who.prompt)
    return play(state, ev.Admit(who, 0, size, ids(*tables)), ev.Compute(who.id, size), ev.Complete(who.id))


def test_a_hit_is_valid_for_full_and_window_together() -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    after = play(state, ev.Admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))), ev.Compute(B, 1))
    assert after.free() == (3,)
    assert after.requests[B].filled == [5, 5]


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
        (4, ((1, 2, 7, 9), (None, 5, 8)), rules.COVERAGE_AND_LIMIT),
    ],
)
def test_a_hit_that_one_group_lacks_is_refused_by_the_right_rule(
    hit: int, tables: tuple[tuple[int | None, ...], ...], rule: Rule
) -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    assert broken(state, ev.Admit(request(B, 0, 0, 0, 0, 0), hit, 5, ids(*tables))) is rule


def test_one_token_is_left() -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0, 0), (1, 2), (4, 5))
    assert broken(state, ev.Admit(request(B, 0, 0, 0, 0), 4, 4, ids((1, 2), (4, 5)))) is rules.ONE_TOKEN_LEFT


def test_a_block_in_flight_is_hit_only_where_publishing_when_scheduled_is_declared() -> None:
    state = world(HYBRID)
    state = play(state, ev.Admit(request(A, 0, 0, 1), 0, 3, ids((1, 2), (3, 4))), ev.Compute(A, 3))
    hit = ev.Admit(request(B, 0, 0, 0), 2, 3, ids((1, 5), (3, 6)))
    assert broken(state, hit) is rules.PUBLISH_ONLY_COMPUTED
    state.capabilities = replace(state.capabilities, publishes="scheduled")
    play(state, hit)


def test_a_state_hit_needs_the_state_at_its_length() -> None:
    state = ran(world(STATES), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    play(state, ev.Admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))))
    for table in ((4, None, 8), (5, 4, 8), (None, 6, 8)):
        hit = ev.Admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), table))
        assert broken(state, hit) is rules.EVERY_GROUP_HIT


def test_states_between_need_not_be_kept_but_the_last_must() -> None:
    state = world(STATES)
    play(state, ev.Admit(request(A, 0, 0, 0, 0), 0, 4, ids((1, 2), (None, 5))), ev.Compute(A, 4))
    state = play(state, ev.Admit(request(A, 0, 0, 0, 0), 0, 4, ids((1, 2), (5, None))))
    assert broken(state, ev.Compute(A, 4)) is rules.COVERAGE_AND_LIMIT


def test_an_engine_that_keeps_the_last_state_only_leaves_the_others_stale() -> None:
    state = world(STATES)
    state.capabilities = replace(state.capabilities, states="last")
    state = ran(state, request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    hit = ev.Admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8)))
    assert broken(state, hit) is rules.EVERY_GROUP_HIT


def test_a_draft_hit_needs_the_token_behind_it_to_be_the_same() -> None:
    state = ran(world(DRAFTS), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    play(state, ev.Admit(request(B, 0, 0, 1, 0), 2, 4, ids((1, 5), (3, 6))))
    other = ev.Admit(request(B, 0, 0, 0, 0), 2, 4, ids((1, 5), (3, 6)))
    assert broken(state, other) is rules.DRAFT_GROUP_HIT


def test_a_drafter_that_runs_ahead_has_used_the_sampled_token() -> None:
    state = world(DRAFTS)
    state.capabilities = replace(state.capabilities, drafts_ahead=True)
    state = ran(state, request(A, 0, 0), (1,), (3,))
    hit = ev.Admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6)))
    play(state, ev.Sample(A, TokenId(1)), hit, ev.Compute(B, 1))
    assert broken(play(state, ev.Sample(A, TokenId(0))), hit) is rules.DRAFT_GROUP_HIT


def test_a_draft_from_a_token_not_told_yet_is_judged_when_it_is_told() -> None:
    state = world(DRAFTS)
    state.capabilities = replace(state.capabilities, drafts_ahead=True)
    state = ran(state, request(A, 0, 0), (1,), (3,))
    state = step(state, ev.Admit(request(B, 0, 0, 1), 2, 3, ids((1, 5), (3, 6))))
    play(state, ev.Sample(A, TokenId(1)), ev.Compute(B, 1))
    assert broken(step(state, ev.Sample(A, TokenId(0))), ev.Compute(B, 1)) is rules.DRAFT_GROUP_HIT


def test_a_release_waits_for_the_query_in_flight() -> None:
    grown = request(A, 0, 0, 0, 0, 0, 0)
    state = ran(world(HYBRID, num_blocks=20), request(A, 0, 0, 0, 0), (1, 2), (4, 5))
    assert play(state, ev.Release(A, 1, 0)).free() == (16,)
    assert broken(state, ev.Release(A, 1, 1)) is rules.EVERY_GROUP_HIT
    assert broken(state, ev.Release(A, 0, 0)) is rules.EVERY_GROUP_HIT
    state = play(world(HYBRID, num_blocks=20), ev.Admit(grown, 0, 2, ids((1,), (4,))), ev.Compute(A, 2))
    state = play(state, ev.Grow(A, 6, ids((1, 2, 3), (4, 5, 6))), ev.Compute(A, 4))
    assert broken(state, ev.Release(A, 1, 0)) is rules.EVERY_GROUP_HIT
    state = play(state, ev.Complete(A))
    assert broken(state, ev.Release(A, 1, 0)) is rules.EVERY_GROUP_HIT
    state = play(state, ev.Complete(A), ev.Release(A, 1, 0), ev.Release(A, 1, 1))
    assert broken(state, ev.Release(A, 1, 2)) is rules.EVERY_GROUP_HIT


def test_a_table_keeps_its_entries_when_it_grows() -> None:
    state = ran(world(HYBRID), request(A, 0, 0, new=3), (1,), (4,))
    state = play(state, ev.Sample(A, TokenId(0)))
    assert broken(state, ev.Grow(A, 3, ids((2, 3), (4, 5)))) is rules.NO_DANGLING_REFERENCE
    play(state, ev.Grow(A, 3, ids((1, 3), (4, 5))), ev.Compute(A, 1))


def test_nobody_writes_what_two_tables_name() -> None:
    state = ran(world("full:4"), request(A, 0, 0, 0, 0, 0), (1, 2))
    state = play(state, ev.Admit(request(B, 0, 0, 0, 0, 1), 4, 5, ids((1, 3))))
    state.requests[B].tables[0][1] = BlockId(2)
    state.pools[0][2].ref += 1
    assert broken(state, ev.Compute(B, 1)) is rules.SHARED_BYTES_NEVER_CHANGE


def test_blocks_of_pools_of_their_own_have_the_same_ids() -> None:
    state = ran(world(HYBRID, "own", 4), request(A, 0, 0, 0), (1, 2), (1, 2))
    assert state.free() == (1, 1)
    assert play(state, ev.End(A)).free() == (3, 3)


def test_only_what_may_not_fit_is_refused() -> None:
    state = ran(world(HYBRID, num_blocks=7), request(A, 0, 0), (1,), (2,))
    assert broken(state, ev.Refuse(request(B, 0, 0, 0), 3)) is rules.FIT_AGREES_WITH_ALLOCATE
    play(state, ev.Refuse(request(B, 0, 0, 0, 0, 0), 5))


@pytest.mark.parametrize(
    ("last", "free", "rule"),
    [
        ("compute", 8, rules.COUNT_EQUALS_HOLDERS),
        ("compute", 6, rules.CONSERVATION),
        ("refusal", 6, rules.FAILURE_IS_ATOMIC),
        ("exit", 6, rules.EVERY_EXIT_RELEASES),
    ],
)
def test_a_wrong_free_count_is_blamed_on_what_happened_last(last: str, free: int, rule: Rule) -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0), (1, 2), (3, 4))
    state.last = last
    play(state, ev.Observe(free=(7,)))
    assert broken(state, ev.Observe(free=(free,))) is rule


def test_tables_and_counts_are_those_of_the_holders() -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0), (1, 2), (3, 4))
    once = dict.fromkeys((BlockId(id) for id in (1, 2, 3, 4)), 1)
    play(state, ev.Observe(tables={A: ids((1, 2), (3, 4)), B: ids((), ())}, refs=(once,)))
    assert broken(state, ev.Observe(tables={A: ids((1, 2), (3, 5))})) is rules.NO_DANGLING_REFERENCE
    assert broken(state, ev.Observe(tables={B: ids((1,), ())})) is rules.EVERY_EXIT_RELEASES
    assert broken(state, ev.Observe(refs=({**once, BlockId(5): 1},))) is rules.COUNT_EQUALS_HOLDERS


def test_the_longest_hit_is_demanded_where_it_is_declared() -> None:
    state = ran(world(HYBRID), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    shorter = ev.Admit(request(B, 0, 0, 0, 0, 0), 2, 5, ids((1, 7, 8), (4, 9, 10)))
    play(state, shorter)
    state.capabilities = replace(state.capabilities, profiles=frozenset({"longest-hit"}))
    assert broken(state, shorter) is rules.LONGEST_GROUP_HIT
    play(state, ev.Admit(request(B, 0, 0, 0, 0, 0), 4, 5, ids((1, 2, 7), (None, 5, 8))))


def test_absence_in_one_group_shortens_the_longest_hit() -> None:
    state = ran(world(HYBRID, num_blocks=20), request(A, 0, 0, 0, 0, 1), (1, 2, 3), (4, 5, 6))
    asked = request(B, 0, 0, 0, 0, 0, 0, 0)
    state = play(state, ev.Release(A, 1, 0), ev.Admit(asked, 0, 7, ids((7, 8, 9, 10), (11, 12, 13, 14))))
    live = state.requests[B]
    assert longest_hit(state, live) == 4
    state.pools[0][5].hand_over(1, 2)
    assert longest_hit(state, live) == 2
    state.pools[0][4].hand_over(1, 2)
    assert longest_hit(state, live) == 0


def test_a_known_fault_of_the_drafter_does_not_end_an_example() -> None:
    state = ran(world(DRAFTS), request(A, 0, 0, 1, 1), (1, 2), (3, 4))
    tally = Tally((rules.DRAFT_GROUP_HIT,))
    state = step(state, ev.Admit(request(B, 0, 0, 0, 0), 2, 4, ids((1, 5), (3, 6))), tally)
    state = step(state, ev.Compute(B, 2), tally)
    assert state.requests[B].computed == 4


def test_a_known_fault_of_a_drafter_that_is_far_behind_does_not_either() -> None:
    """The last slot of the hit needs a token that the request does not have."""
    state = ran(world("full:2 draft:2:2"), request(A, *(0,) * 6), (1, 2, 3), (4, 5, 6))
    hit = ev.Admit(request(B, *(0,) * 3), 2, 3, ids((1, 7), (4, 8)))
    assert broken(state, hit) is rules.DRAFT_GROUP_HIT
    tally = Tally((rules.DRAFT_GROUP_HIT,))
    state = step(state, hit, tally)
    assert [rule for rule, _ in broken_invariants(state)] == [rules.CONTENT_MATCHES_KEY]
    before = tally.exercised[rules.DRAFT_GROUP_HIT]
    assert step(state, ev.Compute(B, 1), tally).requests[B].computed == 3
    assert tally.exercised[rules.DRAFT_GROUP_HIT] > before
    assert broken(state, ev.Compute(B, 1)) is rules.DRAFT_GROUP_HIT


@pytest.mark.parametrize(
    "event",
    [ev.Compute(B, 1), ev.Compute(A, 1), ev.Compute(A, 0), ev.Complete(A), ev.End(B)],
)
def test_what_cannot_be_is_our_fault(event: ev.Event) -> None:
    state = ran(world(HYBRID), request(A, 0, 0), (1,), (2,))
    with pytest.raises(HarnessFault):
        step(state, event)


# Steps in flight.


def test_an_entry_that_no_query_in_flight_reads_changes_hands_while_the_step_flies() -> None:
    """A fence around whole tables is a false alarm: the query at 5 sees positions 3 to 5, entry 1 of the window on."""
    flying = request(A, 0, 0, 0, 0, 0, 0)
    state = play(world(HYBRID, num_blocks=20), ev.Admit(flying, 0, 6, ids((1, 2, 3), (4, 5, 6))), ev.Compute(A, 5))
    state = play(state, ev.Complete(A), ev.Compute(A, 1))
    assert broken(state, ev.Release(A, 1, 1)) is rules.EVERY_GROUP_HIT
    assert broken(state, ev.Admit(request(B, 1), 0, 1, ids((7,), (4,)))) is rules.CONSERVATION
    state = play(state, ev.Release(A, 1, 0), ev.Admit(request(B, 1), 0, 1, ids((7,), (4,))), ev.Compute(B, 1))
    play(state, ev.Complete(B), ev.Complete(A))
