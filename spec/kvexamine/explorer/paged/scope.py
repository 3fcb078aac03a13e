"""What a scope is: a small world, the requests in it, and the events that may happen to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from kvexamine.explorer.telling import in_short
from kvspec.vocabulary import Capabilities, Request, World

LRU = Capabilities(profiles=frozenset({"lru"}), publishes="scheduled")
"""Blocks are evicted in the order of their release, and matched from the step on that computes them."""


@dataclass(frozen=True)
class Scope:
    """One world with its requests and its alphabet.

    `may` names the kinds of events besides start, compute, sample, finish and end of step; `takes` says which blocks
    an engine may take: the `head` of the order of eviction, any `idle` one, or `any` at all (the transition refuses
    those that are held). `fcfs` restricts the moves to those of a first-come-first-served scheduler, for liveness.
    """

    name: str
    about: str
    world: World
    requests: tuple[Request, ...]
    capabilities: Capabilities = LRU
    may: frozenset[str] = frozenset()
    takes: Literal["head", "idle", "any"] = "head"
    child: Request | None = None
    fcfs: bool = False
    in_flight: int = 1
    """How many steps may be on the device at once, where steps are dispatched."""
    victim: str = "youngest"
    """Whom the first-come-first-served scheduler preempts."""
    large: bool = False

    of: ClassVar[str] = "paged"

    def __str__(self) -> str:
        """The world, the requests, the alphabet, and what is declared, in a line."""
        world, requests = self.world, ", ".join(map(in_short, self.everybody))
        size = f"{world.num_blocks} blocks of {world.block_size}, budget {world.token_budget}; {requests}"
        declared = (*sorted(self.capabilities.profiles), f"hits what is {self.capabilities.publishes}")
        return "; ".join((size, ", ".join(sorted(self.may)) or "-", f"takes {self.takes}", ", ".join(declared)))

    def has(self, kind: str) -> bool:
        """Whether the kind of event is in the alphabet."""
        return kind in self.may

    @cached_property
    def everybody(self) -> tuple[Request, ...]:
        """The requests that are added at the start, and the one that a fork may bring."""
        return self.requests + (() if self.child is None else (self.child,))

    @property
    def ordered(self) -> bool:
        """Whether the order of eviction is part of the state."""
        return self.takes == "head" or bool(self.capabilities.profiles & {"lru", "tail-first"})

    @property
    def ordered_starts(self) -> bool:
        """Whether it matters who has started before."""
        return "fcfs" in self.capabilities.profiles

    @property
    def local(self) -> bool:
        """Whether what happens to a request depends on its own blocks only: nothing in flight, no rank of releases."""
        whole = self.may & {"dispatch", "swap", "fail", "defer", "reject"}
        ranked = self.capabilities.profiles & {"tail-first", "fcfs", "decode-first"}
        return not (self.fcfs or whole or ranked or self.takes == "any" or self.capabilities.lookahead_blocks)
