"""Why no scope kills an imposter: derived where its rule says it, else listed here, with what the scopes lack."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from kvconformance.exhaust.kills import Row
from kvspec.rules import REPRODUCIBLE_KEY


class Lack(Enum):
    """What scopes lack, in short."""

    KEYS = "two processes"
    LONGER = "more operations than are reached"
    WORLD = "more blocks and prompts"


LISTED: dict[str, tuple[Lack, str]] = {
    "PreemptedInItsLastStepFinishes": (
        Lack.LONGER,
        "three requests must grow side by side, and new prompts go first, until one is preempted in its last step",
    ),
    "EvictorAndIndexDriftApart": (
        Lack.LONGER,
        "a block must be evicted and cached under another key, in a full pool, before its first key is asked for",
    ),
    "ForkKeepsTheParentsHashes": (
        Lack.LONGER,
        "a fork must fill a block with what it sampled itself, and a prompt must ask for what its parent sampled",
    ),
    "HitStoredAtRefusedAdmission": (
        Lack.WORLD,
        "a request must be refused with a hit in hand, and others must evict what it hit before it is admitted",
    ),
    "AbortLooksInTheWrongQueue": (
        Lack.LONGER,
        "a victim must be preempted, run again, and be aborted then",
    ),
    "HitsDoNotRenew": (
        Lack.LONGER,
        "two prompts must be cached one after the other, the first be hit and given back, and a third want room then",
    ),
    "AbortDuringTransferLeaks": (
        Lack.LONGER,
        "a request must leave for the host, arrive there, and be aborted on its way back",
    ),
}
"""By name; an imposter that a scope does kill must not stand here."""


def reason(row: Row) -> tuple[Lack, str] | None:
    """Why the imposter of this row lives, None where that is not known."""
    if row.rule == REPRODUCIBLE_KEY.id:
        return Lack.KEYS, "keys of engines in different processes are compared, which no history of one engine shows"
    return LISTED.get(row.name)


def require_reasons(rows: Iterable[Row]) -> None:
    """Raise `ValueError` where an imposter lives without a reason, or one with a listed reason does not live."""
    by_name = {row.name: row for row in rows}
    unexplained = [row.name for row in by_name.values() if not row.killed and reason(row) is None]
    stale = [name for name in LISTED if name not in by_name or by_name[name].killed]
    if unexplained or stale:
        told = [f"{name} lives, and no reason is listed" for name in unexplained]
        raise ValueError("; ".join(told + [f"{name} has a reason to live, and does not" for name in stale]))
