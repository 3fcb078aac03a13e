"""The search: Hypothesis looks for a history that breaks a rule, shrinks it, and goes on for the other rules."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hypothesis import Phase

from kvconformance.exhaust.covered import Covered
from kvconformance.history import History
from kvconformance.search.draws import try_histories
from kvconformance.search.shorten import shorten
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import histories
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Tally, Violation
from kvspec.vocabulary import Surface

Progress = Callable[[int, int, list[str]], None]
"""Called with (examples done, examples wanted, ids of the rules broken so far)."""


HANG_SECONDS = 0.5
"""Patience once an engine has hung or a finding is being shrunk: most histories take milliseconds."""


TELL_SECONDS = 0.2
"""How often progress is told: often enough that a slow engine is not taken for a dead one."""


class OutOfTime(BaseException):
    """Ends a search from inside Hypothesis, which lets it pass because it is no `Exception`."""


@dataclass(frozen=True)
class Plan:
    """How long and how hard to search. `seconds` bounds everything, `shrink_seconds` the shrinking of one finding."""

    examples: int = 3_000
    seed: int = 0
    seconds: float = 60.0
    shrink_seconds: float = 6.0
    patience: float = 10.0
    rules: frozenset[Rule] | None = None
    """Only these can be found broken (None: all)."""
    first_only: bool = False
    """Stop at the first rule that is found broken."""
    drawn: list[History] | None = field(default=None, compare=False)
    """The first histories of the search for one rule, where they are drawn already."""
    how: Callable[..., Outcome] | None = None
    """Another search than this one, called with the same arguments."""


@dataclass
class Found:
    """A rule found broken: the smallest history seen that breaks it, after how many examples, in how many seconds."""

    trial: Trial
    examples: int
    seconds: float = 0.0

    @property
    def rule(self) -> Rule:
        """The broken rule."""
        violation = self.trial.violation
        if violation is None:
            raise HarnessFault("a finding without a violation")
        return violation.rule


@dataclass
class Outcome:
    """What a search of one surface gave."""

    surface: Surface
    examples: int = 0
    seconds: float = 0.0
    exercised: Counter[Rule] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    complete: bool = True
    """False where time ran out before all examples were tried."""
    hung: bool = False
    """Whether the engine has hung before: from then on it is given less patience."""
    covered: tuple[Covered, ...] = ()
    """Where histories are tried exhaustively, how far."""
    begun: float = field(default_factory=time.monotonic)


def search(
    engine: Engine,
    surface: Surface,
    plan: Plan,
    judged: Iterable[Rule],
    *,
    progress: Progress | None = None,
    journal: Callable[[History], None] | None = None,
    outcome: Outcome | None = None,
) -> Outcome:
    """Look for broken rules among `judged` on one surface until the examples or the seconds are used up.

    `journal` is told of each history before it is run, so that a supervisor knows what killed the process. `outcome`
    is filled as the search goes on and returned: what it has is not lost where the search ends with an exception.
    """
    judged = frozenset(judged) & (plan.rules if plan.rules is not None else frozenset(judged))
    outcome = Outcome(surface) if outcome is None else outcome
    begun = outcome.begun
    waived: frozenset[Rule] = frozenset()
    while outcome.examples < plan.examples and time.monotonic() - begun < plan.seconds:
        hunt = _Hunt(engine, surface, plan, judged, waived, outcome, begun, progress, journal)
        found = hunt.run()
        if found is None:
            outcome.complete = not hunt.out_of_time
            break
        if plan.first_only:
            break
        waived |= {found.rule}
    outcome.seconds = time.monotonic() - begun
    return outcome


class _Hunt:
    """One run of Hypothesis: up to the next rule that is not known to be broken."""

    def __init__(
        self,
        engine: Engine,
        surface: Surface,
        plan: Plan,
        judged: frozenset[Rule],
        waived: frozenset[Rule],
        outcome: Outcome,
        begun: float,
        progress: Progress | None,
        journal: Callable[[History], None] | None,
    ) -> None:
        self.factory = engine.factories[surface]
        self.capabilities = engine.capabilities(surface)
        self.surface, self.plan, self.judged = surface, plan, judged
        self.waived, self.outcome, self.begun = waived, outcome, begun
        self.progress, self.journal = progress, journal
        self.best: Found | None = None
        self.first: Trial | None = None
        self.shrink_until = 0.0
        self.told = 0.0
        self.out_of_time = False
        self.patience = min(plan.patience, HANG_SECONDS) if outcome.hung else plan.patience

    def run(self) -> Found | None:
        """The next broken rule with its smallest history, or None."""
        seed = self.plan.seed + 1_000_003 * len(self.waived)
        try:
            try_histories(
                histories(self.surface, self.capabilities),
                self.attempt,
                seed=seed,
                examples=self.plan.examples - self.outcome.examples,
                phases=(Phase.generate, Phase.shrink),
                drawn=self.plan.drawn,
            )
        except OutOfTime:
            self.out_of_time = self.best is None
        except HarnessFault:
            raise
        except Exception:
            if self.best is None:
                raise
        if self.best is not None:
            with suppress(OutOfTime):
                self.shorten(self.best)
        if self.best is not None and self.best.trial.hung:
            self.confirm_hang(self.best)
        return self.best

    def shorten(self, found: Found) -> None:
        """Leave out what Hypothesis left in: it shrinks choices, and this the history itself."""

        def attempt(history: History) -> Trial | None:
            if self.journal:
                self.journal(history)
            trial = self.judge(self.play(history, Tally(self.waived), self.patience))
            same = trial.violation is not None and trial.violation.rule is found.rule
            return trial if same else None

        left = self.begun + self.plan.seconds - time.monotonic()
        seconds = min(self.plan.shrink_seconds, left / 4)
        found.trial = shorten(found.trial.history, attempt, seconds) or found.trial

    def judge(self, trial: Trial) -> Trial:
        """The trial with its violation as one of a rule that is judged and not yet known to be broken."""
        return replace(trial, violation=judged_by(trial.violation, self.judged - self.waived))

    def again(self, history: History) -> Trial:
        """The same history with all the patience there is: a slow machine is no hang, and a hang hangs twice."""
        if self.journal:
            self.journal(history)
        return self.judge(self.play(history, Tally(self.waived), self.plan.patience))

    def confirm_hang(self, best: Found) -> None:
        """A hang was shrunk with less patience: give the smallest history all of it, or keep the first one."""
        again = None
        with suppress(OutOfTime):
            again = self.again(best.trial.history)
        if again is not None and again.hung and again.violation:
            best.trial = again
        elif self.first is not None:
            best.trial = self.first

    def play(self, history: History, tally: Tally, patience: float) -> Trial:
        """One trial."""
        return play(self.factory, self.capabilities, self.surface, history, tally, patience, alive=self.alive)

    def alive(self) -> None:
        """A sign of life in the middle of a long history, of which there is an end when the time is up."""
        self.tell()
        if time.monotonic() > self.begun + self.plan.seconds:
            raise OutOfTime

    def attempt(self, history: History) -> None:
        """Try one history; raise its violation so that Hypothesis shrinks it."""
        now = time.monotonic()
        if now > (self.shrink_until if self.best else self.begun + self.plan.seconds):
            raise OutOfTime
        if self.journal:
            self.journal(history)
        tally = Tally(self.waived)
        trial = self.judge(self.play(history, tally, self.patience))
        if trial.hung and self.best is None:
            trial = self.first = self.again(history)
        if trial.hung:
            self.outcome.hung, self.patience = True, min(self.plan.patience, HANG_SECONDS)
        if self.best is None:
            self.count(tally)
        violation = trial.violation
        if violation is None:
            return
        if self.best is None:
            self.best = Found(trial, self.outcome.examples, now - self.begun)
            self.outcome.found.append(self.best)
            # An engine that breaks many rules must not spend all its time on small histories for the first few.
            left = self.begun + self.plan.seconds - now
            self.shrink_until = now + min(self.plan.shrink_seconds, left / 4)
        elif violation.rule is not self.best.rule:
            return
        elif size(history) <= size(self.best.trial.history):
            self.best.trial = trial
        raise violation

    def count(self, tally: Tally) -> None:
        """One more example."""
        self.outcome.examples += 1
        self.outcome.exercised.update(tally.exercised)
        if time.monotonic() - self.told > TELL_SECONDS or self.best:
            self.tell()

    def tell(self) -> None:
        """How far it is."""
        self.told = time.monotonic()
        if self.progress:
            broken = [found.rule.id for found in self.outcome.found]
            self.progress(self.outcome.examples, self.plan.examples, broken)


def judged_by(violation: Violation | None, judged: Set[Rule]) -> Violation | None:
    """The violation as one of a rule that is judged: its own, or the first that falls with it; None if there is none.

    An engine that claims no adapters is not bound by `prefix/complete-key`, but a key that forgets the tokens before a
    block still makes it break `prefix/content-matches-key`, which it claims.
    """
    if violation is None:
        return None
    for rule in (violation.rule, *violation.rule.falls_with_it):
        if rule in judged:
            same = rule is violation.rule
            return violation if same else Violation(rule, violation.seen, violation.expected, **violation.facts)
    return None


def size(history: History) -> tuple[int, int, int]:
    """How much a person has to read: operations, then tokens, then the size of the world."""
    tokens = sum(operation.tokens() for operation in history.operations)
    return (len(history.operations), tokens, history.num_blocks + history.token_budget)
