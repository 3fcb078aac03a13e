"""Engines that publish: honest ones live, whichever way they handle duplicates, and what they say is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kvconformance.claims import claimed, unclaimed
from kvconformance.engines.reference import engine as reference
from kvconformance.history import Add, Commit, Free, History, Reset
from kvconformance.imposters.published import Copies, RemovedWithTheFirstCopy
from kvconformance.search.check import replay
from kvconformance.search.examples import Outcome, Plan, search
from kvconformance.surfaces import Engine
from kvconformance.surfaces.stepper.operations import Step
from kvreference.pool import ReferencePool
from kvreference.publishing import Publisher, PublishingPool
from kvspec.rules import MIRROR_EQUALS_INDEX, Rule
from kvspec.vocabulary import BlockId, RequestId, Surface

BOTH = (Surface.POOL, Surface.STEPPER)


class HonestCopies(RemovedWithTheFirstCopy):
    """Keeps copies, and tells of the last one's end only."""

    recycle = PublishingPool.recycle


class TellsOfEveryCopy(HonestCopies):
    """Keeps copies, and tells of each of them."""

    capabilities = replace(ReferencePool.capabilities, counts_copies=True)

    def computed(self, id: RequestId, num_computed: int) -> None:
        known = set(self.cache.key_of)
        ReferencePool.computed(self, id, num_computed)
        holding = self.holdings[id]
        chain = list(self.cache.chain(self.publishable(holding), holding.request.parts)) if self.world.caching else []
        fresh = [i for i, _ in enumerate(chain) if holding.table[i] not in known]
        self.publisher.stored(holding, chain, fresh)

    def recycle(self, block: BlockId) -> None:
        key = self.cache.key_of.get(block)
        ReferencePool.recycle(self, block)
        if key is not None:
            self.publisher.removed(key)


def found(pool: type[PublishingPool], examples: int = 300) -> tuple[list[Rule], Outcome]:
    engine = Engine(pool.__name__, "0", {Surface.POOL: pool})
    outcome = search(engine, Surface.POOL, Plan(examples, 1, 300, 0.5), claimed(engine, Surface.POOL))
    return [one.rule for one in outcome.found], outcome


@pytest.mark.parametrize("pool", [PublishingPool, HonestCopies, TellsOfEveryCopy])
def test_an_honest_pool_lives(pool: type[PublishingPool]) -> None:
    rules, outcome = found(pool)
    assert rules == []
    assert outcome.exercised[MIRROR_EQUALS_INDEX] > 1_000


def test_telling_of_every_copy_must_be_declared() -> None:
    class Undeclared(TellsOfEveryCopy):
        capabilities = ReferencePool.capabilities

    assert found(Undeclared)[0] == [MIRROR_EQUALS_INDEX]


def test_counting_must_be_meant() -> None:
    class Uncounted(HonestCopies):
        capabilities = TellsOfEveryCopy.capabilities

    assert found(Uncounted)[0] == [MIRROR_EQUALS_INDEX]


def test_a_pool_that_shows_no_index_is_judged_by_what_the_blocks_hold() -> None:
    class Silent(PublishingPool):
        keyed_blocks = None  # type: ignore[assignment]

    class NeverRemoves(Silent):
        recycle = ReferencePool.recycle

    assert found(Silent)[0] == []
    assert found(NeverRemoves)[0] == [MIRROR_EQUALS_INDEX]


def test_a_pool_without_a_voice_is_not_bound() -> None:
    silent = Engine("silent", "0", {Surface.POOL: ReferencePool})
    assert unclaimed(silent, Surface.POOL, MIRROR_EQUALS_INDEX) == "the adapter has no take_events()"
    assert [unclaimed(reference(), surface, MIRROR_EQUALS_INDEX) for surface in BOTH] == [None, None]


def told(*operations: Add | Commit | Free | Reset | Step, surface: Surface = Surface.POOL) -> Sequence[str]:
    result = replay(reference(), surface, History(6, 2, operations), Plan(), "reference")
    assert not result.findings and not result.fault
    return [rule for rule, times in result.exercised.items() if times]


@pytest.mark.parametrize("surface", BOTH, ids=lambda surface: surface.value)
def test_the_reference_publishes_on_both_surfaces(surface: Surface) -> None:
    step = (Commit(),) if surface == Surface.POOL else (Step(),)
    assert MIRROR_EQUALS_INDEX.id in told(Add((0, 0, 1, 1, 0), salt="x"), *step, surface=surface)


def test_a_finding_tells_what_was_published() -> None:
    class Late(Publisher):
        def removed(self, key: bytes) -> None:
            """Nobody hears of it."""

    class NeverRemoves(PublishingPool):
        publisher_type = Late

    operations = (Add((0, 0, 0)), Commit(), Free(), *(Add((1, 1, 1, 1, 1), 1), Commit()) * 2)
    engine = Engine("late", "0", {Surface.POOL: NeverRemoves})
    (finding,) = replay(engine, Surface.POOL, History(4, 2, operations), Plan(), "late").findings
    assert finding.rule is MIRROR_EQUALS_INDEX
    assert "a subscriber still has (0 0)" in finding.seen
    assert any("published: stored (0 0)" in step for step in finding.steps)


def test_the_copies_cache_hits_the_oldest_copy() -> None:
    cache = Copies(2)
    cache.publish(b"key", BlockId(1))
    cache.publish(b"key", BlockId(2))
    assert cache.index == {b"key": 1}
    cache.withdraw(BlockId(1))
    assert cache.index == {b"key": 2}
    cache.withdraw(BlockId(2))
    assert cache.index == {}
