"""Plays every history of a scope on fresh engines, breadth first, and judges each as the random search does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from kvconformance.exhaust.alphabet import Alphabet, Watching
from kvconformance.exhaust.covered import Covered
from kvconformance.exhaust.worlds import Wanted, chosen, empty, lacks
from kvconformance.history import History, Operation
from kvconformance.search.examples import HANG_SECONDS, TELL_SECONDS, Found, Outcome, Plan, Progress, judged_by
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.situation import Operations, Situation
from kvexamine.explorer import Scope
from kvspec import events as ev
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import Surface

HISTORIES = 2_000
DEPTH = 5

Journal = Callable[[History], None]


@dataclass(frozen=True)
class Exhaustive:
    """What is searched: each of the scopes up to `depth` operations, at most `histories` histories of each.

    It takes the place of the random search in a plan (`Plan.how`).
    """

    scopes: tuple[Scope, ...]
    depth: int = DEPTH
    histories: int = HISTORIES
    options: Wanted = ()
    """Values of the engine's own options; those that are not named have their first ones."""

    def __call__(
        self,
        engine: Engine,
        surface: Surface,
        plan: Plan,
        judged: Iterable[Rule],
        *,
        progress: Progress | None = None,
        journal: Journal | None = None,
        outcome: Outcome | None = None,
    ) -> Outcome:
        """Search all scopes on one surface; a rule that is found broken in one is known to be broken in the next."""
        return exhaust(engine, surface, plan, judged, self, progress=progress, journal=journal, outcome=outcome)


def exhaust(
    engine: Engine,
    surface: Surface,
    plan: Plan,
    judged: Iterable[Rule],
    bounds: Exhaustive,
    *,
    progress: Progress | None = None,
    journal: Journal | None = None,
    outcome: Outcome | None = None,
) -> Outcome:
    """Play the histories of the scopes until all are done, the time of the plan is up or, if it says so, one breaks.

    `outcome` is filled as the search goes on, as by `kvconformance.search.examples.search`.
    """
    judged = frozenset(judged) & (plan.rules if plan.rules is not None else frozenset(judged))
    outcome = Outcome(surface) if outcome is None else outcome
    hunt = _Hunt(engine, surface, plan, judged, bounds, progress, journal, outcome)
    for scope in bounds.scopes:
        hunt.scope(scope)
    outcome.complete = all(one.complete or one.skipped for one in outcome.covered)
    outcome.seconds = time.monotonic() - outcome.begun
    return outcome


@dataclass
class _Run:
    """How far the search of one scope has come: what goes into its line."""

    scope: Scope
    options: dict[str, Any]
    before: int
    """Histories of the scopes before it."""
    known: int
    """Rules found broken before it."""
    depth: int = 0
    whole: bool = False
    longest: int | None = None
    cut: Counter[str] = field(default_factory=Counter)

    def covered(self, outcome: Outcome) -> Covered:
        """The line as it is now."""
        return Covered(
            scope=self.scope.name,
            surface=outcome.surface,
            histories=outcome.examples - self.before,
            depth=self.depth,
            complete=self.whole,
            longest=self.longest,
            cut=self.cut.total(),
            broken=tuple(one.rule.id for one in outcome.found[self.known :]),
            cut_at=tuple(sorted(self.cut)),
            options=self.options,
        )


