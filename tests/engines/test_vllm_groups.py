"""vLLM with several groups of layers: every group of a hit is right but the drafter's, which is known."""

from __future__ import annotations

import pytest

pytest.importorskip("vllm")

from kvconformance.adapters import load
from kvconformance.history import Add, Commit, Free, Grow, History, Operation
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.telling.report import Verdict
from kvspec import events as ev
from kvspec import rules
from kvspec.violation import Tally
from kvspec.vocabulary import GroupsCapabilities, Surface

KNOWN = {"prefix/draft-group-hit"}
DONE = (Commit(-1), Free(-1))
LONG = Add((0,) * 9, 4)


@pytest.fixture(scope="module")
def vllm() -> Engine:
    return load("vllm")


def live(vllm: Engine, groups: str, *operations: Operation, num_blocks: int = 30) -> tuple[Trial, Tally]:
    """One history on the manager with these groups."""
    factory, tally = vllm.factories[Surface.GROUPS], Tally()
    history = History(num_blocks, 1, operations, options={"groups": groups})
    return play(factory, vllm.capabilities(Surface.GROUPS), Surface.GROUPS, history, tally), tally


def of(trial: Trial, kind: type) -> list[object]:
    """The events of one kind."""
    return [event for event in trial.checker.events if isinstance(event, kind)]


def test_a_short_check_finds_nothing_new(vllm: Engine) -> None:
    report = check_here(vllm, Plan(examples=600, seconds=300.0, shrink_seconds=1.0), surfaces=[Surface.GROUPS])
    assert not report.fault
    assert {line.rule.id for line in report.with_verdict(Verdict.BROKEN)} <= KNOWN
    assert not report.with_verdict(Verdict.NOT_REACHED)
    assert next(line for line in report.rules if line.rule is rules.EVERY_GROUP_HIT).verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("groups", "hit"),
    [
        ("full:2 window:2:3", 8),
        ("full:4 window:2:5", 8),
        ("full:2 window:3:4", 6),
        ("full:2 window:4:3", 8),
        ("window:2:3 window:2:6", 8),
        ("full:2 state:2", 8),
        ("full:2 state:2 window:2:4", 8),
    ],
)
def test_an_equal_prompt_hits_in_all_groups(vllm: Engine, groups: str, hit: int) -> None:
    trial, tally = live(vllm, groups, LONG, *DONE, LONG)
    assert trial.violation is None
    assert [event.hit for event in of(trial, ev.Start)] == [0, hit]  # type: ignore[attr-defined]
    assert tally.exercised[rules.EVERY_GROUP_HIT]


def test_a_window_moves_on_only_behind_the_steps_in_flight(vllm: Engine) -> None:
    chunks = (Add((0,) * 9, 4, chunk=4), Grow(0, 4), Commit(), Grow(0, 1), Commit(), Commit(), Grow(0, 1))
    trial, _ = live(vllm, "full:2 window:2:3", *chunks)
    assert trial.violation is None
    assert [(event.group, event.index) for event in of(trial, ev.Trim)] == [(1, 0), (1, 1), (1, 2)]  # type: ignore[attr-defined]


def test_a_refused_admission_leaves_the_groups_as_they_were(vllm: Engine) -> None:
    trial, tally = live(vllm, "full:2 window:2:3", Add((0,) * 7), Commit(), Add((1,) * 7), num_blocks=12)
    assert trial.violation is None
    assert tally.exercised[rules.FAILURE_IS_ATOMIC]


def test_a_kept_draft_block_may_be_of_a_request_with_another_next_token(vllm: Engine) -> None:
    others = (Add((0, 0, 1)), Commit(), Add((0,) * 5), Commit())
    trial, _ = live(vllm, "full:2 draft:2:1", *others, Add((0,) * 5))
    assert trial.violation is not None
    assert trial.violation.rule is rules.DRAFT_GROUP_HIT
    control, tally = live(vllm, "full:2 draft:2:1", *others[2:], Add((0,) * 5))
    assert control.violation is None
    assert tally.exercised[rules.DRAFT_GROUP_HIT]


def test_the_manager_claims_no_other_freedom(vllm: Engine) -> None:
    declared = vllm.capabilities(Surface.GROUPS)
    assert isinstance(declared, GroupsCapabilities)
    assert (declared.lookahead_blocks, declared.watermark_blocks, declared.states) == (0, 0, "every")
