"""The judgement of recorded events: all allowed, or the first that is not, or not decided. The engine is not asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from kvconformance.traces.files import TraceError, open_trace
from kvrefine.refinement import MOST_STATES, Compatible, Observed, Refuted, Undecided, follow
from kvspec import events as ev
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Tally


class Answer(Enum):
    """What can be said of recorded events."""

    ALLOWED = "all allowed"
    BROKEN = "broken"
    UNDECIDED = "not decided"
    NOTHING = "nothing to judge"


@dataclass(frozen=True)
class Judgement:
    """How far the specification followed. `widest` is the largest set of compatible states on the way.

    `seconds` are those that the processor spent on judging, and on reading where the events came from a file.

    `line` is that of the last event judged: the wrong one, if `refuted` says which rule it broke and in which state.
    """

    answer: Answer
    events: int
    observations: int
    line: int
    seconds: float
    widest: int
    last: Observed | None = None
    refuted: Refuted | None = None
    why: str = ""
    exercised: Counter[Rule] = field(default_factory=Counter)

    @property
    def events_per_second(self) -> int:
        """Per second of the processor."""
        return round(self.events / self.seconds) if self.seconds else 0


def judge_file(path: Path, most: int = MOST_STATES) -> Judgement:
    """Judge a trace file. Raises `TraceError` where it is none, or names what it never introduced."""
    with open_trace(path) as trace:
        return judge(trace.header.begin(most), trace.events)


def judge(states: Compatible, events: Iterable[tuple[int, Observed]]) -> Judgement:
    """Follow (line number, event) pairs from `states`, which are used up, until the first wrong event or the end."""
    tally = Tally()
    count, observed, widest = 0, 0, 1
    line, event = 0, None
    refuted: Refuted | None = None
    why, answer = "", Answer.ALLOWED
    begun = time.thread_time()
    try:
        for line, event in events:  # noqa: B007 # both are told of the last event, whatever ends the loop
            count += 1
            observed += type(event) is ev.Observe
            states = follow(states, event, tally)
            widest = max(widest, len(states.candidates))
    except Refuted as caught:
        answer, refuted = Answer.BROKEN, caught
    except Undecided as caught:
        answer, why, widest = Answer.UNDECIDED, str(caught), caught.most
    except HarnessFault as fault:
        raise TraceError(line, str(fault)) from fault
    if answer is Answer.ALLOWED and not count:
        answer = Answer.NOTHING
    seconds = time.thread_time() - begun
    return Judgement(answer, count, observed, line, seconds, widest, event, refuted, why, tally.exercised)
