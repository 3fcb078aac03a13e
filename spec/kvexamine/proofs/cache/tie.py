"""The tie: every relation of the model, held against what the transition does in random walks through small worlds.

For an event that `step` allows, the very formulas that are proved are evaluated over the states before and after it:
the relation, the facts of counting, the invariants, the properties of a step. For an event that `step` refuses by a
rule that the model has, a guard of the model must be false. Where the model is stricter (`STRICTER`), the walk goes on
as if the event had been refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random

from kvexamine.proofs.cache.abstraction import structure
from kvexamine.proofs.cache.actions import ACTIONS, STRICTER
from kvexamine.proofs.cache.finite import Reading, Structure, compiled
from kvexamine.proofs.cache.induction import GOALS
from kvexamine.proofs.cache.model import CONSTANTS
from kvexamine.proofs.cache.relation import BEFORE_AND_AFTER, Action
from kvexamine.proofs.cache.walks import NEWCOMER, begin, propose
from kvexamine.proofs.results import Kind, Outcome
from kvspec import events as ev
from kvspec.state import State
from kvspec.transition import step
from kvspec.violation import Broken, HarnessFault

ACTION_OF = {event: action for action in ACTIONS.values() for event in action.events}
WALKS, LENGTH = 80, 80
LEAST = 3
"""Times that every action and every class of events must be allowed, and that guards must refuse, in all walks."""


@dataclass
class Tie:
    """What the walks have shown."""

    allowed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    stricter: Counter[tuple[str, str]] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)
    """Refusals by rules that the model does not have."""
    mismatches: list[str] = field(default_factory=list)

    def walk(self, seed: int, length: int = LENGTH) -> None:
        """One walk of so many events that are allowed or refused."""
        random = Random(seed)  # noqa: S311 - a walk, not a secret
        state = begin(random)
        for _ in range(length):
            state = self.take(state, propose(state, random))

    def take(self, state: State, event: ev.Event) -> State:
        """The state after the event, or the same where it was refused; differences are noted."""
        action = ACTION_OF[type(event)]
        try:
            after = step(state, event)
        except HarnessFault:
            return state
        except Broken as broken:
            self._refusal(state, event, action, broken)
            return state
        untrue = list(false_conjuncts(structure(state, after, event, NEWCOMER), action))
        guards = [(action.name, name) for name in untrue if name in action.guards]
        if guards and all(guard in STRICTER for guard in guards):
            self.stricter.update(guards)
            return state
        self.allowed[type(event).__name__] += 1
        if untrue:
            self.mismatches.append(f"{type(event).__name__} is allowed and not {', '.join(untrue)}: {event}")
        return after

    def _refusal(self, state: State, event: ev.Event, action: Action, broken: Broken) -> None:
        names = action.refuses_by(broken.rule.id)
        if not names:
            self.outside[broken.rule.id] += 1
            return
        shape = structure(state, state, event, NEWCOMER)
        self.refused[action.name] += 1
        if all(shape.satisfies(_guards(action.name)[name]) for name in names):
            self.mismatches.append(f"{type(event).__name__} is refused ({broken}) and allowed by the model: {event}")


def false_conjuncts(shape: Structure, action: Action) -> Iterator[str]:
    """The conjuncts that are not true of a step which the transition allows."""
    for name, reading in (_relation(action.name) | _everywhere()).items():
        if not shape.satisfies(reading):
            yield name


@cache
def _relation(name: str) -> dict[str, Reading]:
    action = ACTIONS[name]
    return {key: compiled(f) for key, f in (action.relation() | {"counting": action.counting()}).items()}


@cache
def _guards(name: str) -> dict[str, Reading]:
    return {key: compiled(f) for key, f in ACTIONS[name].guards.items()}


@cache
def _everywhere() -> dict[str, Reading]:
    """The facts, the invariants after the step, and the properties of a step."""
    facts = {f"fact {k}": f for k, f in enumerate((CONSTANTS, *BEFORE_AND_AFTER))}
    return {key: compiled(f) for key, f in (facts | GOALS).items()}


def tied(walks: int = WALKS) -> Outcome:
    """All walks; every class of events must have been allowed, most actions must have refused."""
    tie = Tie()
    for seed in range(walks):
        tie.walk(seed)
    failures = list(dict.fromkeys(tie.mismatches))[:10]
    failures += [f"{e.__name__} was hardly ever allowed" for e in ACTION_OF if tie.allowed[e.__name__] < LEAST]
    refusing = [action.name for action in ACTIONS.values() if action.rules]
    failures += [f"{name} was hardly ever refused" for name in refusing if tie.refused[name] < LEAST]
    return Outcome(
        "tie/transition",
        Kind.TIED,
        "the relations are true of what the transition does, and their guards false where it refuses",
        tuple(failures),
        vacuity=f"{tie.allowed.total()} events allowed, {tie.refused.total()} refused",
        notes=tuple(f"stricter {'/'.join(pair)}: {count}" for pair, count in sorted(tie.stricter.items())),
    )
