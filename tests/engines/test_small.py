"""Small engines from PyPI: each breaks what it is known to break, and each finding shows again without kvspec."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kvconformance.adapters import load
from kvconformance.history import Add, Fork, Free, Grow, History
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.pool.operations import FreeAgain
from kvconformance.surfaces.stepper.operations import Abort, Step
from kvconformance.telling.report import Report
from kvspec.violation import Tally
from kvspec.vocabulary import Surface
from tests.engines.scripts import require_finding, scripts_of

MODULES = {"smol-vllm": "smol_vllm", "kvstream": "kvstream", "bllm": "bllm"}
KNOWN = {
    "smol-vllm": {
        "alloc/coverage-and-limit",
        "alloc/no-dangling-reference",
        "alloc/one-page-rounding",
        "prefix/shared-bytes-never-change",
        "sched/chunk-independence",
        "sched/progress-or-reject",
        "sched/resume-equals-uninterrupted",
    },
    "kvstream": {
        "alloc/coverage-and-limit",
        "alloc/fit-agrees-with-allocate",
        "prefix/one-token-left",
        "sched/chunk-independence",
        "sched/one-queue",
        "sched/progress-or-reject",
        "sched/resume-equals-uninterrupted",
    },
    "bllm": {"sched/chunk-independence"},
}
SURE = {
    "smol-vllm": {"prefix/shared-bytes-never-change", "sched/chunk-independence", "sched/progress-or-reject"},
    "kvstream": {"alloc/coverage-and-limit", "prefix/one-token-left", "sched/one-queue", "sched/progress-or-reject"},
    "bllm": {"sched/chunk-independence"},
}
"""What 500 examples find."""

ENGINES = [pytest.param(name, marks=pytest.mark.engine(name), id=name) for name in MODULES]
SCRIPTS = [
    pytest.param(name, script, marks=pytest.mark.engine(name), id=f"{name}-{script.stem}")
    for name, module in MODULES.items()
    for script in scripts_of(module)
]


@cache
def checked(name: str) -> Report:
    pytest.importorskip(MODULES[name])
    return check_supervised(lambda: load(name), Plan(examples=500, seconds=300.0, shrink_seconds=0.3), name=name)


@pytest.mark.parametrize("name", ENGINES)
def test_a_short_check_finds_what_is_known_and_nothing_else(name: str) -> None:
    report = checked(name)
    assert not report.fault
    assert SURE[name] <= {finding.rule_id for finding in report.findings} <= KNOWN[name]


@pytest.mark.parametrize(("name", "script"), SCRIPTS)
def test_a_finding_shows_without_kvspec(name: str, script: Path) -> None:
    pytest.importorskip(MODULES[name])
    require_finding(scripts_of(MODULES[name]), script)


def played(name: str, surface: Surface, *operations: Any, **world: Any) -> tuple[Trial, Tally]:
    pytest.importorskip(MODULES[name])
    factory, tally = load(name).factories[surface], Tally()
    history = History(operations=operations, **{"block_size": 4, "token_budget": 1000, "caching": False, **world})
    return play(factory, factory.capabilities, surface, history, tally), tally  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ENGINES)
def test_one_request_at_a_time_is_served_and_gives_everything_back(name: str) -> None:
    """Where no known fault is provoked, nothing is broken: the adapters are not what is found."""
    new = 1 if name == "bllm" else 6
    operations = tuple(one for token in (0, 1, 2) for one in (Add((token,) * 7, new), *[Step()] * 8))
    trial, tally = played(name, Surface.STEPPER, *operations, num_blocks=12, max_running=2)
    assert trial.violation is None
    assert {"alloc/every-exit-releases", "sched/chunk-independence"} <= {rule.id for rule in tally.exercised}


@pytest.mark.parametrize("name", ENGINES[1:])
def test_an_abort_gives_back_in_every_phase(name: str) -> None:
    operations = (Add((0,) * 5, 1), Add((1,) * 5, 1), Add((2,) * 5, 1), Abort(2), Step(), Abort(0), Step(), Abort(0))
    trial, _ = played(name, Surface.STEPPER, *operations, num_blocks=12, max_running=2)
    assert trial.violation is None


@pytest.mark.engine("kvstream")
def test_kvstream_copies_before_a_shared_block_is_continued() -> None:
    operations = (Add((0,) * 5), Grow(0), Fork(0), Grow(0), Grow(1), Free(0), FreeAgain(0))
    trial, tally = played("kvstream", Surface.POOL, *operations, num_blocks=8)
    assert trial.violation is None
    assert tally.exercised


@pytest.mark.engine("smol-vllm")
def test_smol_vllm_serves_what_fits_when_it_is_asked_for_nothing_else() -> None:
    """With requests that fit only, the endless wait is not found: it is larger requests that are never rejected."""
    pytest.importorskip("smol_vllm")
    engine = load("smol-vllm")
    honest: Any = engine.factories[Surface.STEPPER]
    told = type("Told", (honest,), {"capabilities": replace(honest.capabilities, rejects_infeasible=False)})
    report = check_here(
        Engine("smol-vllm", "", {Surface.STEPPER: told}), Plan(examples=300, seconds=300.0, shrink_seconds=0.5)
    )
    assert "sched/progress-or-reject" not in {finding.rule_id for finding in report.findings}
