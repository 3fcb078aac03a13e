"""Refinement: whether the events that an engine shows are all allowed, followed by the set of compatible states.

An engine that shows every choice leaves one compatible state, which is changed in place: refinement then costs what
`judge` costs. Where a choice is hidden, every state that it may have led to is kept, states without a difference
that any rule can still ask for are merged, and an event is wrong when none of them allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from kvrefine.footprint import footprint
from kvrefine.hidden import (
    Candidate,
    ComputeSomewhere,
    Course,
    Evictions,
    Hidden,
    Observed,
    OneOf,
    StartSomewhere,
    courses,
    play,
)
from kvspec import events as ev
from kvspec.blame import begin, judge
from kvspec.state import State
from kvspec.violation import HarnessFault, Tally, Violation
from kvspec.vocabulary import Freedoms, World

MOST_STATES: Final = 4_096
"""States kept at a time unless told otherwise; with more of them the verdict is "not decided"."""


@dataclass(frozen=True, slots=True)
class Compatible:
    """Where an engine may be after all that it has shown: at most `most` candidates, the plainest course first.

    With `loses_takes`, a victim may before its preemption have taken idle blocks unseen and given them back. With
    `nameless`, no event will name a block, and states that differ in names are one.
    """

    candidates: tuple[Candidate, ...]
    loses_takes: bool = False
    most: int = MOST_STATES
    nameless: bool = False

    @property
    def states(self) -> tuple[State, ...]:
        """The states of the candidates."""
        return tuple(candidate.state for candidate in self.candidates)


class Refuted(Violation):
    """No compatible state allows the event. The rule is that of the state that got furthest in it, `state`."""

    def __init__(self, violation: Violation, state: State, candidates: int) -> None:
        super().__init__(violation.rule, violation.seen, violation.expected, **violation.facts)
        self.state = state
        self.candidates = candidates


COURSES: Final = 16
"""Courses tried for one event, for each candidate, beside two for each state that may be kept."""


class Undecided(Exception):
    """More states are compatible than are followed: from here on nothing can be said, neither held nor broken."""

    def __init__(self, most: int, tried: int = 0) -> None:
        courses = f"one event may stand for more than {tried:,} courses"
        super().__init__(courses if tried else f"more than {most:,} states are compatible with what was shown")
        self.most = most


def compatible(world: World, capabilities: Freedoms, most: int = MOST_STATES, *, nameless: bool = False) -> Compatible:
    """The one state in which every engine begins.

    What `hides_lost_takes` hides is followed here, so the states themselves hold the engine to the order of eviction.
    """
    shown = replace(capabilities, hides_lost_takes=False)
    return Compatible((Candidate(begin(world, shown)),), capabilities.hides_lost_takes, most, nameless)


def refine(before: Compatible, event: Observed, tally: Tally | None = None) -> Compatible:
    """The states compatible with one event more; `before` is not changed. Raises `Refuted` or `Undecided`."""
    copies = replace(before, candidates=tuple(candidate.copy() for candidate in before.candidates))
    return follow(copies, event, tally or Tally())


def follow(before: Compatible, event: Observed, tally: Tally) -> Compatible:
    """`refine` in place: the states of `before` are used up. Raises `Refuted` or `Undecided`.

    A rule is counted as exercised once for each event, by the plainest state that allows it.
    """
    first = before.candidates[0]
    hides = isinstance(event, Hidden) or (before.loses_takes and isinstance(event, ev.Preempt))
    if hides or first.owed or len(before.candidates) > 1:
        return _follow_all(before, event, tally)
    try:
        judge(first.judged, event, tally)  # type: ignore[arg-type]
    except Violation as violation:
        raise Refuted(violation, first.state, 1) from violation
    return before


def _follow_all(before: Compatible, event: Observed, tally: Tally) -> Compatible:
    """Every course of the event from every candidate; what survives, without duplicates.

    An event that makes no sense in one state may be the very thing that rules this state out; it is the teller's fault
    where it makes sense in none.
    """
    kept: dict[object, Candidate] = {}
    furthest: tuple[int, Refuted] | None = None
    counted, fault = False, HarnessFault("no course is told")
    tried, limit = 0, 2 * before.most + COURSES * len(before.candidates)
    for candidate in before.candidates:
        for branch, course in _branches(before, candidate, event):
            tried += 1
            if tried > limit:
                raise Undecided(before.most, limit)
            scratch = Tally(tally.waived)
            try:
                done, violation = play(branch, course, scratch)
            except HarnessFault as senseless:
                fault = senseless
                continue
            if violation is None:
                nameless = before.nameless and not branch.owed
                kept.setdefault((footprint(branch.state, nameless), branch.owed), branch)
                if not counted:
                    tally.exercised.update(scratch.exercised)
                    counted = True
            elif furthest is None or done > furthest[0]:
                furthest = done, Refuted(violation, branch.state, len(before.candidates))
            if len(kept) > before.most:
                raise Undecided(before.most)
    if not kept:
        raise fault if furthest is None else furthest[1]
    return replace(before, candidates=tuple(kept.values()))


def _branches(before: Compatible, candidate: Candidate, event: Observed) -> Iterator[tuple[Candidate, Course]]:
    """A candidate of its own for each course that the event may stand for; the last one is `candidate` itself."""
    rest = iter(courses(candidate.state, event, before.loses_takes, before.nameless))
    course = next(rest, None)
    while course is not None:
        following = next(rest, None)
        yield (candidate if following is None else candidate.copy()), course
        course = following


__all__ = [
    "MOST_STATES",
    "Candidate",
    "Compatible",
    "ComputeSomewhere",
    "Evictions",
    "Hidden",
    "Observed",
    "OneOf",
    "Refuted",
    "StartSomewhere",
    "Undecided",
    "compatible",
    "follow",
    "refine",
]
