"""The block manager and the scheduler by hand-made cases, each from a sentence of the rules."""

from __future__ import annotations

import pytest

import kvreference.pool
import kvreference.scheduler
from kvreference.blocks import Blocks, OutOfBlocks
from kvreference.pool import ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvreference.scheduler import ReferenceStepper
from kvspec.plans import Preempted, Rejected, SwappedOut
from kvspec.vocabulary import NO_PARTS, BlockId, KeyParts, Request, World

pytestmark = pytest.mark.kills("reference")


def request(id: str, *prompt: int, new: int = 4, **parts: object) -> Request:
    return Request(id, prompt, new, 0, KeyParts(**parts))  # type: ignore[arg-type]


def cached(pool: ReferencePool, *prompt: int) -> None:
    assert pool.admit(request("seed", *prompt, new=1), 100)
    pool.computed("seed", len(prompt))
    pool.free("seed")


def test_a_whole_prompt_in_the_cache_leaves_its_last_block_to_compute() -> None:
    pool = ReferencePool(World(8, 2))
    cached(pool, 0, 1, 2, 3)
    assert pool.admit(request("A", 0, 1, 2, 3), 100).hit == 2
    assert pool.admit(request("B", 0, 1, 2, 3, 4), 100).hit == 4


def test_a_refused_admission_changes_nothing() -> None:
    pool = ReferencePool(World(5, 2))
    cached(pool, 0, 1, 2, 3)
    pool.admit(request("A", 5, 6, 7), 100)
    before = (pool.free_set(), dict(pool.ref_counts()), pool.keyed_blocks())
    assert pool.admit(request("B", 0, 1, 9, 9, 9, new=1), 100) is None
    assert (pool.free_set(), dict(pool.ref_counts()), pool.keyed_blocks()) == before


def test_tails_are_evicted_before_heads() -> None:
    pool = ReferencePool(World(5, 1))
    cached(pool, 0, 1, 2)
    pool.admit(request("A", 9, 9, new=1), 100)
    assert pool.lookup(request("B", 0, 1, 2, 3)).tokens == 2


def test_a_fork_copies_before_it_writes() -> None:
    pool = ReferencePool(World(6, 2))
    pool.admit(request("A", 0, 1, 2), 100)
    pool.computed("A", 3)
    assert pool.fork("A", request("B", 0, 1, 2)) == pool.tables()["A"]
    pool.append("B", 7)
    extension = pool.extend("B", 1)
    assert len(extension.copies) == 1
    assert extension.table[0] == pool.tables()["A"][0] and extension.table[1] != pool.tables()["A"][1]


def test_what_can_never_fit_is_rejected_at_once() -> None:
    with pytest.raises(Rejected):
        ReferenceStepper(World(3, 2)).add(request("A", 0, 1, 2, new=4))


def run(engine: ReferenceStepper, steps: int) -> list:
    actions = []
    for _ in range(steps):
        plan = engine.plan()
        actions.append(plan.actions)
        done = {s.request for s in plan.scheduled}
        ready = {
            r: 0 for r in done if engine.tasks[r].remaining == sum(s.count for s in plan.scheduled if s.request == r)
        }
        engine.complete(plan, ready)
    return actions


def test_the_youngest_gives_way_and_the_oldest_never() -> None:
    # Four usable blocks of one token: A and B fill them in two steps, in the third A needs a fifth.
    engine = ReferenceStepper(World(5, 1, token_budget=8))
    engine.add(request("A", 0, new=3))
    engine.add(request("B", 1, new=3))
    first, second, third = run(engine, 3)
    assert not any(isinstance(action, Preempted) for action in (*first, *second))
    assert [action.request for action in third if isinstance(action, Preempted)] == ["B"]


def test_a_swapped_request_keeps_its_blocks_fenced_until_the_copy_is_done() -> None:
    engine = ReferenceStepper(World(5, 1, token_budget=8, preemption="swap"))
    engine.add(request("A", 0, new=3))
    engine.add(request("B", 1, new=3))
    swapped = [a for step in run(engine, 3) for a in step if isinstance(a, SwappedOut)]
    assert [a.request for a in swapped] == ["B"]
    before = engine.free_blocks()
    engine.transfer_done(swapped[0].transfer)
    assert engine.free_blocks() == before + 2


def test_prefill_first_and_decode_first_differ_in_who_gets_the_budget() -> None:
    def second_step(policy: str) -> list[str]:
        engine = ReferenceStepper(World(12, 2, token_budget=2, policy=policy))
        engine.add(request("A", 0, 1))
        run(engine, 1)
        engine.add(request("B", 2, 3, 4, 5))
        return [s.request for s in engine.plan().scheduled]

    assert second_step("fcfs") == ["A", "B"]
    assert second_step("prefill-first") == ["B"]


ZERO, ONE, TWO = BlockId(0), BlockId(1), BlockId(2)


def test_the_reference_has_every_operation_that_the_specification_knows() -> None:
    for capabilities in (ReferencePool.capabilities, ReferenceStepper.capabilities):
        assert capabilities.salts and capabilities.adapters and capabilities.media
        assert capabilities.forks and capabilities.resets and capabilities.fails and capabilities.aborts
    assert ReferenceStepper.capabilities.priorities and ReferenceStepper.capabilities.defers_in_flight


def test_the_module_offers_what_other_modules_take_from_it() -> None:
    assert set(kvreference.pool.__all__) == {"Holding", "OutOfBlocks", "ReferencePool"}


# alloc/fit-agrees-with-allocate: what fits is given; idle blocks that a hit takes are not counted as free as well.


