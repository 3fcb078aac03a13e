"""The arithmetic that is proved: Gappa's scripts and certificates, inequalities over the reals, contracts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("z3")
pytest.importorskip("crosshair")

import z3

from kvexamine.proofs import exhaustive, gappa, reals, searched
from kvexamine.proofs.contracts import CONTRACTS, blocks_for, blocks_for_wrong
from kvexamine.proofs.results import Kind
from kvspec.numbers.bounds import kappa_of, theorem_q
from kvspec.numbers.floats import BF16
from kvspec.numbers.quantize import decode, encode, given_scale
from kvspec.numbers.schemes import INT4, INT8, KIVI_KEY, UINT4, UINT8

CLAIMS = {claim.name: claim for claim in gappa.claims()}
needs_gappa = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")


@pytest.mark.parametrize("name", CLAIMS)
def test_the_kept_scripts_are_what_the_schemes_give(name: str) -> None:
    assert list(gappa.drift(CLAIMS[name])) == []


@pytest.mark.parametrize("scheme", [INT8, INT4, UINT8, UINT4, KIVI_KEY], ids=lambda scheme: scheme.name)
def test_gappa_is_asked_for_the_bound_of_the_scheme(scheme: object) -> None:
    claim = CLAIMS[f"{scheme.name}-divide"]  # type: ignore[attr-defined]
    assert claim.limits[0][2] == Fraction(1, 2) + kappa_of(scheme)  # type: ignore[arg-type]
    assert f"<= {gappa.dyadic(claim.limits[0][2])} }}" in claim.text


def test_without_gappa_a_certificate_is_kept_and_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    outcome = gappa.proved(CLAIMS["int8-divide"])
    assert outcome.holds
    assert outcome.kind is Kind.KEPT
    assert (outcome.proved, outcome.mutants) == (0, 0)


def test_a_kept_script_that_drifts_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(gappa, "KEPT", tmp_path)
    claim = CLAIMS["int4-divide"]
    assert "no script or certificate" in gappa.proved(claim).failures[0]
    (tmp_path / "int4-divide.gappa").write_text(claim.text)
    (tmp_path / "int4-divide.v").write_text("(* of another script *)")
    assert "is of another script" in gappa.proved(claim).failures[0]
    (tmp_path / "int4-divide.gappa").write_text(CLAIMS["int8-divide"].text)
    assert "is not what is generated" in gappa.proved(claim).failures[0]


@needs_gappa
@pytest.mark.parametrize("name", ["int8-divide", "int4-inverse-first", "e4m3-divide"])
def test_gappa_proves_the_claim_and_no_smaller_bound(name: str) -> None:
    outcome = gappa.proved(CLAIMS[name])
    assert outcome.holds, outcome.failures
    assert outcome.kind is Kind.MACHINE


@needs_gappa
def test_a_claim_that_is_false_fails() -> None:
    claim = CLAIMS["int8-divide"]
    given, what, _ = claim.limits[0]
    false = replace(claim, limits=((given, what, Fraction(1, 2)),))
    assert any("Gappa does not prove" in said for said in gappa.proved(false).failures)


@needs_gappa
def test_a_script_that_gappa_cannot_read_is_an_error_and_no_refusal() -> None:
    with pytest.raises(RuntimeError, match="gappa"):
        gappa.ask("{ nonsense")


def test_the_refused_bounds_of_int8_are_false() -> None:
    """A value whose error exceeds seven eighths of kappa: just under the tie above 64 steps (spec/quantization.md)."""
    stored = Fraction(127 * 2**17 + 1, 2**23)
    scale = given_scale(stored, INT8)
    near = [Fraction(round(stored * Fraction(129, 2) * 2**17) + k, 2**17) for k in range(-3, 4)]
    worst = max(abs(x - decode(encode(x, scale, INT8), scale, INT8)) for x in near)  # type: ignore[operator]
    assert worst > stored * (Fraction(1, 2) + kappa_of(INT8) * 7 / 8)
    assert worst <= theorem_q(max(near), stored, INT8)


@pytest.mark.parametrize("inequality", reals.inequalities(), ids=lambda one: one.name)
def test_inequalities_over_the_reals(inequality: reals.Inequality) -> None:
    outcome = inequality.outcome()
    assert outcome.holds, outcome.failures
    assert outcome.mutants >= 2


def test_an_inequality_that_is_false_fails() -> None:
    right = reals.inequalities()[0]
    assert not replace(right, conclusion=right.false["a thousandth less"]).outcome().holds
    assert not replace(right, false={"the same": right.conclusion}).outcome().holds
    assert "vacuous" in replace(right, premises=(z3.BoolVal(False),)).outcome().failures


def test_a_contract_is_confirmed_and_its_wrong_twin_caught() -> None:
    outcome = searched.contract(blocks_for, blocks_for_wrong)
    assert outcome.holds, outcome.failures
    assert outcome.kind is Kind.MACHINE
    assert not searched.contract(blocks_for, blocks_for).holds
    assert not searched.contract(blocks_for_wrong, blocks_for_wrong).holds


def test_a_twin_is_another_function_of_the_same_contract() -> None:
    for contract, wrong in CONTRACTS:
        assert wrong.__name__ == f"{contract.__name__}_wrong"
        conditions = [
            [line.strip() for line in (one.__doc__ or "").splitlines() if line.strip().startswith(("pre:", "post:"))]
            for one in (contract, wrong)
        ]
        assert set(conditions[1]) <= set(conditions[0])


def test_an_input_beyond_the_bound_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustive, "CASES", (INT4,))
    monkeypatch.setattr(exhaustive, "check", lambda *_: exhaustive.Outcome(pairs=1, beyond_half=1, violations=1))
    assert "beyond the bound" in searched.every_input(BF16).failures[0]
    monkeypatch.setattr(exhaustive, "check", lambda *_: exhaustive.Outcome(pairs=1))
    assert searched.every_input(BF16).failures == ("half a step alone is never exceeded",)
