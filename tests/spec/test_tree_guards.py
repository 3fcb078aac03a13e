"""Guards and effects of radix trees that mutation testing found untested: the allowed event beside the forbidden one.

Written from the sentences of the rules and of `kvspec.tree`. The last part asks how often a rule was put to the test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from kvspec import Violation
from kvspec.published import BlockRemoved, BlockStored, Published
from kvspec.rules import (
    COMPLETE_KEY,
    CONSERVATION,
    CONTENT_MATCHES_KEY,
    CONTIGUOUS_CHAIN,
    FIT_AGREES_WITH_ALLOCATE,
    ISOLATION,
    MIRROR_EQUALS_INDEX,
    SYMMETRIC_LOCKS,
    Rule,
)
from kvspec.tree import Found, Inserted, Node, TreeState, judge
from kvspec.tree import events as ev
from kvspec.tree.state import Page
from kvspec.tree.transition import _TRANSITIONS
from kvspec.violation import Tally
from kvspec.vocabulary import NO_PARTS, Capabilities, KeyParts, TokenId, World
from tests.spec.test_tree import (
    ADAPTED,
    FIRST,
    LONG,
    LOWER,
    NEW,
    OTHER,
    SALTED,
    SECOND,
    SHORT,
    UPPER,
    broken,
    full,
    insert,
    locked,
    match,
    pages,
    shown,
    tokens,
    tree,
)

pytestmark = pytest.mark.kills("tree")

BOTH = KeyParts(salt="x", adapter="x")


def placed() -> TreeState:
    """SHORT stands at the places 4 to 7."""
    return tree(ev.Insert(SHORT, NO_PARTS, 0, (4, 5, 6, 7)))


def counted(state: TreeState, event: ev.Event) -> Tally:
    """How often each rule is put to the test by one event."""
    judge(state, event, tally := Tally())
    return tally


def test_every_event_of_a_tree_is_judged() -> None:
    assert set(get_args(ev.Event)) == set(_TRANSITIONS)


# Lookups.


def test_a_hit_is_never_negative_nor_longer_than_the_lookup() -> None:
    state = TreeState(World(6, 1), Capabilities())
    judge(state, insert(tokens(1, 2)), Tally())
    assert broken(state, match(tokens(1), -1)) is CONTIGUOUS_CHAIN
    assert broken(state, match(tokens(1), 2)) is CONTIGUOUS_CHAIN
    judge(state, match(tokens(1, 2), 2), Tally())


def test_a_page_behind_one_that_is_missing_is_not_known() -> None:
    state = tree(insert())
    del state.pages[next(state.chain(LONG, NO_PARTS))]
    assert state.known(LONG, NO_PARTS) == 0


@pytest.mark.parametrize(
    ("cached", "looked_up"),
    [
        ([tokens(5, 5)], tokens(1, 1)),
        ([tokens(1, 1)], tokens(5, 5)),
        ([tokens(1, 1, 2, 2)], tokens(2, 2)),
        ([tokens(1, 1), tokens(2, 2)], tokens(1, 1, 2, 2)),
    ],
    ids=["greater tokens", "smaller tokens", "at a later place", "at an earlier place"],
)
def test_other_tokens_or_another_place_are_no_likeness(
    cached: list[tuple[TokenId, ...]], looked_up: tuple[TokenId, ...]
) -> None:
    # Such a page holds what belongs to another index, whatever its key covers.
    state = tree(*map(insert, cached))
    assert broken(state, match(looked_up, len(looked_up))) is CONTENT_MATCHES_KEY


@pytest.mark.parametrize(
    ("cached", "rule"),
    [((SALTED, ADAPTED), ISOLATION), ((ADAPTED, BOTH), COMPLETE_KEY)],
    ids=["a salt alone keeps one apart", "nobody computes alike"],
)
def test_the_salt_is_blamed_where_nothing_else_separates(cached: tuple[KeyParts, ...], rule: Rule) -> None:
    state = tree(*(insert(SHORT, parts=parts) for parts in cached))
    assert broken(state, match(SHORT, 4)) is rule


def test_what_is_cached_of_others_is_taken_for_what_was_found_and_what_has_left_for_stale() -> None:
    alike = tokens(4, 4, 2, 2)  # the same second page, behind another one
    gone = ev.Evict(1, 2, pages(SHORT[:2], alike))
    state = tree(insert(SHORT), insert(alike), gone)
    assert broken(state, match(SHORT, 4)) is CONTENT_MATCHES_KEY
    assert broken(tree(insert(SHORT[:2]), insert(alike)), match(SHORT, 4)) is COMPLETE_KEY
    judge(state, insert(SHORT, parts=ADAPTED), Tally())
    assert broken(state, match(SHORT, 4)) is COMPLETE_KEY


def test_nothing_is_known_of_less_than_a_page() -> None:
    with pytest.raises(Violation, match="2 tokens of nothing are said to be known"):
        judge(tree(insert()), insert(tokens(1), 2), Tally())
    with pytest.raises(Violation, match=r"2 tokens of \(1 1 4 4\) are said"):
        judge(tree(), insert(OTHER, 2), Tally())
    judge(tree(insert()), insert(tokens(1)), Tally())


# Places.


@pytest.mark.parametrize("places", [(0, 1, 6, 7), (4, 5, 8, 9)], ids=["smaller", "greater"])
def test_a_lookup_gives_the_places_that_were_told(places: tuple[int, ...]) -> None:
    assert broken(placed(), replace(match(SHORT, 4), slots=places)) is CONTENT_MATCHES_KEY


@pytest.mark.parametrize("places", [(), (4, 5, 6), (4, 5, 6, 7, 8)], ids=["none", "a place too few", "one too many"])
def test_there_is_a_place_for_each_token(places: tuple[int, ...]) -> None:
    assert broken(placed(), replace(match(SHORT, 4), slots=places)) is CONSERVATION
    assert broken(tree(), ev.Insert(SHORT, NO_PARTS, 0, places)) is CONSERVATION
    judge(tree(), ev.Insert(SHORT, NO_PARTS, 0, (4, 5, 6, 7)), Tally())


@pytest.mark.parametrize("places", [(3, 3, 1, 2), (1, 2, 3, 3), (1, 2, 2, 3)], ids=["first", "second", "across"])
def test_no_place_is_that_of_two_tokens(places: tuple[int, ...]) -> None:
    assert broken(tree(), ev.Insert(SHORT, NO_PARTS, 0, places)) is CONSERVATION
    assert broken(tree(insert(SHORT)), replace(match(SHORT, 4), slots=places)) is CONSERVATION


def test_places_that_a_lookup_tells_first_bind_those_that_follow() -> None:
    told = replace(match(SHORT, 4), slots=(4, 5, 6, 7))
    state = tree(insert(SHORT), told, told)
    assert broken(state, replace(told, slots=(6, 7, 4, 5))) is CONTENT_MATCHES_KEY
    assert broken(state, ev.Insert(OTHER, NO_PARTS, 2, (7, 8))) is CONSERVATION
    judge(state, match(SHORT, 4), Tally())  # a lookup need not tell


def test_an_answer_without_places_tells_of_none() -> None:
    state = placed()
    judge(state, replace(match(SHORT, 4), slots=Found(4, None).slots), Tally())
    judge(state, ev.Insert(OTHER, NO_PARTS, 2, Inserted(2).slots), Tally())


def test_a_page_has_no_place_until_one_is_told() -> None:
    state = tree()
    state.pages |= {content: Page() for content in state.chain(SHORT, NO_PARTS)}
    judge(state, replace(match(SHORT, 4), slots=(4, 5, 6, 7)), Tally())


# Locks and making room.


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_lock_counts_once_on_each_page_whatever_its_size(size: int) -> None:
    prefix = tokens(*range(3 * size))
    state = TreeState(World(6, size), Capabilities())
    for event in (insert(prefix), match(prefix, 2 * size), ev.Lock(FIRST)):
        judge(state, event, Tally())
    assert [state.pages[content].locks for content in state.chain(prefix, NO_PARTS)] == [1, 1, 0]


def test_what_vanishes_while_the_new_pages_just_fit_was_not_evicted() -> None:
    for count, missing in ((4, True), (5, False)):  # six fit
        state = tree(insert(tokens(*range(2 * count))))
        judge(state, ev.Insert(tokens(8, 8, 9, 9), NO_PARTS, 0, remaining=pages(tokens(8, 8, 9, 9))), Tally())
        show = shown(Node(tokens(8, 8, 9, 9), 4, 0), evictable=4, protected=0)
        if missing:
            assert broken(state, show) is CONSERVATION
        else:
            judge(state, show, Tally())


def test_a_refused_insertion_evicts_only_for_what_is_new_of_it() -> None:
    state, refused = tree(insert()), tokens(*LONG, 7, 7)  # one page is new, three are free
    judge(state, ev.Refuse(refused, NO_PARTS, 0, frozenset()), Tally())
    assert broken(state, shown(evictable=0, protected=0)) is CONSERVATION


def test_a_refusal_evicts_nothing_unless_it_is_said() -> None:
    state = full()
    before = set(state.pages)
    judge(state, ev.Refuse(NEW, NO_PARTS, 0), Tally())
    assert set(state.pages) == before


def test_a_tree_holds_no_more_pages_than_there_are() -> None:
    state = tree(insert(), insert(OTHER, 2), insert(SHORT[:2], parts=SALTED))
    assert broken(state, insert(tokens(5, 5, 6, 6))) is CONSERVATION
    judge(state, insert(tokens(5, 5)), Tally())


def test_the_first_locked_page_is_named_with_its_locks() -> None:
    with pytest.raises(Violation, match=r": \(1 1\) is evicted with 2 locks on it"):
        judge(locked(), ev.Evict(6, 6, frozenset()), Tally())
    with pytest.raises(Violation, match=r": \(1 1 2 2 3 3\) is evicted with 1 lock on it"):
        judge(locked(), ev.Evict(2, 2, pages(SHORT)), Tally())


def test_an_eviction_says_no_less_than_has_gone() -> None:
    assert broken(tree(insert()), ev.Evict(1, 0, pages(SHORT))) is CONSERVATION
    assert broken(tree(insert()), ev.Evict(1, 4, pages(SHORT))) is CONSERVATION
    judge(tree(insert()), ev.Evict(1, 2, pages(SHORT)), Tally())


# What is shown.


@pytest.mark.parametrize("available", [4, 8], ids=["less", "more"])
def test_room_and_pages_add_up_to_the_pool(available: int) -> None:
    assert broken(locked(), shown(UPPER, LOWER, available=available)) is CONSERVATION
    judge(locked(), shown(UPPER, LOWER, available=6), Tally())
    loose = tree(insert(SHORT))
    assert broken(loose, shown(Node(SHORT, 4, 0), evictable=4, protected=0, available=12)) is CONSERVATION
    judge(loose, shown(Node(SHORT, 4, 0), evictable=4, protected=0, available=8), Tally())


def test_a_tree_need_not_tell_its_room_nor_publish() -> None:
    judge(locked(), ev.Observe((UPPER, LOWER), 0, 6), Tally())


def test_copies_that_a_tree_tells_of_are_counted_where_that_is_declared() -> None:
    twice: tuple[Published, ...] = (BlockStored(("a",), None, SHORT[:2], 2),) * 2
    show = replace(shown(Node(SHORT[:2], 2, 0), evictable=2, protected=0), published=twice)
    judge(tree(insert(SHORT[:2])), show, Tally())
    state = counting()
    assert broken(state, show) is MIRROR_EQUALS_INDEX
    for true in (twice[:1], (*twice, BlockRemoved(("a",)))):
        judge(counting(), replace(show, published=true), Tally())
    state = counting()
    judge(state, replace(show, published=()), Tally((MIRROR_EQUALS_INDEX,)))
    assert broken(state, replace(show, published=())) is MIRROR_EQUALS_INDEX


def counting() -> TreeState:
    """One page, in a tree that publishes each copy."""
    state = TreeState(World(6, 2), Capabilities(counts_copies=True))
    judge(state, insert(SHORT[:2]), Tally())
    return state


# How often a rule is put to the test.


@pytest.mark.parametrize(("hit", "times"), [(0, 0), (2, 0), (4, 1), (6, 2)])
def test_what_stands_before_a_page_is_tested_from_the_second_page_on(hit: int, times: int) -> None:
    tally = counted(tree(insert()), match(LONG, hit))
    assert (tally.exercised[CONTENT_MATCHES_KEY], tally.exercised[COMPLETE_KEY]) == (hit // 2, times)


@pytest.mark.parametrize(
    ("cached", "asked", "isolation", "key"),
    [
        ((NO_PARTS,), NO_PARTS, 0, 0),
        ((SALTED,), NO_PARTS, 1, 0),
        ((ADAPTED,), NO_PARTS, 0, 1),
        ((BOTH,), NO_PARTS, 0, 1),
        ((BOTH,), ADAPTED, 1, 0),
        ((SALTED, ADAPTED), NO_PARTS, 1, 1),
    ],
    ids=["one's own", "a salt", "an adapter", "both", "a salt beside one adapter", "two others"],
)
def test_a_miss_beside_the_same_tokens_of_others_tests_what_separates_them(
    cached: tuple[KeyParts, ...], asked: KeyParts, isolation: int, key: int
) -> None:
    state = tree(*(insert(SHORT[:2], parts=parts) for parts in cached))
    tally = counted(state, match(SHORT[:2], 0, parts=asked))
    assert (tally.exercised[ISOLATION], tally.exercised[COMPLETE_KEY]) == (isolation, key)


def test_nothing_separates_where_all_is_cached_or_the_tokens_are_others() -> None:
    state = tree(insert(SHORT[:2]), insert(SHORT[:2], parts=SALTED))
    for lookup in (match(SHORT[:2], 2, parts=SALTED), match(tokens(0, 0), 0, parts=SALTED), match(OTHER, 2)):
        assert not counted(state, lookup).exercised[ISOLATION]
    assert not counted(state, match(tokens(5, 5), 0)).exercised[ISOLATION]


def test_the_first_page_that_is_missing_is_the_test_of_a_namespace() -> None:
    state = tree(insert(SHORT), insert(SHORT[:2], parts=SALTED))
    assert counted(state, match(SHORT, 2, parts=SALTED)).exercised[ISOLATION] == 1


@pytest.mark.parametrize("how", [True, False], ids=["locked", "unlocked"])
def test_an_eviction_tests_locks_where_something_is_locked(how: bool) -> None:
    state = tree(insert(), match(SHORT, 4), *([ev.Lock(FIRST)] if how else []))
    assert bool(counted(state, ev.Evict(1, 2, pages(SHORT))).exercised[SYMMETRIC_LOCKS]) is how


@pytest.mark.parametrize("event", [ev.Lock(SECOND), ev.Unlock(FIRST)])
def test_each_lock_and_unlock_tests_their_symmetry(event: ev.Event) -> None:
    state = tree(insert(), match(SHORT, 4), ev.Lock(FIRST), match(SHORT, 4, SECOND))
    assert counted(state, event).exercised[SYMMETRIC_LOCKS] == 1


def test_a_tree_without_nodes_tells_nothing_of_locks() -> None:
    assert not counted(tree(), shown(evictable=0, protected=0)).exercised[SYMMETRIC_LOCKS]
    assert counted(locked(), shown(UPPER, LOWER)).exercised[SYMMETRIC_LOCKS] == 2


def test_an_eviction_tests_room_and_order_where_something_can_go() -> None:
    held = tree(insert(), match(LONG, 6, SECOND), ev.Lock(SECOND))
    for state, asked, tested in ((held, 2, False), (tree(insert()), 0, False), (tree(insert()), 2, True)):
        gone = 2 if tested else 0
        tally = counted(state, ev.Evict(asked, gone, pages(SHORT) if tested else pages(LONG)))
        assert bool(tally.exercised[FIT_AGREES_WITH_ALLOCATE]) is tested
        assert bool(tally.exercised[CONTIGUOUS_CHAIN]) is tested
