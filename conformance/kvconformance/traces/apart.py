"""Recording in a child process: an engine that hangs or kills its process is told of, with what it did before.

The child writes each event into a trace file before the specification sees it; the parent reads the files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from kvconformance.search.isolate import Died, Line, Loaded, Told, in_child
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of
from kvconformance.traces import wire
from kvconformance.traces.recording import Ending, Run, recordable
from kvspec import events as ev
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Surface

PATIENCE: Final = 10.0
"""Seconds without an event after which an engine is stopped."""
EMPTY: Final = 100
"""Events that a world without any counts for, so that an engine which never shows one comes to an end."""


class About(msgspec.Struct, frozen=True, tag="about"):
    """The engine is loaded."""

    name: str
    version: str
    surface: Surface


class Done(msgspec.Struct, frozen=True, tag="done"):
    """One world is recorded, or makes no sense."""

    ending: Ending | None
    fault: str = ""


@dataclass(frozen=True)
class Written:
    """The trace file of one world."""

    seed: int
    path: Path
    ending: Ending | None


@dataclass
class Job:
    """What is to be recorded, into which folder: seeds from `seed` on, until there are so many events."""

    load: Callable[[], Engine]
    surface: str | None
    folder: Path
    seed: int = 0
    events: int = 1
    steps: int | None = None
    patience: float = PATIENCE
    command: Callable[[Surface, int], str] = lambda surface, seed: ""
    about: About | None = None
    written: list[Written] = field(default_factory=list)

    def path(self, seed: int) -> Path:
        """Where the trace of a seed is."""
        return self.folder / f"{seed}.jsonl"

    def run(self) -> About:
        """Fill `written`. Raises `ChildTrouble` where loading fails, `HarnessFault` where the adapter is wrong."""
        try:
            in_child(self._work, self._heard, patience=self.patience)
        except Died as died:
            if self.about is None:
                raise HarnessFault(f"importing the engine {died.how}") from died
            self._killed(died, self.about.surface)
        if self.about is None:
            raise HarnessFault("the engine was never told of")
        return self.about

    def _killed(self, died: Died, surface: Surface) -> None:
        """The world in which the engine died, as far as it went."""
        seed = self.seed + len(self.written)
        path = self.path(seed)
        if path.exists():
            told = path.read_bytes()
            path.write_bytes(told[: told.rfind(b"\n") + 1])
            ending = Ending(kind_of(surface).raises.id, f"the engine {died.how}", "an answer")
            self.written.append(Written(seed, path, ending))

    def _heard(self, data: bytes) -> None:
        answer = msgspec.json.decode(data, type=About | Done)
        if isinstance(answer, About):
            self.about = answer
            return
        seed = self.seed + len(self.written)
        if answer.fault:
            raise HarnessFault(f"{answer.fault}, with seed {seed}")
        self.written.append(Written(seed, self.path(seed), answer.ending))

    def _work(self, line: Line) -> None:
        """In the child: world after world."""
        engine = self.load()
        surface = recordable(engine, self.surface)
        line.send(Loaded())
        line.answer(About(engine.name, engine.version, surface))
        seed, left = self.seed, self.events
        while left > 0:
            done, count = self._world(line, engine, surface, seed)
            left -= count or EMPTY
            seed += 1
            line.answer(done, last=left <= 0 or bool(done.fault))

    def _world(self, line: Line, engine: Engine, surface: Surface, seed: int) -> tuple[Done, int]:
        """Record one world; how it went, and how many events it had."""
        run = Run.of(engine, surface, seed, self.steps)
        with self.path(seed).open("wb", buffering=0) as file:
            file.write(msgspec.json.encode(run.header(self.command(surface, seed))) + b"\n")
            count, heard = 0, time.monotonic()

            def told(event: ev.Event) -> None:
                nonlocal count, heard
                file.write(wire.encode(event) + b"\n")
                count += 1
                if time.monotonic() - heard > 0.1:
                    heard = time.monotonic()
                    line.send(Told(surface, count, 0, []))

            try:
                return Done(run.drive(told)), count
            except HarnessFault as fault:
                return Done(None, str(fault)), count
