"""The mirror, from the rule: parents first, removal only with the last copy, namespace included, nothing besides."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvspec import Violation
from kvspec import events as ev
from kvspec.mirror import EMPTY, Content, Index, compare, replay
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.rules import MIRROR_EQUALS_INDEX
from kvspec.state import State, initial
from kvspec.transition import advance
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, Capabilities, KeyParts, Media, Request, RequestId, TokenId, World

pytestmark = pytest.mark.kills("mirror")

A, B, C = "key a", "key b", "key c"


def tokens(*values: int) -> tuple[TokenId, ...]:
    return tuple(TokenId(value) for value in values)


def contents(index: Index) -> set[str]:
    return {str(entry.content) for entry in index.values()}


TWO = BlockStored((A, B), None, tokens(1, 2, 3, 4), 2)


def broken(*messages: Published, counts_copies: bool = False) -> str:
    with pytest.raises(Violation) as caught:
        replay(messages, counts_copies=counts_copies)
    assert caught.value.rule is MIRROR_EQUALS_INDEX
    return caught.value.seen


def test_each_key_names_its_whole_chain() -> None:
    assert contents(replay([TWO])) == {"(1 2)", "(1 2 3 4)"}
    behind = BlockStored((C,), B, tokens(5, 6), 2)
    assert contents(replay([TWO, behind])) == {"(1 2)", "(1 2 3 4)", "(1 2 3 4 5 6)"}


def test_one_message_or_many_give_the_same_index() -> None:
    single = [BlockStored((A,), None, tokens(1, 2), 2), BlockStored((B,), A, tokens(3, 4), 2)]
    assert replay(single) == replay([TWO]) == replay(single[1:], replay(single[:1]))


def test_a_child_before_its_parent_is_broken() -> None:
    assert "parent" in broken(BlockStored((B,), A, tokens(3, 4), 2), BlockStored((A,), None, tokens(1, 2), 2))


def test_a_parent_that_has_left_is_no_parent() -> None:
    assert "parent" in broken(TWO, BlockRemoved((B, A)), BlockStored((B,), A, tokens(3, 4), 2))


def test_a_child_may_stay_when_its_parent_leaves() -> None:
    assert contents(replay([TWO, BlockRemoved((A,))])) == {"(1 2 3 4)"}


def test_the_tokens_are_those_of_the_blocks_and_none_more() -> None:
    assert "5 tokens" in broken(replace(TWO, tokens=tokens(1, 2, 3, 4, 5)))


def test_a_removal_of_what_was_not_stored_is_broken() -> None:
    assert "removal" in broken(BlockRemoved((A,)))
    assert "removal" in broken(TWO, BlockRemoved((A,)), BlockRemoved((A,)))
    assert "removal" in broken(TWO, AllBlocksCleared(), BlockRemoved((A,)))


def test_a_clear_empties_every_medium() -> None:
    assert replay([TWO, replace(TWO, medium="host"), AllBlocksCleared()]) == EMPTY


def test_media_are_apart() -> None:
    index = replay([TWO, replace(TWO, medium="host"), BlockRemoved((A, B), "host")])
    assert index == replay([TWO])
    assert "removal" in broken(TWO, BlockRemoved((A,), "host"))


def test_copies_count_only_where_that_is_declared() -> None:
    twice = [TWO, TWO, BlockRemoved((A, B))]
    assert replay(twice) == EMPTY
    assert contents(replay(twice, counts_copies=True)) == {"(1 2)", "(1 2 3 4)"}
    assert replay([*twice, BlockRemoved((A, B))], counts_copies=True) == EMPTY


def test_one_key_is_never_published_for_two_contents() -> None:
    salted = replace(TWO, parts=KeyParts(salt="x"))
    assert "one key" in broken(TWO, salted)
    assert "one key" in broken(TWO, replace(TWO, tokens=tokens(1, 2, 3, 5)))


def test_a_chain_stays_in_its_namespace() -> None:
    assert "under adapter=x is published behind" in broken(
        TWO, BlockStored((C,), B, tokens(5, 6), 2, KeyParts(adapter="x"))
    )


def test_a_picture_is_part_of_the_content_from_its_place_on() -> None:
    parts = KeyParts(media=(Media("cat", 1, 2),))
    assert contents(replay([replace(TWO, parts=parts)])) == {"(1 2/cat)", "(1 2/cat 3/cat 4)"}


def test_a_waived_rule_is_passed_over_and_the_rest_followed() -> None:
    tally = Tally((MIRROR_EQUALS_INDEX,))
    index = replay([BlockRemoved((C,)), TWO, BlockRemoved((A,))], tally=tally)
    assert contents(index) == {"(1 2 3 4)"}
    assert tally.exercised[MIRROR_EQUALS_INDEX] >= 3


def content(*values: int, salt: str | None = None) -> Content:
    return Content.root(KeyParts(salt=salt)).extend(values, KeyParts(salt=salt))


@pytest.mark.parametrize(
    ("blocks", "seen"),
    [
        ([content(1, 2)], "still has (1 2 3 4)"),
        ([content(1, 2), content(1, 2, 3, 4), content(9, 9)], "lacks (9 9)"),
        ([content(1, 2, salt="x"), content(1, 2, 3, 4)], "still has (1 2)"),
    ],
    ids=["a removal is missing", "a store is missing", "the namespace is missing"],
)
def test_the_mirror_has_what_the_index_has(blocks: list[Content], seen: str) -> None:
    with pytest.raises(Violation) as caught:
        compare(replay([TWO]), blocks, Tally(), exact=True, counts_copies=False)
    assert seen in caught.value.seen


def test_what_is_not_shown_may_be_missing_but_not_invented() -> None:
    blocks = [content(1, 2), content(1, 2, 3, 4), content(9, 9)]
    compare(replay([TWO]), blocks, Tally(), exact=False, counts_copies=False)
    with pytest.raises(Violation):
        compare(replay([TWO]), blocks[1:], Tally(), exact=False, counts_copies=False)


def test_counted_copies_are_the_blocks_there_are() -> None:
    twice = [content(1, 2), content(1, 2), content(1, 2, 3, 4)]
    compare(replay([TWO]), twice, Tally(), exact=True, counts_copies=False)
    with pytest.raises(Violation, match="counts 1 copies"):
        compare(replay([TWO], counts_copies=True), twice, Tally(), exact=True, counts_copies=True)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=12))
def test_a_counted_key_is_there_while_more_was_stored_than_removed(steps: list[tuple[bool, int]]) -> None:
    index, stored = EMPTY, [0, 0, 0]
    for store, number in steps:
        if not store and not stored[number]:
            continue
        key, said = (A, B, C)[number], tokens(number, number)
        message = BlockStored((key,), None, said, 2) if store else BlockRemoved((key,))
        index = replay([message], index, counts_copies=True)
        stored[number] += 1 if store else -1
    assert contents(index) == {f"({n} {n})" for n in range(3) if stored[n]}


def computed() -> State:
    """A request under a salt has computed the two full blocks 1 and 2."""
    state = initial(World(4, 2), Capabilities(salts=True))
    request = Request(RequestId("A"), tokens(1, 2, 3, 4, 5), parts=KeyParts(salt="x"))
    table = tuple(BlockId(block) for block in (1, 2, 3))
    for event in (ev.Add(request), ev.Start(request.id), ev.Compute(request.id, 0, 5, table)):
        advance(state, event, Tally())
    return state


def test_an_observation_is_judged_by_the_ghost_content_of_the_keyed_blocks() -> None:
    said = replace(TWO, parts=KeyParts(salt="x"))
    advance(computed(), ev.Observe(keyed=frozenset({BlockId(1), BlockId(2)}), published=(said,)), Tally())
    for wrong in ((), (TWO,), (replace(said, tokens=tokens(1, 2, 4, 3)),)):
        with pytest.raises(Violation) as caught:
            advance(computed(), ev.Observe(keyed=frozenset({BlockId(1), BlockId(2)}), published=wrong), Tally())
        assert caught.value.rule is MIRROR_EQUALS_INDEX
