"""All obligations as one list, and their outcomes as one summary."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import partial

from kvexamine.proofs.results import Kind, MissingTool, Obligation, Outcome
from kvspec.numbers.floats import BF16, FP16


def obligations() -> list[Obligation]:
    """Every obligation, cheapest rooms first. Raises MissingTool where z3 or CrossHair is not installed."""
    for module, package in (("z3", "z3-solver"), ("crosshair", "crosshair-tool")):
        if importlib.util.find_spec(module) is None:
            raise MissingTool(f"{package} is not installed: pip install 'kvspec[proofs]', or make prove")
    # Not at the top: the base install has neither z3 nor CrossHair, and the command line imports this module.
    from kvexamine.proofs import gappa, reals, searched  # noqa: PLC0415
    from kvexamine.proofs.cache import induction, theorems, tie  # noqa: PLC0415
    from kvexamine.proofs.cache.actions import ACTIONS  # noqa: PLC0415
    from kvexamine.proofs.contracts import CONTRACTS  # noqa: PLC0415

    return [
        Obligation("induction/initial", induction.starts),
        *(Obligation(f"induction/{name}", partial(induction.keeps, action)) for name, action in ACTIONS.items()),
        *(Obligation(f"theorem/{one.name}", one.outcome) for one in theorems.theorems()),
        Obligation("tie/transition", tie.tied),
        *(Obligation(f"reals/{one.name}", one.outcome) for one in reals.inequalities()),
        *(Obligation(f"gappa/{one.name}", partial(gappa.proved, one)) for one in gappa.claims()),
        *(Obligation(f"contract/{one.__name__}", partial(searched.contract, one, wrong)) for one, wrong in CONTRACTS),
        *(Obligation(f"exhaustive/{one.name}", partial(searched.every_input, one)) for one in (BF16, FP16)),
    ]


def summary(outcomes: Iterable[Outcome]) -> str:
    """One line: how many obligations by which means, mutants refuted, and what failed."""
    done = list(outcomes)
    counts = [(kind, [one for one in done if one.kind is kind and one.holds]) for kind in Kind]
    proved = dict(counts)[Kind.MACHINE]
    claims = sum(one.proved for one in proved)
    parts = [f"{_count(len(proved), 'obligation')} proved ({_count(claims, 'claim')})"]
    parts += [f"{sum(one.refuted for one in done)} of {sum(one.mutants for one in done)} mutants refuted"]
    parts += [f"{len(held)} {kind.value}" for kind, held in counts if held and kind is not Kind.MACHINE]
    failed = [one.name for one in done if not one.holds]
    return ", ".join(parts) + (f"; FAILED: {', '.join(failed)}" if failed else "; nothing failed")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
