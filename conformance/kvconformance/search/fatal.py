"""Shrinks a history that kills or hangs the process: every attempt runs in a fork of its own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import NoReturn

import msgspec

from kvconformance.history import History
from kvconformance.search.isolate import single_threaded
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvspec.violation import Tally
from kvspec.vocabulary import Surface


@dataclass(frozen=True)
class _Attempt:
    engine: Engine
    surface: Surface
    patience: float

    def is_fatal(self, history: History) -> bool:
        """Whether a fork that runs the history dies or must be killed."""
        pid = os.fork()
        if pid == 0:
            self._run(history)
        return _ends_badly(pid, 2 * self.patience + 2)

    def _run(self, history: History) -> None:
        single_threaded()
        try:
            factory = self.engine.factories[self.surface]
            capabilities = self.engine.capabilities(self.surface)
            play(factory, capabilities, self.surface, history, Tally(), self.patience, alive=_leave)
        finally:
            _leave()


def shrink_fatal(engine: Engine, surface: Surface, history: History, patience: float, seconds: float) -> History:
    """The history without the operations that do not matter, as far as `seconds` allow."""
    attempt = _Attempt(engine, surface, patience)
    until = time.monotonic() + seconds
    position = len(history.operations) - 1
    while position >= 0 and time.monotonic() < until:
        shorter = msgspec.structs.replace(
            history, operations=history.operations[:position] + history.operations[position + 1 :]
        )
        if attempt.is_fatal(shorter):
            history = shorter
        position -= 1
    return history


def _leave() -> NoReturn:
    """It lives: it is busy, or done."""
    os._exit(0)


def _ends_badly(pid: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True
