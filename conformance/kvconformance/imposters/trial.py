"""Tries one imposter: how soon the suite kills it, and by which rule."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from kvconformance.claims import claimed
from kvconformance.history import History
from kvconformance.imposters.alone import other_killer
from kvconformance.imposters.registry import Imposter, surface_of
from kvconformance.search.examples import Found, Plan, search
from kvconformance.search.keys import compare_keys
from kvconformance.search.shorten import shorten
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvspec.rules import REPRODUCIBLE_KEY, RULES, Rule
from kvspec.violation import Tally

EXAMPLES = 2_000
SECONDS = 600.0
ROUNDS = 4
SHRINK_SECONDS = 1.0


@dataclass(frozen=True)
class Kill:
    """How an imposter fared: `by` is the id of the rule that killed it, `steps` the length of the smallest history."""

    name: str
    bug: str
    rule: str
    surface: str
    killed: bool
    by: str | None
    examples: int
    steps: int | None
    seconds: float
    """Until the first history that kills; shrinking comes on top."""
    alone: bool | None = None
    """Whether nothing kills it when the checks of `by` are taken out; None where that was not tried."""
    without: str | None = None
    """The id of the rule that kills it then."""

    def as_data(self) -> dict[str, Any]:
        """The kill as JSON data."""
        return asdict(self)


def judges(rule: Rule) -> frozenset[Rule]:
    """The rules whose breaking shows that `rule` is broken."""
    return frozenset(other for other in RULES.values() if other.covers(rule))


@dataclass(frozen=True)
class Hunt:
    """The first history that killed an imposter, not yet shortened, after so many examples and seconds."""

    found: Found | None
    examples: int
    seconds: float


def hunt(imposter: Imposter, seed: int = 0, examples: int = EXAMPLES, seconds: float = SECONDS) -> Hunt:
    """Search for a history that kills the imposter by its rule, or by one that implies it.

    Each of `ROUNDS` searches, from seeds of their own, has so many examples and seconds: one search may run dry.
    """
    surface, engine = surface_of(imposter), _engine(imposter)
    judged, rules, tried, spent = claimed(engine, surface), judges(imposter.broken_rule), 0, 0.0
    for number in range(ROUNDS):
        begin = seed + 7_919 * number
        drawn = _drawn(surface, engine.capabilities(surface), begin, examples)
        plan = Plan(examples, begin, seconds, 0.0, rules=rules, first_only=True, drawn=drawn)
        outcome = search(engine, surface, plan, judged)
        for found in outcome.found:
            return Hunt(found, tried + found.examples, spent + found.seconds)
        tried, spent = tried + outcome.examples, spent + outcome.seconds
    return Hunt(None, tried, spent)


def try_imposter(imposter: Imposter, seed: int = 0, examples: int = EXAMPLES, seconds: float = SECONDS) -> Kill:
    """Hunt the imposter, and say how soon it was killed and in how few steps it can be."""
    if imposter.broken_rule is REPRODUCIBLE_KEY:
        return _by_keys(imposter)
    hunted = hunt(imposter, seed, examples, seconds)
    steps = None if hunted.found is None else _steps(imposter, hunted.found)
    rule = None if hunted.found is None else hunted.found.rule
    return _kill(imposter, rule, hunted.examples, steps, hunted.seconds)


def try_without(imposter: Imposter, kill: Kill, seed: int = 0) -> Kill:
    """The kill with whether another check would have done it, given three times as long."""
    if kill.by is None:
        return kill
    other = other_killer(imposter, RULES[kill.by], seed, at_least=3 * kill.examples)
    return replace(kill, alone=other is None, without=other.id if other else None)


_DRAWN: list[tuple[tuple[object, ...], list[History]]] = []


def _drawn(*search: object) -> list[History]:
    """What was drawn in such a search before: imposters with the same capabilities are all tried with it."""
    for known, histories in _DRAWN:
        if known == search:
            return histories
    _DRAWN.append((search, []))
    return _DRAWN[-1][1]


def _engine(imposter: Imposter) -> Engine:
    return Engine(imposter.__name__, "imposter", {surface_of(imposter): imposter})


def _steps(imposter: Imposter, found: Found) -> int:
    """The number of operations of the smallest history that kills by the same rule."""
    surface, engine = surface_of(imposter), _engine(imposter)

    def attempt(history: History) -> Trial | None:
        trial = play(engine.factories[surface], engine.capabilities(surface), surface, history, Tally())
        return trial if trial.violation is not None and trial.violation.rule is found.rule else None

    smallest = shorten(found.trial.history, attempt, SHRINK_SECONDS) or found.trial
    return len(smallest.history.operations)


def _by_keys(imposter: Imposter) -> Kill:
    """Reproducible keys are no matter of histories: engines and processes are compared."""
    begun = time.monotonic()
    compared, difference = compare_keys(imposter, f"{imposter.__module__}:{imposter.__name__}")
    by = REPRODUCIBLE_KEY if difference is not None else None
    return _kill(imposter, by, compared, 1 if by else None, time.monotonic() - begun)


def _kill(imposter: Imposter, by: Rule | None, examples: int, steps: int | None, seconds: float) -> Kill:
    return Kill(
        name=imposter.__name__,
        bug=imposter.bug,
        rule=imposter.broken_rule.id,
        surface=surface_of(imposter).value,
        killed=by is not None,
        by=by.id if by else None,
        examples=examples,
        steps=steps,
        seconds=round(seconds, 3),
    )
