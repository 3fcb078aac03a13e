"""The block manager and the scheduler by hand-made cases, each from a sentence of the rules."""

from __future__ import annotations

import pytest

from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec.plans import Preempted, Rejected, SwappedOut
from kvspec.vocabulary import KeyParts, Request, World


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