def test_a_request_that_takes_the_last_block_is_given_it() -> None:
    pool = ReferencePool(World(4, 2))
    assert pool.admit(request("A", 0, 1, 2, 3, 4, new=1), 100) is not None
    assert pool.free_blocks() == 0


def test_a_hit_that_takes_the_last_idle_blocks_is_given_them() -> None:
    pool = ReferencePool(World(4, 2))
    cached(pool, 0, 1, 2, 3)
    admission = pool.admit(request("A", 0, 1, 2, 3, 4, new=1), 100)
    assert admission is not None and admission.hit == 4
    assert pool.free_blocks() == 0


def test_a_hit_on_blocks_that_somebody_holds_takes_no_idle_ones() -> None:
    pool = ReferencePool(World(4, 2))
    assert pool.admit(request("A", 0, 1, 2, 3, new=1), 100)
    pool.computed("A", 4)
    admission = pool.admit(request("B", 0, 1, 2, 3, 4, new=1), 100)
    assert admission is not None and admission.hit == 4
    assert pool.free_blocks() == 0


def test_an_extension_that_has_no_block_for_its_copy_is_refused_and_changes_nothing() -> None:
    pool = ReferencePool(World(3, 2))
    assert pool.admit(request("A", 0, new=1), 100)
    pool.computed("A", 1)
    assert pool.fork("A", request("B", 0)) is not None
    assert pool.admit(request("C", 1, new=1), 100)
    before = (pool.tables(), pool.ref_counts(), pool.free_set())
    assert pool.extend("B", 1) is None
    assert (pool.tables(), pool.ref_counts(), pool.free_set()) == before


def test_an_extension_needs_a_block_for_its_copy_and_one_for_its_growth() -> None:
    # A and its fork share a half filled block; the fork wants three tokens more: a copy, and a second block.
    pool = ReferencePool(World(4, 2))
    assert pool.admit(request("A", 0, new=3), 100)
    pool.computed("A", 1)
    assert pool.fork("A", request("B", 0, new=3)) is not None
    assert pool.admit(request("C", 1, new=1), 100)
    assert pool.free_blocks() == 1
    assert pool.extend("B", 3) is None
    assert pool.extend("B", 1) is not None


def test_an_extension_copies_only_the_blocks_that_it_writes() -> None:
    pool = ReferencePool(World(8, 2))
    assert pool.admit(request("A", 0, 1, 2, 3, 4), 100)
    pool.computed("A", 1)
    assert pool.fork("A", request("B", 0, 1, 2, 3, 4)) is not None
    (holding,) = (held for held in pool.holdings.values() if held.request.id == "B")
    assert pool.shared_entries(holding, 1, 2) == [0]
    assert pool.shared_entries(holding, 1, 3) == [0, 1]
    assert pool.shared_entries(holding, 2, 5) == [1, 2]


# prefix/invalidate: a reset forgets every key or is refused.


def test_a_reset_is_accepted_when_nothing_is_held_and_forgets_all() -> None:
    pool = ReferencePool(World(5, 2))
    cached(pool, 0, 1, 2, 3)
    assert pool.reset() is True
    assert pool.keyed_blocks() == frozenset()
    assert pool.lookup(request("A", 0, 1, 2)).tokens == 0


def test_a_reset_is_refused_while_a_block_is_held_and_forgets_nothing() -> None:
    pool = ReferencePool(World(5, 2))
    cached(pool, 0, 1, 2, 3)
    assert pool.admit(request("A", 7, new=1), 100)
    assert pool.reset() is False
    assert pool.lookup(request("B", 0, 1, 2, 3, 4)).tokens == 4


# obs/counters: every queried token and every hit is counted, from nothing on.


def test_the_counters_begin_at_nothing_and_count_the_tokens_of_first_admissions() -> None:
    pool = ReferencePool(World(6, 2))
    assert pool.counters() == (0, 0)
    cached(pool, 0, 1)
    assert pool.counters() == (2, 0)
    assert pool.admit(request("A", 0, 1, 2), 100)
    assert pool.counters() == (5, 2)


# prefix/contiguous-chain: a hit ends at the first block that is not there.


def test_a_hit_ends_where_the_chain_is_broken() -> None:
    cache = PrefixCache(1)
    first, second, third = cache.chain([0, 1, 2], NO_PARTS)  # type: ignore[list-item]
    cache.publish(first, ZERO)
    cache.publish(third, TWO)
    assert cache.longest_hit([0, 1, 2, 3], NO_PARTS) == [ZERO]  # type: ignore[list-item]
    cache.publish(second, ONE)
    assert cache.longest_hit([0, 1, 2, 3], NO_PARTS) == [ZERO, ONE, TWO]  # type: ignore[list-item]


# alloc/count-equals-holders, alloc/in-flight-fence: the blocks themselves.


def test_more_blocks_than_are_idle_are_not_handed_out() -> None:
    blocks = Blocks(2)
    with pytest.raises(OutOfBlocks, match="3 blocks are needed, 2 are idle"):
        blocks.take(3)
    assert blocks.take(2) == [ZERO, ONE]


def test_a_block_that_two_transfers_touch_is_fenced_until_both_are_done() -> None:
    blocks = Blocks(2)
    blocks.take(1)
    blocks.fence([ZERO])
    blocks.fence([ZERO])
    blocks.release([ZERO])
    blocks.unfence([ZERO])
    assert ZERO not in blocks.idle
    blocks.unfence([ZERO])
    assert ZERO in blocks.idle
