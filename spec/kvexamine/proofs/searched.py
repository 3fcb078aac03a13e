"""What is tried rather than proved in general: contracts by CrossHair, and every 16-bit input against the bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crosshair.core_and_libs import analyze_function, run_checkables
from crosshair.options import AnalysisKind, AnalysisOptionSet

from kvexamine.proofs import exhaustive
from kvexamine.proofs.results import Kind, Outcome
from kvspec.numbers.floats import FloatFormat

SECONDS = 1.5
"""For each condition. What is not confirmed by then was searched and not refuted."""


def _states(contract: Callable[..., Any], seconds: float) -> list[str]:
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.PEP316], per_condition_timeout=seconds, per_path_timeout=seconds, report_all=True
    )
    return [f"{said.state.name} {said.message}" for said in run_checkables(analyze_function(contract, options))]


def contract(one: Callable[..., Any], wrong: Callable[..., Any]) -> Outcome:
    """One contract; its wrong twin must be caught, in ten times the time if need be."""
    states = _states(one, SECONDS)
    failures = [said for said in states if not said.startswith(("CONFIRMED", "CANNOT_CONFIRM"))]
    failures += [] if states else ["CrossHair found no condition to check"]
    confirmed = all(said.startswith("CONFIRMED") for said in states)
    caught = any("POST_FAIL" in said for said in _states(wrong, 10 * SECONDS))
    return Outcome(
        f"contract/{one.__name__}",
        Kind.MACHINE if confirmed and not failures else Kind.SEARCHED,
        (one.__doc__ or "").split("\n", 1)[0],
        (*failures, *(() if caught else (f"the wrong twin {wrong.__name__} is not caught",))),
        proved=int(confirmed),
        vacuity="all paths" if confirmed else "no counterexample",
        mutants=1,
        refuted=int(caught),
    )


def every_input(format: FloatFormat) -> Outcome:
    """Every input of a 16-bit format under every scheme; the bound without its rounding term must be exceeded."""
    failures, pairs, beyond = [], 0, []
    for scheme in exhaustive.CASES:
        found = exhaustive.check(format, scheme)
        pairs += found.pairs
        beyond.append(found.beyond_half > 0)
        if found.violations:
            failures.append(f"{scheme.name} by {scheme.division.value}: beyond the bound at {found.at}")
    failures += ["half a step alone is never exceeded"] * beyond.count(False)
    return Outcome(
        f"exhaustive/{format.name}",
        Kind.EXHAUSTIVE,
        f"theorem_q and fp8_theorem for every {format.name} anchor and value, up to powers of two",
        tuple(failures),
        vacuity=f"{pairs:,} pairs",
        mutants=len(beyond),
        refuted=sum(beyond),
    )
