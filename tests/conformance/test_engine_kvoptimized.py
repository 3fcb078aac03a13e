"""Our own kernels through the surfaces that third parties use."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kvconformance.surfaces.attention.operations import Attend
from kvconformance.surfaces.quantizer import SURFACE

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch

from kvconformance.adapters import load
from kvconformance.checker import Checker
from kvconformance.claims import claimed
from kvconformance.engines.kvoptimized import attention, quantizer
from kvconformance.engines.kvoptimized.attention import KernelAttention
from kvconformance.engines.kvoptimized.quantizer import KernelQuantizer
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention.driver import AttentionDriver
from kvconformance.surfaces.quantizer.driver import QuantizerDriver
from kvconformance.telling.report import Report, Verdict
from kvoptimized.cache import PagedKVCache
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import Violation
from kvspec.vocabulary import Surface, World


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


def attended(*operations: Attend, block_size: int) -> Counter[Rule]:
    """How often one history of the attention kernels meets each rule, none of which it breaks."""
    kernels = AttentionDriver(KernelAttention, Checker(World(40, block_size), KernelAttention.capabilities))
    kernels.run(operations)
    return kernels.tally.exercised


@pytest.mark.parametrize("block_size", KernelAttention.capabilities.block_sizes)
@pytest.mark.parametrize("splits", KernelAttention.capabilities.splits)
def test_a_certified_batch_over_blocks_of_every_size(block_size: int, splits: int) -> None:
    lengths = ((min(130, 9 * block_size + 1), 1), (block_size, min(3, block_size)))
    operation = Attend(lengths, heads=(6, 2, 16), dtype="bf16", layout="head-major", order=1, splits=splits)
    assert attended(operation, block_size=block_size)[rules.DECLARED_TOLERANCE]


@pytest.mark.parametrize("splits", [1, 2])
def test_a_certified_batch_with_wide_heads_and_all_options(splits: int) -> None:
    options: dict[str, Any] = {"window": 70, "softcap": 5.0, "sinks": True, "splits": splits}
    operation = Attend(((90, 2), (17, 1)), heads=(8, 1, 128), dtype="fp16", **options)
    assert attended(operation, block_size=16)[rules.EXACT_MASK]


@pytest.mark.parametrize("splits", [1, 2])
def test_blocks_far_away_are_reached_by_ids_and_by_strides(splits: int) -> None:
    met = attended(*[Attend(((70, 1),), "far", seed=seed, splits=splits) for seed in (0, 1)], block_size=16)
    assert met[rules.ADDRESS_RANGE] == 4


def test_an_offset_in_32_bits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest_prefill = attention.prefill

    def wrapped(query: torch.Tensor, cache_: PagedKVCache, tables: torch.Tensor, *plan: Any, **options: Any) -> Any:
        block = cache_.strides[0]
        near = ((tables.long() * block) % (1 << 32) // block).to(torch.int32)
        return honest_prefill(query, cache_, near, *plan, **options)

    monkeypatch.setattr(attention, "prefill", wrapped)
    with pytest.raises(Violation) as broken:
        attended(Attend(((5, 1),), "far"), block_size=4)
    assert broken.value.rule is rules.ADDRESS_RANGE


def test_the_lowest_code_of_four_bits_has_no_negative_and_is_no_fault() -> None:
    found = (
        b'{"num_blocks":2,"block_size":2,"operations":[{"type":"EncodeFixed","values":{},"scale":4}],"max_running":1,'
        b'"options":{"scheme":"int4-fp32/token-head","kv_heads":1,"head_dim":2}}'
    )
    history = SURFACE.read(found)
    checker = Checker(history.world(), KernelQuantizer.capabilities)
    QuantizerDriver(KernelQuantizer, checker).run(history.operations)
    assert checker.tally.exercised[rules.HALF_STEP]
