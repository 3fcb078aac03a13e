"""SGLang's radix cache and allocators break nothing, and faults put into them are found. Run by `make engines`."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sglang")

from kvconformance.adapters import load
from kvconformance.check import check_here, replay
from kvconformance.history import Evict, History, Insert, Lock, Match, Operation, Unlock
from kvconformance.report import Verdict
from kvconformance.search import Plan
from kvconformance.surfaces import Engine
from kvspec import rules
from kvspec.vocabulary import BlockId, RequestId, Surface

ENGINE = load("sglang")
SglangPool: Any = ENGINE.factories[Surface.POOL]
SglangTree: Any = ENGINE.factories[Surface.TREE]


def test_a_short_check_finds_nothing() -> None:
    report = check_here(ENGINE, Plan(examples=400, seconds=300.0, shrink_seconds=1.0))
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
