"""The attention kernels through the surface that third parties use, and a fault in them that it must find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kvconformance.adapters import load
from kvconformance.claims import claimed
from kvconformance.engines.kvoptimized import attention
from kvconformance.engines.kvoptimized.attention import KernelAttention
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention import Attended, AttentionCall
from kvconformance.telling.report import Verdict
from kvspec import rules
from kvspec.vocabulary import Surface

PATIENT = Plan(examples=25, seconds=120.0, patience=120.0)


def test_no_rule_is_broken_all_are_reached_and_both_kernels_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, int] = {"prefill": 0, "decode": 0}

    def counting(name: str) -> None:
        kernel = getattr(attention, name)

        def call(*args: Any, **options: Any) -> Any:
            asked[name] += 1
            return kernel(*args, **options)

        monkeypatch.setattr(attention, name, call)

    counting("prefill")
    counting("decode")
    held = set()
    claims = set(claimed(load("kvoptimized"), Surface.ATTENTION))
    for seed in range(5):
        report = check_here(load("kvoptimized"), replace(PATIENT, seed=seed), surfaces=[Surface.ATTENTION])
        assert not report.fault and not report.with_verdict(Verdict.BROKEN)
        held |= {line.rule for line in report.with_verdict(Verdict.HELD)}
        if held == claims and min(asked.values()) > 10:
            break
    assert held == claims
    assert min(asked.values()) > 10


class WindowTooWide(KernelAttention):
    """The same kernels, told of one position more."""

    def attend(self, call: AttentionCall) -> Attended:
        wider = None if call.window is None else call.window + 1
        return super().attend(replace(call, window=wider))


def test_a_window_that_is_off_by_one_is_found() -> None:
    engine = Engine("too-wide", "0", {Surface.ATTENTION: WindowTooWide})
    plan = replace(PATIENT, examples=200, shrink_seconds=1.0, first_only=True)
    report = check_here(engine, plan, surfaces=[Surface.ATTENTION])
    assert [line.rule for line in report.with_verdict(Verdict.BROKEN)] == [rules.EXACT_MASK]
