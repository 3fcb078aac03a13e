"""Small scopes: where vacuity checks find an example of a step, and mutants a counterexample to induction."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import z3

from kvexamine.proofs.cache.finite import Scope, expand
from kvexamine.proofs.cache.model import Block, Request, b, b2, size
from kvexamine.proofs.cache.relation import p, q, s, t, tab, target

EFFORT = 4_000_000
"""Units of z3's own count of work for one question, about a second: a limit that does not depend on the machine."""


def solver(*premises: Any, seed: int = 0, effort: int = EFFORT) -> Any:
    """A deterministic solver that answers `unknown` rather than work for longer."""
    made = z3.Solver()
    made.set("random_seed", seed)
    made.set("smt.random_seed", seed)
    made.set("rlimit", effort)
    made.add(*premises)
    return made


class Small:
    """Satisfiability over so many blocks, entries of a table and slots of a block, and two requests.

    Every formula is expanded once. A model is a finite structure: an example, not an approximation of one.
    """

    def __init__(self, blocks: int, indices: int, offsets: int, premises: Iterable[Any]) -> None:
        self.blocks = tuple(z3.Const(f"b{k}", Block) for k in range(blocks))
        self.requests = tuple(z3.Const(f"r{k}", Request) for k in range(2))
        self.scope = Scope({"Block": self.blocks, "Request": self.requests}, indices, offsets)
        self._expanded: dict[int, tuple[Any, Any]] = {}
        self._solver = solver(*self._closed(), *map(self._expand, premises))

    def satisfiable(self, *formulas: Any) -> bool:
        """Whether some structure of this size satisfies the premises and the formulas; `unknown` counts as no."""
        self._solver.push()
        self._solver.add(*map(self._expand, formulas))
        answer = self._solver.check()
        self._solver.pop()
        return bool(answer == z3.sat)

    def _expand(self, formula: Any) -> Any:
        key = formula.get_id()
        if key not in self._expanded:  # the formula is kept beside its expansion: ids of dead ones are used again
            self._expanded[key] = (formula, expand(formula, self.scope))
        return self._expanded[key][1]

    def _closed(self) -> list[Any]:
        """The elements differ, and every table, parameter, free variable and history stays within the scope."""
        indices = self.scope.indices
        closed = [z3.Distinct(*self.blocks), z3.Distinct(*self.requests), size == self.scope.offsets]
        entries = [target, b, b2, *(tab(k) for k in range(indices))]
        for state in (s, t):
            for one in self.requests:
                closed += [state.length(one) <= indices, state.tokens(one) < indices]
                entries += [state.table(one, k) for k in range(indices)]
        closed += [z3.Or(*(entry == block for block in self.blocks)) for entry in entries]
        return closed + [z3.Or(*(one == other for other in self.requests)) for one in (q, p)]


@cache
def scopes(premises: tuple[Any, ...]) -> tuple[Small, ...]:
    """From the smallest on, until one shows what is looked for."""
    return Small(2, 2, 2, premises), Small(3, 3, 2, premises)


def example(premises: tuple[Any, ...], *formulas: Any) -> bool:
    """Whether a small structure satisfies all."""
    return any(small.satisfiable(*formulas) for small in scopes(premises))
