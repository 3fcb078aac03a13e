"""The state of a cache with several groups: blocks with their ghost contents, requests with a table per group."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from kvspec.contexts import Contexts
from kvspec.groups.vocabulary import GroupsCapabilities, Layout
from kvspec.vocabulary import BlockId, Request, RequestId, TokenId, World

StepNumber = int
PENDING: Final = -1
"""In place of a context: a drafter has written the slot from a sampled token that the engine has not been told yet."""


@dataclass(slots=True)
class Block:
    """One physical block. `owner` is the group whose content it has: `contexts[k]` is what its slot k holds.

    `writers[k]` is the step that wrote slot k. A state block has one slot.
    """

    owner: int | None = None
    contexts: list[int | None] = field(default_factory=list)
    writers: list[StepNumber | None] = field(default_factory=list)
    ref: int = 0

    def copy(self) -> Block:
        """An independent copy."""
        return replace(self, contexts=self.contexts[:], writers=self.writers[:])

    def hand_over(self, group: int, slots: int) -> None:
        """The block changes hands: its content is gone."""
        self.owner, self.ref = group, 1
        self.contexts, self.writers = [None] * slots, [None] * slots


@dataclass(slots=True)
class Live:
    """A request that runs. `filled[g]` slots of group g are written; `flights` are its steps on the device."""

    request: Request
    tokens: list[TokenId]
    contexts: list[int]
    computed: int
    filled: list[int]
    tables: list[list[BlockId | None]]
    flights: dict[StepNumber, int] = field(default_factory=dict)
    """Each step on the device with the first position that it computes, oldest first."""

    def copy(self) -> Live:
        """An independent copy."""
        tables = [table[:] for table in self.tables]
        return replace(
            self,
            tokens=self.tokens[:],
            contexts=self.contexts[:],
            filled=self.filled[:],
            tables=tables,
            flights=dict(self.flights),
        )

    def owns(self, position: int, context: int | None) -> bool:
        """Whether a slot with this context may stand for `position`: its own, or one whose token is not told yet."""
        return context == PENDING or (position < len(self.contexts) and context == self.contexts[position])

    @property
    def earliest(self) -> int:
        """The position of the earliest query that is in flight or still to come."""
        return next(iter(self.flights.values()), self.computed)

    @property
    def generated(self) -> int:
        """Number of tokens sampled so far."""
        return len(self.tokens) - len(self.request.prompt)


@dataclass(slots=True)
class State:
    """Everything the rules of groups speak about. Changed only by `kvspec.groups.transition`."""

    world: World
    capabilities: GroupsCapabilities
    layout: Layout
    contexts: Contexts
    pools: list[list[Block]]
    requests: dict[RequestId, Live] = field(default_factory=dict)
    steps: StepNumber = 0
    last: str = "start"

    def copy(self) -> State:
        """An independent copy; the trie of contexts is shared, since ids keep their meaning."""
        return replace(
            self,
            pools=[[block.copy() for block in pool] for pool in self.pools],
            requests={id: live.copy() for id, live in self.requests.items()},
        )

    def block(self, group: int, id: BlockId) -> Block:
        """A block of the pool from which a group takes its own. Raises `KeyError` for an id that is none."""
        pool = self.pools[self.layout.pool_of(group)]
        if not 0 <= id < len(pool):
            raise KeyError(id)
        return pool[id]

    @property
    def usable(self) -> int:
        """Number of blocks of one pool that can ever be handed out."""
        return self.world.num_blocks - len(self.capabilities.reserved_blocks)

    def free(self) -> tuple[int, ...]:
        """Per pool, how many blocks nobody holds."""
        return tuple(self.usable - sum(1 for block in pool if block.ref) for pool in self.pools)

    def holders(self, pool: int, id: BlockId) -> list[tuple[RequestId, int]]:
        """The tables that name a block: request and group."""
        return [
            (live.request.id, group)
            for live in self.requests.values()
            for group, table in enumerate(live.tables)
            if self.layout.pool_of(group) == pool and id in table
        ]

    def in_flight(self, step: StepNumber | None) -> bool:
        """Whether a step is still on the device."""
        return any(step in live.flights for live in self.requests.values())


def initial(world: World, capabilities: GroupsCapabilities, contexts: Contexts | None = None) -> State:
    """No requests, nothing held. Raises `HarnessFault` for a world without a layout."""
    layout = Layout.of(world)
    pools = [[Block() for _ in range(world.num_blocks)] for _ in range(layout.num_pools)]
    return State(world, capabilities, layout, contexts or Contexts(), pools)
