"""The reference radix tree, by itself and against the relation."""

from __future__ import annotations

from hypothesis import given

from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.surfaces.registry import histories
from kvconformance.surfaces.tree.driver import TreeDriver, radix
from kvreference.radix import ReferenceTree, Run
from kvreference.radix_publishing import PublishingTree
from kvspec import Tally
from kvspec.rules import CONSERVATION
from kvspec.vocabulary import NO_PARTS, KeyParts, Surface, TokenId, World


def tokens(*values: int) -> tuple[TokenId, ...]:
    return tuple(TokenId(value) for value in values)


LONG, OTHER = tokens(1, 1, 2, 2, 3, 3), tokens(1, 1, 4, 4)


def tree() -> ReferenceTree:
    """Pages of two tokens, room for five, three of them taken by one node."""
    made = ReferenceTree(World(5, 2))
    made.insert(LONG, NO_PARTS)
    return made


def shape(made: ReferenceTree) -> set[tuple[tuple[int, ...], int, int]]:
    return {(node.prefix, node.length, node.locks) for node in made.nodes()}


def test_a_lookup_that_ends_in_a_node_splits_it_and_moves_nothing() -> None:
    made = tree()
    places = made.match(LONG, NO_PARTS).slots
    found = made.match(OTHER, NO_PARTS)
    assert (found.tokens, found.slots) == (2, places[:2] if places else None)
    assert shape(made) == {(LONG[:2], 2, 0), (LONG, 4, 0)}
    assert made.match(LONG, NO_PARTS).slots == places


def test_a_lock_outlives_a_split_and_the_unlock_covers_both_halves() -> None:
    made = tree()
    handle = made.match(LONG, NO_PARTS).handle
    made.lock(handle)
    made.insert(OTHER, NO_PARTS)
    assert shape(made) == {(LONG[:2], 2, 1), (LONG, 4, 1), (OTHER, 2, 0)}
    assert (made.evictable_size(), made.protected_size(), made.available_size()) == (2, 6, 2)
    made.unlock(handle)
    assert shape(made) == {(LONG[:2], 2, 0), (LONG, 4, 0), (OTHER, 2, 0)}
    assert (made.evictable_size(), made.protected_size()) == (8, 0)


def test_evictions_take_the_leaf_used_longest_ago_and_then_its_parent() -> None:
    made = tree()
    made.insert(OTHER, NO_PARTS)
    made.match(LONG, NO_PARTS)
    assert made.evict(1) == 2
    assert shape(made) == {(LONG[:2], 2, 0), (LONG, 4, 0)}
    assert made.evict(5) == 6
    assert (made.available_size(), shape(made)) == (10, set())


def test_an_insertion_that_does_not_fit_changes_nothing() -> None:
    made = tree()
    before = shape(made)
    assert made.insert(tokens(5, 5, 6, 6, 7, 7), NO_PARTS) is None
    assert (shape(made), made.available_size()) == (before, 4)


def test_salts_have_trees_of_their_own() -> None:
    made = tree()
    assert made.match(LONG, KeyParts(salt="x")).tokens == 0


def test_a_reset_is_refused_while_something_is_locked() -> None:
    made = tree()
    handle = made.match(LONG, NO_PARTS).handle
    made.lock(handle)
    assert not made.reset()
    made.unlock(handle)
    assert made.reset()
    assert (made.available_size(), made.evictable_size(), shape(made)) == (10, 0, set())


class ComparedTree(TreeDriver):
    """Compares slots and structure with the ghost wherever the tree is asked about itself."""

    def observe(self) -> None:
        super().observe()
        used = [slot for node in self.engine.all() for slot in node.slots]
        assert len(set(used)) == len(used)
        assert not {slot // self.engine.page for slot in used} & set(self.engine.free)
        assert all(self.consistent(node) for node in self.engine.all())

    def consistent(self, node: Run) -> bool:
        """Children begin with their key, know their parent, and no two begin with one page."""
        return len(node.tokens) % self.engine.page == 0 and all(
            child.parent is node and child.tokens[: self.engine.page] == key for key, child in node.children.items()
        )


@given(histories(Surface.TREE, PublishingTree.capabilities))
def test_the_tree_refines_the_relation(history: History) -> None:
    checker = Checker(history.world(), PublishingTree.capabilities, Tally(), radix)
    ComparedTree(PublishingTree, checker).run(history.operations)
    assert checker.tally.exercised[CONSERVATION]
