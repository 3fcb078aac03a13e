"""What mutation testing found untested in the mirror: the message or block that is right beside the one that is not."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from kvspec import Violation
from kvspec.mirror import EMPTY, Content, Entry, compare, replay
from kvspec.published import DEVICE, AllBlocksCleared, BlockRemoved, BlockStored, Published, PublishedKey
from kvspec.rules import MIRROR_EQUALS_INDEX
from kvspec.violation import Tally
from kvspec.vocabulary import KeyParts
from tests.spec.test_mirror import TWO, A, B, C, broken, content, contents, tokens

pytestmark = pytest.mark.kills("mirror")

FIRST, SECOND = content(1, 2), content(1, 2, 3, 4)


def compared(
    messages: list[Published], blocks: list[Content], *, counts: bool = False, exact: bool = True, medium: str = DEVICE
) -> Violation | None:
    """What is wrong with the mirror of these messages, beside these blocks."""
    index = replay(messages, counts_copies=counts)
    try:
        compare(index, blocks, Tally(), exact=exact, counts_copies=counts, medium=medium)
    except Violation as violation:
        assert violation.rule is MIRROR_EQUALS_INDEX
        return violation
    return None


# Messages.


def test_there_are_three_messages_and_a_key_is_whatever_can_be_one() -> None:
    # The format of traces is derived from both at run time.
    assert get_args(Published) == (BlockStored, BlockRemoved, AllBlocksCleared)
    assert all(isinstance(key, PublishedKey) for key in ("a", b"a", 1, (1, "a")))
    assert not isinstance([1], PublishedKey)


@pytest.mark.parametrize("number", [0, 2, 3, 5])
def test_a_message_has_the_tokens_of_all_its_blocks(number: int) -> None:
    assert f"{number} tokens" in broken(replace(TWO, tokens=tokens(1, 2, 3, 4, 5)[:number]))


def test_an_entry_is_one_copy_unless_more_are_told_of() -> None:
    assert replay([TWO]) == {(DEVICE, A): Entry(FIRST), (DEVICE, B): Entry(SECOND)}
    assert Entry(FIRST) == Entry(FIRST, copies=1)
    assert replay([TWO, TWO], counts_copies=True)[DEVICE, A] == Entry(FIRST, copies=2)
    assert replay([TWO, TWO])[DEVICE, A] == Entry(FIRST)


def test_a_removal_with_a_copy_left_leaves_the_content() -> None:
    index = replay([TWO, TWO, TWO, BlockRemoved((A,))], counts_copies=True)
    assert (index[DEVICE, A], index[DEVICE, B]) == (Entry(FIRST, 2), Entry(SECOND, 3))


@pytest.mark.parametrize("message", [TWO, BlockRemoved(()), AllBlocksCleared()])
def test_an_index_is_not_changed_by_what_follows(message: Published) -> None:
    index = replay([TWO])
    replay([AllBlocksCleared(), message], index)
    assert index == replay([TWO]) and not EMPTY


def test_a_block_may_move_to_another_medium_without_its_parent() -> None:
    moved = BlockStored((B,), A, tokens(3, 4), 2, medium="host")
    index = replay([TWO, moved, BlockRemoved((B,))])
    assert index == {(DEVICE, A): Entry(FIRST), ("host", B): Entry(SECOND)}
    assert "parent" in broken(moved)
    assert "parent" in broken(TWO, replace(moved, parent=C))
    assert "parent" in broken(TWO, BlockRemoved((A,)), moved)


def test_a_parent_is_looked_for_in_the_medium_of_its_child_first() -> None:
    other = BlockStored((A,), None, tokens(7, 8), 2, medium="host")
    index = replay([TWO, other, BlockStored((C,), A, tokens(5, 6), 2, medium="host")])
    assert index["host", C].content == content(7, 8, 5, 6)


def test_what_cannot_be_followed_is_passed_over_where_the_rule_is_waived() -> None:
    orphan = BlockStored((C,), "nobody's", tokens(5, 6), 2)
    assert broken(TWO, orphan).startswith("a block of (5 6) is published behind a parent")
    index = replay([orphan, TWO], tally=Tally((MIRROR_EQUALS_INDEX,)))
    assert index == replay([TWO])


@pytest.mark.parametrize("message", [TWO, replace(TWO, parent=C), BlockRemoved((C,)), AllBlocksCleared()])
def test_each_message_puts_the_rule_to_the_test(message: Published) -> None:
    before = replay([BlockStored((C,), None, tokens(5, 6), 2)])
    replay([message], before, tally=(tally := Tally()))
    assert tally.exercised[MIRROR_EQUALS_INDEX]


# The comparison.


@pytest.mark.parametrize("other", ["archive", "host"])
def test_other_media_are_not_asked_for_the_blocks_of_one(other: str) -> None:
    # One stands before and one behind the device in the alphabet.
    elsewhere = BlockStored((C,), None, tokens(9, 9), 2, medium=other)
    assert compared([TWO, elsewhere], [FIRST, SECOND]) is None
    assert compared([TWO, elsewhere], [content(9, 9)], medium=other) is None
    assert compared([TWO, elsewhere], [FIRST, SECOND, content(9, 9)]) is not None


@pytest.mark.parametrize(
    ("stores", "blocks", "seen"),
    [
        (1, 1, ""),
        (2, 2, ""),
        (1, 2, "counts 1 copies of (1 2)"),
        (2, 1, "counts 2 copies of (1 2)"),
        (3, 2, "counts 3 copies of (1 2)"),
    ],
)
def test_as_many_copies_are_told_of_as_there_are(stores: int, blocks: int, seen: str) -> None:
    once, first = BlockStored((B,), A, tokens(3, 4), 2), BlockStored((A,), None, tokens(1, 2), 2)
    violation = compared([*[first] * stores, once], [*[FIRST] * blocks, SECOND], counts=True)
    assert (violation.seen if violation else "") == (f"a subscriber {seen}" if seen else "")
    assert violation is None or violation.expected == str(blocks)
    assert compared([*[first] * stores, once], [*[FIRST] * blocks, SECOND]) is None


def test_copies_under_keys_of_their_own_are_counted_together() -> None:
    copies: list[Published] = [BlockStored((key,), None, tokens(1, 2), 2) for key in (A, B)]
    assert compared(copies, [FIRST, FIRST], counts=True) is None
    assert compared(copies, [FIRST], counts=True) is not None
    assert compared([*copies, BlockRemoved((A,))], [FIRST], counts=True) is None


def test_copies_are_not_counted_where_the_index_is_not_shown() -> None:
    assert compared([TWO], [FIRST, FIRST, SECOND], counts=True, exact=False) is None


REMOVAL, NAMESPACE = "a removal when the last copy is gone", "the namespace of the block: (1 2) under salt=x"


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ([(1, 2)], NAMESPACE),
        ([(0, 9)], REMOVAL),
        ([(9, 0)], REMOVAL),
        ([(1, 2), (9, 9)], NAMESPACE),
        ([(9, 9), (1, 2)], REMOVAL),
    ],
    ids=["a namespace", "smaller tokens", "greater tokens", "a namespace first", "a removal first"],
)
def test_what_is_expected_in_place_of_stale_content(stored: list[tuple[int, int]], expected: str) -> None:
    messages: list[Published] = [BlockStored((pair,), None, tokens(*pair), 2) for pair in stored]
    violation = compared(messages, [content(1, 2, salt="x")])
    assert violation is not None and violation.expected == expected


def test_a_namespace_is_told_by_all_its_names() -> None:
    parts = KeyParts("s", "a", 1, 2)
    assert contents(replay([BlockStored((A,), None, tokens(1, 2), 2, parts)])) == {
        "(1 2) under salt=s adapter=a adapter_version=1 weights=2"
    }


@pytest.mark.parametrize(
    "other",
    [KeyParts(salt="x"), KeyParts(adapter="x"), KeyParts(adapter_version=1), KeyParts(weights=1)],
    ids=["salt", "adapter", "version", "weights"],
)
def test_a_chain_goes_on_in_its_own_namespace_only(other: KeyParts) -> None:
    behind = BlockStored((C,), B, tokens(5, 6), 2, other)
    assert "is published behind" in broken(TWO, behind)
    assert "(1 2 3 4 5 6)" in str(replay([replace(TWO, parts=other), behind])["device", C].content)