@dataclass
class _Hunt:
    """The search of one surface: what was found so far, and how much was played."""

    engine: Engine
    surface: Surface
    plan: Plan
    judged: frozenset[Rule]
    bounds: Exhaustive
    progress: Progress | None
    journal: Journal | None
    outcome: Outcome
    told: float = 0.0
    run: _Run = field(init=False)

    def __post_init__(self) -> None:
        self.capabilities = self.engine.capabilities(self.surface)
        self.options = chosen(self.capabilities, self.bounds.options)
        self.past: tuple[Covered, ...] = ()

    def scope(self, scope: Scope) -> None:
        """Level by level: first every history of one operation, then every one of two."""
        why = lacks(scope, self.capabilities, self.surface)
        if why:
            self.past = self.outcome.covered = (*self.past, Covered(scope.name, self.surface, skipped=why))
            return
        run = self.run = _Run(scope, self.options, self.outcome.examples, len(self.outcome.found))
        alphabet = Alphabet(scope, self.capabilities, self.surface)
        start, until = empty(scope, self.capabilities, self.bounds.options), run.before + self.bounds.histories
        level: list[tuple[Operations, Situation]] = [((), Situation())]
        whole = True
        while level and whole and run.depth < self.bounds.depth:
            played = self.outcome.examples
            level, whole = self.longer(alphabet, start, level, until)
            run.depth += whole and self.outcome.examples > played
        run.whole, run.longest = whole, None if level or not whole or run.cut else run.depth
        self.past = self.outcome.covered = (*self.past, run.covered(self.outcome))

    def longer(
        self, alphabet: Alphabet, start: History, level: list[tuple[Operations, Situation]], until: int
    ) -> tuple[list[tuple[Operations, Situation]], bool]:
        """Those histories of one more operation that can go on, and whether all of that length were played."""
        further: list[tuple[Operations, Situation]] = []
        for done, situation in level:
            for operation in alphabet.after(done, situation):
                if self.over(until):
                    return further, False
                operations = (*done, operation)
                now = self.attempt(msgspec.structs.replace(start, operations=operations))
                if now is not None:
                    further.append((operations, now))
        return further, True

    def over(self, until: int) -> bool:
        """Whether to stop: enough histories, enough time, or enough found."""
        late = time.monotonic() - self.outcome.begun > self.plan.seconds
        return late or self.outcome.examples >= until or (self.plan.first_only and bool(self.outcome.found))

    def attempt(self, history: History) -> Situation | None:
        """Play one history and keep what it breaks; the situation in which it can go on, None where it cannot."""
        self.outcome.covered = (*self.past, self.run.covered(self.outcome))
        if self.journal:
            self.journal(history)
        waived = frozenset(found.rule for found in self.outcome.found)
        patience = min(self.plan.patience, HANG_SECONDS) if self.outcome.hung else self.plan.patience
        tally, trial = self.play(history, waived, patience)
        if trial.hung and not self.outcome.hung:  # a slow machine is no hang, and a hang hangs twice
            tally, trial = self.play(history, waived, patience)
        if trial.violation is None and not trial.waived and not applied(trial):
            return None
        self.outcome.hung |= trial.hung
        self.count(tally)
        violation = judged_by(trial.violation, self.judged - waived)
        if violation is not None:
            seconds = time.monotonic() - self.outcome.begun
            self.outcome.found.append(Found(replace(trial, violation=violation), self.outcome.examples, seconds))
        situation = trial.checker.situation if isinstance(trial.checker, Watching) else None
        if situation is None:
            self.run.cut[trial.violation.rule.id if trial.violation is not None else trial.known] += 1
        return situation

    def play(self, history: History, waived: frozenset[Rule], patience: float) -> tuple[Tally, Trial]:
        """One trial, and what it put to the test."""
        tally, factory = Tally(waived), self.engine.factories[self.surface]
        trial = play(factory, self.capabilities, self.surface, history, tally, patience, Watching, self.tell)
        return tally, trial

    def count(self, tally: Tally) -> None:
        """One more history."""
        self.outcome.examples += 1
        self.outcome.exercised.update(tally.exercised)
        if time.monotonic() - self.told > TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        """How far it is."""
        self.told = time.monotonic()
        if self.progress:
            wanted = self.bounds.histories * len(self.bounds.scopes)
            self.progress(self.outcome.examples, wanted, [found.rule.id for found in self.outcome.found])


def applied(trial: Trial) -> bool:
    """Whether the last operation did anything: one that does not apply leaves no event but the end of a step."""
    last = trial.history.operations[-1]
    events = trial.checker.events
    begins = max(place for place, event in enumerate(events) if event is last)
    for event in events[begins + 1 :]:
        if isinstance(event, str | Operation):
            return False
        if not isinstance(event, ev.EndStep):
            return True
    return False
