"""What an action is: a relation between two states, as named guards and the new value of every field it changes.

A field that an action does not name keeps its values. Parameters are free constants and functions: what is proved of an
action is proved for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from kvexamine.proofs.cache.model import (
    FIELDS,
    Block,
    Bool,
    Cache,
    Context,
    Int,
    Request,
    b,
    counted,
    facts,
    i,
    o,
    r,
    slot,
)

s, t = Cache("s"), Cache("t")
q, p = z3.Consts("q p", Request)
target = z3.Const("target", Block)
sampled = z3.Const("sampled", Context)
n, x, end, end_rest, count, extent = z3.Ints("n x end end_rest count extent")
tab = z3.Function("tab", Int, Block)
bad, hurt = z3.Function("bad", Block, Int, Bool), z3.Function("hurt", Block, Bool)
deferred, accepted, current = z3.Bools("deferred accepted current")

ARGUMENTS = {Request: r, Block: b}
"""The variable that stands for an argument of each sort; integers are an index, then an offset."""

OUTSIDE = ("alloc/in-flight-fence",)
"""Rules that no guard of the model stands for: fences are not in it."""

ANY = "any"
"""Stands for every rule but those: a content that is wrong breaks one of many, by what is wrong about it."""

BEFORE_AND_AFTER = (*facts(s), *facts(t))


@dataclass(frozen=True)
class Action:
    """One relation. `changed` is the request whose table it changes, if any; `events` the classes it stands for."""

    name: str
    events: tuple[type, ...]
    guards: Mapping[str, Any]
    effects: Mapping[str, Any]
    changed: Any = None
    rules: Mapping[str, str] = field(default_factory=dict)
    """For each guard, the rules that the transition names where it fails; guards without one are not refusals."""

    def refuses_by(self, rule: str) -> list[str]:
        """The guards that stand for a rule."""
        names = (name for name, rules in self.rules.items() if rule in rules.split() or rules == ANY)
        return [] if rule in OUTSIDE else list(names)

    def relation(self) -> dict[str, Any]:
        """Guards, effects and frame, one named conjunct each."""
        return dict(self.guards) | {f"{name}'": becomes(name, self.effects.get(name)) for name in FIELDS}

    def counting(self) -> Any:
        """How the numbers of holders follow."""
        return z3.ForAll([b], t.count(b) == s.count(b)) if self.changed is None else counted(s, t, self.changed)


def becomes(name: str, value: Any) -> Any:
    """Field `name` of `t` has the new value, or its old one, wherever the field means anything."""
    arguments, integers = [], [o] if FIELDS[name][0] == Block else [i, o]
    for sort in FIELDS[name][:-1]:
        arguments.append(ARGUMENTS[sort] if sort in ARGUMENTS else integers.pop(0))
    new = getattr(t, name)(*arguments) if arguments else t.left
    if value is None:
        value = getattr(s, name)(*arguments) if arguments else s.left
    elif isinstance(value, Within):
        return z3.ForAll(arguments, z3.Implies(z3.And(_domain(name), getattr(t, name)(*arguments)), value.limit))
    if not arguments:
        return new == value
    return z3.ForAll(arguments, z3.Implies(_domain(name), new == value))


@dataclass(frozen=True)
class Within:
    """A predicate that may only shrink, to within `limit`."""

    limit: Any


def _domain(name: str) -> Any:
    """Where a field means anything: existing entries, tokens, slots."""
    if name == "table":
        return t.live(r, i)
    if name == "own":
        return z3.And(i >= 0, slot(o), t.is_token(r, i, o))
    return slot(o) if name in {"content", "by", "due"} else z3.BoolVal(True)


def of(request: Any, value: Any, name: str) -> Any:
    """The field of a request becomes `value`; those of others stay."""
    return z3.If(r == request, value, getattr(s, name)(r))


def every(variables: list[Any], condition: Any, then: Any) -> Any:
    """For all values of the variables under the condition."""
    return z3.ForAll(variables, z3.Implies(condition, then))
