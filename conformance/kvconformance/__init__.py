"""kvconformance: what third parties run. Drives an engine through small worlds and judges every event.

`adapters` finds the engine, `surfaces` say what happens to it (`history`), drive it and turn its answers into events,
`checker` holds the specification's state beside it, `search` looks for a broken rule and makes it small, `telling` says
what was found, and `commands` are those of `kvspec`. `imposters` are engines with one deliberate fault each, on which
the suite itself is tried.
"""

from kvconformance.api import check
from kvconformance.surfaces import Engine, Factory
from kvconformance.telling.report import Broken, Finding, Report, Verdict
from kvspec.plans import (
    Admission,
    Admitted,
    BlockCopy,
    Extension,
    Hit,
    Preempted,
    Rejected,
    Released,
    Scheduled,
    StepPlan,
    SwappedIn,
    SwappedOut,
    Trimmed,
    TurnedAway,
)
from kvspec.vocabulary import Capabilities, Request, Surface, World

__all__ = [
    "Admission",
    "Admitted",
    "BlockCopy",
    "Broken",
    "Capabilities",
    "Engine",
    "Extension",
    "Factory",
    "Finding",
    "Hit",
    "Preempted",
    "Rejected",
    "Released",
    "Report",
    "Request",
    "Scheduled",
    "StepPlan",
    "Surface",
    "SwappedIn",
    "SwappedOut",
    "Trimmed",
    "TurnedAway",
    "Verdict",
    "World",
    "check",
]
