"""The words of the exploration of groups: a small world, a state of it with those who wait, and idle blocks by kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kvexamine.explorer.paged.model import next_token
from kvspec.groups.state import Block, Live, State, initial
from kvspec.groups.vocabulary import GroupsCapabilities
from kvspec.vocabulary import BlockId, Request, RequestId, TokenId, World

Takes = Literal["first", "idle", "any"]


@dataclass(frozen=True)
class GroupsWorld:
    """Layout, pool and blocks, the requests, each admitted once, and what the engine declares.

    `takes` says which blocks are proposed: the `first` idle one, any `idle` one and right hits, or `any` block at all,
    none and wrong ones among them. `samples` are the tokens that may be sampled; None: one, by the tokens before it.
    """

    layout: str
    num_blocks: int
    requests: tuple[Request, ...]
    pool: str = "shared"
    takes: Takes = "idle"
    capabilities: GroupsCapabilities = field(default_factory=GroupsCapabilities)
    samples: tuple[TokenId, ...] | None = None

    def start(self) -> State:
        """Nothing held."""
        options = {"groups": self.layout, "pool": self.pool}
        return initial(World(self.num_blocks, 1, options=options), self.capabilities)

    def may_sample(self, tokens: list[TokenId]) -> tuple[TokenId, ...]:
        """What may follow these tokens."""
        return self.samples if self.samples is not None else (next_token(tokens),)

    def __str__(self) -> str:
        told = ", ".join(spelt(request) for request in self.requests)
        pools = "" if self.pool == "shared" else " each"
        return f"{self.num_blocks} blocks{pools} for {self.layout}; {told}"


def spelt(request: Request) -> str:
    """A request in one word: its prompt, and how many tokens it may sample."""
    return f"{''.join(map(str, request.prompt))}+{request.max_new_tokens}"


@dataclass(frozen=True, slots=True)
class Run:
    """A state of the specification, and who has not been admitted yet."""

    state: State
    waiting: tuple[RequestId, ...]


def signature(state: State, block: Block) -> tuple[Hashable, ...]:
    """All of a block but its name: its group, its contents, which of them steps in flight write, its holders."""
    flying = tuple(step is not None and state.in_flight(step) and step for step in block.writers)
    return block.owner, tuple(block.contexts), flying, block.ref


def idle(state: State, pool: int, taken: set[tuple[int, BlockId]]) -> Iterator[BlockId]:
    """One idle block of each kind that the pool has, those never used first; blocks of a kind are interchangeable."""
    kinds: dict[tuple[Hashable, ...], BlockId] = {}
    for number, block in enumerate(state.pools[pool]):
        id = BlockId(number)
        if not block.ref and (pool, id) not in taken and id not in state.capabilities.reserved_blocks:
            kinds.setdefault(signature(state, block), id)
    yield from (kinds[kind] for kind in sorted(kinds, key=repr, reverse=True))


def copied(state: State) -> State:
    """What `State.copy` gives, in a fraction of the time."""
    pools = [
        [Block(block.owner, block.contexts[:], block.writers[:], block.ref) for block in pool] for pool in state.pools
    ]
    requests = {
        id: Live(
            live.request,
            live.tokens[:],
            live.contexts[:],
            live.computed,
            live.filled[:],
            [table[:] for table in live.tables],
            dict(live.flights),
        )
        for id, live in state.requests.items()
    }
    world, capabilities, layout, contexts = state.world, state.capabilities, state.layout, state.contexts
    return State(world, capabilities, layout, contexts, pools, requests, state.steps, state.last)


def computable(live: Live) -> int:
    """How many tokens of a request are ever computed of those it has: all but the last that it may sample."""
    return min(len(live.tokens), live.request.limit - 1)


def entries_needed(state: State, request: Request, end: int, pool: int) -> int:
    """Entries that a request has not got yet of those that hold its first `end` tokens."""
    live, need = state.requests.get(request.id), 0
    for number, group in enumerate(state.layout.groups):
        if state.layout.pool_of(number) == pool:
            have = len(live.tables[number]) if live is not None else 0
            need += max(0, -(-end // group.block_size) - have)
    return need
