"""Check an engine: every surface that it has, every rule that binds it."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from kvconformance.adapters import as_engine
from kvconformance.checker import Checker
from kvconformance.claims import claimed, unclaimed
from kvconformance.history import History
from kvconformance.search.examples import Found, Outcome, Plan, search
from kvconformance.search.keys import compare_keys
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.telling.report import Finding, Report, SurfaceResult, finding
from kvspec.rules import REPRODUCIBLE_KEY, RULES, Rule
from kvspec.violation import HarnessFault, Tally, Violation
from kvspec.vocabulary import Surface

Progress = Callable[[Surface, int, int, list[str]], None]
Journal = Callable[[Surface, History, SurfaceResult], None]
"""Called before each history, with what is known until then (without claims)."""


def check_here(engine: Engine, plan: Plan, *, surfaces: Iterable[Surface] | None = None) -> Report:
    """Check in this process. An engine that kills the process kills us; `kvconformance.check` does not let it."""
    chosen = [s for s in engine.factories if surfaces is None or s in set(surfaces)]
    share = replace(plan, seconds=plan.seconds / max(len(chosen), 1))
    results = tuple(check_surface(engine, surface, share) for surface in chosen)
    return Report(engine.name, engine.version, plan.seed, results)


def check_surface(
    engine: Engine,
    surface: Surface,
    plan: Plan,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> SurfaceResult:
    """Search one surface. `name` is what the command line calls the engine; only a named one starts again elsewhere."""

    def tell(done: int, wanted: int, broken: list[str]) -> None:
        if progress:
            progress(surface, done, wanted, broken)

    outcome, telling = Outcome(surface), _Telling(name or engine.name)

    def note(history: History) -> None:
        if journal:
            journal(surface, history, telling.result(outcome))

    def faulty(fault: str) -> SurfaceResult:
        """What was found before something of ours failed, and what failed."""
        return replace(telling.result(outcome), claims=claims(engine, surface, plan.rules), fault=fault)

    judged = claimed(engine, surface)
    try:
        (plan.how or search)(engine, surface, plan, judged, progress=tell, journal=note, outcome=outcome)
        if REPRODUCIBLE_KEY in judged and (plan.rules is None or REPRODUCIBLE_KEY in plan.rules):
            _compare_keys(engine, surface, name, outcome, lambda: tell(outcome.examples, plan.examples, []))
    except HarnessFault as fault:
        return faulty(str(fault))
    except Exception as error:  # a mistake of ours must not cost the verdicts of the other surfaces
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return faulty(told)
    return result(engine, outcome, name or engine.name, plan.rules)


def replay(
    engine: Engine, surface: Surface, history: History, plan: Plan, name: str, alive: Callable[[], None] = lambda: None
) -> SurfaceResult:
    """Run one history, as printed by a finding, and judge it; a long one calls `alive` now and then."""
    tally = Tally()
    capabilities = engine.capabilities(surface)
    try:
        trial = play(engine.factories[surface], capabilities, surface, history, tally, plan.patience, alive=alive)
    except HarnessFault as fault:
        return SurfaceResult(surface, claims(engine, surface, plan.rules), fault=str(fault))
    found = [Found(trial, 1)] if trial.violation is not None else []
    return result(engine, Outcome(surface, 1, 0.0, tally.exercised, found), name, plan.rules)


def claims(engine: Engine, surface: Surface, only: frozenset[Rule] | None = None) -> dict[str, str | None]:
    """Per rule id, why it does not bind the surface or was not looked for, or None."""
    return {
        rule.id: unclaimed(engine, surface, rule) or (None if only is None or rule in only else "not looked for")
        for rule in RULES.values()
    }


def result(engine: Engine, outcome: Outcome, name: str, only: frozenset[Rule] | None = None) -> SurfaceResult:
    """The plain data of an outcome."""
    exercised: Counter[Rule] = outcome.exercised
    return SurfaceResult(
        surface=outcome.surface,
        claims=claims(engine, outcome.surface, only),
        exercised={rule.id: times for rule, times in exercised.items()},
        findings=tuple(finding(found, outcome.surface, name) for found in outcome.found),
        examples=outcome.examples,
        seconds=outcome.seconds,
        complete=outcome.complete,
        covered=outcome.covered,
    )


@dataclass
class _Telling:
    """Tells the outcome of a search that is not done, before each of its histories."""

    name: str
    told: dict[Rule, tuple[Trial, Finding]] = field(default_factory=dict)

    def result(self, outcome: Outcome) -> SurfaceResult:
        """What is known now, without the claims and incomplete."""
        return SurfaceResult(
            surface=outcome.surface,
            claims={},
            exercised={rule.id: times for rule, times in outcome.exercised.items()},
            findings=tuple(self.finding(found, outcome.surface) for found in outcome.found),
            examples=outcome.examples,
            seconds=time.monotonic() - outcome.begun,
            complete=False,
            covered=outcome.covered,
        )

    def finding(self, found: Found, surface: Surface) -> Finding:
        """The finding in words; its history may have become smaller since it was told before."""
        trial, told = self.told.get(found.rule, (None, None))
        if told is None or trial is not found.trial:
            told = finding(found, surface, self.name)
            self.told[found.rule] = (found.trial, told)
        return told


def _compare_keys(
    engine: Engine, surface: Surface, name: str | None, outcome: Outcome, alive: Callable[[], None]
) -> None:
    """Put `prefix/reproducible-key` to the test, which no history of one engine can show."""
    compared, difference = compare_keys(engine.factories[surface], name, alive)
    outcome.exercised[REPRODUCIBLE_KEY] += compared
    if difference is not None:
        history = History(8, 2, ())
        violation = Violation(REPRODUCIBLE_KEY, difference, "equal keys for equal inputs")
        trial = Trial(history, Checker(history.world(), engine.capabilities(surface)), violation)
        outcome.found.append(Found(trial, compared))


__all__ = ["as_engine", "check_here", "check_surface", "replay"]
