"""SGLang breaks nothing but what is known of it, and faults put into it are found. Run by `make engines`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kvconformance.surfaces.stepper.operations import Step
from kvconformance.surfaces.tree.operations import Evict, Insert, Lock, Match, Unlock

pytest.importorskip("sglang")

from kvconformance.adapters import load
from kvconformance.history import Add, History, Operation
from kvconformance.search.check import check_here, replay
from kvconformance.search.examples import Plan
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvconformance.telling.report import Verdict
from kvspec import rules
from kvspec.plans import Preempted, StepPlan
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, RequestId, Surface, World
from tests.engines.scripts import require_finding, scripts_of

ENGINE = load("sglang")
SglangPool: Any = ENGINE.factories[Surface.POOL]
SglangTree: Any = ENGINE.factories[Surface.TREE]
SglangStepper: Any = ENGINE.factories[Surface.STEPPER]


def test_a_short_check_of_cache_and_allocators_finds_nothing() -> None:
    factories = {Surface.POOL: SglangPool, Surface.TREE: SglangTree}
    report = check_here(Engine("sglang", "0", factories), Plan(examples=400, seconds=300.0, shrink_seconds=1.0))
    report.raise_if_broken()
    assert not report.with_verdict(Verdict.NOT_REACHED)
    held = {line.rule.id for line in report.with_verdict(Verdict.HELD)}
    assert {"prefix/symmetric-locks", "prefix/mirror-equals-index", "alloc/count-equals-holders"} <= held


LONG, SHORT = (0, 0, 0, 0, 1, 1), (0, 0)
UNDER_LOCK = (Insert(LONG), Match(LONG), Lock(), Match(SHORT))


def broken(tree: type, *operations: Operation) -> list[str]:
    engine = Engine("sglang", "0", {Surface.TREE: tree})  # type: ignore[dict-item]
    result = replay(engine, Surface.TREE, History(8, 2, operations), Plan(), "sglang")  # type: ignore[arg-type]
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


class SplitWithoutLocks(SglangTree):
    def match(self, *arguments: Any) -> Any:
        split = self.tree._split_node

        def forgetful(*arguments: Any) -> Any:
            upper = split(*arguments)
            upper.lock_ref = 0
            return upper

        self.tree._split_node = forgetful
        try:
            return super().match(*arguments)
        finally:
            self.tree._split_node = split


class LocksOneNode(SglangTree):
    def lock(self, node: Any) -> None:
        node.lock_ref += 1

    def unlock(self, node: Any) -> None:
        node.lock_ref -= 1


class TellsNoRemoval(SglangTree):
    def evict(self, count: int) -> int:
        self.tree.kv_events.record_remove = lambda node: None
        return super().evict(count)


@pytest.mark.parametrize(
    ("tree", "operations", "rule"),
    [
        (SplitWithoutLocks, UNDER_LOCK, rules.SYMMETRIC_LOCKS),
        (LocksOneNode, (Insert(LONG), Match(SHORT), Match(LONG), Lock(1)), rules.SYMMETRIC_LOCKS),
        (TellsNoRemoval, (Insert(LONG), Evict(2)), rules.MIRROR_EQUALS_INDEX),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_fault_in_it_is_found(tree: type, operations: tuple[Operation, ...], rule: rules.Rule) -> None:
    assert broken(tree, *operations) == [rule.id]
    assert broken(SglangTree, *operations) == []


def test_locks_outlive_splits_and_insertions() -> None:
    assert broken(SglangTree, *UNDER_LOCK, Lock(1), Insert((0, 0, 1, 1)), Evict(20), Unlock(), Unlock(), Evict(4)) == []


def test_a_pool_whose_caller_frees_twice_is_found() -> None:
    """The allocator trusts its caller; the adapter is an honest one, and this one is not."""

    class FreesTwice(SglangPool):
        def free(self, id: RequestId) -> None:
            slots = self.slots.get(id)
            super().free(id)
            if slots is not None:
                self.allocator.free(slots)

    report = check_here(Engine("sglang", "0", {Surface.POOL: FreesTwice}), Plan(examples=100, shrink_seconds=1.0))
    assert {finding.rule_id for finding in report.findings} >= {"alloc/count-equals-holders"}
    assert BlockId(0) in SglangPool.capabilities.reserved_blocks


ENDLESS = History(9, 1, (Add((0, 1, 0, 0), 2), Step()), token_budget=8, caching=False, options={"ignore_eos": True})
RETRACTS = History(
    10, 1, (Add((0,), 6), Add((1,), 5), *[Step()] * 12), token_budget=8, options={"new_token_ratio": "decayed"}
)


def played(stepper: Any, history: History) -> tuple[list[str], Tally]:
    tally = Tally()
    trial = play(stepper, stepper.capabilities, Surface.STEPPER, history, tally)
    return [trial.violation.rule.id] if trial.violation else [], tally


class ForgetsWhatItSaid(SglangStepper):
    """A retracted request comes back without its tokens."""

    def plan(self) -> StepPlan:
        plan = super().plan()
        for action in plan.actions:
            if isinstance(action, Preempted):
                del self.requests[action.request].output_ids[:]
        return plan


class TakesLargeChunks(SglangStepper):
    """The budget of a step is doubled."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.scheduler.chunked_prefill_size *= 2


def test_the_scheduler_breaks_nothing_while_no_request_ignores_the_end() -> None:
    told = replace(SglangStepper.capabilities, options={**SglangStepper.capabilities.options, "ignore_eos": (False,)})
    stepper = type("Told", (SglangStepper,), {"capabilities": told})
    report = check_here(
        Engine("sglang", "0", {Surface.STEPPER: stepper}), Plan(examples=400, seconds=300.0, shrink_seconds=1.0)
    )
    report.raise_if_broken()
    held = {line.rule.id for line in report.with_verdict(Verdict.HELD)}
    assert {"sched/step-budget", "sched/resume-equals-uninterrupted", "prefix/publish-only-computed"} <= held


def test_a_request_is_retracted_and_goes_on() -> None:
    broken, tally = played(SglangStepper, RETRACTS)
    assert broken == []
    assert rules.RESUME_EQUALS_UNINTERRUPTED in tally.exercised


@pytest.mark.parametrize(
    ("stepper", "history", "rule"),
    [
        (ForgetsWhatItSaid, RETRACTS, rules.RESUME_EQUALS_UNINTERRUPTED),
        (TakesLargeChunks, History(20, 2, (Add((0,) * 14), Step()), token_budget=8), rules.STEP_BUDGET),
        (SglangStepper, ENDLESS, rules.PROGRESS_OR_REJECT),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_fault_of_a_scheduler_is_found(stepper: Any, history: History, rule: rules.Rule) -> None:
    assert played(stepper, history)[0] == [rule.id]


@pytest.mark.parametrize("script", scripts_of("sglang"), ids=lambda script: script.stem)
def test_a_finding_shows_without_kvspec(script: Path) -> None:
    require_finding([script], script)
