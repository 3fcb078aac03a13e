"""The proofs of the cache: what is modelled, that obligations hold, and that each way to fail does fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

pytest.importorskip("z3")
pytest.importorskip("crosshair")

import z3

from kvconformance.cli import app
from kvexamine.proofs import run
from kvexamine.proofs.cache import induction, theorems
from kvexamine.proofs.cache.actions import ACTIONS, NOT_MODELLED, STRICTER
from kvexamine.proofs.cache.finite import Scope, Structure, compiled, expand
from kvexamine.proofs.cache.model import Block, Int
from kvexamine.proofs.cache.mutants import HARMLESS, WRONG
from kvexamine.proofs.cache.relation import Action, b, s
from kvexamine.proofs.results import Kind, Outcome
from kvspec import events as ev
from kvspec.rules import RULES

PAGE = (Path(__file__).parents[2] / "spec" / "proofs.md").read_text("utf-8")
MODELLED = [event for action in ACTIONS.values() for event in action.events]


def test_every_event_is_modelled_or_has_a_reason_why_not() -> None:
    assert sorted(e.__name__ for e in (*MODELLED, *NOT_MODELLED)) == sorted(e.__name__ for e in get_args(ev.Event))
    assert all(NOT_MODELLED.values())


def test_guards_name_rules_of_the_catalogue() -> None:
    for action in ACTIONS.values():
        assert set(action.rules) <= set(action.guards)
        named = {rule for rules in action.rules.values() for rule in rules.split()} - {"any"}
        assert named <= set(RULES), action.name


def test_lists_of_exceptions_name_what_exists() -> None:
    tried = {name: dict(induction.mutants(action)) for name, action in ACTIONS.items()}
    assert all(mutant in tried[action] for action, reasons in HARMLESS.items() for mutant in reasons)
    assert all(mutant in tried[action] for action, wrong in WRONG.items() for mutant in wrong)
    assert all(guard in ACTIONS[action].guards for action, guard in STRICTER)


def test_the_page_names_every_obligation_and_every_stricter_guard() -> None:
    for one in run.obligations():
        assert f"`{one.name}`" in PAGE, one.name
    for action, guard in STRICTER:
        assert f"`{action}/{guard}`" in PAGE
    for event in NOT_MODELLED:
        assert f"`{event.__name__}`" in PAGE


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_keeps_the_invariants(name: str) -> None:
    action = ACTIONS[name]
    assert induction.unproved(action, action.relation().values()) == []


@pytest.mark.parametrize("name", ["start", "preempt", "told"])
def test_an_obligation_with_its_mutants(name: str) -> None:
    outcome = induction.keeps(ACTIONS[name])
    assert outcome.holds, outcome.failures
    assert outcome.mutants >= 3


def test_the_beginning_and_a_theorem() -> None:
    assert induction.starts().holds
    assert all(one.outcome().holds for one in theorems.theorems()[:2])


def test_a_theorem_that_does_not_hold_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induction, "SEEDS", ())
    right = theorems.theorems()[0]
    assert not replace(right, conclusion=s.ref(b) == 0).outcome().holds
    assert "vacuous" in replace(right, hypothesis=z3.BoolVal(False)).outcome().failures
    assert replace(right, needed=("S9-budget",)).outcome().failures == ("it holds without S9-budget",)


@pytest.mark.parametrize("name", ["start", "copy", "preempt", "fail-step", "end-step"])
def test_small_scopes_have_no_counterexample_to_what_is_proved(name: str) -> None:
    action = ACTIONS[name]
    assert not induction.breaks(action, action.relation().values())


def test_a_mutant_that_lives_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WRONG, "told", {"nothing at all": {}})
    assert induction.keeps(ACTIONS["told"]).failures == ("the mutant 'nothing at all' lives",)


def test_a_mutant_that_breaks_something_cannot_be_called_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HARMLESS, "release", {"frees twice": "it is not"})
    assert "is listed as harmless, and is not" in induction.keeps(ACTIONS["release"]).failures[0]


def test_a_relation_without_a_step_is_vacuous() -> None:
    never = Action("never", (), {"never": z3.BoolVal(False)}, {"ref": s.ref(b) + 1})
    assert induction.unproved(never, never.relation().values()) == []
    assert induction.vacuities(never) == ["the relation has no step", "ref never changes"]


def test_what_z3_cannot_decide_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induction, "EFFORT", 1)
    monkeypatch.setattr("kvexamine.proofs.cache.small.EFFORT", 1)
    monkeypatch.setattr(induction, "solver", lambda *premises, **_: _lazy(premises))
    action = ACTIONS["compute"]
    failures = induction.unproved(action, action.relation().values())
    assert failures
    assert all(said.endswith("z3 says unknown") for said in failures)


def _lazy(premises: tuple[Any, ...]) -> Any:
    made = z3.Solver()
    made.set("rlimit", 1)
    made.add(*premises)
    return made


BLOCKS = (0, 1, 2)
small = z3.Function("small", Block, Int, z3.BoolSort())
x, y = z3.Consts("x y", Block)
o = z3.Int("o")
FORMULAS = (
    (z3.ForAll([x, o], small(x, o)), False),
    (z3.Exists([x], z3.ForAll([o], small(x, o))), True),
    (z3.ForAll([o], z3.Exists([x], z3.Not(small(x, o)))), True),
    (z3.ForAll([x, y, o], z3.Implies(z3.And(small(x, o), small(y, o)), x == y)), True),
    (z3.ForAll([x, y], z3.Or(x != y, z3.ForAll([o], small(x, o) == small(y, o)))), True),
    (z3.ForAll([x, o], z3.If(o == 0, small(x, o), o + 1 > 2)), False),
    (z3.Exists([x, o], z3.And(small(x, o), o - 1 >= 1)), False),
)


@pytest.mark.parametrize(("formula", "truth"), FORMULAS, ids=range(len(FORMULAS)))
def test_both_readings_of_a_formula_agree_with_its_meaning(formula: Any, truth: bool) -> None:
    """`small` is true of block 0 and offsets 0 and 1, in a world of three blocks and two offsets."""
    scope = Scope({"Block": BLOCKS}, indices=4, offsets=2)
    assert Structure(scope, {"small": lambda block, _: block == 0}).satisfies(compiled(formula)) is truth
    consts = tuple(z3.Const(f"block{k}", Block) for k in BLOCKS)
    solver = z3.Solver()
    solver.add(z3.Distinct(*consts), expand(formula, Scope({"Block": consts}, indices=4, offsets=2)))
    solver.add(*(small(block, z3.IntVal(k)) == (block is consts[0]) for block in consts for k in range(2)))
    assert (solver.check() == z3.sat) is truth


def test_the_summary_counts_and_names_what_failed() -> None:
    done = [
        Outcome("a", Kind.MACHINE, "", proved=3, mutants=2, refuted=2),
        Outcome("b", Kind.MACHINE, "", proved=1, mutants=2, refuted=1),
        Outcome("c", Kind.KEPT, ""),
    ]
    assert run.summary(done) == (
        "1 obligation proved (3 claims), 3 of 4 mutants refuted, 1 certificate kept, not checked here; FAILED: b"
    )


def test_the_command(tmp_path: Path) -> None:
    report = tmp_path / "proofs.json"
    answer = CliRunner().invoke(app, ["prove", "--only", "theorem/S3", "--json", str(report)])
    assert answer.exit_code == 0, answer.output
    last = answer.output.strip().splitlines()[-1]
    assert last == "1 obligation proved (1 claim), 1 of 1 mutants refuted; nothing failed"
    assert '"holds":true' in report.read_text("utf-8")
    assert CliRunner().invoke(app, ["prove", "--only", "no such thing"]).exit_code == 2


def test_the_command_fails_with_an_obligation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        run, "obligations", lambda: [run.Obligation("x", lambda: Outcome("x", Kind.MACHINE, "", ("no",)))]
    )
    answer = CliRunner().invoke(app, ["prove"])
    assert answer.exit_code == 1
    assert "FAILED: x" in answer.output.splitlines()[-1]


def test_a_prover_that_breaks_down_has_proved_nothing() -> None:
    def broken() -> Outcome:
        raise TimeoutError("gappa does not answer")

    assert run.Obligation("x", broken).timed().failures == ("TimeoutError: gappa does not answer",)


def test_without_z3_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    answer = CliRunner().invoke(app, ["prove"])
    assert answer.exit_code == 2
    assert "pip install 'kvspec[proofs]'" in answer.output
