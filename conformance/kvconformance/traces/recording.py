"""Driving an engine through busy traffic and keeping what it did: events only, none of our judgement of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from kvconformance.adapters import NotAnAdapter
from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of, kinds
from kvconformance.traces.files import Header
from kvconformance.traces.traffic import traffic
from kvrefine.refinement import Observed
from kvspec import events as ev
from kvspec.violation import HarnessFault, Violation
from kvspec.vocabulary import Capabilities, Surface, World


class Ending(msgspec.Struct, frozen=True):
    """Why a recording ended before all requests had left.

    `shown`: its last event is the wrong one, and the trace says it all. An engine that raises, hangs or dies shows
    nothing: `seen` is all that will ever be told.
    """

    rule: str
    seen: str
    expected: str
    shown: bool = False

    def __str__(self) -> str:
        return f"{self.rule}: {self.seen}; expected {self.expected}"


@dataclass(frozen=True)
class Recording:
    """What one engine did in one world."""

    header: Header
    events: tuple[Observed, ...]
    seed: int
    ended: Ending | None = None


class Recorder(Checker):
    """A checker that passes every event on before it is judged, so that it is kept whatever the engine does next."""

    def __init__(self, world: World, capabilities: Capabilities, told: Callable[[ev.Event], None]) -> None:
        super().__init__(world, capabilities)
        self.told = told
        self.shown = False

    def feed(self, event: object) -> None:
        """The engine did this."""
        self.told(event)  # type: ignore[arg-type]
        try:
            super().feed(event)
        except Violation:
            self.shown = True
            raise


@dataclass(frozen=True)
class Run:
    """An engine and the traffic of a seed, ready to meet."""

    engine: Engine
    surface: Surface
    history: History

    @classmethod
    def of(cls, engine: Engine, surface: Surface, seed: int, steps: int | None) -> Run:
        """With the traffic of this seed."""
        return cls(engine, surface, traffic(surface, engine.capabilities(surface), seed, steps))

    @property
    def built(self) -> tuple[World, Capabilities]:
        """The world and what is declared in it."""
        return kind_of(self.surface).setting(self.history.world(), self.engine.capabilities(self.surface))

    def header(self, command: str) -> Header:
        """The first line of the trace."""
        engine, surface = self.engine, self.surface.value
        about = {"engine": engine.name, "engine_version": engine.version, "surface": surface, "command": command}
        world, capabilities = self.built
        return Header.of(world, capabilities, **about)

    def drive(self, told: Callable[[ev.Event], None]) -> Ending | None:
        """Drive a fresh engine and pass on what it does. Raises `HarnessFault` where the adapter makes no sense."""
        checker = Recorder(*self.built, told)
        factory = self.engine.factories[self.surface]
        try:
            if (prepare := getattr(factory, "prepare", None)) is not None:
                prepare()
            kind_of(self.surface).driver(factory, checker).run(self.history.operations)
        except Violation as violation:
            return Ending(violation.rule.id, violation.seen, violation.expected, checker.shown)
        except HarnessFault:
            raise
        except Exception as error:  # an answer of a type that no driver expects
            raise HarnessFault(
                f"the adapter of {self.engine.name} answers what cannot be ({type(error).__name__}: {error})"
            ) from error
        return None


def record(engine: Engine, surface: Surface, seed: int = 0, steps: int | None = None, command: str = "") -> Recording:
    """Drive a fresh engine, in this process, through the traffic of a seed. Raises `HarnessFault`."""
    run = Run.of(engine, surface, seed, steps)
    events: list[Observed] = []
    ended = run.drive(events.append)
    return Recording(run.header(command), tuple(events), seed, ended)


def recordable(engine: Engine, text: str | None) -> Surface:
    """The surface of this name, or the last that is known: the stepper before the pool. Raises `NotAnAdapter`."""
    able = [kind.surface for kind in reversed(kinds()) if kind.traffic and kind.surface in engine.factories]
    chosen = next((surface for surface in able if text in {None, surface.value}), None)
    if chosen is None:
        has = ", ".join(surface.value for surface in engine.factories)
        raise NotAnAdapter(f"{engine.name} has {has}; events are recorded from a stepper or a pool")
    return chosen
