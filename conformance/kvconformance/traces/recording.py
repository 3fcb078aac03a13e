"""Driving an engine through busy traffic and keeping what it did: events only, none of our judgement of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kvconformance.surfaces import Engine
from kvconformance.traces.files import Header
from kvconformance.traces.traffic import traffic
from kvconformance.trial import play
from kvspec.refinement import Observed
from kvspec.violation import Tally
from kvspec.vocabulary import Surface

PATIENCE = 120.0
"""Seconds for one recording; an engine that hangs is stopped, and what it did before is kept."""


@dataclass(frozen=True)
class Recording:
    """What one engine did in one world. It ends early where the driver could not go on after a wrong event."""

    header: Header
    events: tuple[Observed, ...]
    seed: int
    ended: str = ""
    """Why it ended before all requests had left, if it did."""


def record(engine: Engine, surface: Surface, seed: int = 0, steps: int | None = None, command: str = "") -> Recording:
    """Drive a fresh engine through the traffic of a seed. Raises `HarnessFault` where the adapter is wrong."""
    capabilities = engine.capabilities(surface)
    history = traffic(surface, capabilities, seed, steps)
    trial = play(engine.factories[surface], capabilities, surface, history, Tally(), PATIENCE)
    state = trial.checker.state
    about = {"engine": engine.name, "engine_version": engine.version, "surface": surface.value, "command": command}
    header = Header.of(state.world, state.capabilities, **about)
    events = tuple(event for event in trial.checker.events if isinstance(event, Observed))
    ended = str(trial.violation) if trial.violation else "it was stopped" if trial.hung else ""
    return Recording(header, events, seed, ended)


def recordings(engine: Engine, surface: Surface, seed: int, events: int) -> Iterator[Recording]:
    """Recordings with seeds from `seed` on, until they have so many events together."""
    while events > 0:
        one = record(engine, surface, seed)
        yield one
        events -= max(len(one.events), 1)
        seed += 1
