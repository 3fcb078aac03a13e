"""The relation of a radix tree, from the rules: locks by page, leaves first, sizes that add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kvspec import HarnessFault, Violation
from kvspec.mirror import Content
from kvspec.published import BlockStored
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
from kvspec.tree import Node, TreeState, judge
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId
from kvspec.violation import Tally
from kvspec.vocabulary import NO_PARTS, Capabilities, KeyParts, TokenId, World

pytestmark = pytest.mark.kills("tree")

SALTED, ADAPTED = KeyParts(salt="x"), KeyParts(adapter="x")
FIRST, SECOND = HandleId(1), HandleId(2)


def tokens(*values: int) -> tuple[TokenId, ...]:
    return tuple(TokenId(value) for value in values)


LONG, SHORT, OTHER = tokens(1, 1, 2, 2, 3, 3), tokens(1, 1, 2, 2), tokens(1, 1, 4, 4)


def tree(*events: ev.Event) -> TreeState:
    """Pages of two tokens, room for six of them."""
    state = TreeState(World(6, 2), Capabilities(salts=True, adapters=True))
    for event in events:
        judge(state, event, Tally())
    return state


def pages(*prefixes: tuple[TokenId, ...]) -> frozenset[Content]:
    return frozenset(content for prefix in prefixes for content in tree().chain(prefix, NO_PARTS))


def insert(prefix: tuple[TokenId, ...] = LONG, known: int = 0, parts: KeyParts = NO_PARTS) -> ev.Insert:
    return ev.Insert(prefix, parts, known)


def match(prefix: tuple[TokenId, ...], hit: int, handle: HandleId = FIRST, parts: KeyParts = NO_PARTS) -> ev.Match:
    return ev.Match(handle, prefix, parts, hit)


def broken(state: TreeState, event: ev.Event) -> Rule:
    with pytest.raises(Violation) as caught:
        judge(state, event, Tally())
    return caught.value.rule


# Lookups.


def test_a_hit_is_whole_pages_that_were_inserted() -> None:
    state = tree(insert())
    for hit in (0, 2, 4, 6):  # less than there is, too: how far a lookup goes is the engine's choice
        judge(state, match(LONG, hit), Tally())
    assert broken(state, match(LONG, 3)) is CONTIGUOUS_CHAIN
    assert broken(state, match(SHORT, 6)) is CONTIGUOUS_CHAIN
    assert broken(state, match(OTHER, 4)) is CONTENT_MATCHES_KEY


def test_a_page_is_the_same_only_behind_the_same_pages() -> None:
    state = tree(insert(), insert(OTHER[2:] + LONG[2:4]))
    assert broken(state, match(OTHER[2:] + LONG[2:], 6)) is COMPLETE_KEY


def test_a_partly_filled_page_is_not_cached() -> None:
    state = tree(insert(LONG[:5]))
    assert set(state.pages) == pages(SHORT)
    assert broken(state, match(LONG, 6)) is CONTENT_MATCHES_KEY


@pytest.mark.parametrize(("parts", "rule"), [(SALTED, ISOLATION), (ADAPTED, COMPLETE_KEY)])
def test_namespaces_are_apart(parts: KeyParts, rule: Rule) -> None:
    state = tree(insert())
    judge(state, match(LONG, 0, parts=parts), Tally())
    assert broken(state, match(LONG, 2, parts=parts)) is rule
    judge(state, insert(parts=parts), Tally())
    judge(state, match(LONG, 6, parts=parts), Tally())


def test_what_was_evicted_is_no_longer_found() -> None:
    state = tree(insert(), ev.Evict(1, 2, pages(SHORT)))
    assert broken(state, match(LONG, 6)) is CONTENT_MATCHES_KEY


def test_places_belong_to_one_page_and_stay_the_same() -> None:
    state = tree(ev.Insert(SHORT, NO_PARTS, 0, (0, 1, 2, 3)))
    judge(state, replace(match(SHORT, 4), slots=(0, 1, 2, 3)), Tally())
    assert broken(state, replace(match(SHORT, 4), slots=(0, 1, 3, 2))) is CONTENT_MATCHES_KEY
    assert broken(state, ev.Insert(OTHER, NO_PARTS, 2, (3, 4))) is CONSERVATION
    assert broken(state, ev.Insert(OTHER, NO_PARTS, 2, (4,))) is CONSERVATION


@pytest.mark.parametrize("known", [0, 2, 6])
def test_an_insertion_knows_exactly_what_is_there(known: int) -> None:
    assert broken(tree(insert(SHORT)), insert(LONG, known)) is CONSERVATION


def test_only_what_does_not_fit_is_refused() -> None:
    state = tree(insert(SHORT))
    judge(state, ev.Refuse(LONG, NO_PARTS, 1), Tally())
    assert broken(state, ev.Refuse(LONG, NO_PARTS, 2)) is FIT_AGREES_WITH_ALLOCATE


def full() -> TreeState:
    """LONG and OTHER, and SHORT once more under a salt: there is no room. SHORT without a salt is locked."""
    return tree(insert(), insert(OTHER, 2), insert(SHORT, parts=SALTED), match(SHORT, 4), ev.Lock(FIRST))


NEW = tokens(5, 5, 6, 6)
SALTY = frozenset(tree().chain(SHORT, SALTED))


def filled(left: frozenset[Content]) -> ev.Insert:
    """NEW is inserted, and besides it only `left` remains."""
    return ev.Insert(NEW, NO_PARTS, 0, remaining=pages(NEW) | left)


@pytest.mark.parametrize("left", [pages(SHORT), pages(SHORT) | SALTY, pages(LONG)], ids=["all", "leaves", "two chains"])
def test_an_insertion_without_room_may_evict_unlocked_leaves(left: frozenset[Content]) -> None:
    state = full()
    judge(state, match(OTHER, 4, SECOND), Tally())
    judge(state, filled(left), Tally())
    assert set(state.pages) == pages(NEW) | left
    assert not state.found  # what the lookup found is no longer whole


@pytest.mark.parametrize("left", [SALTY, SALTY | pages(LONG) - pages(LONG[:2])], ids=["with its end", "alone"])
def test_a_locked_page_does_not_go_for_an_insertion(left: frozenset[Content]) -> None:
    assert broken(full(), filled(left)) is SYMMETRIC_LOCKS


def test_leaves_go_first_when_an_insertion_makes_room() -> None:
    state = tree(insert(), insert(OTHER, 2), insert(SHORT, parts=SALTED))
    assert broken(state, filled(SALTY | pages(LONG) - pages(SHORT))) is CONTIGUOUS_CHAIN


def test_what_vanishes_while_there_is_room_was_not_evicted() -> None:
    state = tree(insert())
    judge(state, filled(frozenset()), Tally())
    assert broken(state, shown(Node(NEW, 4, 0), evictable=4, protected=0)) is CONSERVATION


def test_what_is_known_of_an_inserted_prefix_is_kept() -> None:
    state, longer = full(), tokens(*LONG, 7, 7)
    judge(state, ev.Insert(longer, NO_PARTS, 6, remaining=pages(longer) - pages(LONG) | SALTY), Tally())
    assert pages(longer) <= set(state.pages)


def test_places_of_what_was_evicted_for_an_insertion_are_free() -> None:
    room = ev.Insert(SHORT, NO_PARTS, 0, (0, 1, 2, 3)), ev.Insert(NEW, NO_PARTS, 0, (4, 5, 6, 7))
    state, last = tree(*room, insert(SHORT, parts=SALTED)), tokens(8, 8)
    event = ev.Insert(last, NO_PARTS, 0, (6, 7), pages(SHORT, NEW[:2], last) | SALTY)
    assert broken(state, replace(event, remaining=pages(SHORT, NEW, last) | SALTY)) is CONSERVATION
    judge(state, event, Tally())


def test_a_refusal_may_have_made_room_but_not_enough() -> None:
    state = full()
    judge(state, ev.Refuse(tokens(*NEW, 7, 7, 8, 8), NO_PARTS, 0, pages(SHORT) | SALTY), Tally())
    assert set(state.pages) == pages(SHORT) | SALTY
    assert broken(full(), ev.Refuse(NEW, NO_PARTS, 0, pages(SHORT) | SALTY)) is FIT_AGREES_WITH_ALLOCATE
    assert broken(full(), ev.Refuse(NEW, NO_PARTS, 0, SALTY)) is SYMMETRIC_LOCKS


# Locks.


def locked() -> TreeState:
    """The long prefix is locked once to its end and once to the end of the short one, which splits its node."""
    return tree(insert(), match(LONG, 6), ev.Lock(FIRST), match(SHORT, 4, SECOND), ev.Lock(SECOND))


def locks(state: TreeState) -> list[int]:
    return [state.pages[content].locks for content in state.chain(LONG, NO_PARTS)]


def test_a_lock_covers_every_page_from_the_root_and_the_unlock_the_same() -> None:
    state = locked()
    assert (locks(state), state.protected, state.evictable) == ([2, 2, 1], 3, 0)
    judge(state, ev.Unlock(FIRST), Tally())
    assert (locks(state), state.protected, state.evictable) == ([1, 1, 0], 2, 1)
    judge(state, ev.Unlock(SECOND), Tally())
    assert (locks(state), state.protected, state.evictable) == ([0, 0, 0], 0, 3)


def test_a_locked_page_is_not_evicted() -> None:
    state = locked()
    assert broken(state, ev.Evict(1, 2, pages(SHORT))) is SYMMETRIC_LOCKS
    judge(state, ev.Unlock(FIRST), Tally())
    judge(state, ev.Evict(1, 2, pages(SHORT)), Tally())
    assert broken(state, ev.Evict(1, 4, frozenset())) is SYMMETRIC_LOCKS


def test_only_what_was_found_and_is_whole_can_be_locked() -> None:
    state = tree(insert(), match(LONG, 6), ev.Evict(1, 2, pages(SHORT)))
    for event in (ev.Lock(FIRST), ev.Lock(SECOND), ev.Unlock(FIRST)):
        with pytest.raises(HarnessFault):
            judge(state, event, Tally())


# Evictions.


def test_leaves_go_first() -> None:
    state = tree(insert(), insert(OTHER, 2))
    assert broken(state, ev.Evict(1, 2, pages(LONG, OTHER) - pages(LONG[:2]))) is CONTIGUOUS_CHAIN
    assert broken(state, ev.Evict(1, 2, pages(LONG, OTHER) - pages(SHORT) | pages(LONG[:2]))) is CONTIGUOUS_CHAIN
    judge(state, ev.Evict(1, 2, pages(LONG)), Tally())


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        (ev.Evict(1, 0, pages(LONG)), FIT_AGREES_WITH_ALLOCATE),
        (ev.Evict(5, 4, pages(LONG[:2])), FIT_AGREES_WITH_ALLOCATE),
        (ev.Evict(1, 4, pages(SHORT)), CONSERVATION),
    ],
    ids=["nothing is evicted", "too little is", "not what is said"],
)
def test_an_eviction_gives_what_it_says_and_what_was_asked_for(event: ev.Evict, rule: Rule) -> None:
    assert broken(tree(insert()), event) is rule


def test_more_than_asked_for_may_go_and_less_where_no_more_can() -> None:
    judge(tree(insert()), ev.Evict(1, 6, frozenset()), Tally())
    state = locked()
    judge(state, ev.Unlock(FIRST), Tally())
    judge(state, ev.Evict(6, 2, pages(SHORT)), Tally())


def test_a_reset_leaves_nothing_and_never_under_a_lock() -> None:
    state = tree(insert(), match(LONG, 6), ev.Reset())
    assert not state.pages and not state.found
    with pytest.raises(HarnessFault):
        judge(locked(), ev.Reset(), Tally())


# What is shown.


def shown(*nodes: Node, evictable: int = 0, protected: int = 6, available: int | None = None) -> ev.Observe:
    return ev.Observe(nodes, evictable, protected, available)


UPPER, LOWER = Node(SHORT, 4, 2), Node(LONG, 2, 1)


def test_the_same_pages_may_be_cut_into_any_nodes() -> None:
    judge(locked(), shown(UPPER, LOWER, available=6), Tally())
    judge(locked(), shown(Node(LONG[:2], 2, 2), Node(SHORT, 2, 2), LOWER), Tally())


@pytest.mark.parametrize(
    ("show", "rule"),
    [
        (shown(replace(UPPER, locks=1), LOWER), SYMMETRIC_LOCKS),
        (shown(replace(UPPER, locks=-1), LOWER), SYMMETRIC_LOCKS),
        (shown(UPPER, replace(LOWER, locks=2)), SYMMETRIC_LOCKS),
        (shown(Node(LONG, 6, 2)), SYMMETRIC_LOCKS),
        (shown(UPPER), SYMMETRIC_LOCKS),
        (shown(UPPER, LOWER, LOWER), CONSERVATION),
        (shown(UPPER, LOWER, Node(OTHER, 2, 0)), CONSERVATION),
        (shown(UPPER, LOWER, evictable=2, protected=4), CONSERVATION),
        (shown(UPPER, LOWER, evictable=-2, protected=8), CONSERVATION),
        (shown(UPPER, LOWER, available=8), CONSERVATION),
    ],
    ids=[
        "a lock is missing above the split",
        "a count is negative",
        "a lock is too many",
        "one node under two counts",
        "a locked page is gone",
        "a page stands twice",
        "a page that nobody inserted",
        "locked pages are called evictable",
        "a negative size",
        "more room than there is",
    ],
)
def test_locks_pages_and_sizes_are_those_of_the_ghost(show: ev.Observe, rule: Rule) -> None:
    assert broken(locked(), show) is rule


def test_an_unlocked_page_that_vanished_is_a_matter_of_conservation() -> None:
    assert broken(tree(insert(SHORT)), shown(Node(LONG[:2], 2, 0), evictable=4, protected=0)) is CONSERVATION


@pytest.mark.parametrize(
    ("told", "right"),
    [(lambda: BlockStored(("a", "b"), None, SHORT, 2), True), (lambda: BlockStored(("a",), None, SHORT[:2], 2), False)],
)
def test_what_a_tree_publishes_is_replayed(told: Callable[[], BlockStored], right: bool) -> None:
    show = replace(shown(Node(SHORT, 4, 0), evictable=4, protected=0), published=(told(),))
    if right:
        judge(tree(insert(SHORT)), show, Tally())
    else:
        assert broken(tree(insert(SHORT)), show) is MIRROR_EQUALS_INDEX
