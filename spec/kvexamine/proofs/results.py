"""What a proof run says: one outcome for each obligation, and the error for a tool that is not there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    """By what an obligation is discharged."""

    MACHINE = "machine-proved"
    EXHAUSTIVE = "exhaustively checked"
    SEARCHED = "searched within bounds"
    TIED = "tied by tests"
    KEPT = "certificate kept, not checked here"


@dataclass(frozen=True)
class Outcome:
    """One obligation: whether it holds, what makes it not vacuous, and how many of its mutants were refuted."""

    name: str
    kind: Kind
    statement: str
    failures: tuple[str, ...] = ()
    proved: int = 0
    """How many single claims were discharged; at least one where the outcome is machine-proved."""
    vacuity: str = ""
    mutants: int = 0
    refuted: int = 0
    harmless: tuple[str, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Nothing failed and no mutant lives."""
        return not self.failures and self.refuted == self.mutants


class MissingTool(Exception):
    """A prover is not installed; the text says what to install."""


@dataclass(frozen=True)
class Obligation:
    """Something to discharge: known by name before it is run."""

    name: str
    run: Callable[[], Outcome]

    def timed(self) -> Outcome:
        """The outcome, with how long it took; a prover that breaks down has proved nothing."""
        started = time.perf_counter()
        try:
            outcome = self.run()
        except Exception as error:
            outcome = Outcome(self.name, Kind.MACHINE, "", (f"{type(error).__name__}: {error}",))
        return replace(outcome, seconds=time.perf_counter() - started)
