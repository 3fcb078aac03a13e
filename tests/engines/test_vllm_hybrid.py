"""vLLM's scheduler over windows and recurrent states: nothing but what is known, and what goes too early is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm.v1.core.single_type_kv_cache_manager import MambaManager, SlidingWindowManager

from kvconformance.api import check
from kvconformance.telling.report import Report, Verdict
from kvengines.vllm import hybrid_engine
from kvengines.vllm.hybrid import VllmHybrid
from kvspec import rules
from kvspec.rules import Rule
from kvspec.vocabulary import Request, RequestId, TokenId, World
from tests.engines.test_vllm import KNOWN


def checked(examples: int, **options: Any) -> Report:
    return check(hybrid_engine(), examples=examples, **options)


def test_a_short_check_finds_nothing_new_under_preemption_and_tiny_pools() -> None:
    report = checked(150)
    assert not report.fault and {line.rule.id for line in report.with_verdict(Verdict.BROKEN)} <= KNOWN
    reached = {line.rule: line.exercised for line in report.rules}
    assert min(reached[rules.EVERY_GROUP_HIT], reached[rules.RESUME_EQUALS_UNINTERRUPTED]) > 50


@pytest.mark.parametrize(
    ("manager", "method", "rule"),
    [
        (SlidingWindowManager, "get_num_skipped_tokens", rules.EVERY_GROUP_HIT),
        (MambaManager, "get_num_skipped_tokens", rules.EVERY_GROUP_HIT),
    ],
    ids=["window", "state"],
)
def test_what_is_given_back_too_early_is_found(
    manager: type, method: str, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    right: Callable[[Any, int], int] = getattr(manager, method)
    monkeypatch.setattr(manager, method, lambda self, computed: right(self, computed + self.block_size))
    report = checked(150, rules=[rule.id])
    assert rule in {line.rule for line in report.with_verdict(Verdict.BROKEN)}


def test_what_was_given_back_stands_in_no_table() -> None:
    options = {"groups": "full:2 window:2:3"}
    engine = VllmHybrid(World(12, 2, token_budget=8, max_running=2, options=options))
    engine.add(Request(RequestId("A"), tuple(TokenId(0) for _ in range(7)), 4))
    engine.complete(engine.plan(), {RequestId("A"): TokenId(0)})
    (scheduled,) = engine.plan().scheduled
    assert None not in scheduled.table
    assert [id is not None for id in scheduled.more[0]] == [False, False, True, True]
