"""Plays every history of a scope on fresh engines, breadth first, and judges each as the random search does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import msgspec

from kvconformance.exhaust.alphabet import Alphabet, Operations, Situation, Watching
from kvconformance.exhaust.covered import Covered
from kvconformance.exhaust.worlds import empty, lacks
from kvconformance.history import History, Operation
from kvconformance.search import HANG_SECONDS, TELL_SECONDS, Found, Outcome, Plan, Progress, judged_by
from kvconformance.surfaces import Engine
from kvconformance.trial import Trial, play
from kvspec import events as ev
from kvspec.explorer import Scope
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

    def __call__(
        self,
        engine: Engine,
        surface: Surface,
        plan: Plan,
        judged: Iterable[Rule],
        *,
        progress: Progress | None = None,
        journal: Journal | None = None,
    ) -> Outcome:
        """Search all scopes on one surface; a rule that is found broken in one is known to be broken in the next."""
        return exhaust(engine, surface, plan, judged, self, progress=progress, journal=journal)


def exhaust(
    engine: Engine,
    surface: Surface,
    plan: Plan,
    judged: Iterable[Rule],
    bounds: Exhaustive,
    *,
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> Outcome:
    """Play the histories of the scopes until all are done, the time of the plan is up or, if it says so, one breaks."""
    judged = frozenset(judged) & (plan.rules if plan.rules is not None else frozenset(judged))
    hunt = _Hunt(engine, surface, plan, judged, bounds, progress, journal)
    covered = tuple(hunt.scope(scope) for scope in bounds.scopes)
    hunt.outcome.covered = covered
    hunt.outcome.complete = all(one.complete or one.skipped for one in covered)
    hunt.outcome.seconds = time.monotonic() - hunt.begun
    return hunt.outcome


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
    begun: float = field(default_factory=time.monotonic)
    told: float = 0.0
    cut: int = 0

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.surface)
        self.capabilities = self.engine.capabilities(self.surface)

    def scope(self, scope: Scope) -> Covered:
        """Level by level: first every history of one operation, then every one of two."""
        why = lacks(scope, self.capabilities, self.surface)
        if why:
            return Covered(scope.name, self.surface, skipped=why)
        before, found, self.cut = self.outcome.examples, len(self.outcome.found), 0
        alphabet = Alphabet(scope, self.capabilities, self.surface)
        start, until = empty(scope, self.capabilities), before + self.bounds.histories
        level: list[tuple[Operations, Situation]] = [((), Situation())]
        depth, whole = 0, True
        while level and whole and depth < self.bounds.depth:
            played = self.outcome.examples
            level, whole = self.longer(alphabet, start, level, until)
            depth += whole and self.outcome.examples > played
        return Covered(
            scope=scope.name,
            surface=self.surface,
            histories=self.outcome.examples - before,
            depth=depth,
            complete=whole,
            longest=None if level or not whole or self.cut else depth,
            cut=self.cut,
            broken=tuple(one.rule.id for one in self.outcome.found[found:]),
        )

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
        late = time.monotonic() - self.begun > self.plan.seconds
        return late or self.outcome.examples >= until or (self.plan.first_only and bool(self.outcome.found))

    def attempt(self, history: History) -> Situation | None:
        """Play one history and keep what it breaks; the situation in which it can go on, None where it cannot."""
        if self.journal:
            self.journal(history)
        waived = frozenset(found.rule for found in self.outcome.found)
        tally = Tally(waived)
        patience = min(self.plan.patience, HANG_SECONDS) if self.outcome.hung else self.plan.patience
        factory = self.engine.factories[self.surface]
        trial = play(factory, self.capabilities, self.surface, history, tally, patience, Watching)
        if trial.violation is None and not trial.waived and not applied(trial):
            return None
        self.outcome.hung |= trial.hung
        self.count(tally)
        violation = judged_by(trial.violation, self.judged - waived)
        if violation is not None:
            seconds = time.monotonic() - self.begun
            self.outcome.found.append(Found(replace(trial, violation=violation), self.outcome.examples, seconds))
        situation = trial.checker.situation if isinstance(trial.checker, Watching) else None
        self.cut += situation is None
        return situation

    def count(self, tally: Tally) -> None:
        """One more history."""
        self.outcome.examples += 1
        self.outcome.exercised.update(tally.exercised)
        now = time.monotonic()
        if self.progress and now - self.told > TELL_SECONDS:
            self.told = now
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
