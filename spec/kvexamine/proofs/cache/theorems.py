"""What follows from the invariants: keys decide hits rightly, duplicates are harmless, writers are alone.

Each theorem is an implication proved in any size, with its premises shown satisfiable, and each premise that it names
as needed dropped once: a counterexample must appear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import z3

from kvexamine.proofs.cache.actions import ACTIONS
from kvexamine.proofs.cache.induction import BEFORE, PREMISES, Prover
from kvexamine.proofs.cache.model import ABSENT, CONSTANTS, RUNNING, b, b2, facts, i, none, o, precedes, size, slot
from kvexamine.proofs.cache.relation import end, end_rest, p, q, s, t
from kvexamine.proofs.cache.small import example
from kvexamine.proofs.results import Kind, Outcome

COMPUTE = ACTIONS["compute"].relation()


@dataclass(frozen=True)
class Theorem:
    """`premises` by name; those in `needed` are dropped one at a time by the mutants."""

    name: str
    statement: str
    premises: Mapping[str, Any]
    hypothesis: Any
    conclusion: Any
    needed: tuple[str, ...]

    def outcome(self) -> Outcome:
        """Proof, vacuity and mutants."""
        given = [CONSTANTS, *self.premises.values(), self.hypothesis]
        said = Prover(*given).objection(self.conclusion)
        failures = [said] if said else []
        failures += [] if example((CONSTANTS, *self.premises.values()), self.hypothesis) else ["vacuous"]
        refuted = 0
        for dropped in self.needed:
            rest = (CONSTANTS, *(f for name, f in self.premises.items() if name != dropped))
            if example(rest, self.hypothesis, z3.Not(self.conclusion)):
                refuted += 1
            else:
                failures.append(f"it holds without {dropped}")
        return Outcome(
            f"theorem/{self.name}",
            Kind.MACHINE,
            self.statement,
            tuple(failures),
            proved=1,
            vacuity="satisfiable",
            mutants=len(self.needed),
            refuted=refuted,
        )


def theorems() -> list[Theorem]:
    """All of them."""
    found = z3.And(s.phase(q) != ABSENT, i >= 0, i < s.tokens(q), s.key(b) != none, s.key(b) == s.own(q, i, size - 1))
    two = z3.And(s.key(b) != none, s.key(b) == s.key(b2))
    writes = z3.And(
        t.holds(q, b), slot(o), z3.Not(s.is_computed(q, t.place(q, b), o)), precedes(t.place(q, b), o, end, end_rest)
    )
    unfinished = z3.And(
        s.phase(q) == RUNNING, s.live(q, i), s.table(q, i) == b, slot(o), z3.Not(s.is_computed(q, i, o))
    )
    still = dict(BEFORE) | {f"fact {k}": f for k, f in enumerate(facts(s))}
    step = {f"premise {k}": f for k, f in enumerate(PREMISES)} | dict(COMPUTE)
    return [
        Theorem(
            "hit-by-key",
            "a block whose key is the key of a request's whole block holds that block's contexts, of this epoch",
            still,
            found,
            z3.And(z3.ForAll([o], z3.Implies(slot(o), s.content(b, o) == s.own(q, i, o))), s.fresh(b)),
            ("S4-content", "S4-epoch", "history-chain"),
        ),
        Theorem(
            "S3-equal-keys",
            "blocks of equal keys have equal contents, so a duplicate does no harm",
            still,
            two,
            z3.ForAll([o], z3.Implies(slot(o), s.content(b, o) == s.content(b2, o))),
            ("S4-content",),
        ),
        Theorem(
            "S6-sole-writer",
            "a block that a step writes has one holder and had no key",
            step,
            z3.And(writes, ACTIONS["compute"].counting(), s.phase(p) != ABSENT, p != q),
            z3.And(t.ref(b) == 1, z3.Not(t.holds(p, b)), z3.Implies(s.ref(b) > 0, s.key(b) == none)),
            ("sole-owner", "free"),
        ),
        Theorem(
            "S6-no-key-ahead",
            "a block of which a running request has slots still to compute has no key",
            still,
            unfinished,
            s.key(b) == none,
            ("S6-ahead", "S4-last"),
        ),
    ]
