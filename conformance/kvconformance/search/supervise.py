"""A whole check in child processes: load the engine, search its surfaces, and turn a death into a finding."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from kvconformance.adapters import NotAnAdapter, with_profiles
from kvconformance.history import History
from kvconformance.search.check import check_surface, claims, replay
from kvconformance.search.examples import Plan
from kvconformance.search.fatal import shrink_fatal
from kvconformance.search.isolate import ChildTrouble, Died, Interrupted, Line, Loaded, Told, in_child
from kvconformance.search.trial import fatal_rule
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of
from kvconformance.telling.report import Report, SurfaceResult, finding_of
from kvspec.violation import Violation
from kvspec.vocabulary import Surface

Loader = Callable[[], Engine]
Progress = Callable[[Surface, int, int, list[str]], None]


class Header(msgspec.Struct, frozen=True, tag="header"):
    """The engine is loaded."""

    name: str
    version: str
    surfaces: list[Surface]
    claims: dict[str, dict[str, str | None]]


class Part(msgspec.Struct, frozen=True, tag="part"):
    """One surface is done."""

    result: SurfaceResult


class Stopped(KeyboardInterrupt):
    """The user stopped the check; the report has what was found until then."""

    status = 130

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


@dataclass
class _Job:
    load: Loader
    plan: Plan
    name: str | None
    surfaces: list[Surface] | None
    profiles: frozenset[str]
    history: History | None = None
    left: list[Surface] | None = None
    """Those of the surfaces that are still to be checked, after a death (None: all)."""

    def engine(self) -> Engine:
        return with_profiles(self.load(), self.profiles, self.surfaces)

    def wanted(self, engine: Engine) -> list[Surface]:
        if self.left is not None:
            return self.left
        if self.surfaces is None:
            return list(engine.factories)
        if missing := [s.value for s in self.surfaces if s not in engine.factories]:
            raise NotAnAdapter(
                f"{engine.name} has no surface {', '.join(missing)}; it has "
                + ", ".join(s.value for s in engine.factories)
            )
        return self.surfaces


def check_supervised(
    load: Loader,
    plan: Plan,
    *,
    name: str | None = None,
    surfaces: list[Surface] | None = None,
    profiles: frozenset[str] = frozenset(),
    history: History | None = None,
    progress: Progress | None = None,
    on_loaded: Callable[[str, str], None] | None = None,
) -> Report:
    """The report on the engine that `load` gives. `name` is what the command line calls it.

    With `history`, that one history is judged instead of a search. Raises `ChildTrouble` where loading fails and
    `Stopped` where the user interrupts it.
    """
    job = _Job(load, plan, name, surfaces, profiles, history)
    results: list[SurfaceResult] = []
    header: Header | None = None

    def on_answer(data: bytes) -> None:
        nonlocal header
        answer = msgspec.json.decode(data, type=Header | Part)
        if isinstance(answer, Part):
            results.append(answer.result)
        elif header is None:
            header = answer
            if on_loaded:
                on_loaded(answer.name, answer.version)

    def on_told(told: Told) -> None:
        if progress:
            progress(told.surface, told.done, told.wanted, told.broken)

    while True:
        try:
            in_child(lambda line: _work(job, line), on_answer, on_told, patience=plan.patience * 3 + 15)
            break
        except Died as died:
            if header is None or died.entry is None:
                results.append(_fault(header, died))
                break
            results.append(_killed(job, header, died, died.entry))
            done = {result.surface for result in results}
            job.left = [s for s in header.surfaces if s not in done]
            if not job.left:
                break
        except Interrupted as stop:
            if header is None or stop.entry is None:
                raise
            surface = stop.entry[0]
            if all(result.surface != surface for result in results):
                known = replace(_so_far(stop, surface), claims=header.claims[surface.value], complete=False)
                results.append(replace(known, ended="it was stopped"))
            raise Stopped(Report(header.name, header.version, plan.seed, tuple(results))) from stop
    engine_name, version = (header.name, header.version) if header else (name or "unknown", "unknown")
    return Report(engine_name, version, plan.seed, tuple(results))


def _work(job: _Job, line: Line) -> None:
    """In the child: everything, surface by surface."""
    engine = job.engine()
    wanted = job.wanted(engine)
    line.send(Loaded())
    line.answer(
        Header(engine.name, engine.version, wanted, {s.value: claims(engine, s, job.plan.rules) for s in wanted})
    )
    share = replace(job.plan, seconds=job.plan.seconds / len(wanted))

    def told(surface: Surface, done: int, wanted: int, broken: list[str]) -> None:
        line.send(Told(surface, done, wanted, broken))

    for surface in wanted:
        if job.history is not None:
            line.journal(surface, job.history)
            alive = partial(told, surface, 0, 1, [])
            part = replay(engine, surface, job.history, share, job.name or engine.name, alive)
        else:
            part = check_surface(engine, surface, share, name=job.name, progress=_seldom(told), journal=line.journal)
        line.answer(Part(part), last=surface == wanted[-1])


def _seldom(told: Progress, interval: float = 0.1) -> Progress:
    """Progress at most ten times a second."""
    last = 0.0

    def tell(surface: Surface, done: int, wanted: int, broken: list[str]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= interval:
            last = now
            told(surface, done, wanted, broken)

    return tell


def _fault(header: Header | None, died: Died) -> SurfaceResult:
    """The child died outside any history: the engine does not even load, or we are at fault."""
    surface = header.surfaces[0] if header else Surface.STEPPER
    reasons = header.claims[surface.value] if header else {}
    return SurfaceResult(surface, reasons, fault=f"{'checking' if header else 'importing'} the engine {died.how}")


def _killed(job: _Job, header: Header, died: Died, entry: tuple[Surface, History]) -> SurfaceResult:
    """A finding from a death, with the smallest history that is as fatal, beside what was found before."""
    surface, history = entry
    small = history if job.history is not None else _smallest(job, surface, history)
    rule = fatal_rule(surface, small)
    told = finding_of(
        rule, surface, small, Violation(rule, f"the engine {died.how}", "an answer"), job.name or header.name
    )
    so_far = _so_far(died, surface)
    return replace(
        so_far,
        claims=header.claims[surface.value],
        exercised={**so_far.exercised, rule.id: so_far.exercised.get(rule.id, 0) + 1},
        findings=(*(finding for finding in so_far.findings if finding.rule is not rule), told),
        examples=so_far.examples + 1,
        complete=False,
        ended="the engine ended its process",
    )


def _so_far(died: Died | Interrupted, surface: Surface) -> SurfaceResult:
    """What the child knew when the history began of which it died."""
    try:
        return msgspec.json.decode(died.so_far, type=SurfaceResult)
    except msgspec.MsgspecError:
        return SurfaceResult(surface, {})


def _smallest(job: _Job, surface: Surface, history: History) -> History:
    """Drop operations while what is left is still fatal, in a child that forks for every attempt."""
    smallest = history

    def on_answer(data: bytes) -> None:
        nonlocal smallest
        smallest = kind_of(surface).read(data)

    def work(line: Line) -> None:
        engine = job.engine()
        line.send(Loaded())
        line.answer(shrink_fatal(engine, surface, history, job.plan.patience, 5 * job.plan.shrink_seconds), last=True)

    try:
        in_child(work, on_answer, patience=120.0)
    except (Died, ChildTrouble):
        return history
    return smallest
