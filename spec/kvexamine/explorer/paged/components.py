"""The components of a key: the parts of a state that can be compared on their own, free of the names of blocks.

What a state has and these records have not is in `dropped`, with the reason why nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from kvspec.state import Block, Live, State
from kvspec.vocabulary import Phase, Request, RequestId, TokenId, TransferId

NOW, OLD = 9, 0
"""The number of a step in a state read from a key: the one being planned, and any before; from 1 on those in flight."""

HITS = -1
"""The reach of a request that waits: the blocks whose keys are in its chain."""


class Header(NamedTuple):
    """The part of a state that belongs to no request and no block."""

    left: int
    progressed: bool
    idle_steps: int
    planned: tuple[int, ...]
    flying: int
    transfers: tuple[int, ...]
    arriving: tuple[int, ...]


class Shape(NamedTuple):
    """The block tables of all requests, whose blocks are named in the order in which they appear."""

    tables: tuple[tuple[int, ...], ...]
    held: int


class Local(NamedTuple):
    """The part of a request that names no block."""

    place: int
    phase: Phase
    contexts: tuple[int, ...]
    computed: int
    allocated: int
    width: int
    ran: bool
    started: bool
    preempted: int
    swapped: tuple[int | None, ...] | None
    transfer: bool


class Physical(NamedTuple):
    """A block without its name."""

    contexts: tuple[int | None, ...]
    writers: tuple[tuple[int, int] | None, ...]
    key: int | None
    ref: int
    idle: bool
    stale: bool
    failed: bool
    fence: tuple[int, ...]
    touched: tuple[int, ...]
    release: int
    depth: int


T = TypeVar("T")


class Numbered(Generic[T]):
    """Components in the order in which they were first seen."""

    def __init__(self) -> None:
        self.kept: list[T] = []
        self._numbers: dict[T, int] = {}

    def number(self, component: T) -> int:
        """Its number; a new component is kept."""
        found = self._numbers.get(component)
        if found is None:
            found = self._numbers[component] = len(self.kept)
            self.kept.append(component)
        return found


def age(state: State, step: int) -> int:
    """The number of a step relative to the one being planned and to those in flight, the oldest of which is 1."""
    if step == state.step:
        return NOW
    return next((age for age, flying in enumerate(state.in_flight, 1) if flying == step), OLD)


def live_of(local: Local, request: Request, table: Sequence[int], tokens: list[TokenId], forked: int) -> Live:
    """The request of a local part and a block table."""
    return Live(
        request=request,
        arrival=local.place,
        tokens=tokens,
        contexts=list(local.contexts),
        phase=local.phase,
        computed=local.computed,
        tables=[list(table)],  # type: ignore[arg-type]
        filled=[local.computed],
        allocated=local.allocated,
        ran=local.ran,
        started=local.started,
        preempted_in=local.preempted,
        swapped=None if local.swapped is None else list(local.swapped),
        transfer=TransferId(local.place) if local.transfer else None,
        forked=forked,
    )


def block_of(physical: Physical, names: Sequence[RequestId]) -> Block:
    """The block of a component, written by requests of these names."""
    return Block(
        contexts=list(physical.contexts),
        writers=[None if writer is None else (names[writer[0]], writer[1]) for writer in physical.writers],
        ref=physical.ref,
        key=physical.key,
        epoch=0 if physical.stale else 1,
        failed=physical.failed,
        fence=frozenset(TransferId(transfer) for transfer in physical.fence),
        release=physical.release,
        depth=physical.depth,
    )
