"""Caches with several groups: which rule is blamed, how often one is put to the test, and what a verdict says.

Found untested by mutation testing; written from the catalogue of rules. The last part breaks states by hand, one
invariant at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kvspec import Tally, rules
from kvspec import events as ev
from kvspec.blame import Judged
from kvspec.invariants import broken_invariants
from kvspec.plans import Held
from kvspec.rules import Rule
from kvspec.vocabulary import BlockId, TokenId
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
    lived,
    play,
    ran,
    refuse,
    request,
    tell,
    trim,
    violation,
    world,
)
from tests.spec.test_groups import DRAFTS, HYBRID
from tests.spec.test_groups_guards import HIT, LEFT_BY_A, LIKE_A, ZEROS, both, hit, long

pytestmark = pytest.mark.kills("law", "layout")

LIFE: tuple[Move, ...] = (
    admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))),
    compute(A, 5),
    complete(A),
    trim(A, 1, 0),
    ev.Sample(A, TokenId(0)),
    grow(A, 6, ids((1, 2, 3), (None, 5, 6))),
)
"""Everything that can happen to a request but its end."""

REFUSED = refuse(request(B, *ZEROS, 0, 0, 0, 0), 8)
"""More than a pool of twelve can give beside A."""


def met(cache: Judged, event: Move, *waived: Rule) -> Tally:
    """How often each rule is put to the test by an event."""
    tally = Tally(waived)
    lived(cache, event, tally)
    return tally


def counts(cache: Judged) -> Held:
    """The reference counts as they are."""
    return {BlockId(id): block.ref for id, block in enumerate(cache.state.blocks) if block.ref}


def less(cache: Judged) -> Move:
    """One block is said to be gone."""
    return tell(free=(free(cache)[0] - 1,))


# What an engine says of itself, and what is blamed.


@pytest.mark.parametrize("happened", range(len(LIFE) + 1))
def test_a_wrong_answer_is_no_matter_of_refusals_and_exits_where_there_was_none(happened: int) -> None:
    cache = play(world(HYBRID), *LIFE[:happened])
    right = counts(cache)
    assert broken(cache, less(cache)) is (rules.CONSERVATION if happened else rules.EVERY_EXIT_RELEASES)
    assert broken(cache, tell(free=(free(cache)[0] + 1,))) is rules.COUNT_EQUALS_HOLDERS
    assert broken(cache, tell(refs={**right, BlockId(7): 1})) is rules.COUNT_EQUALS_HOLDERS
    if happened:
        assert broken(cache, tell(tables={A: ids((1, 2, 9), (4, 5, 6))})) is rules.NO_DANGLING_REFERENCE
        assert broken(cache, tell(refs={**right, BlockId(1): 0})) is rules.COUNT_EQUALS_HOLDERS
    at_rest = {} if happened else {rules.EVERY_EXIT_RELEASES: 1}
    counted = {rules.COUNT_EQUALS_HOLDERS: 1, rules.CONSERVATION: 1, rules.RESERVED_BLOCK: 1}
    assert met(cache, ev.Observe(free=free(cache)[0])).exercised == counted | at_rest


def test_what_is_missing_after_an_exit_was_not_released() -> None:
    cache = play(both(), ev.Abort(A))
    assert broken(cache, less(cache)) is rules.EVERY_EXIT_RELEASES
    assert broken(cache, tell(free=(20,))) is rules.COUNT_EQUALS_HOLDERS
    assert broken(cache, tell(refs={BlockId(1): 1})) is rules.EVERY_EXIT_RELEASES
    assert broken(cache, tell(refs={BlockId(7): 1})) is rules.COUNT_EQUALS_HOLDERS
    exercised = met(cache, ev.Observe(free=free(cache)[0])).exercised
    assert (exercised[rules.EVERY_EXIT_RELEASES], exercised[rules.FAILURE_IS_ATOMIC]) == (1, 0)


def test_what_is_wrong_after_a_refusal_was_not_atomic() -> None:
    cache = play(world(HYBRID), *LIFE[:3], REFUSED)
    right = counts(cache)
    for wrong in (
        less(cache),
        tell(free=(free(cache)[0] + 1,)),
        tell(refs={**right, BlockId(7): 1}),
        tell(refs={**right, BlockId(1): 0}),
        tell(tables={A: ids((1, 2, 9), (4, 5, 6))}),
        tell(tables={B: ids((7,), ())}),
    ):
        assert broken(cache, wrong) is rules.FAILURE_IS_ATOMIC
    exercised = met(cache, ev.Observe(free=free(cache)[0])).exercised
    assert (exercised[rules.EVERY_EXIT_RELEASES], exercised[rules.FAILURE_IS_ATOMIC]) == (0, 1)


@pytest.mark.parametrize("happened", range(len(LIFE)))
def test_a_refusal_and_an_exit_are_to_blame_until_something_else_has_happened(happened: int) -> None:
    cache = play(world(HYBRID), *LIFE[:happened], refuse(request(B, *(0,) * 12), 12))
    assert broken(cache, less(cache)) is rules.FAILURE_IS_ATOMIC
    cache = play(cache, LIFE[happened])
    assert broken(cache, less(cache)) is rules.CONSERVATION
    short = request(B, 1)
    cache = play(world(HYBRID), *LIFE[:happened], admit(short, 0, 1, ids((7,), (8,))), ev.Abort(B))
    assert broken(cache, less(cache)) is rules.EVERY_EXIT_RELEASES
    cache = play(cache, LIFE[happened])
    assert broken(cache, less(cache)) is rules.CONSERVATION


@pytest.mark.parametrize(
    "tables", [((1, 2, 2), (4, 5, 6)), ((1, 2, 9), (4, 5, 6)), ((1, 2), (4, 5, 6)), ((1, 2, 3), (4, 5, 6, 7)), ()]
)
def test_a_live_table_is_neither_less_nor_more_than_what_was_given(tables: tuple[tuple[int, ...], ...]) -> None:
    assert broken(both(), tell(tables={A: ids(*tables)})) is rules.NO_DANGLING_REFERENCE


def test_of_a_request_that_is_gone_nothing_need_be_told() -> None:
    play(both(), tell(tables={B: ()}), tell(tables={B: ids((), ())}))
    left = play(both(), admit(request(B, 1), 0, 1, ids((7,), (8,))), ev.Abort(B))
    play(left, tell(tables={B: ()}), tell(tables={B: ids((), ())}))
    assert broken(left, tell(tables={B: ids((), (7,))})) is rules.EVERY_EXIT_RELEASES


def test_each_group_tells_of_its_pool() -> None:
    """A has blocks of pool 0 and 1; what is free in one is not counted in the other."""
    cache = ran(world("full:1 window:2:3", "own"), request(A, 0, 0, 0), (1, 2, 3), (13, 14))
    play(cache, tell(free=(8, 9), refs=dict.fromkeys(map(BlockId, (1, 2, 3, 13, 14)), 1)))
    assert broken(cache, tell(free=(9, 9))) is rules.COUNT_EQUALS_HOLDERS
    assert broken(cache, tell(free=(8, 8))) is rules.CONSERVATION


@pytest.mark.parametrize("id", [-1, 12])
def test_a_count_of_a_block_that_is_none_dangles(id: int) -> None:
    assert broken(world(HYBRID), tell(refs={BlockId(id): 1})) is rules.NO_DANGLING_REFERENCE


# How often a rule is put to the test.


HIT_RULES = (rules.EVERY_GROUP_HIT, rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED, rules.DRAFT_GROUP_HIT)


@pytest.mark.parametrize(
    ("groups", "hit", "tables", "times"),
    [
        (HYBRID, 0, ((7, 8, 9), (10, 11, 12)), (0, 0, 0, 0)),
        (HYBRID, 4, ((1, 2, 7), (None, 5, 8)), (1, 3, 3, 0)),
        (DRAFTS, 0, ((7, 8, 9), (10, 11, 12)), (0, 0, 0, 0)),
        (DRAFTS, 2, ((1, 7, 8), (4, 9, 10)), (1, 2, 2, 1)),
    ],
)
def test_the_rules_of_hits_are_put_to_the_test_by_the_entries_that_are_read(
    groups: str, hit: int, tables: tuple[tuple[int | None, ...], ...], times: tuple[int, ...]
) -> None:
    exercised = met(both(groups), admit(LIKE_A, hit, 5, ids(*tables))).exercised
    assert tuple(exercised[rule] for rule in HIT_RULES) == times


def test_tables_are_put_to_the_test_when_they_are_given() -> None:
    """Of the hit once, and of each group; two blocks are handed out, and each could have been the reserved one."""
    exercised = met(both(), HIT).exercised
    assert (exercised[rules.ONE_PAGE_ROUNDING], exercised[rules.CONSERVATION]) == (2, 1 + 2)
    assert exercised[rules.RESERVED_BLOCK] == 2
    assert met(having(both(), reserved_blocks=frozenset()), HIT).exercised[rules.RESERVED_BLOCK] == 0


def test_writes_are_put_to_the_test_by_the_entries_that_are_written() -> None:
    """Of states only the last must be; A has no entry for the one between."""
    for groups, tables, times in (
        (HYBRID, ((1, 2), (3, 4)), 4),
        ("full:2 state:2", ((1, 2), (None, 4)), 3),
        ("full:2 state:2", ((1, 2), (3, 4)), 4),
    ):
        cache = play(world(groups), admit(request(A, *ZEROS), 0, 4, ids(*tables)))
        assert met(cache, compute(A, 4)).exercised[rules.SHARED_BYTES_NEVER_CHANGE] == times


def test_tables_that_are_told_put_to_the_test_what_they_would_break() -> None:
    left = play(both(), admit(request(B, 1), 0, 1, ids((7,), (8,))), ev.Abort(B))
    refused = play(both(), refuse(request(B, *(0,) * 20), 20))
    for cache in (both(), left, refused):
        assert met(cache, tell(tables={})).exercised == {rules.NO_DANGLING_REFERENCE: 2}
        assert met(cache, tell(refs=counts(cache))).exercised == {rules.COUNT_EQUALS_HOLDERS: 1}
    assert met(left, ev.Observe(free=13)).exercised[rules.EVERY_EXIT_RELEASES] == 1
    assert met(refused, ev.Observe(free=13)).exercised[rules.FAILURE_IS_ATOMIC] == 1


def test_the_longest_hit_is_put_to_the_test_where_there_is_or_could_have_been_one() -> None:
    longest = {"profiles": frozenset({"longest-hit"})}
    none = admit(request(B, 1, 1, 1), 0, 3, ids((7, 8), (9, 10)))
    missed = admit(LIKE_A, 0, 5, ids((7, 8, 9), (10, 11, 12)))
    begun = play(having(world(HYBRID), publishes="scheduled"), admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))))
    in_flight = play(begun, compute(A, 5))
    for cache, event, times in ((both(), none, 0), (both(), HIT, 1), (both(), missed, 1), (in_flight, HIT, 1)):
        exercised = met(having(cache, **longest), event, rules.LONGEST_GROUP_HIT).exercised
        assert exercised[rules.LONGEST_GROUP_HIT] == times
        assert met(cache, event).exercised[rules.LONGEST_GROUP_HIT] == 0


# What a verdict says.


def written_twice() -> Judged:
    """B's new block stands in A's table too."""
    cache = hit()
    cache.state.requests[B].tables[0][2] = BlockId(3)
    cache.state.blocks[3].ref += 1
    return cache


def overwritten() -> Judged:
    """Block 2, which B has hit, has lost its content."""
    cache = hit()
    cache.state.blocks[2].contexts[1] = None
    return cache


def lost() -> Judged:
    """B has hit block 5 in group 1, and no longer holds it."""
    cache = hit()
    cache.state.requests[B].tables[1][1] = None
    return cache


def in_flight() -> Judged:
    return play(world(HYBRID), admit(LEFT_BY_A, 0, 5, ids((1, 2, 3), (4, 5, 6))), compute(A, 5))


def gap() -> Judged:
    """A lacks the entry of the state after all its tokens."""
    return play(world("full:2 state:2"), admit(request(A, *ZEROS), 0, 4, ids((1, 2), (4, None))))


def apart() -> Judged:
    """A has computed three tokens, in blocks 1 and 2 of either pool."""
    return ran(world(HYBRID, "own"), request(A, 0, 0, 0), (1, 2), (13, 14))


def greedy() -> Judged:
    return having(both(), profiles=frozenset({"longest-hit"}))


def begun() -> Judged:
    """C has computed three tokens of seven, and so half of block 14."""
    asked = admit(request(C, *(0,) * 7), 0, 7, ids((9, 10, 11, 12), (13, 14, 15, 16)))
    return play(long(), asked, compute(C, 3), complete(C))


SHORT = admit(LEFT_BY_A, 0, 4, ids((1, 2), (4, 5)))
SEVEN = request(B, *(0,) * 7)
SAID: list[tuple[Callable[[], Judged], Move, str]] = [
    (both, admit(LIKE_A, 3, 5, ids((1, 2, 7), (4, 5, 8))), "hit of 3 tokens | 2 blocks of 2 | group 0 (full:2)"),
    (both, admit(LIKE_A, 4, 5, ids((1, None, 7), (None, 5, 8))), "hit of B | entry 1 | group 0 (full:2)"),
    (both, admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 4, 8))), "B hits block 4 | (0 0) of A | group 1 (window:2:3)"),
    (both, admit(LIKE_A, 4, 5, ids((1, 12, 7), (None, 5, 8))), "B hits block 12 | nothing | group 0 (full:2)"),
    (in_flight, admit(LIKE_A, 4, 5, ids((1, 2, 7), (None, 5, 8))), "B hits block 1 | A | not finished | group 0"),
    (greedy, admit(LIKE_A, 2, 5, ids((1, 7, 8), (4, 9, 10))), "B hits 2 tokens | hit of 4"),
    (both, admit(LIKE_A, 0, 5, ids((7, 8), (9, 10, 11))), "B has 2 | group 0 (full:2) | 5 tokens"),
    (
        partial(world, "full:1 draft:1:2"),
        admit(request(B, 0, 0), 0, 1, ids((1,), (2, 3))),
        "B owns 2 | 1 tokens | group 1 (draft:1:2) | expected 1",
    ),
    (long, admit(SEVEN, 6, 7, ids((1, 2, 3, 9), (4, 6, 7, 10))), "B shares block 4 | group 1 | one of group 0"),
    (begun, admit(SEVEN, 6, 7, ids((1, 2, 3, 17), (14, None, 7, 18))), "B shares block 14 | group 1 | C | to write"),
    (both, admit(request(B, 1), 0, 1, ids((7,), (5,))), "B receives block 5 | A (group 1) | in group 1 (window:2:3)"),
    (both, admit(request(B, 1), 0, 1, ids((7,), (7,))), "B receives block 7 | B (group 0) | in group 1 (window:2:3)"),
    (both, admit(request(B, 1), 0, 1, ids((0,), (7,))), "B | reserved block 0 | group 0"),
    (both, admit(request(B, 1), 0, 1, ids((20,), (7,))), "B | block 20 | ids 0 to 19 | group 0"),
    (overwritten, compute(B, 1), "B reads position 3 | block 2 slot 1 | group 0"),
    (lost, compute(B, 1), "B reads entry 1 | group 1"),
    (partial(play, world(HYBRID), SHORT), compute(A, 5), "A has 2 | 5 tokens | group 0"),
    (gap, compute(A, 4), "A computes position 3 | group 1 (state:2)"),
    (written_twice, compute(B, 1), "B writes position 4 | block 3 | A (group 0) and B (group 0) | in group 0 (full:2)"),
    (both, grow(A, 6, ids((1, 9, 3), (4, 5, 6))), "A's | [1, 2, 3] | [1, 9, 3] | group 0"),
    (both, trim(A, 0, 0), "A | entry 0 | group 0 (full:2) | block 1 | position 5 | to come | entries from 0 on"),
    (both, trim(A, 1, 1), "A | entry 1 | group 1 (window:2:3) | block 5 | to come | entries from 1 on"),
    (in_flight, trim(A, 1, 0), "A | entry 0 | group 1 | block 4 | position 0 is in flight | entries from 0 on"),
    (both, tell(free=(12,)), "12 of 19 blocks | 6 are held | group 0 | 13 free"),
    (both, tell(refs={BlockId(7): 1}), "block 1 counts 0 | 1 holders"),
    (both, tell(refs={BlockId(25): 1}), "block 25 | ids 0 to 19"),
    (both, tell(tables={A: ids((1, 2, 9), (4, 5, 6))}), "A is | group 0 | [1, 2, 9] | [1, 2, 3]"),
    (both, refuse(request(B, 0, 0), 2), "B | refused 2 | 13 are free"),
    (apart, tell(free=(9, 8)), "8 of 11 blocks | 2 are held | group 1 (window:2:3) | 9 free"),
    (apart, tell(refs={BlockId(1): 1}), "block 2 of pool 0 counts 0 | 1 holders"),
    (apart, admit(request(B, 1), 0, 1, ids((4,), (13,))), "B receives block 1 of pool 1 | A (group 1) | in group 1"),
    (apart, trim(A, 1, 0), "A | entry 0, block 1 of pool 1"),
    (apart, admit(request(B, 0, 0, 0), 2, 3, ids((1, 5), (15, 16))), "B hits block 3 of pool 1 | in group 1"),
]


@pytest.mark.parametrize(("made", "event", "words"), SAID)
def test_a_verdict_says_who_did_what_where(made: Callable[[], Judged], event: Move, words: str) -> None:
    said = str(violation(made(), event))
    assert [word for word in words.split(" | ") if word not in said] == [], said


# Invariants.


def counted(by: int) -> Judged:
    cache = both()
    cache.state.blocks[2].ref += by
    return cache


def of_another_group(groups: str, number: int, id: int) -> Judged:
    """A holds a block as one of a group to which it does not belong."""
    cache = both(groups)
    cache.state.blocks[id].owner = 1 - number
    return cache


def in_table(number: int, table: list[int | None]) -> Judged:
    """A's table is another than the one that it was given; counts are those of the tables."""
    cache = both()
    cache.state.requests[A].tables[number] = [None if id is None else BlockId(id) for id in table]
    holders = cache.state.holders()
    cache.state.free |= dict.fromkeys({BlockId(id) for id in range(1, 7)} - holders.keys())
    for id, block in enumerate(cache.state.blocks[1:7], 1):
        block.ref = holders.get(BlockId(id), 0)
    return cache


