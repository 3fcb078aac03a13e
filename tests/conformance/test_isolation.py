"""An engine that raises, hangs or kills its process becomes a finding with a small history, never our crash."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kvconformance.adapters import as_engine
from kvconformance.search.examples import Plan
from kvconformance.search.isolate import ChildTrouble, in_child
from kvconformance.search.supervise import Part, Stopped, check_supervised
from kvconformance.surfaces import Engine
from kvconformance.telling.report import Finding, Verdict
from kvreference.pool import ReferencePool
from kvspec import rules
from kvspec.vocabulary import Surface
from tests.conformance import hostile

PLAN = Plan(examples=100, seconds=12.0, patience=0.5, shrink_seconds=2.0, rules=frozenset({rules.PROGRESS_OR_REJECT}))


def found(adapter: Any) -> Finding:
    report = check_supervised(lambda: as_engine(adapter), PLAN, name="an engine")
    assert report.exit_status == 1, report.fault
    (finding,) = report.findings
    assert finding.rule is rules.PROGRESS_OR_REJECT
    return finding


def test_an_exception_becomes_a_finding() -> None:
    finding = found(hostile.Raising)
    assert "RuntimeError: two are too many" in finding.seen
    assert finding.operations <= 3


def test_a_loop_without_end_becomes_a_finding() -> None:
    finding = found(hostile.Hanging)
    assert "does not answer within 0.5 seconds" in finding.seen


@pytest.mark.parametrize(
    ("adapter", "how"),
    [(hostile.Exiting, "exit status 17"), (hostile.Crashing, "SIGSEGV")],
)
def test_a_death_of_the_process_becomes_a_finding(adapter: Any, how: str) -> None:
    finding = found(adapter)
    assert how in finding.seen
    assert 2 <= finding.operations <= 3, finding.steps
    assert "kvspec check" in finding.rerun


def test_after_a_death_the_other_surfaces_are_checked_though_a_profile_does_nothing_there() -> None:
    engine = Engine("two", "0", {Surface.STEPPER: hostile.Exiting, Surface.POOL: ReferencePool})
    report = check_supervised(lambda: engine, replace(PLAN, examples=30), profiles=frozenset({"fcfs"}))
    assert [result.surface for result in report.results] == [Surface.STEPPER, Surface.POOL]
    assert report.exit_status == 1 and report.results[1].examples == 30


SCRIBBLES: dict[str, Callable[[Connection], object]] = {
    "junk": lambda pipe: pipe.send_bytes(b"junk"),
    "nothing": lambda pipe: pipe.send_bytes(b""),
    "deep nesting": lambda pipe: pipe.send_bytes(b'{"type":"answer","data":' + b"[" * 100_000),
    "a forged answer": lambda pipe: pipe.send_bytes(b'{"type":"answer","data":{"type":"part"}}'),
    "a length beyond all": lambda pipe: os.write(pipe.fileno(), b"\xff\xff\xff\xff" + b"\x7f" * 8),
}


@pytest.mark.parametrize("name", SCRIBBLES)
def test_whatever_is_written_into_our_pipe_is_no_finding_and_no_crash(name: str) -> None:
    def on_answer(data: bytes) -> None:
        msgspec.json.decode(data, type=Part)

    with pytest.raises(ChildTrouble, match="what is no message of ours"):
        in_child(lambda line: SCRIBBLES[name](line.pipe) and None, on_answer)


def test_a_hang_that_no_signal_ends_becomes_a_finding() -> None:
    begun = time.monotonic()
    finding = found(hostile.HangingDeaf)
    assert "was killed" in finding.seen
    assert time.monotonic() - begun < 200


def test_a_single_idle_step_is_a_finding() -> None:
    finding = found(hostile.Idle)
    assert "nothing is computed, freed or rejected while" in finding.seen
    assert finding.operations <= 5


def test_a_parent_that_used_the_threads_of_torch_does_not_make_an_engine_hang() -> None:
    torch = pytest.importorskip("torch")
    big = torch.ones(1 << 21)
    assert float((big * big).sum()) == 1 << 21  # the parent's thread pool exists now
    patient = replace(PLAN, patience=10.0)  # a real hang is one for ever, and a busy machine is slow
    report = check_supervised(lambda: as_engine(hostile.UsingTorch), patient, name="an engine")
    assert report.exit_status == 0, report.findings


def test_a_wrong_adapter_is_a_harness_fault_and_no_finding() -> None:
    report = check_supervised(lambda: as_engine(hostile.Lying), PLAN, name="an engine")
    assert report.exit_status == 3
    assert "never added" in report.fault
    assert not report.findings
    assert not report.with_verdict(Verdict.HELD)


def test_temporary_files_of_a_child_that_dies_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert "exit status 17" in found(hostile.Littering).seen
    assert check_supervised(lambda: as_engine(hostile.Wordy), Plan(examples=5), name="an engine").exit_status == 0
    assert list(tmp_path.iterdir()) == []
    assert tempfile.gettempdir() == str(tmp_path)


def test_what_an_engine_prints_does_not_reach_the_report(capfd: pytest.CaptureFixture[str]) -> None:
    check_supervised(lambda: as_engine(hostile.Wordy), Plan(examples=20), name="an engine")
    out, err = capfd.readouterr()
    assert "planning!" not in out + err


def test_what_was_found_before_a_death_stays_in_the_report() -> None:
    plan = replace(PLAN, rules=None, examples=200, seed=4)
    report = check_supervised(lambda: as_engine(hostile.BreakingThenExiting), plan, name="an engine")
    assert {finding.rule for finding in report.findings} == {rules.PROGRESS_OR_REJECT, rules.CONSERVATION}
    (result,) = report.results
    assert result.examples > 1 and not result.complete
    assert result.ended == "the engine ended its process"
    assert report.with_verdict(Verdict.HELD)
    assert sum(result.exercised.values()) > 50


def test_what_was_found_before_a_harness_fault_stays_in_the_report() -> None:
    plan = replace(PLAN, rules=None, examples=200, seed=2)
    report = check_supervised(lambda: as_engine(hostile.BreakingThenLying), plan, name="an engine")
    assert report.exit_status == 3
    assert [finding.rule for finding in report.findings] == [rules.CONSERVATION]
    assert report.results[0].examples > 1
    assert not report.with_verdict(Verdict.HELD)


def test_a_user_who_stops_the_search_sees_what_was_found_so_far() -> None:
    def stop(surface: Surface, done: int, wanted: int, broken: list[str]) -> None:
        if broken:
            raise KeyboardInterrupt

    plan = replace(PLAN, rules=None, examples=100_000, seconds=60.0)
    with pytest.raises(KeyboardInterrupt) as stopped:
        check_supervised(lambda: as_engine(hostile.Breaking), plan, name="an engine", progress=stop)
    assert isinstance(stopped.value, Stopped)
    report = stopped.value.report
    assert [finding.rule for finding in report.findings] == [rules.CONSERVATION]
    assert (report.results[0].ended, report.results[0].complete) == ("it was stopped", False)
