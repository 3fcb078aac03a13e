"""Refinement of a whole engine: many worlds are recorded first, and then their events are judged alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvconformance.surfaces import Engine
from kvconformance.traces.chronicle import WrongEvent, wrong_event
from kvconformance.traces.judging import Answer, Judgement, judge
from kvconformance.traces.recording import Recording, recordings
from kvspec.refinement import MOST_STATES
from kvspec.vocabulary import Surface


@dataclass(frozen=True)
class Refinement:
    """How the events of an engine were judged, world by world.

    `wrong` has, for each broken rule, the seed of the first recording that broke it and its wrong event.
    """

    engine: str
    version: str
    surface: Surface
    seed: int
    judged: tuple[Judgement, ...]
    wrong: dict[str, tuple[int, WrongEvent]]

    @property
    def events(self) -> int:
        """Events judged; those behind a wrong event are not."""
        return sum(one.events for one in self.judged)

    @property
    def events_per_second(self) -> int:
        """Of judging alone."""
        return round(self.events / sum(one.seconds for one in self.judged))

    @property
    def widest(self) -> int:
        """The largest set of compatible states."""
        return max(one.widest for one in self.judged)

    @property
    def answer(self) -> Answer:
        """Broken if any recording is, else not decided if any is not."""
        answers = {one.answer for one in self.judged}
        return next(answer for answer in (Answer.BROKEN, Answer.UNDECIDED, Answer.ALLOWED) if answer in answers)

    def times(self, rule: str) -> int:
        """In how many worlds the first wrong event breaks this rule."""
        return sum(one.refuted is not None and one.refuted.rule.id == rule for one in self.judged)

    def lines(self) -> list[str]:
        """The figures as a person reads them."""
        observed = sum(one.observations for one in self.judged)
        counts = [f"{rule} in {self.times(rule)}" for rule in self.wrong]
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
        }


def refine_engine(
    engine: Engine, surface: Surface, seed: int = 0, events: int = 20_000, most: int = MOST_STATES
) -> Refinement:
    """Record so many events from the seed on, then judge them. Raises `HarnessFault`, or `TraceError` from judging."""
    recorded = list(recordings(engine, surface, seed, events))
    judged: list[Judgement] = []
    wrong: dict[str, tuple[int, WrongEvent]] = {}
    for one in recorded:
        judgement = judge(one.header.begin(most), _numbered(one))
        judged.append(judgement)
        if judgement.refuted is not None and judgement.refuted.rule.id not in wrong:
            told = wrong_event(one.header, _numbered(one), judgement)
            wrong[judgement.refuted.rule.id] = one.seed, told
    return Refinement(engine.name, engine.version, surface, seed, tuple(judged), wrong)


def _numbered(recording: Recording) -> enumerate[Any]:
    """The events with the lines that they have in a file."""
    return enumerate(recording.events, 2)
