"""One trial: a fresh engine and a fresh state live through one history."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.surfaces import Factory
from kvconformance.surfaces.registry import kind_of
from kvspec.rules import Rule
from kvspec.violation import Tally, Violation, Waived
from kvspec.vocabulary import Capabilities, Surface


def fatal_rule(surface: Surface, history: History) -> Rule:
    """The rule that an engine breaks which dies of `history`."""
    kind = kind_of(surface)
    return kind.fatal(history) or kind.raises


MOST = 4
"""Times its patience that a starved engine is given."""


class Hang(BaseException):
    """The engine did not answer in time. Not an `Exception`, so that no handler of the engine swallows it."""


@dataclass(frozen=True)
class Trial:
    """How it went: `violation` is None where every event was allowed."""

    history: History
    checker: Checker
    violation: Violation | None = None
    waived: bool = False
    hung: bool = False
    known: str = ""
    """Where it is waived, the id of the rule that is known to be broken and ended it."""


def play(
    factory: Factory,
    capabilities: Capabilities,
    surface: Surface,
    history: History,
    tally: Tally,
    patience: float = 10.0,
    checked_by: type[Checker] = Checker,
    alive: Callable[[], None] = lambda: None,
) -> Trial:
    """Run one history on a fresh engine; `patience` is how many seconds it may be silent.

    A history that takes longer calls `alive` now and then. `HarnessFault` and errors of ours pass through.
    """
    kind = kind_of(surface)
    checker = checked_by(*kind.setting(history.world(), capabilities), tally, kind.machine)
    if (prepare := getattr(factory, "prepare", None)) is not None:
        prepare()
    try:
        with time_limit(patience, lambda: len(checker.events), alive):
            kind.driver(factory, checker).run(history.operations)
    except Violation as violation:
        return Trial(history, checker, violation)
    except Waived as waived:
        return Trial(history, checker, waived=True, known=str(waived))
    except Hang:
        rule = kind.raises
        if rule in tally.waived:
            return Trial(history, checker, waived=True, hung=True, known=rule.id)
        seen = f"the engine does not answer within {patience:g} seconds"
        return Trial(history, checker, Violation(rule, seen, "an answer"), hung=True)
    return Trial(history, checker)


@contextmanager
def time_limit(
    seconds: float, answers: Callable[[], int] = lambda: 0, alive: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Raise `Hang` in the block after so many seconds in which there were no more `answers` than before.

    Works where signals exist and this is the main thread; there are never more than twice as many seconds. An engine
    that answers is busy and does not hang: `alive` is called instead. Time in which this thread waits for a processor
    does not count, where the system tells it: on a busy machine an engine is slow and does not hang. After `MOST` times
    as long it is over in any case.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    begun, waited, heard = time.monotonic(), _waited(), answers()

    def alarm(number: int, frame: FrameType | None) -> None:
        nonlocal begun, waited, heard
        if (now := answers()) != heard:
            begun, waited, heard = time.monotonic(), _waited(), now
            alive()
        passed, starved = time.monotonic() - begun, _waited() - waited
        left = min(seconds - (passed - starved), MOST * seconds - passed)
        if left <= 0.01:
            raise Hang
        signal.setitimer(signal.ITIMER_REAL, left)

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _waited() -> float:
    """Seconds that this thread has waited for a processor; 0 where the system (Linux) does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
