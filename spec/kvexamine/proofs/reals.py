"""Inequalities over the reals: what moves in a softmax, and how Theorem Q follows from what Gappa proves.

Of the exponential only this is used: with `E` for exp(d), d >= 0, it is at least 1, exp(-d) is 1 / E, values between
exp(-d) and exp(d) lie between those numbers, and tanh(d / 2) is (E - 1) / (E + 1). Names and arguments are those of
`spec/attention-tolerance.md` and `spec/quantization.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import z3

from kvexamine.proofs.cache.small import EFFORT, solver
from kvexamine.proofs.results import Kind, Outcome

x, y, e, weight, other = z3.Reals("x y E weight other")
tanh = (e - 1) / (e + 1)
moved = x * e / (x * e + (1 - x) / e)
"""The mass of a set of mass x once its weights grow by E and all others shrink by E."""


@dataclass(frozen=True)
class Inequality:
    """Premises, a conclusion, and conclusions that are false: too small a constant, a premise forgotten."""

    name: str
    statement: str
    premises: tuple[Any, ...]
    conclusion: Any
    false: Mapping[str, Any]
    without: Mapping[str, tuple[Any, ...]]
    """Premises that do not suffice, each by what they lack."""

    def outcome(self) -> Outcome:
        """Proof, vacuity and mutants."""
        failures = [] if _answer(*self.premises, z3.Not(self.conclusion)) == z3.unsat else ["z3 does not prove it"]
        failures += [] if _answer(*self.premises) == z3.sat else ["vacuous"]
        tried = {said: _answer(*self.premises, z3.Not(claim)) for said, claim in self.false.items()}
        tried |= {said: _answer(*premises, z3.Not(self.conclusion)) for said, premises in self.without.items()}
        failures += [f"no counterexample: {said}" for said, answer in tried.items() if answer != z3.sat]
        refuted = sum(answer == z3.sat for answer in tried.values())
        return Outcome(
            f"reals/{self.name}",
            Kind.MACHINE,
            self.statement,
            tuple(failures),
            proved=1,
            vacuity="satisfiable",
            mutants=len(tried),
            refuted=refuted,
        )


def _answer(*formulas: Any) -> Any:
    return solver(*formulas, effort=20 * EFFORT).check()


def inequalities() -> list[Inequality]:
    """All of them."""
    return [_two_points(), _attained(), _grouped(), _mad(), _clipping(), _rewriting()]


def _two_points() -> Inequality:
    inside = (x >= 0, x <= 1)
    return Inequality(
        "two-points",
        "of two keys whose logits move by at most d, the weight of one moves by at most tanh(d / 2)",
        (*inside, e >= 1),
        moved - x <= tanh,
        {"a thousandth less": moved - x <= tanh * 999 / 1000, "tanh(d / 2) squared": moved - x <= tanh * tanh},
        {"logits may only fall": (*inside, e > 0, e < 1)},
    )


def _attained() -> Inequality:
    return Inequality(
        "two-points-attained",
        "the weight 1 / (1 + E) moves by exactly tanh(d / 2)",
        (e >= 1, x == 1 / (1 + e)),
        moved - x == tanh,
        {"a thousandth less": moved - x <= tanh * 999 / 1000},
        {"at one half": (e >= 1, x == z3.RealVal("1/2"))},
    )


def _grouped() -> Inequality:
    growing, shrinking = weight <= x * e, other >= (1 - x) / e
    bounds = (x > 0, x < 1, e >= 1, weight >= x / e, other <= (1 - x) * e)
    return Inequality(
        "two-groups",
        "of any number of keys in two groups, the weight of one group is at most that of two keys",
        (*bounds, growing, shrinking),
        weight / (weight + other) <= moved,
        {"a thousandth less": weight / (weight + other) <= moved * 999 / 1000},
        {"the group may grow more": (*bounds, shrinking), "the others may shrink more": (*bounds, growing, other > 0)},
    )


def _mad() -> Inequality:
    between = (y >= 1 / e, y <= e)
    return Inequality(
        "mad",
        "a weight between exp(-d) and exp(d) is within exp(d) - 1 of 1",
        (e >= 1, *between),
        z3.And(y - 1 <= e - 1, 1 - y <= e - 1),
        {"1 - exp(-d)": z3.And(y - 1 <= 1 - 1 / e, 1 - y <= 1 - 1 / e)},
        {"no lower end": (e >= 1, y > 0, y <= e)},
    )


def _clipping() -> Inequality:
    """X = t s; n is the code before clipping: near t below Q, and at least Q above, as fl and rint are monotone."""
    n, largest = z3.Int("n"), 127
    t, s, kappa = z3.Reals("t s kappa")
    q = z3.ToReal(z3.If(n > largest, largest, n))
    half = z3.RealVal("1/2") + kappa
    code = z3.ToReal(n)
    near = z3.Implies(t <= largest, z3.And(code - t <= half, t - code <= half))
    monotone = z3.Implies(t >= largest, n >= largest)
    domain = (s > 0, t >= 0, kappa >= 0, kappa < z3.RealVal("1/2"), n >= 0)
    error = z3.If(t >= q, s * (t - q), s * (q - t))
    clipped = s * (t - largest)

    def within(step: Any) -> Any:
        return z3.Or(error <= s * step, error <= clipped)

    return Inequality(
        "theorem-q",
        "|x - q s| <= max(s (1/2 + kappa), |x| - Q s), from the bound that Gappa proves and monotone rounding, Q = 127",
        (*domain, near, monotone),
        within(half),
        {"half a step": z3.And(kappa >= 0, within(z3.RealVal("1/2"))), "no clip term": error <= s * half},
        {"not monotone": (*domain, near), "no bound below Q": (*domain, monotone)},
    )


def _rewriting() -> Inequality:
    """The identity by which Gappa is told to rewrite s m - 1, with r w = 1 for r = a / Q and w = Q / a."""
    s, m, r, w = z3.Reals("s m r w")
    ds, dm = (s - r) / r, (m - w) / w
    return Inequality(
        "rewriting",
        "(s m - 1) is the sum of both relative errors and their product, and x m - x / s is x / s times it",
        (r * w == 1, s != 0),
        z3.And(s * m - 1 == ds + dm + ds * dm, x * m - x / s == x / s * (s * m - 1)),
        {"without the product": s * m - 1 == ds + dm},
        {"r w is not 1": (r != 0, w != 0, s != 0)},
    )
