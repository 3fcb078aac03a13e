"""The state of a cache as a value: requests, physical blocks with their ghost contents, and what is in flight."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from kvspec.contexts import Contexts
from kvspec.mirror import EMPTY, Index
from kvspec.vocabulary import (
    BlockId,
    Freedoms,
    Phase,
    Request,
    RequestId,
    StepId,
    TokenId,
    TransferId,
    World,
)


@dataclass(slots=True)
class Block:
    """One physical block with its ghost content.

    `contexts[k]` is what slot k holds (None: never written, or poisoned when the block changed hands), `writers[k]`
    who wrote it in which step. `key` is the context of the last token once the block is full and published.
    `release` and `depth` tell the batch and the place in the chain of the last release.
    """

    contexts: list[int | None]
    writers: list[tuple[RequestId, int] | None]
    ref: int = 0
    key: int | None = None
    epoch: int = 0
    failed: bool = False
    fence: frozenset[TransferId] = frozenset()
    release: int = -1
    depth: int = 0

    def copy(self) -> Block:
        """An independent copy."""
        return replace(self, contexts=self.contexts[:], writers=self.writers[:])

    def poison(self, block_size: int) -> None:
        """Forget the content: the block changes hands."""
        self.contexts = [None] * block_size
        self.writers = [None] * block_size
        self.key = None
        self.failed = False


class Untouched(Block):
    """A block that was never handed out: one stands for all of a world, so that a large one costs no memory.

    It cannot be changed: `State.own` puts a block of its own in its place.
    """

    __slots__ = ()

    def __init__(self, block_size: int) -> None:
        plain = Block([None] * block_size, [None] * block_size)
        for one in fields(plain):
            object.__setattr__(self, one.name, getattr(plain, one.name))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of a block that was never handed out is set")

    def copy(self) -> Block:
        """Itself: it does not change."""
        return self


@dataclass(slots=True)
class Live:
    """A request in the cache's eyes. `tokens` only grows; `computed` of them have keys and values in `table`."""

    request: Request
    arrival: int
    tokens: list[TokenId]
    contexts: list[int]
    phase: Phase = Phase.WAITING
    computed: int = 0
    table: list[BlockId] = field(default_factory=list)
    homes: int = 0
    """How many tokens the table was asked to hold."""
    hit: int = 0
    ran: bool = False
    started: bool = False
    resumed: bool = False
    preempted_in: int = -1
    swapped: list[int | None] | None = None
    swapped_by: tuple[int | None, ...] = ()
    """The step that wrote each position that lies on the host."""
    garbage: frozenset[int] = frozenset()
    """The positions that lie there and that a failed step wrote."""
    transfer: TransferId | None = None
    left_in: int = -1
    """The step in which it left, or gave back the last of what it held."""
    forked: int = 0
    """0, or for a fork a number of its own: what a model would sample differently."""

    def copy(self) -> Live:
        """An independent copy."""
        return replace(self, tokens=self.tokens[:], contexts=self.contexts[:], table=self.table[:])

    @property
    def generated(self) -> int:
        """Number of tokens sampled so far."""
        return len(self.tokens) - len(self.request.prompt)


@dataclass(slots=True)
class State:
    """Everything the rules speak about. Built by `initial`, changed only by `kvspec.transition.step`."""

    world: World
    capabilities: Freedoms
    contexts: Contexts
    requests: dict[RequestId, Live]
    blocks: list[Block]
    evictable: dict[BlockId, None]
    left: int
    step: int = 0
    epoch: int = 0
    releases: int = 0
    progressed: bool = False
    idle_steps: int = 0
    planned: frozenset[RequestId] = frozenset()
    in_flight: dict[StepId, frozenset[BlockId]] = field(default_factory=dict)
    unseen: bool = False
    """The step before this one was not dispatched: when it completes is not told, at the latest with the next end."""
    transfers: dict[TransferId, frozenset[BlockId]] = field(default_factory=dict)
    arriving: frozenset[TransferId] = frozenset()
    """Those of the transfers that write into their blocks: what they bring is not there yet."""
    counters: tuple[int, int] = (0, 0)
    hit_tokens: int = 0
    mirror: Index = field(default_factory=lambda: EMPTY)
    """What a subscriber of the published events has."""
    shown: frozenset[BlockId] | None = None
    """The blocks in the index as it was told last, while nothing has happened that may change it."""
    kept: frozenset[BlockId] | None = None
    """Those that were in it when a reset was refused, until it is told again."""

    def copy(self) -> State:
        """An independent copy. The trie of contexts is shared: it only grows, and ids keep their meaning."""
        return replace(
            self,
            requests={id: live.copy() for id, live in self.requests.items()},
            blocks=[block.copy() for block in self.blocks],
            evictable=dict(self.evictable),
            in_flight=dict(self.in_flight),
            transfers=dict(self.transfers),
        )

    def own(self, id: BlockId) -> Block:
        """The block, as one that may be changed."""
        block = self.blocks[id]
        if type(block) is Untouched:
            size = self.world.block_size
            block = self.blocks[id] = Block([None] * size, [None] * size)
        return block

    @property
    def usable(self) -> int:
        """Number of blocks that can ever be handed out."""
        return self.world.num_blocks - len(self.capabilities.reserved_blocks)

    @property
    def available(self) -> int:
        """Number of blocks that could be handed out now: idle and not fenced."""
        return len(self.evictable)

    @property
    def unfinished(self) -> tuple[int, ...]:
        """The step being planned and those dispatched but not complete."""
        return (self.step, *self.in_flight)

    @property
    def oldest(self) -> int:
        """The first of the unfinished steps, or one before them that was never dispatched and may have just ended."""
        return min(self.step - self.unseen, *self.unfinished)

    def live(self) -> list[Live]:
        """The requests that are not done, in order of arrival."""
        return [live for live in self.requests.values() if live.phase is not Phase.DONE]

    def holders(self) -> dict[BlockId, int]:
        """For each held block, the number of live tables that name it, counted anew."""
        counts: dict[BlockId, int] = {}
        for live in self.requests.values():
            for block in live.table:
                counts[block] = counts.get(block, 0) + 1
        return counts

    def feasible(self, request: Request) -> bool:
        """Whether the request can finish when it is alone in the pool."""
        blocks = self.usable - self.capabilities.watermark_blocks
        return request.limit <= self.world.max_model_len and self.world.blocks_for(request.limit) <= blocks

    def infeasible(self, request: Request) -> bool:
        """Whether the request cannot finish even when alone: its last token but one finds no home.

        Between `feasible` and `infeasible` lies the one token whose keys and values nobody reads; engines differ.
        """
        return request.limit > self.world.max_model_len or self.world.blocks_for(request.limit - 1) > self.usable


def initial(world: World, capabilities: Freedoms, contexts: Contexts | None = None) -> State:
    """All requests still to come, every usable block free."""
    blocks: list[Block] = [Untouched(world.block_size)] * world.num_blocks
    return State(
        world=world,
        capabilities=capabilities,
        contexts=contexts or Contexts(),
        requests={},
        blocks=blocks,
        evictable={BlockId(id): None for id in range(world.num_blocks) if id not in capabilities.reserved_blocks},
        left=world.token_budget,
    )
