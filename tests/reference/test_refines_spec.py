"""The reference against the specification: every event is allowed, and the two states agree after each observation.

The engine was written from the rules and not from the transition, so agreement is evidence for both.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.surfaces.pool.driver import PoolDriver, stepless
from kvconformance.surfaces.registry import histories
from kvconformance.surfaces.stepper.driver import StepperDriver
from kvreference.contiguous import ContiguousPool
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec import Tally
from kvspec.invariants import broken_invariants
from kvspec.state import State
from kvspec.vocabulary import Phase, Surface


def assert_same_blocks(pool: ReferencePool, state: State) -> None:
    """Counts, order of the idle queue, fences, tables and what is cached."""
    assert pool.blocks.count == [block.ref for block in state.blocks]
    assert list(pool.blocks.idle) == list(state.free)
    fences = {id: len(block.fence) for id, block in enumerate(state.blocks) if block.fence}
    assert +pool.blocks.fenced == fences
    assert {id: list(h.table) for id, h in pool.holdings.items()} == {
        id: live.table for id, live in state.requests.items() if live.table or id in pool.holdings
    }
    for block, key in pool.cache.key_of.items():
        assert pool.cache.index[key] == block
        assert state.blocks[block].key is not None


def assert_same_requests(engine: ReferenceStepper, state: State) -> None:
    """Tokens, computed positions and phases; a step in flight is computed in the state and not yet in the engine."""
    for id, task in engine.tasks.items():
        live = state.requests[id]
        assert task.holding.tokens == live.tokens
        assert (live.phase is Phase.RUNNING) == (task in engine.running)
        if not task.in_flight and not task.on_host and live.swapped is None:
            assert task.holding.computed == live.computed
    assert set(engine.tasks) == {live.request.id for live in state.live()}


class ComparedStepper(StepperDriver):
    """Compares the whole states whenever the engine is asked about itself."""

    def observe(self) -> None:
        super().observe()
        assert_same_blocks(self.engine.pool, self.checker.state)
        assert_same_requests(self.engine, self.checker.state)
        assert list(broken_invariants(self.checker.state)) == []


class ComparedPool(PoolDriver):
    """Likewise for the pool alone."""

    def observe(self) -> None:
        super().observe()
        assert_same_blocks(self.engine, self.checker.state)
        assert list(broken_invariants(self.checker.state)) == []


@given(histories(Surface.STEPPER, ReferenceStepper.capabilities))
def test_the_scheduler_refines_the_specification(history: History) -> None:
    checker = Checker(history.world(), ReferenceStepper.capabilities, Tally())
    ComparedStepper(ReferenceStepper, checker).run(history.operations)


@given(histories(Surface.POOL, ReferencePool.capabilities))
def test_the_pool_refines_the_specification(history: History) -> None:
    checker = Checker(*stepless(history.world(), ReferencePool.capabilities), Tally())
    ComparedPool(ReferencePool, checker).run(history.operations)


@given(histories(Surface.POOL, ContiguousPool.capabilities))
def test_the_contiguous_pool_obeys(history: History) -> None:
    checker = Checker(*stepless(history.world(), ContiguousPool.capabilities), Tally())
    PoolDriver(ContiguousPool, checker).run(history.operations)


@pytest.mark.parametrize("policy", ReferenceStepper.capabilities.policies)
def test_every_policy_is_among_the_histories(policy: str) -> None:
    from hypothesis import find

    strategy = histories(Surface.STEPPER, ReferenceStepper.capabilities)
    assert find(strategy, lambda history: history.policy == policy).policy == policy
