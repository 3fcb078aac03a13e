"""Caches with several groups: which rule is blamed, how often one is put to the test, and what a verdict says.

Found untested by mutation testing; written from the catalogue of rules. The last part breaks states by hand, one
invariant at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kvspec import HarnessFault, Tally, Violation, rules
from kvspec.groups import events as ev
from kvspec.groups.invariants import broken_invariants
from kvspec.groups.state import State
from kvspec.groups.transition import step
from kvspec.groups.vocabulary import Held
from kvspec.rules import Rule
from kvspec.vocabulary import BlockId, TokenId
from tests.spec.test_groups import DRAFTS, HYBRID, A, B, broken, ids, play, ran, request, world
from tests.spec.test_groups_guards import HIT, LEFT_BY_A, LIKE_A, ZEROS, C, both, having, hit, long

LIFE: tuple[ev.Event, ...] = (
    ev.Admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))),
    ev.Compute(A, 5),
    ev.Complete(A),
    ev.Release(A, 1, 0),
    ev.Sample(A, TokenId(0)),
    ev.Grow(A, 6, ids((1, 2, 3), (None, 5, 6))),
)
"""Everything that can happen to a request but its end."""

REFUSED = ev.Refuse(request(B, *ZEROS, 0, 0, 0, 0), 8)
"""More than a pool of twelve can give beside A."""


def met(state: State, event: ev.Event, *waived: Rule) -> Tally:
    """How often each rule is put to the test by an event."""
    tally = Tally(waived)
    step(state, event, tally)
    return tally


def counts(state: State) -> Held:
    """The reference counts as they are."""
    return {BlockId(id): block.ref for id, block in enumerate(state.pools[0]) if block.ref}


def less(state: State) -> ev.Observe:
    """One block is said to be gone."""
    return ev.Observe(free=(state.free()[0] - 1,))


# What an engine says of itself, and what is blamed.


@pytest.mark.parametrize("happened", range(len(LIFE) + 1))
def test_a_wrong_answer_is_no_matter_of_refusals_and_exits_where_there_was_none(happened: int) -> None:
    state = play(world(HYBRID), *LIFE[:happened])
    right = counts(state)
    assert broken(state, less(state)) is rules.CONSERVATION
    assert broken(state, ev.Observe(free=(state.free()[0] + 1,))) is rules.COUNT_EQUALS_HOLDERS
    assert broken(state, ev.Observe(refs=({**right, BlockId(7): 1},))) is rules.COUNT_EQUALS_HOLDERS
    if happened:
        assert broken(state, ev.Observe(tables={A: ids((1, 2, 9), (4, 5, 6))})) is rules.NO_DANGLING_REFERENCE
        assert broken(state, ev.Observe(refs=({**right, BlockId(1): 0},))) is rules.COUNT_EQUALS_HOLDERS
    tally = met(state, ev.Observe(free=state.free()))
    assert tally.exercised == {rules.COUNT_EQUALS_HOLDERS: 1, rules.CONSERVATION: 1}


def test_what_is_missing_after_an_exit_was_not_released() -> None:
    state = play(both(), ev.End(A))
    assert broken(state, less(state)) is rules.EVERY_EXIT_RELEASES
    assert broken(state, ev.Observe(free=(20,))) is rules.COUNT_EQUALS_HOLDERS
    assert broken(state, ev.Observe(refs=({BlockId(1): 1},))) is rules.COUNT_EQUALS_HOLDERS
    exercised = met(state, ev.Observe(free=state.free())).exercised
    assert (exercised[rules.EVERY_EXIT_RELEASES], exercised[rules.FAILURE_IS_ATOMIC]) == (1, 0)


def test_what_is_wrong_after_a_refusal_was_not_atomic() -> None:
    state = play(world(HYBRID), *LIFE[:3], REFUSED)
    right = counts(state)
    for wrong in (
        less(state),
        ev.Observe(free=(state.free()[0] + 1,)),
        ev.Observe(refs=({**right, BlockId(7): 1},)),
        ev.Observe(refs=({**right, BlockId(1): 0},)),
        ev.Observe(tables={A: ids((1, 2, 9), (4, 5, 6))}),
        ev.Observe(tables={B: ids((7,), ())}),
    ):
        assert broken(state, wrong) is rules.FAILURE_IS_ATOMIC
    exercised = met(state, ev.Observe(free=state.free())).exercised
    assert (exercised[rules.EVERY_EXIT_RELEASES], exercised[rules.FAILURE_IS_ATOMIC]) == (0, 1)


@pytest.mark.parametrize("happened", range(len(LIFE)))
def test_a_refusal_and_an_exit_are_to_blame_until_something_else_has_happened(happened: int) -> None:
    state = play(world(HYBRID), *LIFE[:happened], ev.Refuse(request(B, *(0,) * 12), 12))
    assert broken(state, less(state)) is rules.FAILURE_IS_ATOMIC
    state = play(state, LIFE[happened])
    assert broken(state, less(state)) is rules.CONSERVATION
    short = request(B, 1)
    state = play(world(HYBRID), *LIFE[:happened], ev.Admit(short, 0, 1, ids((7,), (8,))), ev.End(B))
    assert broken(state, less(state)) is rules.EVERY_EXIT_RELEASES
    state = play(state, LIFE[happened])
    assert broken(state, less(state)) is rules.CONSERVATION


@pytest.mark.parametrize(
    "tables", [((1, 2, 2), (4, 5, 6)), ((1, 2, 9), (4, 5, 6)), ((1, 2), (4, 5, 6)), ((1, 2, 3), (4, 5, 6, 7)), ()]
)
def test_a_live_table_is_neither_less_nor_more_than_what_was_given(tables: tuple[tuple[int, ...], ...]) -> None:
    assert broken(both(), ev.Observe(tables={A: ids(*tables)})) is rules.NO_DANGLING_REFERENCE


def test_of_a_request_that_is_gone_nothing_need_be_told() -> None:
    play(both(), ev.Observe(tables={B: ()}), ev.Observe(tables={B: ids((), ())}))
    assert broken(both(), ev.Observe(tables={B: ids((), (7,))})) is rules.EVERY_EXIT_RELEASES


@pytest.mark.parametrize("number", [0, 1, 3])
def test_every_pool_is_told_of_or_it_is_our_fault(number: int) -> None:
    state = world(HYBRID, "own")
    play(state, ev.Observe(free=(11, 11), refs=({}, {})))
    for wrong in (ev.Observe(free=(11,) * number), ev.Observe(refs=({},) * number)):
        with pytest.raises(HarnessFault, match=f"{number} are told of 2"):
            step(state, wrong)


@pytest.mark.parametrize("id", [-1, 12])
def test_a_count_of_a_block_that_is_none_dangles(id: int) -> None:
    assert broken(world(HYBRID), ev.Observe(refs=({BlockId(id): 1},))) is rules.NO_DANGLING_REFERENCE


# How often a rule is put to the test.


HIT_RULES = (rules.EVERY_GROUP_HIT, rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED, rules.DRAFT_GROUP_HIT)


@pytest.mark.parametrize(
    ("groups", "hit", "tables", "times"),
    [
        (HYBRID, 0, ((7, 8, 9), (10, 11, 12)), (0, 0, 0, 0)),
        (HYBRID, 4, ((1, 2, 7), (None, 5, 8)), (1, 1, 1, 0)),
        (DRAFTS, 0, ((7, 8, 9), (10, 11, 12)), (0, 0, 0, 0)),
        (DRAFTS, 2, ((1, 7, 8), (4, 9, 10)), (1, 1, 1, 1)),
    ],
)
def test_the_rules_of_hits_are_put_to_the_test_by_hits(
    groups: str, hit: int, tables: tuple[tuple[int | None, ...], ...], times: tuple[int, ...]
) -> None:
    exercised = met(both(groups), ev.Admit(LIKE_A, hit, 5, ids(*tables))).exercised
    assert tuple(exercised[rule] for rule in HIT_RULES) == times


def test_tables_are_put_to_the_test_when_they_are_given() -> None:
    """Three blocks are shared and two handed out: each could have been the reserved one."""
    exercised = met(both(), HIT).exercised
    assert (exercised[rules.COVERAGE_AND_LIMIT], exercised[rules.CONSERVATION]) == (1, 1)
    assert exercised[rules.RESERVED_BLOCK] == 5
    assert met(having(both(), reserved_blocks=frozenset()), HIT).exercised[rules.RESERVED_BLOCK] == 0


def test_writes_are_put_to_the_test_by_what_is_written_and_homes_by_what_must_have_one() -> None:
    """Of states only the last must have one; A has no entry for the one between."""
    rule = (rules.COVERAGE_AND_LIMIT, rules.SHARED_BYTES_NEVER_CHANGE)
    for groups, tables, times in (
        (HYBRID, ((1, 2), (3, 4)), (8, 8)),
        ("full:2 state:2", ((1, 2), (None, 4)), (5, 5)),
        ("full:2 state:2", ((1, 2), (3, 4)), (5, 6)),
    ):
        state = play(world(groups), ev.Admit(request(A, *ZEROS), 0, 4, ids(*tables)))
        exercised = met(state, ev.Compute(A, 4)).exercised
        assert tuple(exercised[each] for each in rule) == times


def test_a_table_that_is_told_puts_to_the_test_what_it_would_break() -> None:
    after_refusal = play(both(), ev.Refuse(request(B, *(0,) * 20), 20))
    live, gone = ev.Observe(tables={A: ids((1, 2, 3), (4, 5, 6))}), ev.Observe(tables={B: ids((), ())})
    assert met(both(), live).exercised == {rules.NO_DANGLING_REFERENCE: 1}
    assert met(both(), gone).exercised == {rules.EVERY_EXIT_RELEASES: 1}
    assert met(after_refusal, gone).exercised == {rules.FAILURE_IS_ATOMIC: 1}
    assert met(both(), ev.Observe(refs=(counts(both()),))).exercised == {rules.COUNT_EQUALS_HOLDERS: 1}


def test_the_longest_hit_is_put_to_the_test_where_there_is_or_could_have_been_one() -> None:
    longest = {"profiles": frozenset({"longest-hit"})}
    none = ev.Admit(request(B, 1, 1, 1), 0, 3, ids((7, 8), (9, 10)))
    missed = ev.Admit(LIKE_A, 0, 5, ids((7, 8, 9), (10, 11, 12)))
    begun = play(having(world(HYBRID), publishes="scheduled"), ev.Admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))))
    in_flight = play(begun, ev.Compute(A, 5))
    for state, event, times in ((both(), none, 0), (both(), HIT, 1), (both(), missed, 1), (in_flight, HIT, 1)):
        exercised = met(having(state, **longest), event, rules.LONGEST_GROUP_HIT).exercised
        assert exercised[rules.LONGEST_GROUP_HIT] == times
        assert met(state, event).exercised[rules.LONGEST_GROUP_HIT] == 0


# What a verdict says.


def written_twice() -> State:
    """B's new block stands in A's table too."""
    state = hit()
    state.requests[B].tables[0][2] = BlockId(3)
    state.pools[0][3].ref += 1
    return state


def overwritten() -> State:
    """Block 2, which B has hit, has lost its content."""
    state = hit()
    state.pools[0][2].contexts[1] = None
    return state


def lost() -> State:
    """B has hit block 5 in group 1, and no longer holds it."""
    state = hit()
    state.requests[B].tables[1][1] = None
    return state


def in_flight() -> State:
    return play(world(HYBRID), ev.Admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), ev.Compute(A, 5))


def greedy() -> State:
    return having(both(), profiles=frozenset({"longest-hit"}))


def begun() -> State:
    """C has computed three tokens of seven, and so half of block 14."""
    asked = ev.Admit(request(C, *(0,) * 7), 0, 7, ids((9, 10, 11, 12), (13, 14, 15, 16)))
    return play(long(), asked, ev.Compute(C, 3), ev.Complete(C))


SHORT = ev.Admit(LEFT_BY_A, 0, 4, ids((1, 2), (4, 5)))
SEVEN = request(B, *(0,) * 7)
SAID: list[tuple[Callable[[], State], ev.Event, str]] = [
    (both, ev.Admit(LIKE_A, 3, 5, ids((1, 2, 7), (4, 5, 8))), "B hits 3 tokens | full:2 | multiple of 2"),
    (both, ev.Admit(LIKE_A, 4, 5, ids((1, None, 7), (None, 5, 8))), "B's | entry 1 | group 0 (full:2) | position 2"),
    (both, ev.Admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 4, 8))), "B's | (0) | block 4 slot 0 | group 1 (window:2:3)"),
    (both, ev.Admit(LIKE_A, 4, 5, ids((1, 12, 7), (None, 5, 8))), "B's | block 12 | group 0 (full:2)"),
    (in_flight, ev.Admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 5, 8))), "B's | block 1 | in flight | group 0 (full:2)"),
    (greedy, ev.Admit(LIKE_A, 2, 5, ids((1, 7, 8), (4, 9, 10))), "B hits 2 tokens | hit of 4"),
    (both, ev.Admit(LIKE_A, 0, 5, ids((7, 8), (9, 10, 11))), "B has 2 | group 0 (full:2) | 5 tokens | 3 to 3"),
    (
        partial(world, "full:1 draft:1:2"),
        ev.Admit(request(B, 0, 0), 0, 1, ids((1,), (2, 3))),
        "B has 2 | 1 tokens | 0 to 1",
    ),
    (long, ev.Admit(SEVEN, 6, 7, ids((1, 2, 3, 9), (4, 6, 7, 10))), "B shares block 4 | group 1 | owner is group 0"),
    (begun, ev.Admit(SEVEN, 6, 7, ids((1, 2, 3, 17), (14, None, 7, 18))), "B shares block 14 | group 1 | C | to write"),
    (both, ev.Admit(request(B, 1), 0, 1, ids((7,), (5,))), "B receives block 5 | group 1, | A (group 1)"),
    (both, ev.Admit(request(B, 1), 0, 1, ids((7,), (7,))), "B | block 7 twice"),
    (both, ev.Admit(request(B, 1), 0, 1, ids((0,), (7,))), "B | reserved block 0"),
    (both, ev.Admit(request(B, 1), 0, 1, ids((20,), (7,))), "B | block 20 | ids 0 to 19"),
    (overwritten, ev.Compute(B, 1), "B reads block 2 slot 1 | group 0 | position 3"),
    (lost, ev.Compute(B, 1), "B reads entry 1 | group 1"),
    (partial(play, world(HYBRID), SHORT), ev.Compute(A, 5), "A | position 4 | group 0"),
    (written_twice, ev.Compute(B, 1), "B writes position 4 | block 3 | group 0 | 2 tables"),
    (both, ev.Grow(A, 6, ids((1, 9, 3), (4, 5, 6))), "A in group 0 | [1, 2, 3] | [1, 9, 3]"),
    (
        both,
        ev.Release(A, 0, 0),
        "A | entry 0 | group 0 (full:2) | block 1 | position 5 | to come | every entry is kept",
    ),
    (both, ev.Release(A, 1, 1), "A | entry 1 | group 1 (window:2:3) | block 5 | to come | entries from 1 on"),
    (in_flight, ev.Release(A, 1, 0), "A | entry 0 | group 1 | block 4 | position 0 is in flight | every entry is kept"),
    (both, ev.Observe(free=(12,)), "12 blocks of pool 0 | 6 are held | 13 free"),
    (both, ev.Observe(refs=({BlockId(7): 1},)), "block 1 of pool 0 counts 0 | 1 holders"),
    (both, ev.Observe(refs=({BlockId(25): 1},)), "block 25 of pool 0 | ids 0 to 19"),
    (both, ev.Observe(tables={A: ids((1, 2, 9), (4, 5, 6))}), "A in group 0 | [1, 2, 9] | [1, 2, 3]"),
    (both, ev.Refuse(request(B, 0, 0), 2), "B | at most [2] | [13] are free"),
]


@pytest.mark.parametrize(("made", "event", "words"), SAID)
def test_a_verdict_says_who_did_what_where(made: Callable[[], State], event: ev.Event, words: str) -> None:
    with pytest.raises(Violation) as caught:
        step(made(), event)
    said = str(caught.value)
    assert [word for word in words.split(" | ") if word not in said] == [], said


# Invariants.


def counted(by: int) -> State:
    state = both()
    state.pools[0][2].ref += by
    return state


def of_another_group(groups: str, number: int, id: int) -> State:
    """A holds a block as one of a group to which it does not belong."""
    state = both(groups)
    state.pools[0][id].owner = 1 - number
    return state


def in_table(number: int, table: list[int | None]) -> State:
    """A's table is another than the one that it was given; counts are those of the tables."""
    state = both()
    state.requests[A].tables[number] = [None if id is None else BlockId(id) for id in table]
    for id, block in enumerate(state.pools[0]):
        block.ref = len(state.holders(0, BlockId(id)))
    return state


