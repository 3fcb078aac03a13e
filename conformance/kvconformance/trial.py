"""One trial: a fresh engine and a fresh state live through one history."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from kvspec.rules import Rule
from kvspec.violation import Tally, Violation, Waived
from kvspec.vocabulary import Capabilities, Surface

from kvconformance.checker import POOL_RAISES, STEPPER_RAISES, Checker
from kvconformance.history import History
from kvconformance.pool import PoolDriver, stepless
from kvconformance.stepper import StepperDriver
from kvconformance.surfaces import Factory

RAISES: dict[Surface, Rule] = {Surface.POOL: POOL_RAISES, Surface.STEPPER: STEPPER_RAISES}
"""The rule that an engine breaks which does not answer: it raises, hangs or dies."""


class Hang(BaseException):
    """The engine did not answer in time. Not an `Exception`, so that no handler of the engine swallows it."""


@dataclass(frozen=True)
class Trial:
    """How it went: `violation` is None where every event was allowed."""

    history: History
    checker: Checker
    violation: Violation | None = None
    waived: bool = False


def play(
    factory: Factory,
    capabilities: Capabilities,
    surface: Surface,
    history: History,
    tally: Tally,
    patience: float = 10.0,
) -> Trial:
    """Run one history on a fresh engine; `patience` is the most seconds it may take.

    `HarnessFault` and errors of ours pass through.
    """
    world = history.world()
    if surface is Surface.POOL:
        world, capabilities = stepless(world, capabilities)
    checker = Checker(world, capabilities, tally)
    driver = PoolDriver if surface is Surface.POOL else StepperDriver
    try:
        with time_limit(patience):
            driver(factory, checker).run(history.operations)
    except Violation as violation:
        return Trial(history, checker, violation)
    except Waived:
        return Trial(history, checker, waived=True)
    except Hang:
        rule = RAISES[surface]
        if rule in tally.waived:
            return Trial(history, checker, waived=True)
        seen = f"the engine does not answer within {patience:g} seconds"
        return Trial(history, checker, Violation(rule, seen, "an answer"))
    return Trial(history, checker)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `Hang` in the block after so many seconds (where signals exist and this is the main thread)."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def alarm(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
