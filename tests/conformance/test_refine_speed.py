"""Speed of refinement, shown by `make bench`: events per second, and the cost over `advance` and of a hidden choice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kvconformance.adapters import load
from kvconformance.traces.recording import Recording, record
from kvrefine.refinement import Evictions, Observed, compatible, follow
from kvspec import Tally, advance, initial
from kvspec import events as ev
from kvspec.vocabulary import Surface

HIDE_EVERY = 20
"""Steps."""


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(load("reference"), Surface.STEPPER, seed=0)


def advanced(recording: Recording, events: tuple[Observed, ...]) -> None:
    """The transition alone, in place."""
    state, tally = initial(*recording.header.built()), Tally()
    for event in events:
        advance(state, event, tally)  # type: ignore[arg-type]


def followed(recording: Recording, events: tuple[Observed, ...]) -> None:
    """The set of compatible states."""
    world, capabilities = recording.header.built()
    states, tally = compatible(world, replace(capabilities, profiles=frozenset())), Tally()
    for event in events:
        states = follow(states, event, tally)


def hiding(events: tuple[Observed, ...]) -> tuple[Observed, ...]:
    """The events with an eviction that nobody saw after some steps."""
    shown: list[Observed] = []
    for event in events:
        shown.append(event)
        if isinstance(event, ev.EndStep) and len(shown) % HIDE_EVERY == 0:
            shown.append(Evictions(1))
    return tuple(shown)


KINDS: dict[str, Callable[[tuple[Observed, ...]], tuple[Observed, ...]]] = {
    "with all that the engine says of itself": lambda events: events,
    "without what it publishes": lambda events: tuple(
        replace(event, published=None) if isinstance(event, ev.Observe) else event for event in events
    ),
    "events alone": lambda events: tuple(event for event in events if not isinstance(event, ev.Observe)),
    "with evictions that nobody saw": hiding,
}


@pytest.mark.parametrize("kind", KINDS)
def test_speed_of_refinement(benchmark: Any, recording: Recording, kind: str) -> None:
    events = KINDS[kind](recording.events)
    benchmark(followed, recording, events)
    if benchmark.enabled:
        fastest = benchmark.stats["min"]
        benchmark.extra_info["events_per_second"] = round(len(events) / fastest)
        plain = tuple(event for event in events if not isinstance(event, Evictions))
        benchmark.extra_info["times_as_long_as_advance"] = round(fastest / seconds(recording, plain), 2)


def seconds(recording: Recording, events: tuple[Observed, ...]) -> float:
    """The fastest of a few runs of the transition alone."""

    def once() -> float:
        begun = time.perf_counter()
        advanced(recording, events)
        return time.perf_counter() - begun

    return min(once() for _ in range(5))
