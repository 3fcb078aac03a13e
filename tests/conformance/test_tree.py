"""The surface Tree: claims, the search, stories, and a tree of ten lines by somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kvconformance.adapters import NotAnAdapter, as_engine
from kvconformance.claims import claimed, unclaimed
from kvconformance.history import History, Operation, Reset
from kvconformance.imposters.trees import MatchDoesNotSplit, SplitPrefixLosesItsLock, UnlockReleasesAnotherHoldersLock
from kvconformance.search.check import replay
from kvconformance.search.examples import Plan, search
from kvconformance.surfaces import Engine
from kvconformance.surfaces.tree import SURFACE
from kvconformance.surfaces.tree.operations import Evict, Insert, Lock, Match, Unlock
from kvconformance.telling.report import SurfaceResult
from kvreference.radix_publishing import PublishingTree
from kvspec import rules
from kvspec.published import BlockStored, Published
from kvspec.tree import Found, Inserted, Node
from kvspec.vocabulary import Capabilities, KeyParts, Surface, TokenId, World

LONG, SHORT = (0, 0, 0, 0, 1, 1), (0, 0)


class Paged:
    """A tree with a node for every page: nothing is ever split."""

    capabilities = Capabilities(salts=True)

    def __init__(self, world: World) -> None:
        self.size, self.room = world.block_size, world.num_blocks
        self.pages: dict[tuple[str | None, tuple[TokenId, ...]], int] = {}

    def path(self, tokens: Sequence[TokenId], parts: KeyParts) -> list[tuple[str | None, tuple[TokenId, ...]]]:
        ends = range(self.size, len(tokens) + 1, self.size)
        return [(parts.salt, tuple(tokens[:end])) for end in ends]

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        found = [page for page in self.path(tokens, parts) if page in self.pages]
        return Found(len(found) * self.size, found)

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        new = [page for page in self.path(tokens, parts) if page not in self.pages]
        if len(new) + len(self.pages) > self.room:
            return None
        known = self.match(tokens, parts).tokens
        self.pages |= dict.fromkeys(new, 0)
        return Inserted(known)

    def lock(self, handle: list[tuple[str | None, tuple[TokenId, ...]]]) -> None:
        for page in handle:
            self.pages[page] += 1

    def unlock(self, handle: list[tuple[str | None, tuple[TokenId, ...]]]) -> None:
        for page in handle:
            self.pages[page] -= 1

    def evict(self, count: int) -> int:
        idle = sorted((page for page, locks in self.pages.items() if not locks), key=lambda page: -len(page[1]))
        gone = idle[: -(-count // self.size)]
        for page in gone:
            del self.pages[page]
        return len(gone) * self.size

    def nodes(self) -> list[Node]:
        return [Node(end, self.size, locks, KeyParts(salt)) for (salt, end), locks in self.pages.items()]

    def evictable_size(self) -> int:
        return self.size * sum(not locks for locks in self.pages.values())

    def protected_size(self) -> int:
        return self.size * sum(bool(locks) for locks in self.pages.values())

    def available_size(self) -> int:
        return self.size * (self.room - len(self.pages))


def test_another_kind_of_tree_lives() -> None:
    engine = as_engine(Paged, "paged")
    assert list(engine.factories) == [Surface.TREE]
    outcome = search(engine, Surface.TREE, Plan(400, 1, 300), claimed(engine, Surface.TREE))
    assert not outcome.found
    assert all(outcome.exercised[rule] for rule in claimed(engine, Surface.TREE))


class MakesRoom(Paged):
    """Evicts itself where an insertion finds too little room."""

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        path = self.path(tokens, parts)
        known = [page for page in path if page in self.pages]
        lack = len(path) - len(known) - (self.room - len(self.pages))
        if lack > 0:
            self.lock(known)
            self.evict(lack * self.size)
            self.unlock(known)
        return super().insert(tokens, parts)


def test_a_tree_that_makes_room_itself_lives() -> None:
    engine = as_engine(MakesRoom, "makes room")
    outcome = search(engine, Surface.TREE, Plan(400, 1, 300), claimed(engine, Surface.TREE))
    assert not outcome.found


class Counted(PublishingTree):
    """Says that it publishes each copy; a page has one."""

    capabilities = replace(PublishingTree.capabilities, counts_copies=True)


class TwiceTold(Counted):
    """Publishes every page twice."""

    def take_events(self) -> list[Published]:
        return [message for message in super().take_events() for _ in range(2)]


def test_a_tree_that_counts_copies_has_one_of_each_page() -> None:
    assert not judged(Counted, Insert(LONG), Insert(SHORT), Evict(2), Insert(LONG)).findings
    (finding,) = judged(TwiceTold, Insert(LONG)).findings
    assert finding.rule is rules.MIRROR_EQUALS_INDEX and "counts 2 copies" in finding.seen


class Differently(PublishingTree):
    """Tells places and numbers in other types: a lookup in lists, an insertion in arrays."""

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        found = super().match(tokens, parts)
        return Found(np.int64(found.tokens), found.handle, list(found.slots or ()))  # type: ignore[arg-type]

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        told = super().insert(tokens, parts)
        return told and Inserted(np.int64(told.known), np.array(told.slots))  # type: ignore[arg-type]

    def nodes(self) -> tuple[Node, ...]:
        return tuple(replace(node, prefix=np.array(node.prefix)) for node in super().nodes())


class Elsewhere(Differently):
    """A lookup gives the places in the order of their numbers, from the last on."""

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        found = super().match(tokens, parts)
        return replace(found, slots=sorted(found.slots or (), reverse=True))  # type: ignore[arg-type]


def test_places_are_told_in_any_sequence_of_any_whole_numbers() -> None:
    told = (Insert(LONG), Match(LONG), Match(SHORT), Insert((0, 0, 1, 1)), Match((0, 0, 1, 1)))
    assert not judged(Differently, *told).findings
    (finding,) = judged(Elsewhere, *told).findings
    assert finding.rule is rules.CONTENT_MATCHES_KEY


def test_a_refused_reset_is_told_by_false_and_changes_nothing() -> None:
    class Refuses(PublishingTree):
        def reset(self) -> bool:
            return bool(np.bool_(False))

    class EmptiesAndRefuses(PublishingTree):
        def reset(self) -> bool:
            super().reset()
            return False

    assert not judged(Refuses, Insert(LONG), Reset(), Match(LONG)).findings
    (finding,) = judged(EmptiesAndRefuses, Insert(LONG), Reset()).findings
    assert finding.rule is rules.CONSERVATION


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NotAnAdapter, match="lacks nodes"):
        as_engine(type("Half", (), {name: thing for name, thing in vars(Paged).items() if name != "nodes"}))


def test_the_rules_of_a_tree() -> None:
    engine = Engine("tree", "0", {Surface.TREE: PublishingTree})
    assert {rule.id for rule in claimed(engine, Surface.TREE)} == {
        "prefix/content-matches-key",
        "prefix/complete-key",
        "prefix/contiguous-chain",
        "prefix/mirror-equals-index",
        "prefix/symmetric-locks",
        "sec/isolation",
        "alloc/conservation",
        "alloc/fit-agrees-with-allocate",
    }
    silent = as_engine(Paged, "paged")
    assert unclaimed(silent, Surface.TREE, rules.MIRROR_EQUALS_INDEX) == "the adapter has no take_events()"


def judged(tree: type, *operations: Operation) -> SurfaceResult:
    engine = Engine(tree.__name__, "0", {Surface.TREE: tree})  # type: ignore[dict-item]
    result = replay(engine, Surface.TREE, History(8, 2, operations), Plan(), "tree")  # type: ignore[arg-type]
    assert not result.fault
    return result


SPLIT_UNDER_LOCK = (Insert(LONG), Match(LONG), Lock(), Match(SHORT))
NESTED = (Insert(LONG), Match(SHORT), Lock(), Match(LONG), Lock(), Unlock(1))


@pytest.mark.parametrize(
    ("tree", "operations", "seen"),
    [
        (SplitPrefixLosesItsLock, SPLIT_UNDER_LOCK, "ends in (0 0) counts 0 locks"),
        (MatchDoesNotSplit, (Insert(LONG), Match(SHORT), Lock()), "ends in (0 0 0 0) counts 1 locks"),
        (UnlockReleasesAnotherHoldersLock, NESTED, "counts"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_finding_says_which_page_has_which_locks(tree: type, operations: tuple[Operation, ...], seen: str) -> None:
    (finding,) = judged(tree, *operations).findings
    assert finding.rule is rules.SYMMETRIC_LOCKS
    assert seen in finding.seen
    assert any(line.startswith("page (0 0)") for line in finding.ghost)
    assert any("nodes" in step for step in finding.steps)
    assert not judged(PublishingTree, *operations).findings


FULL = (Insert((0,) * 16), Match((0,) * 16), Lock(), Insert((1, 1)))


def test_making_room_touches_no_lock_and_nothing_while_there_is_room() -> None:
    class Drops(Paged):
        """Empties itself before it inserts."""

        def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
            self.pages.clear()
            return super().insert(tokens, parts)

    (finding,) = judged(Drops, *FULL).findings
    assert finding.rule is rules.SYMMETRIC_LOCKS
    (finding,) = judged(Drops, Insert((0, 0)), Insert((1, 1))).findings
    assert finding.rule is rules.CONSERVATION
    assert "no longer in the tree" in finding.seen
    assert not judged(MakesRoom, *FULL).findings


def test_a_history_of_a_tree_survives_its_file() -> None:
    history = History(8, 2, (*SPLIT_UNDER_LOCK, Evict(4), Unlock()))
    assert SURFACE.read(history.to_json()) == history
    with pytest.raises(ValueError, match=r"length >= 1 - at `\$\.operations\[0\]\.prompt`"):
        SURFACE.read(History(8, 2, (Match(()),)).to_json())


def test_a_tree_that_raises_is_told_so() -> None:
    class Raises(PublishingTree):
        def evict(self, count: int) -> int:
            raise KeyError("no such leaf")

    (finding,) = judged(Raises, Insert(SHORT), Evict()).findings
    assert "evicting raises KeyError" in finding.seen


@pytest.mark.parametrize(
    ("method", "doing"), [("available_size", "telling its room"), ("take_events", "telling what it published")]
)
def test_an_optional_method_that_raises_is_told_so_too(method: str, doing: str) -> None:
    def raises(self: PublishingTree) -> None:
        raise KeyError("no such size")

    (finding,) = judged(type("Raises", (PublishingTree,), {method: raises}), Insert(SHORT)).findings
    assert f"{doing} raises KeyError" in finding.seen


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("match", None, "match() answers None, not Found"),
        ("insert", (), "insert() answers tuple (), not Inserted"),
        ("evict", None, "evict() answers None, not a number"),
        ("nodes", None, "nodes() answers None, not a sequence"),
        ("evictable_size", None, "evictable_size() answers None, not a number"),
        ("protected_size", "few", "protected_size() answers str 'few', not a number"),
        ("available_size", None, "available_size() answers None, not a number"),
        ("take_events", 3, "take_events() answers int 3, not a sequence"),
        ("take_events", ("gone",), "take_events() has a str, none of BlockStored, BlockRemoved, AllBlocksCleared"),
        (
            "take_events",
            (BlockStored((), None, (), None),),  # type: ignore[arg-type]
            "take_events() -> BlockStored().block_size is None, not a whole number",
        ),
        ("match", Found("few", None), "match().tokens is str 'few', not a whole number"),  # type: ignore[arg-type]
        ("match", Found(0, None, 3), "match().slots is int 3, not a sequence"),  # type: ignore[arg-type]
        ("insert", Inserted(None), "insert().known is None, not a whole number"),  # type: ignore[arg-type]
        ("insert", Inserted(0, (None, 1)), "insert().slots is None, not a whole number"),  # type: ignore[arg-type]
        ("nodes", (Found(0, None),), "nodes() answers Found Found(tokens=0, handle=None, slots=None), not Node"),
        ("nodes", (Node(3, 2, 0),), "nodes().prefix is int 3, not a sequence"),  # type: ignore[arg-type]
        ("nodes", (Node(SHORT, None, 0),), "nodes().length is None, not a whole number"),  # type: ignore[arg-type]
        ("nodes", (Node(SHORT, 2, "0"),), "nodes().locks is str '0', not a whole number"),  # type: ignore[arg-type]
        ("nodes", (Node(SHORT, 2, 0, None),), "nodes().parts is None, not KeyParts"),  # type: ignore[arg-type]
        ("reset", None, "reset() answers None, not True or False"),
    ],
)
def test_an_answer_of_another_shape_is_one_harness_fault_that_names_the_method(
    method: str, answer: object, said: str
) -> None:
    shapeless = type("Shapeless", (PublishingTree,), {method: lambda *_: answer})
    engine = Engine("shapeless", "0", {Surface.TREE: shapeless})
    history = History(8, 2, (Insert(SHORT), Match(SHORT), Evict(2), Reset()))
    result = replay(engine, Surface.TREE, history, Plan(), "tree")
    assert result.fault == said and not result.findings