def emptied(id: int) -> Judged:
    cache = both()
    cache.state.blocks[id].contexts[0] = None
    return cache


BROKEN: list[tuple[Judged, list[Rule], str]] = [
    (both(), [], ""),
    (counted(1), [rules.COUNT_EQUALS_HOLDERS], "block 2 counts 2, has 1"),
    (counted(-1), [rules.COUNT_EQUALS_HOLDERS, rules.CONSERVATION], "block 2 counts 0, has 1"),
    (of_another_group(HYBRID, 0, 2), [rules.CONSERVATION], "A holds block 2 in group 0"),
    (of_another_group(HYBRID, 1, 5), [rules.CONSERVATION], "A holds block 5 in group 1"),
    (in_table(0, [1, None, 3]), [rules.EVERY_GROUP_HIT], "A holds nothing for entry 1 of group 0"),
    (in_table(0, [1, 2]), [rules.ONE_PAGE_ROUNDING], "A has 2 blocks for 5 tokens"),
    (in_table(1, [None, 5, 6]), [], ""),
    (in_table(1, [4, None, 6]), [rules.EVERY_GROUP_HIT], "A holds nothing for entry 1 of group 1"),
    (emptied(2), [rules.SHARED_BYTES_NEVER_CHANGE], "A block 1 is not its own context"),
    (emptied(5), [], ""),
    (emptied(6), [rules.SHARED_BYTES_NEVER_CHANGE], "A block 2 is not its own context"),
]


