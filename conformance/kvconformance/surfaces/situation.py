"""What there is that an operation can name, for the search of every history (`kvconformance.exhaust`)."""

from __future__ import annotations

from dataclasses import dataclass

from kvconformance.history import Operation
from kvspec.state import State
from kvspec.vocabulary import Phase

Operations = tuple[Operation, ...]


@dataclass(frozen=True)
class Situation:
    """How many requests and other things there are that an operation can name."""

    live: int = 0
    running: int = 0
    pending: int = 0
    """Running requests with slots for more than is computed."""
    forks: int = 0
    transfers: int = 0
    held: bool = False
    """Whether a table names a block, be it one of a request that is done."""
    idled: bool = False
    """Whether the last operation was a step with nobody there."""

    @property
    def busy(self) -> bool:
        """Whether a step could do anything, be it for a request that is done."""
        return bool(self.live or self.transfers or self.held)


def situation_of(state: State) -> Situation:
    """What the specification's state offers to operations."""
    live = state.live()
    running = [one for one in live if one.phase is Phase.RUNNING]
    return Situation(
        live=len(live),
        running=len(running),
        pending=sum(one.allocated > one.computed for one in running),
        forks=sum(one.forked > 0 for one in state.requests.values()),
        transfers=len(state.transfers),
        held=any(one.table for one in state.requests.values()),
    )
