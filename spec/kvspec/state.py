"""The state of a cache as a value: requests, physical blocks with their ghost contents, and what is in flight.

A cache has one group of layers or several (`kvspec.layout`), and a request a block table in each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from operator import attrgetter
from typing import Any, Final, cast

from kvspec.contexts import Contexts
from kvspec.layout import Layout
from kvspec.mirror import EMPTY, Index
from kvspec.vocabulary import (
    DONE,
    WAITING,
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

NOBODY: Final = -1
"""In place of a group: it has had no block yet."""
PENDING: Final = -1
"""In place of a context: a drafter has written the slot from a sampled token that the engine has not been told yet."""


@dataclass(slots=True)
class Block:
    """One physical block with its ghost content, which is that of the group `owner`.

    `contexts[k]` is what slot k holds (None: never written, or poisoned when the block changed hands), `writers[k]`
    who wrote it in which step. `key` is the context of the last token once the block is full and published.
    `release` and `depth` tell the batch and the place in the chain of the last release.
    """

    contexts: list[int | None]
    writers: list[tuple[RequestId, int] | None]
    ref: int = 0
    owner: int = 0
    key: int | None = None
    epoch: int = 0
    failed: bool = False
    fence: frozenset[TransferId] = frozenset()
    release: int = -1
    depth: int = 0

    def copy(self) -> Block:
        """An independent copy."""
        twin = Block(*_read_block(self))
        twin.contexts, twin.writers = self.contexts[:], self.writers[:]
        return twin

    def poison(self) -> None:
        """Forget the content."""
        self.hand_over(self.owner, len(self.contexts))

    def hand_over(self, group: int, slots: int) -> None:
        """The block changes hands: its content is gone, and it is one of this group."""
        self.owner = group
        self.contexts = [None] * slots
        self.writers = [None] * slots
        self.key = None
        self.failed = False


class Untouched(Block):
    """A block that was never handed out: one stands for all of a world, so that a large one costs no memory.

    It cannot be changed: `State.own` puts a block of its own in its place.
    """

    __slots__ = ()

    def __init__(self, block_size: int, owner: int) -> None:
        plain = Block([None] * block_size, [None] * block_size, owner=owner)
        for one in fields(plain):
            object.__setattr__(self, one.name, getattr(plain, one.name))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of a block that was never handed out is set")

    def copy(self) -> Block:
        """Itself: it does not change."""
        return self


@dataclass(slots=True)
class Live:
    """A request in the cache's eyes. `tokens` only grows; `computed` of them have keys and values in `tables`.

    There is a table per group, of which `filled` slots are written; an entry is None where nothing is held.
    """

    request: Request
    arrival: int
    tokens: list[TokenId]
    contexts: list[int]
    phase: Phase = WAITING
    computed: int = 0
    tables: list[list[BlockId | None]] = field(default_factory=lambda: [[]])
    filled: list[int] = field(default_factory=lambda: [0])
    allocated: int = 0
    """How many tokens the tables were asked to hold."""
    hit: int = 0
    wasted: int = 0
    """How many positions behind those computed steps have computed for nobody: it goes on only if it starts anew."""
    ran: bool = False
    started: bool = False
    resumed: bool = False
    preempted_in: int = -1
    swapped: list[int | None] | None = None
    """What lies on the host: of each group in turn, the slots that are written."""
    swapped_by: tuple[int | None, ...] = ()
    """The step that wrote each slot that lies on the host."""
    garbage: frozenset[int] = frozenset()
    """The slots that lie there and that a failed step wrote."""
    transfer: TransferId | None = None
    left_in: int = -1
    """The step in which it left, or gave back the last of what it held."""
    forked: int = 0
    """0, or for a fork a number of its own: what a model would sample differently."""

    def copy(self) -> Live:
        """An independent copy."""
        twin = Live(*_read_live(self))
        twin.tokens, twin.contexts = self.tokens[:], self.contexts[:]
        twin.tables, twin.filled = list(map(list, self.tables)), self.filled[:]
        return twin

    @property
    def table(self) -> list[BlockId]:
        """The table of the first group, in which an ordinary cache holds every entry."""
        return self.tables[0]  # type: ignore[return-value]

    def first_strange(self, held: Sequence[int | None], position: int) -> int | None:
        """The first of these contexts that cannot stand for the positions from `position` on; pending ones can."""
        own = self.contexts[position : position + len(held)]
        for place, context in enumerate(held):
            if context != PENDING and (place >= len(own) or context != own[place]):
                return place
        return None

    def held(self) -> Iterator[BlockId]:
        """Every block that its tables name."""
        return (id for table in self.tables for id in table if id is not None)

    @property
    def gone(self) -> bool:
        """Whether it has left and nothing is held or brought for it."""
        return self.phase is DONE and self.transfer is None and not any(self.tables)

    @property
    def generated(self) -> int:
        """Number of tokens sampled so far."""
        return len(self.tokens) - len(self.request.prompt)

    @property
    def stopped(self) -> bool:
        """Whether the last new token is one with which its client lets it end."""
        return self.generated > 0 and self.tokens[-1] in self.request.stops


@dataclass(slots=True)
class State:
    """Everything the rules speak about. Built by `initial`, changed only by `kvspec.transition.step`."""

    world: World
    capabilities: Freedoms
    contexts: Contexts
    requests: dict[RequestId, Live]
    blocks: list[Block]
    free: dict[BlockId, None]
    left: int
    layout: Layout
    present: dict[RequestId, Live] = field(default_factory=dict, compare=False)
    """All requests but some that are gone; who is gone when a step ends is in it no more."""
    step: int = 0
    epoch: int = 0
    releases: int = 0
    progressed: bool = False
    idle_steps: int = 0
    planned: dict[RequestId, int] = field(default_factory=dict)
    """Whom the step that is planned computes, from which position on."""
    in_flight: dict[StepId, frozenset[BlockId]] = field(default_factory=dict)
    starts: dict[StepId, dict[RequestId, int]] = field(default_factory=dict)
    """What `planned` was in each step in flight."""
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

    def __post_init__(self) -> None:
        """Where it is not said who is present, everybody is."""
        self.present = self.present or dict(self.requests)

    def copy(self) -> State:
        """An independent copy. The trie of contexts is shared: it only grows, and ids keep their meaning."""
        twin = State(*_read_state(self))
        twin.requests = {id: live.copy() for id, live in self.requests.items()}
        twin.present = {id: twin.requests[id] for id in self.present}
        twin.blocks = [block.copy() for block in self.blocks]
        twin.free, twin.transfers = dict(self.free), dict(self.transfers)
        twin.planned, twin.in_flight, twin.starts = dict(self.planned), dict(self.in_flight), dict(self.starts)
        return twin

    def enter(self, live: Live) -> None:
        """A request comes."""
        self.requests[live.request.id] = self.present[live.request.id] = live

    def own(self, id: BlockId) -> Block:
        """The block, as one that may be changed."""
        block = self.blocks[id]
        if type(block) is Untouched:
            block = self.blocks[id] = Block(block.contexts[:], block.writers[:], owner=block.owner)
        return block

    def reserved(self, id: BlockId) -> bool:
        """Whether the block is never handed out: one that is reserved in each pool."""
        return id % self.world.num_blocks in self.capabilities.reserved_blocks

    @property
    def usable(self) -> int:
        """Number of blocks of a pool that can ever be handed out."""
        return self.world.num_blocks - len(self.capabilities.reserved_blocks)

    def available_in(self, pool: int) -> int:
        """Number of blocks of a pool that could be handed out now."""
        if self.layout.num_pools == 1:
            return len(self.free)
        return sum(id // self.world.num_blocks == pool for id in self.free)

    def earliest(self, live: Live) -> int:
        """The position of the request's earliest query that is in flight, planned or still to come."""
        who = live.request.id
        flying = [starts[who] for starts in self.starts.values() if who in starts]
        return min(*flying, self.planned.get(who, live.computed), live.computed)

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
        return [live for live in self.present.values() if live.phase is not DONE]

    def holders(self) -> dict[BlockId, int]:
        """For each held block, the number of live tables that name it, counted anew."""
        tables = [table for live in self.present.values() for table in live.tables if table]
        counts = Counter(chain.from_iterable(tables))
        counts.pop(None, None)
        return cast(dict[BlockId, int], counts)

    def feasible(self, request: Request) -> bool:
        """Whether the request can finish when it is alone, and keeps every entry."""
        blocks, needs = self.usable - self.capabilities.watermark_blocks, self.layout.most_blocks(request.limit)
        return request.limit <= self.world.max_model_len and max(needs) <= blocks

    def infeasible(self, request: Request) -> bool:
        """Whether the request cannot finish even when alone: its last token but one finds no slot, whoever trims.

        Between `feasible` and `infeasible` lies the one token whose keys and values nobody reads; engines differ.
        """
        needs = self.layout.least_blocks(request.limit - 1)
        return request.limit > self.world.max_model_len or max(needs) > self.usable


def _reader(record: type) -> Callable[[object], tuple[Any, ...]]:
    """Reads all fields of a record at once, which copies it in a fraction of the time of `dataclasses.replace`."""
    return attrgetter(*(field.name for field in fields(record)))


_read_block, _read_live, _read_state = _reader(Block), _reader(Live), _reader(State)


def initial(world: World, capabilities: Freedoms, contexts: Contexts | None = None) -> State:
    """All requests still to come, every usable block free. Raises `HarnessFault` for a world without a layout."""
    layout = Layout.of(world)
    untouched = Untouched(layout.groups[0].slots, NOBODY if layout.several else 0)
    state = State(
        world=world,
        capabilities=capabilities,
        contexts=contexts or Contexts(),
        requests={},
        blocks=[untouched] * (world.num_blocks * layout.num_pools),
        free={},
        left=world.token_budget,
        layout=layout,
    )
    state.free = {id: None for id in map(BlockId, range(len(state.blocks))) if not state.reserved(id)}
    return state
