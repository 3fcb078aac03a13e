"""The words of the exploration of groups: a small world, who runs in a state of it, and idle blocks by kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kvexamine.explorer.sampling import next_token
from kvexamine.explorer.telling import in_short
from kvspec import events as ev
from kvspec.state import NOBODY, Block, Live, State, initial
from kvspec.transition import advance
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, GroupsCapabilities, Phase, Request, StepId, TokenId, TransferId, World

Takes = Literal["first", "idle", "any"]
Move = tuple[ev.Event, ...]
"""What happens at once: a step is computed and dispatched, a request starts and is given its blocks."""

UNLIMITED = 1 << 30


@dataclass(frozen=True)
class GroupsWorld:
    """Layout, pool and blocks, the requests, each admitted once, and what the engine declares.

    `takes` says which blocks are proposed: the `first` idle one, any `idle` one and right hits, or `any` block at all,
    none and wrong ones among them. `samples` are the tokens that may be sampled; None: one, by the tokens before it.
    `may` says how a request can give way: `preempt` or `swap`.
    """

    layout: str
    num_blocks: int
    requests: tuple[Request, ...]
    pool: str = "shared"
    takes: Takes = "idle"
    capabilities: GroupsCapabilities = field(default_factory=GroupsCapabilities)
    samples: tuple[TokenId, ...] | None = None
    may: frozenset[str] = frozenset()

    def start(self) -> State:
        """Everybody waits, and nothing is held. No step is limited."""
        options = {"groups": self.layout, "pool": self.pool}
        world = World(self.num_blocks, 1, token_budget=UNLIMITED, max_running=UNLIMITED, options=options)
        state = initial(world, self.capabilities)
        for request in self.requests:
            advance(state, ev.Add(request), Tally())
        return state

    def may_sample(self, tokens: list[TokenId]) -> tuple[TokenId, ...]:
        """What may follow these tokens."""
        return self.samples if self.samples is not None else (next_token(tokens),)

    def __str__(self) -> str:
        told = ", ".join(in_short(request) for request in self.requests)
        size = f"{self.num_blocks} blocks{'' if self.pool == 'shared' else ' each'} for {self.layout}"
        return "; ".join((size, told, ", ".join(sorted(self.may)) or "-", f"takes {self.takes}"))


def running(state: State) -> list[Live]:
    """Those that have been admitted, hold their blocks and have not left."""
    return [live for live in state.requests.values() if live.phase is Phase.RUNNING]


def waiting(state: State) -> list[Live]:
    """Those that have not been admitted yet, or gave way."""
    return [live for live in state.requests.values() if live.phase is Phase.WAITING]


def transfer_of(state: State, live: Live) -> TransferId:
    """The name of the next transfer of a request: one on its way to the host, another on its way back."""
    return TransferId(2 * live.arrival + (live.swapped is not None))


def flights(state: State, live: Live) -> dict[StepId, int]:
    """The steps of a request on the device, oldest first, each with the first position that it computes."""
    who = live.request.id
    return {step: starts[who] for step, starts in state.starts.items() if who in starts}


def earliest(state: State, live: Live) -> int:
    """The position of the request's earliest query that is in flight or to come."""
    return min((*flights(state, live).values(), live.computed))


def flying(state: State, block: Block) -> tuple[StepId | None, ...]:
    """By slot, the step in flight that writes it."""
    return tuple(
        StepId(writer[1]) if writer is not None and writer[1] in state.in_flight else None for writer in block.writers
    )


def blocks_of(state: State, number: int) -> range:
    """The ids of the blocks from which a group takes its own."""
    size, pool = state.world.num_blocks, state.layout.pool_of(number)
    return range(pool * size, (pool + 1) * size)


def signature(state: State, block: Block) -> tuple[Hashable, ...]:
    """All of a block but its name: its group, its contents, what steps in flight write of it, holders, fences."""
    owner = None if block.owner == NOBODY else block.owner
    return owner, tuple(block.contexts), flying(state, block), block.ref, tuple(sorted(block.fence))


def free(state: State, number: int) -> list[BlockId]:
    """The blocks of a group that count as free: held by nobody, touched by no transfer, and not reserved."""
    reserved, size = state.capabilities.reserved_blocks, state.world.num_blocks
    ids = (BlockId(id) for id in blocks_of(state, number))
    idle = (id for id in ids if not state.blocks[id].ref and not state.blocks[id].fence)
    return [id for id in idle if id % size not in reserved]


def takable(state: State, number: int) -> list[BlockId]:
    """Those of them that no step on the device may still touch."""
    return [id for id in free(state, number) if not any(id in touched for touched in state.in_flight.values())]


def idle(state: State, number: int, taken: set[BlockId]) -> Iterator[BlockId]:
    """One idle block of each kind that a group could take, those never used first; of a kind all are the same."""
    kinds: dict[tuple[Hashable, ...], BlockId] = {}
    for id in takable(state, number):
        if id not in taken:
            kinds.setdefault(signature(state, state.blocks[id]), id)
    yield from (kinds[kind] for kind in sorted(kinds, key=repr, reverse=True))


def computable(live: Live) -> int:
    """How many tokens of a request are ever computed of those it has: all but the last that it may sample."""
    return min(len(live.tokens), live.request.limit - 1)


def entries_needed(state: State, live: Live, end: int) -> list[int]:
    """Per pool, the entries that a request has not got yet of those that hold its first `end` tokens."""
    needed = [0] * state.layout.num_pools
    for number, group in enumerate(state.layout.groups):
        needed[state.layout.pool_of(number)] += max(0, -(-end // group.block_size) - len(live.tables[number]))
    return needed
