"""vLLM breaks nothing but what is known, and each finding shows again without kvspec."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step

pytest.importorskip("vllm")

from kvconformance.adapters import load, with_profiles
from kvconformance.history import Add, History, Reset
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.search.trial import Trial, play
from kvconformance.telling.report import Verdict
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import Surface
from tests.engines.scripts import require_finding, scripts_of

SCRIPTS = scripts_of("vllm")
KNOWN = {
    "prefix/content-matches-key",
    "prefix/draft-group-hit",
    "prefix/publish-only-computed",
    "sched/chunk-independence",
    "sched/resume-equals-uninterrupted",
}
"""Two roots, and what falls with one of them."""


def test_a_short_check_finds_nothing_new() -> None:
    plan = Plan(examples=600, seconds=300.0, shrink_seconds=1.0)
    surfaces = [Surface.POOL, Surface.STEPPER]
    report = check_supervised(lambda: load("vllm"), plan, name="vllm", surfaces=surfaces)
    assert not report.fault
    assert {line.rule.id for line in report.with_verdict(Verdict.BROKEN)} <= KNOWN
    assert not report.with_verdict(Verdict.NOT_REACHED)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_shows_without_kvspec(script: Path) -> None:
    require_finding(SCRIPTS, script)


def live(history: History) -> tuple[Trial, Tally]:
    """One history on the scheduler."""
    factory = with_profiles(load("vllm"), frozenset({"decode-first"})).factories[Surface.STEPPER]
    tally = Tally()
    return play(factory, factory.capabilities, Surface.STEPPER, history, tally), tally  # type: ignore[attr-defined]


def priority(*operations: Add | Step, num_blocks: int, threshold: int = 0) -> History:
    """A pool of blocks of 2 tokens under the priority policy."""
    options = {"long_prefill_token_threshold": threshold}
    return History(num_blocks, 2, operations, 8, 2, policy="priority", options=options)


@pytest.mark.parametrize(
    ("history", "rule"),
    [
        (
            priority(Add((0,) * 14, 2, priority=1), Step(), Add((1,) * 2, 3), num_blocks=9, threshold=3),
            rules.PUBLISH_ONLY_COMPUTED,
        ),
        (priority(Add((0,) * 3, 4, priority=1), Step(), Add((1,) * 3, 3), num_blocks=5), rules.BOUNDED_DECODE_GAP),
    ],
    ids=["a victim of its own step stays in the index", "a running request is left out"],
)
def test_the_smallest_history_of_each_finding(history: History, rule: Rule) -> None:
    trial, _ = live(history)
    assert trial.violation is not None
    assert trial.violation.rule is rule


def test_a_victim_may_have_evicted_the_tail_before_it_lost_its_block() -> None:
    """B takes A's tail for its next token, C takes the block before it, and then B is preempted for D."""
    adds = Add((1, 1, 1, 0, 0), 5), Add((1, 1, 1, 0, 0, 0), 5, priority=2), Add((0,), 4), Add((0, 0, 0, 1))
    operations = (adds[0], Step(), adds[1], Step(), Step(), *adds[2:], *(Step() for _ in range(6)))
    options = {"chunked_prefill": False, "long_prefill_token_threshold": 2, "watermark": 0.2}
    trial, tally = live(History(8, 3, operations, 9, policy="priority", options=options))
    assert trial.violation is None
    assert tally.exercised[rules.CONTIGUOUS_CHAIN]


@pytest.mark.parametrize("policy", ["fcfs", "priority"])
@pytest.mark.parametrize("chunked", [True, False])
def test_aborts_in_every_phase_and_resets_release_everything(policy: str, chunked: bool) -> None:
    operations = (
        Add((0, 0, 0, 0, 1), 3, salt="x"),
        Add((0, 0, 0, 0, 1), 3, adapter="a"),
        Add((0, 0, 0, 0, 1), 3, priority=1),
        Begin(),
        Abort(0),
        Reset(),
        End(),
        Step(),
        Abort(1),
        Reset(),
        Add((0, 0, 0, 0, 1), 3, priority=2),
        Begin(),
        Abort(2),
        Abort(0),
        Reset(),
    )
    history = History(7, 2, operations, 12, 2, policy=policy, options={"chunked_prefill": chunked})
    trial, tally = live(history)
    assert trial.violation is None
    assert tally.exercised[rules.EVERY_EXIT_RELEASES]
    assert tally.exercised[rules.INVALIDATE]


def test_preempted_requests_resume_with_their_tokens() -> None:
    history = History(6, 2, tuple(Add((token,) * 3, 6) for token in (0, 1)), 8, 2)
    trial, tally = live(history)
    assert trial.violation is None
    assert tally.exercised[rules.RESUME_EQUALS_UNINTERRUPTED]
