"""mini-infer breaks what it is known to break, and each finding shows again without kvspec."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mini_infer")

from kvconformance.adapters import load
from kvconformance.history import Add, History
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.search.trial import play
from kvconformance.telling.report import Verdict
from kvspec import rules
from kvspec.violation import Tally
from kvspec.vocabulary import Surface
from tests.engines.scripts import require_finding, scripts_of

SCRIPTS = scripts_of("mini_infer")
KNOWN = {"alloc/count-equals-holders", "prefix/one-token-left", "sched/step-budget"}


def test_a_short_check_finds_what_is_known() -> None:
    plan = Plan(examples=600, seconds=300.0, shrink_seconds=0.5)
    report = check_supervised(lambda: load("mini-infer"), plan, name="mini-infer")
    assert not report.fault
    assert {line.rule.id for line in report.with_verdict(Verdict.BROKEN)} >= KNOWN


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_shows_without_kvspec(script: Path) -> None:
    require_finding(SCRIPTS, script)


def play_one(*prompts: tuple[int, ...], **world: object) -> Tally:
    """Requests for two new tokens each, one after the other, on the whole engine; nothing may be broken."""
    factory = load("mini-infer").factories[Surface.STEPPER]
    options = {"chunked_prefill_size": 24}
    history = History(16, 16, tuple(Add(prompt, 2) for prompt in prompts), 64, options=options, **world)  # type: ignore[arg-type]
    tally = Tally()
    trial = play(factory, factory.capabilities, Surface.STEPPER, history, tally)  # type: ignore[attr-defined]
    assert trial.violation is None
    return tally


def test_without_a_hit_every_slot_is_where_the_table_says() -> None:
    tally = play_one((0,) * 40, (1,) * 16, (1, 0, 1), max_running=1)
    assert tally.exercised[rules.CHUNK_INDEPENDENCE]
    assert tally.exercised[rules.COUNT_EQUALS_HOLDERS]


def test_decodes_of_a_batch_are_told_apart() -> None:
    play_one((0,) * 3, (1,) * 5, (0, 1), caching=False)