@pytest.mark.parametrize(("cache", "wrong", "words"), BROKEN)
def test_an_invariant_that_is_broken_is_named(cache: Judged, wrong: list[Rule], words: str) -> None:
    found = list(broken_invariants(cache.state))
    assert [rule for rule, _ in found] == wrong
    assert all(words in said for _, said in found[:1])


def test_a_reserved_block_in_a_table_is_named() -> None:
    cache = both()
    cache.state.requests[A].tables[0][0] = BlockId(0)
    found = [rule for rule, _ in broken_invariants(cache.state)]
    assert found[:3] == [rules.COUNT_EQUALS_HOLDERS, rules.RESERVED_BLOCK, rules.COUNT_EQUALS_HOLDERS]
    assert found[3:] == [rules.CONSERVATION, rules.SHARED_BYTES_NEVER_CHANGE]


def test_counts_are_those_of_the_same_pool() -> None:
    cache = ran(world(HYBRID, "own"), request(A, 0, 0, 0), (1, 2), (13, 15))
    assert list(broken_invariants(cache.state)) == []
    cache.state.blocks[15].ref, cache.state.own(BlockId(14)).ref = 0, 1
    assert [said for rule, said in broken_invariants(cache.state) if rule is rules.COUNT_EQUALS_HOLDERS] == [
        "S1: block 14 counts 1, has 0 holders",
        "S1: block 15 counts 0, has 1 holders",
    ]
