"""Our own kernels through the surfaces that third parties use."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch

from kvconformance.adapters import load
from kvconformance.check import check_here
from kvconformance.claims import claimed
from kvconformance.engines.kvoptimized import quantizer
from kvconformance.engines.kvoptimized.quantizer import KernelQuantizer
from kvconformance.report import Report, Verdict
from kvconformance.search import Plan
from kvconformance.surfaces import Engine
from kvoptimized.cache import PagedKVCache
from kvspec.vocabulary import Surface


@cache
def checked() -> Report:
    return check_here(load("kvoptimized"), Plan(examples=30, seconds=60.0), surfaces=[Surface.QUANTIZER])


def test_no_rule_of_quantizers_is_broken_and_all_are_reached() -> None:
    report = checked()
    assert not report.fault
    assert not report.with_verdict(Verdict.BROKEN)
    rules = {line.rule for line in report.with_verdict(Verdict.HELD)}
    assert rules == set(claimed(load("kvoptimized"), Surface.QUANTIZER))
    assert {rule.id for rule in rules} == {
        "quant/half-step",
        "quant/one-scale",
        "quant/scale-travels",
        "quant/scale-from-valid-data",
        "quant/commutes",
    }


def rounded_down(cache_: PagedKVCache, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
    """A kernel that truncates where it should round: codes of magnitude one less."""
    honest(cache_, slots, keys, values)
    if cache_.format == "int8":
        for codes in (cache_.keys, cache_.values):
            codes.copy_(torch.sign(codes) * torch.clamp(codes.abs() - 1, min=0))


honest = quantizer.write


@pytest.mark.parametrize(
    ("name", "wrong", "rule"),
    [
        ("write", rounded_down, "quant/half-step"),
        (
            "copy_blocks",
            lambda cache_, pairs: cache_.keys.index_copy_(0, pairs[:, 1], cache_.keys[pairs[:, 0]]),
            "quant/",
        ),
    ],
)
def test_a_wrong_kernel_is_found(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object, rule: str) -> None:
    monkeypatch.setattr(quantizer, name, wrong)
    only = {"int8/token-head": KernelQuantizer.capabilities.schemes["int8/token-head"]}

    class Broken(KernelQuantizer):
        capabilities = replace(KernelQuantizer.capabilities, schemes=only)

    engine = Engine("broken", "0", {Surface.QUANTIZER: Broken})
    report = check_here(engine, Plan(examples=60, seconds=60.0, shrink_seconds=1.0, first_only=True))
    broken = report.with_verdict(Verdict.BROKEN)
    assert broken
    assert all(line.rule.id.startswith(rule) for line in broken)
