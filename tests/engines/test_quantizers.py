"""Real quantizers: what holds, what is broken, and each finding again without kvspec."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kvconformance.adapters import load
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.telling.report import Report, Verdict
from tests.engines.scripts import require_finding, scripts_of

MODULES = {
    "gguf": "gguf",
    "hqq": "hqq",
    "ml-dtypes": "ml_dtypes",
    "quantized-cache": "optimum.quanto",
    "torchao": "torchao",
}
EXAMPLES = {"gguf": 150, "hqq": 20, "ml-dtypes": 150, "quantized-cache": 60, "torchao": 80}
BROKEN = {
    "gguf": {"quant/scale-from-valid-data"},
    "hqq": {"quant/scale-from-valid-data"},
    "ml-dtypes": set(),
    "quantized-cache": {"quant/scale-from-valid-data", "quant/half-step"},
    "torchao": set(),
}
SCRIPTS = scripts_of("gguf", "hqq", "quantized_cache", "torchao")


@cache
def checked(name: str) -> Report:
    pytest.importorskip(MODULES[name])
    plan = Plan(examples=EXAMPLES[name], seconds=300.0, shrink_seconds=1.0)
    return check_supervised(lambda: load(name), plan, name=name)


@pytest.mark.parametrize("name", MODULES)
def test_a_short_check_breaks_what_is_known_and_nothing_else(name: str) -> None:
    report = checked(name)
    assert not report.fault
    assert {line.rule.id for line in report.with_verdict(Verdict.BROKEN)} == BROKEN[name]


def test_the_frozen_scale_is_what_the_cache_is_accused_of() -> None:
    found = {finding.rule_id: finding for finding in checked("quantized-cache").findings}
    assert "scheme=fp8" in found["quant/scale-from-valid-data"].world
    assert "came after data of magnitude" in found["quant/scale-from-valid-data"].seen


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_shows_without_kvspec(script: Path) -> None:
    for module in MODULES.values():
        pytest.importorskip(module)
    require_finding(SCRIPTS, script)
