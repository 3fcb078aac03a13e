"""The suite is tested by imposters: each public bug on the reference engine must be killed, by the right rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvconformance.cli import app
from kvconformance.imposters import IMPOSTERS, Imposter, try_imposter
from kvconformance.imposters.registry import surface_of
from kvconformance.imposters.trial import hunt
from kvspec import rules
from kvspec.rules import RULES, Rule
from tests.conformance.test_events_alone import RECORDED, require_same_rule_before, trial_of

AREAS = ("alloc/", "prefix/", "sched/", "sec/", "obs/")
CHECKED = [r for r in RULES.values() if r.id.startswith(AREAS) and r.profile is None]
OURS = [imposter for imposter in IMPOSTERS if imposter.broken_rule.id.startswith(AREAS)]


def imposters_of(rule: Rule) -> list[Imposter]:
    return [imposter for imposter in IMPOSTERS if imposter.broken_rule is rule]


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.id)
def test_every_checked_must_rule_has_imposters(rule: Rule) -> None:
    assert len(imposters_of(rule)) >= 2


def test_each_imposter_is_another_public_bug() -> None:
    bugs = [imposter.bug for imposter in OURS]
    assert len(set(bugs)) == len(bugs)
    assert all(re.fullmatch(r"B\d{3}", bug) for bug in bugs)


@pytest.mark.parametrize("imposter", OURS, ids=lambda imposter: imposter.__name__)
def test_an_imposter_says_in_one_sentence_what_it_imitates(imposter: Imposter) -> None:
    said = imposter.__doc__ or ""
    assert re.fullmatch(r"[^\n]+ \([\w./ -]+ #\d+(, a guess)?\)\.", said), said


@pytest.mark.parametrize("imposter", OURS, ids=lambda imposter: imposter.__name__)
def test_the_suite_kills_it_by_its_rule_or_one_that_implies_it(imposter: Imposter) -> None:
    """And what an event shows, the recorded events alone say too, by the same rule."""
    if imposter.broken_rule is rules.REPRODUCIBLE_KEY:
        assert try_imposter(imposter).by == rules.REPRODUCIBLE_KEY.id
        return
    found = hunt(imposter).found
    assert found is not None and found.rule.covers(imposter.broken_rule)
    if surface_of(imposter) in RECORDED:
        require_same_rule_before(trial_of(imposter, found.trial.history))


def test_the_command_writes_the_kills_and_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "kills.json"
    done = CliRunner().invoke(app, ["imposters", "--name", "B123", "--json", str(path)])
    assert done.exit_code == 0, done.output
    assert "1 of 1 imposters killed" in done.output.splitlines()[-1]
    (kill,) = json.loads(path.read_text("utf-8"))["imposters"]
    assert {"name", "bug", "rule", "killed", "by", "examples", "steps"} <= set(kill)
    assert kill["bug"] == "B123"
    assert kill["killed"]


def test_a_path_that_cannot_be_written_is_one_clear_line() -> None:
    done = CliRunner().invoke(app, ["imposters", "--json", "/nowhere/kills.json"])
    assert done.exit_code == 2
    assert "cannot write" in done.output


def test_a_name_that_nobody_has_is_one_clear_line() -> None:
    done = CliRunner().invoke(app, ["imposters", "--name", "Nobody"])
    assert done.exit_code == 2
    assert "no imposter" in done.output
