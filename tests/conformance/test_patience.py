"""How long an engine may take: a hang is one that hangs twice, and what a busy machine takes does not count."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kvconformance.adapters import as_engine
from kvconformance.claims import claimed
from kvconformance.history import Add, History
from kvconformance.search import trial
from kvconformance.search.examples import Outcome, Plan, search
from kvconformance.search.keys import compare_keys
from kvconformance.search.supervise import check_supervised
from kvconformance.search.trial import MOST, Hang, time_limit
from kvconformance.surfaces import Engine
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec.plans import StepPlan
from kvspec.rules import PROGRESS_OR_REJECT
from kvspec.vocabulary import Surface, World

LONG = 5.0


def busy(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def test_who_does_not_answer_in_time_hangs() -> None:
    begun = time.monotonic()
    with pytest.raises(Hang), time_limit(0.05):
        busy(LONG)
    assert time.monotonic() - begun < LONG


def test_time_without_a_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    monkeypatch.setattr(trial, "_waited", lambda: 0.9 * (time.monotonic() - begun))
    with time_limit(0.2):
        busy(0.3)


def test_a_starved_engine_does_not_get_time_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    monkeypatch.setattr(trial, "_waited", time.monotonic)
    with pytest.raises(Hang), time_limit(0.05):
        busy(LONG)
    assert MOST * 0.05 <= time.monotonic() - begun < LONG


def test_who_answers_now_and_then_does_not_hang() -> None:
    answers, calls = itertools.count(), []
    with time_limit(0.05, lambda: next(answers), lambda: calls.append(0)):
        busy(0.3)
    assert 1 <= len(calls) <= 6


def test_who_answers_no_more_hangs() -> None:
    begun, answers = time.monotonic(), iter([0, 1])
    with pytest.raises(Hang), time_limit(0.1, lambda: next(answers, 1)):
        busy(LONG)
    assert 0.2 <= time.monotonic() - begun < LONG


def judged(plans: Callable[[], None], seconds: float = 60.0, examples: int = 20) -> Outcome:
    """What the search finds of an engine that does so before it plans."""

    class Slow(ReferenceStepper):
        def __init__(self, world: World) -> None:
            super().__init__(world)
            self.delay = plans

        def plan(self) -> StepPlan:
            self.delay()
            return super().plan()

    engine = Engine("slow", "0", {Surface.STEPPER: Slow})
    return search(
        engine, Surface.STEPPER, Plan(examples, 1, seconds, 1.0, patience=0.3), claimed(engine, Surface.STEPPER)
    )


def test_an_engine_that_was_slow_once_is_not_accused() -> None:
    calls = itertools.count()
    outcome = judged(lambda: busy(LONG) if next(calls) == 3 else None)
    assert (outcome.found, outcome.examples) == ([], 20)


def test_an_engine_that_hangs_again_is_accused() -> None:
    calls = itertools.count()
    outcome = judged(lambda: busy(LONG) if next(calls) >= 3 else None, examples=6)
    assert [found.rule for found in outcome.found] == [PROGRESS_OR_REJECT]
    assert outcome.found[0].trial.hung


SLOW = """
import os, time
from kvreference.pool import ReferencePool as Slow
if os.environ.get("PYTHONHASHSEED") == "12345":
    time.sleep(2.5)
"""


def test_an_engine_that_another_process_imports_slowly_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.chdir(tmp_path)
    calls: list[int] = []
    compared, difference = compare_keys(ReferencePool, "slow_to_import:Slow", lambda: calls.append(0))
    assert compared and difference is None
    assert len(calls) >= 2


LONG_HISTORY = History(200, 8, (Add((0, 1, 0), 1_500),), token_budget=64)


def test_a_long_history_of_a_busy_engine_is_no_hang() -> None:
    report = check_supervised(
        lambda: as_engine(ReferenceStepper),
        Plan(seconds=600.0, patience=0.1),
        surfaces=[Surface.STEPPER],
        history=LONG_HISTORY,
    )
    assert report.exit_status == 0, report.findings


def test_a_search_ends_in_the_middle_of_a_history_that_takes_too_long() -> None:
    begun = time.monotonic()
    outcome = judged(lambda: busy(0.25), seconds=1.0)
    assert (outcome.found, outcome.complete) == ([], False)
    assert time.monotonic() - begun < LONG