def emptied(id: int) -> State:
    state = both()
    state.pools[0][id].contexts[0] = None
    return state


BROKEN: list[tuple[State, list[Rule], str]] = [
    (both(), [], ""),
    (counted(1), [rules.COUNT_EQUALS_HOLDERS], "block 2 of pool 0 counts 2, has 1"),
    (counted(-1), [rules.COUNT_EQUALS_HOLDERS], "block 2 of pool 0 counts 0, has 1"),
    (of_another_group(HYBRID, 0, 2), [rules.CONSERVATION], "A holds block 2 in group 0"),
    (of_another_group(HYBRID, 1, 5), [rules.CONSERVATION], "A holds block 5 in group 1"),
    (in_table(0, [1, None, 3]), [rules.EVERY_GROUP_HIT] * 2, "A holds nothing for entry 1 of group 0"),
    (in_table(0, [1, 2]), [rules.EVERY_GROUP_HIT], "A holds nothing for entry 2 of group 0"),
    (in_table(1, [None, 5, 6]), [], ""),
    (in_table(1, [4, None, 6]), [rules.EVERY_GROUP_HIT], "A holds nothing for entry 1 of group 1"),
    (emptied(2), [rules.CONTENT_MATCHES_KEY], "A does not hold its position 2 in group 0"),
    (emptied(5), [], ""),
    (emptied(6), [rules.CONTENT_MATCHES_KEY], "A does not hold its position 4 in group 1"),
]


@pytest.mark.parametrize(("state", "wrong", "words"), BROKEN)
def test_an_invariant_that_is_broken_is_named(state: State, wrong: list[Rule], words: str) -> None:
    found = list(broken_invariants(state))
    assert [rule for rule, _ in found] == wrong
    assert all(words in said for _, said in found[:1])


def test_a_reserved_block_in_a_table_is_named() -> None:
    state = both()
    state.requests[A].tables[0][0] = BlockId(0)
    found = [rule for rule, _ in broken_invariants(state)]
    assert found == [rules.COUNT_EQUALS_HOLDERS, rules.RESERVED_BLOCK, rules.COUNT_EQUALS_HOLDERS, rules.CONSERVATION]


def test_counts_are_those_of_the_same_pool() -> None:
    state = ran(world(HYBRID, "own"), request(A, 0, 0, 0), (1, 2), (1, 3))
    assert list(broken_invariants(state)) == []
    state.pools[1][3].ref, state.pools[1][2].ref = 0, 1
    assert [said for _, said in broken_invariants(state)] == [
        "block 2 of pool 1 counts 1, has 0 holders",
        "block 3 of pool 1 counts 0, has 1 holders",
    ]
