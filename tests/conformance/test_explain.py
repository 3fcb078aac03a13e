"""`kvspec explain`: what it says of a rule is derived, and complete for every one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvconformance.cli import app
from kvconformance.explain import facts, law
from kvconformance.explain.facts import explanation
from kvconformance.explain.references import Place, every_test, guards, rules_of_tests
from kvconformance.imposters import IMPOSTERS
from kvspec import RULES, rules
from kvspec.rules import Rule

ROOT = Path(__file__).parents[2]
TESTS = every_test(ROOT)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_has_a_text_guards_tests_and_imposters(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts.references, "every_test", lambda root: TESTS)
    found = explanation(rule)
    assert found.text == law.definitions()[rule.id] and found.sentence == rule.sentence
    assert found.guards and found.tests and found.imposters and found.bugs
    assert {each.bug for each in found.imposters} <= {bug.id for bug in found.bugs}


def test_the_imposters_of_all_rules_are_all_imposters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts.references, "every_test", lambda root: TESTS)
    names = [each.name for rule in RULES.values() for each in explanation(rule).imposters]
    assert sorted(names) == sorted(imposter.__name__ for imposter in IMPOSTERS)


def test_the_command_tells_of_an_engine_that_broke_the_rule() -> None:
    done = CliRunner().invoke(app, ["explain", "prefix/publish-only-computed"])
    assert done.exit_code == 0
    for text in (
        "falls with it  prefix/content-matches-key",
        "kvspec.hits: _check_allowed",
        "tests/spec/test_transition.py::test_a_hit_within_the_step_that_computes_it_must_be_declared",
        "PublishesAtSchedule (B081, stepper)",
        "B081 vLLM #29387: ",
        "kvengines.vllm.findings.hit_on_uncomputed_block",
    ):
        assert text in done.output, text


def test_json_has_every_part() -> None:
    told = json.loads(CliRunner().invoke(app, ["explain", "evict/lru-order", "--json"]).output)
    assert {"id", "sentence", "text", "guards", "tests", "imposters", "bugs", "engines"} <= set(told)
    assert told["profile"] == "lru" and told["engines"] == []
    assert {"module", "function"} == set(told["guards"][0])


@pytest.mark.parametrize("name", ["S4", "L2", "publishes"])
def test_other_names_of_the_page_are_explained_too(name: str) -> None:
    done = CliRunner().invoke(app, ["explain", name])
    assert done.exit_code == 0 and done.output.startswith(name) and "*" not in done.output
    assert CliRunner().invoke(app, ["explain", name, "--json"]).exit_code == 2


def test_an_installation_without_tests_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(facts, "REPOSITORY", tmp_path)
    assert explanation(rules.STEP_BUDGET).tests is None
    assert "in the repository" in CliRunner().invoke(app, ["explain", "sched/step-budget"]).output


def test_guards_are_functions_that_judge_engines() -> None:
    found = guards()
    assert Place("kvspec.transition.guards", "require_budget") in found[rules.STEP_BUDGET]
    assert Place("kvspec.mirror", "_store") in found[rules.MIRROR_EQUALS_INDEX]  # through a constant of the module
    blame = Place("kvconformance.surfaces.attention.judging.blame", "Suspect.rule")
    assert blame in found[rules.EXACT_MASK]  # through a table
    counted = Place("kvspec.hits", "_count_variants")
    assert not any(counted in places for places in found.values())
    modules = {place.module for places in found.values() for place in places}
    assert not any("imposters" in module or "explorer" in module for module in modules)


def test_a_test_names_rules_by_constants_ids_helpers_and_imposters() -> None:
    source = """
from kvspec import rules
from kvspec.rules import COUNTERS

MANY = {rules.ISOLATION, COUNTERS}

def helper():
    return nested()

def nested():
    return rules.INVALIDATE

def test_one():
    assert helper()

def test_two():
    assert MANY

@pytest.mark.rule("evict/lru-order")
def test_three():
    assert "PadSlotWraps"

class Together:
    def test_four(self):
        assert rules.ONE_SCALE.id
"""
    assert rules_of_tests(source) == {
        "test_one": {rules.INVALIDATE},
        "test_two": {rules.ISOLATION, rules.COUNTERS},
        "test_three": {rules.LRU_ORDER, rules.PADDING_WRITES_NOTHING},
        "Together::test_four": {rules.ONE_SCALE},
    }


@pytest.mark.parametrize("thing", [rules.ISOLATION, IMPOSTERS[0]], ids=["rule", "imposter"])
def test_a_test_is_marked_with_the_rules_that_it_names(thing: object, request: pytest.FixtureRequest) -> None:
    named = {rules.STEP_BUDGET, rules.ISOLATION, getattr(thing, "broken_rule", thing)}
    assert {mark.kwargs["id"] for mark in request.node.iter_markers("rule")} == {rule.id for rule in named}
    assert {rule.id for rule in named} <= request.node.extra_keyword_matches


@pytest.mark.parametrize("choice", [("-k", "sched/bounded-decode-gap"), ("-m", "rule(id='sched/bounded-decode-gap')")])
def test_pytest_chooses_by_rule(choice: tuple[str, str]) -> None:
    command = [sys.executable, *"-m pytest -n 0 --collect-only tests/spec/test_guards.py".split(), *choice]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    chosen = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert chosen == {name for name in TESTS[rules.BOUNDED_DECODE_GAP] if name.startswith("tests/spec/test_guards.py")}
    assert chosen
