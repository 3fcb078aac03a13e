"""Refinement of a whole engine: many worlds are recorded first, and then their events are judged alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvconformance.surfaces import Engine
from kvconformance.traces.apart import PATIENCE, Job
from kvconformance.traces.chronicle import WrongEvent, wrong_event
from kvconformance.traces.files import Header, TraceError, open_trace
from kvconformance.traces.judging import Answer, Judgement, judge
from kvconformance.traces.recording import Ending
from kvrefine.refinement import MOST_STATES, Observed
from kvspec.rules import RULES
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Surface


@dataclass(frozen=True)
class Refinement:
    """How the events of an engine were judged, world by world.

    `wrong` has, for each broken rule, the seed of the first recording that broke it and its wrong event. `endings` has
    the seed of each recording that the engine ended with all its events allowed: it raised, hung or died.
    """

    engine: str
    version: str
    surface: Surface
    seed: int
    judged: tuple[Judgement, ...]
    wrong: dict[str, tuple[int, WrongEvent]]
    endings: tuple[tuple[int, Ending], ...] = ()

    @property
    def events(self) -> int:
        """Events judged; those behind a wrong event are not."""
        return sum(one.events for one in self.judged)

    @property
    def events_per_second(self) -> int:
        """Of judging alone."""
        seconds = sum(one.seconds for one in self.judged)
        return round(self.events / seconds) if seconds else 0

    @property
    def widest(self) -> int:
        """The largest set of compatible states."""
        return max((one.widest for one in self.judged), default=1)

    @property
    def answer(self) -> Answer:
        """Broken if any recording is or the engine ended any, else not decided if any is not."""
        answers = {Answer.BROKEN if self.endings else Answer.NOTHING, *(one.answer for one in self.judged)}
        order = (Answer.BROKEN, Answer.UNDECIDED, Answer.ALLOWED)
        return next((answer for answer in order if answer in answers), Answer.NOTHING)

    @property
    def ended(self) -> dict[str, tuple[int, int, Ending]]:
        """For each rule that the engine broke by ending a recording: how often, and the first seed and ending."""
        first: dict[str, tuple[int, int, Ending]] = {}
        for seed, ending in self.endings:
            times, *_ = first.get(ending.rule, (0,))
            first[ending.rule] = (1, seed, ending) if not times else (times + 1, *first[ending.rule][1:])
        return first

    def told_endings(self) -> list[tuple[int, str]]:
        """What ended recordings, each with the seed that shows it again."""
        return [
            (
                seed,
                f"✗ {rule:<44} the engine ends {times} of {len(self.judged)} recordings early\n"
                f"  {RULES[rule].sentence}\n\n       seen      {ending.seen}\n       expected  {ending.expected}",
            )
            for rule, (times, seed, ending) in self.ended.items()
        ]

    def times(self, rule: str) -> int:
        """In how many worlds the first wrong event breaks this rule."""
        return sum(one.refuted is not None and one.refuted.rule.id == rule for one in self.judged)

    def lines(self) -> list[str]:
        """The figures as a person reads them."""
        observed = sum(one.observations for one in self.judged)
        counts = [f"{rule} in {self.times(rule)}" for rule in self.wrong]
        counts += [f"ended early by the engine in {len(self.endings)}"] if self.endings else []
        undecided = sum(one.answer is Answer.UNDECIDED for one in self.judged)
        counts += [f"not decided in {undecided}"] if undecided else []
        return [
            f"{self.engine} {self.version}, {self.surface.value}: {self.events} events in {len(self.judged)} worlds, "
            f"{self.answer.value}" + (f": {', '.join(counts)}" if counts else ""),
            f"  {self.events_per_second} events/s, {observed} observations among them; "
            f"at most {self.widest} compatible states; seeds from {self.seed} on",
        ]

    def as_data(self) -> dict[str, Any]:
        """The outcome as JSON data."""
        return {
            "engine": self.engine,
            "engine_version": self.version,
            "surface": self.surface.value,
            "seed": self.seed,
            "answer": self.answer.value,
            "events": self.events,
            "worlds": len(self.judged),
            "events_per_second": self.events_per_second,
            "widest": self.widest,
            "broken": {
                rule: {"worlds": self.times(rule), "seed": seed, "first": wrong.as_data()}
                for rule, (seed, wrong) in self.wrong.items()
            },
            "ended": {
                rule: {"worlds": times, "seed": seed, "seen": ending.seen, "expected": ending.expected}
                for rule, (times, seed, ending) in self.ended.items()
            },
        }


def refine_engine(
    engine: Engine, surface: Surface, seed: int = 0, events: int = 20_000, most: int = MOST_STATES
) -> Refinement:
    """Record so many events of an engine from the seed on, then judge them. Raises `HarnessFault`."""
    return refine_loaded(lambda: engine, surface.value, seed, events, most)


def refine_loaded(
    load: Callable[[], Engine],
    surface: str | None = None,
    seed: int = 0,
    events: int = 20_000,
    most: int = MOST_STATES,
    patience: float = PATIENCE,
) -> Refinement:
    """`refine_engine` for what `load` gives, called in another process. Raises `HarnessFault` or `ChildTrouble`."""
    with tempfile.TemporaryDirectory(prefix="kvspec-") as folder:
        job = Job(load, surface, Path(folder), seed, events, patience=patience)
        about = job.run()
        judged: list[Judgement] = []
        wrong: dict[str, tuple[int, WrongEvent]] = {}
        endings: list[tuple[int, Ending]] = []
        for one in job.written:
            header, numbered = read(one.path)
            judgement = judge(header.begin(most), numbered)
            judged.append(judgement)
            if judgement.refuted is None and one.ending is not None and not one.ending.shown:
                endings.append((one.seed, one.ending))
            if judgement.refuted is not None and judgement.refuted.rule.id not in wrong:
                wrong[judgement.refuted.rule.id] = one.seed, wrong_event(header, numbered, judgement)
    return Refinement(about.name, about.version, about.surface, seed, tuple(judged), wrong, tuple(endings))


def read(path: Path) -> tuple[Header, list[tuple[int, Observed]]]:
    """A trace that an adapter led to. Raises `HarnessFault` for what no trace can hold."""
    try:
        with open_trace(path) as trace:
            return trace.header, list(trace.events)
    except TraceError as error:
        raise HarnessFault(f"the adapter led to a trace that is none, {error}") from error
