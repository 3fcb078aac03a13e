"""Induction: every action keeps every invariant, for any number of blocks, requests, tokens and any block size.

An obligation of this kind has three parts. The proof: the negation is unsatisfiable. The vacuity check: the relation
is satisfiable together with the invariants, and every effect can really change its field. The mutants: each guard
dropped and each effect dropped must give a counterexample in a small scope, or is listed in `HARMLESS` with the reason
why it is inductive all the same, which is then proved as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import z3

from kvexamine.proofs.cache.invariants import initially, invariants
from kvexamine.proofs.cache.model import (
    ABSENT,
    CONSTANTS,
    DONE,
    FIELDS,
    RUNNING,
    WAITING,
    Block,
    b,
    b2,
    facts,
    i,
    none,
    o,
    precedes,
    r,
    slot,
)
from kvexamine.proofs.cache.mutants import HARMLESS, WRONG
from kvexamine.proofs.cache.relation import BEFORE_AND_AFTER, Action, becomes, s, t
from kvexamine.proofs.cache.small import EFFORT, example, solver
from kvexamine.proofs.results import Kind, Outcome

BEFORE, AFTER = invariants(s), invariants(t)
FIRST = "S2-once"
"""Proved without the step of counting, which supposes it."""


def two_states() -> dict[str, Any]:
    """What every step keeps beyond the invariants, for requests that were there before it."""
    known, stays = s.phase(r) != ABSENT, z3.And(s.phase(r) == RUNNING, t.phase(r) == RUNNING)
    fell = precedes(t.computed(r), t.computed_rest(r), s.computed(r), s.computed_rest(r))
    grew = precedes(s.computed(r), s.computed_rest(r), t.computed(r), t.computed_rest(r))
    longer = z3.Or(t.tokens(r) != s.tokens(r), t.tokens_rest(r) != s.tokens_rest(r))
    all_computed = z3.And(s.computed(r) == s.tokens(r), s.computed_rest(r) == s.tokens_rest(r))
    kept = z3.And(known, i >= 0, slot(o), s.is_token(r, i, o))
    appears = z3.And(slot(o), t.content(b, o) != s.content(b, o), t.content(b, o) != none)
    stood = z3.Exists([b2], z3.And(s.content(b2, o) == t.content(b, o), z3.Not(s.due(b2, o))))
    return {
        "S9-spends": z3.ForAll([r], z3.Implies(z3.And(t.ran(r), z3.Not(s.ran(r))), t.left < s.left)),
        "S9-once": z3.ForAll([r], z3.Implies(z3.And(stays, grew), z3.And(t.ran(r), z3.Not(s.ran(r))))),
        "S13-computed": z3.ForAll([r], z3.Implies(z3.And(known, t.phase(r) == s.phase(r)), z3.Not(fell))),
        "S14-tokens": z3.ForAll(
            [r, i, o], z3.Implies(kept, z3.And(t.is_token(r, i, o), t.own(r, i, o) == s.own(r, i, o)))
        ),
        "phases": z3.ForAll(
            [r],
            z3.And(
                z3.Implies(known, t.phase(r) != ABSENT),
                z3.Implies(s.phase(r) == ABSENT, t.phase(r) != DONE),
                z3.Implies(s.phase(r) == DONE, t.phase(r) == DONE),
            ),
        ),
        "S15-sampled": z3.ForAll([r], z3.Implies(z3.And(known, longer), z3.And(s.phase(r) == RUNNING, all_computed))),
        "victims": z3.ForAll(
            [r],
            z3.Implies(z3.And(s.phase(r) == RUNNING, t.phase(r) == WAITING), z3.And(t.victim(r), z3.Not(s.ran(r)))),
        ),
        "due-first": z3.ForAll([b, o], z3.Implies(appears, z3.Or(t.due(b, o), stood))),
    }


GOALS = AFTER | two_states()
PREMISES = (CONSTANTS, *BEFORE.values(), *BEFORE_AND_AFTER)
SEEDS = (1, 2, 3, 4, 5, 6)
STILL = Action("still", (), {}, {}).relation()


class Prover:
    """Proves goals from the same premises, without a limit on the size of anything."""

    def __init__(self, *premises: Any) -> None:
        self.premises = premises
        self._solver = solver(*premises)

    def objection(self, goal: Any) -> str:
        """Empty where the premises imply the goal, else what z3 said; `unknown` is asked again with other seeds."""
        self._solver.push()
        self._solver.add(z3.Not(goal))
        answer = self._solver.check()
        self._solver.pop()
        for seed in SEEDS:
            if answer != z3.unknown:
                break
            answer = solver(*self.premises, z3.Not(goal), seed=seed, effort=5 * EFFORT).check()
        return "" if answer == z3.unsat else f"z3 says {answer}"

    def objections(self, goals: Mapping[str, Any]) -> list[str]:
        """The goals that are not implied, each with what z3 said."""
        said = ((name, self.objection(goal)) for name, goal in goals.items())
        return [f"{name}: {answer}" for name, answer in said if answer]


def _counting(action: Action) -> list[Any]:
    return [action.counting(), AFTER[FIRST]]


def unproved(action: Action, relation: Iterable[Any]) -> list[str]:
    """The goals that the relation is not proved to keep, each with what z3 said."""
    premises = [*PREMISES, *relation]
    first = Prover(*premises).objections({FIRST: GOALS[FIRST]})
    rest = {name: goal for name, goal in GOALS.items() if name != FIRST}
    return first + Prover(*premises, *_counting(action)).objections(rest)


def differs(name: str) -> Any:
    """Some value of the field is another one after the step."""
    signature = FIELDS[name]
    if len(signature) == 1:
        return t.left != s.left
    arguments = {"Request": [r], "Block": [b]}[signature[0].name()]
    integers = len(signature) - 1 - len(arguments)
    arguments += [o] if integers == 1 and signature[0] == Block else [i, o][:integers]
    old, new = getattr(s, name)(*arguments), getattr(t, name)(*arguments)
    if name == "table":
        return z3.Exists(arguments, z3.And(t.live(r, i), z3.Or(z3.Not(s.live(r, i)), old != new)))
    return z3.Exists(arguments, old != new)


def mutants(action: Action) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each guard dropped; each effect dropped, so that the field keeps its values; and wrong effects."""
    relation = action.relation()
    for name in action.guards:
        yield f"without guard {name}", {key: f for key, f in relation.items() if key != name}
    for name in action.effects:
        yield f"without effect on {name}", relation | {f"{name}'": STILL[f"{name}'"]}
    for said, effects in WRONG.get(action.name, {}).items():
        yield said, relation | {f"{name}'": becomes(name, value) for name, value in effects.items()}


