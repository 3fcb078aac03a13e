"""One formula, two more readings: expanded over a small scope (still z3), and evaluated over a finite structure.

Expanding every quantifier over a scope of a few elements gives a formula without quantifiers; a model of it is a
finite structure, hence a genuine counterexample. Evaluating needs no solver at all: it is how the very formulas that
are proved are held against states of the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

Reading = Callable[[Mapping[str, Any], "Scope"], Any]
"""A formula as a function of the interpretation and the scope."""


@dataclass(frozen=True)
class Scope:
    """How many of each there are: elements by sort name, indices `0 <= i < indices`, offsets `0 <= o < offsets`."""

    elements: Mapping[str, tuple[Any, ...]]
    indices: int
    offsets: int

    def domain(self, quantifier: Any, k: int) -> Any:
        """Values of bound variable `k`; integers whose name begins with o are offsets."""
        sort = quantifier.var_sort(k).name()
        if sort != "Int":
            return self.elements[sort]
        return range(self.offsets if quantifier.var_name(k).startswith("o") else self.indices)


def expand(formula: Any, scope: Scope) -> Any:
    """The formula with every quantifier written out over the scope."""
    if z3.is_quantifier(formula):
        values = [scope.domain(formula, k) for k in range(formula.num_vars())]
        bodies = (
            z3.substitute_vars(formula.body(), *(_value(v) for v in reversed(chosen))) for chosen in product(*values)
        )
        expanded = [expand(body, scope) for body in bodies]
        return z3.And(*expanded) if formula.is_forall() else z3.Or(*expanded)
    if z3.is_app(formula) and formula.num_args() and _has_quantifier(formula):
        return formula.decl()(*(expand(argument, scope) for argument in formula.children()))
    return formula


def _value(value: Any) -> Any:
    return z3.IntVal(value) if isinstance(value, int) else value


def _has_quantifier(formula: Any) -> bool:
    return z3.is_quantifier(formula) or any(_has_quantifier(child) for child in formula.children())


@dataclass(frozen=True)
class Structure:
    """A finite interpretation: each function by name, as a constant or a callable of Python values."""

    scope: Scope
    functions: Mapping[str, Any]

    def satisfies(self, reading: Reading) -> bool:
        """Whether the compiled formula is true here."""
        return bool(reading(self.functions, self.scope))


def compiled(formula: Any) -> Reading:
    """The formula as a function of a structure: one Python expression, with `all` and `any` for the quantifiers."""
    made: Reading = eval(f"lambda F, S: {_spelled(formula, ())}")  # noqa: S307 - spelled below, from our own formula
    return made


def _spelled(formula: Any, bound: tuple[str, ...]) -> str:
    """The formula in Python. `bound` names the variables around it, the innermost last."""
    if z3.is_quantifier(formula):
        names = [f"v{len(bound) + k}" for k in range(formula.num_vars())]
        loops = " ".join(f"for {name} in {_domain(formula, k)}" for k, name in enumerate(names))
        every = "all" if formula.is_forall() else "any"
        return f"{every}({_spelled(formula.body(), (*bound, *names))} {loops})"
    if z3.is_var(formula):
        index: int = z3.get_var_index(formula)
        return bound[-1 - index]
    if z3.is_int_value(formula):
        return str(formula.as_long())
    parts = [_spelled(child, bound) for child in formula.children()]
    kind, name = formula.decl().kind(), formula.decl().name()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return f"F[{name!r}]" + (f"({', '.join(parts)})" if parts else "")
    if kind in _JOINED:
        return f"({_JOINED[kind].join(parts)})"
    return _PATTERNS[kind].format(*parts)


def _domain(quantifier: Any, k: int) -> str:
    sort = quantifier.var_sort(k).name()
    if sort != "Int":
        return f"S.elements[{sort!r}]"
    return "range(S.offsets)" if quantifier.var_name(k).startswith("o") else "range(S.indices)"


_JOINED = {
    z3.Z3_OP_AND: " and ",
    z3.Z3_OP_OR: " or ",
    z3.Z3_OP_EQ: " == ",
    z3.Z3_OP_LE: " <= ",
    z3.Z3_OP_LT: " < ",
    z3.Z3_OP_GE: " >= ",
    z3.Z3_OP_GT: " > ",
    z3.Z3_OP_ADD: " + ",
    z3.Z3_OP_SUB: " - ",
}
_PATTERNS = {
    z3.Z3_OP_TRUE: "True",
    z3.Z3_OP_FALSE: "False",
    z3.Z3_OP_NOT: "(not {0})",
    z3.Z3_OP_IMPLIES: "(not {0} or {1})",
    z3.Z3_OP_ITE: "({1} if {0} else {2})",
    z3.Z3_OP_DISTINCT: "({0} != {1})",
}