def breaks(action: Action, relation: Iterable[Any]) -> bool:
    """Whether a step of the relation breaks a goal, shown by an example."""
    rest = z3.Not(z3.And(*(goal for name, goal in GOALS.items() if name != FIRST)))
    return example(PREMISES, *relation, z3.Not(GOALS[FIRST])) or example(PREMISES, *relation, *_counting(action), rest)


def vacuities(action: Action) -> list[str]:
    """What makes the relation vacuous: that it has no step, or effects that never change anything."""
    relation = [*action.relation().values(), *_counting(action)]
    found = [] if example(PREMISES, *relation) else ["the relation has no step"]
    return found + [
        f"{name} never changes" for name in action.effects if not example(PREMISES, *relation, differs(name))
    ]


def keeps(action: Action) -> Outcome:
    """The obligation of one action."""
    failures = unproved(action, action.relation().values())
    failures += [f"vacuous: {said}" for said in vacuities(action)]
    refuted, harmless = 0, []
    tried = dict(mutants(action))
    for name, relation in tried.items():
        reason = HARMLESS.get(action.name, {}).get(name)
        if reason is not None:
            lives = unproved(action, relation.values())
            failures += [f"the mutant '{name}' is listed as harmless, and is not: {said}" for said in lives[:1]]
            harmless.append(f"{name}: {reason}")
        elif breaks(action, relation.values()):
            refuted += 1
        else:
            failures.append(f"the mutant '{name}' lives")
    return Outcome(
        f"induction/{action.name}",
        Kind.MACHINE,
        f"{action.name} keeps all {len(AFTER)} invariants, and {len(GOALS) - len(AFTER)} properties of a step",
        tuple(failures),
        proved=len(GOALS),
        vacuity=f"{len(action.effects)} of {len(action.effects)} effects happen" if action.effects else "has a step",
        mutants=len(tried) - len(harmless),
        refuted=refuted,
        harmless=tuple(harmless),
    )


def starts() -> Outcome:
    """The initial state satisfies the invariants."""
    premises = (CONSTANTS, initially(s), *facts(s))
    failures = Prover(*premises).objections(BEFORE)
    return Outcome(
        "induction/initial",
        Kind.MACHINE,
        f"the initial state satisfies all {len(BEFORE)} invariants",
        (*failures, *(() if example(premises) else ("vacuous: there is no initial state",))),
        proved=len(BEFORE),
        vacuity="satisfiable",
    )
