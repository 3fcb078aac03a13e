"""The reference engine with a voice: it publishes what enters and leaves its prefix cache, as routers subscribe to it.

Publishing is a collaborator beside the pool and changes none of its decisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.vocabulary import BlockId, RequestId, World


class Publisher:
    """Collects messages until somebody takes them."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.messages: list[Published] = []

    def stored(self, holding: Holding, chain: Sequence[bytes], new: Sequence[int]) -> None:
        """The blocks `new` of a request's chain of keys are in the index now: one message for each run of them."""
        for first in new:
            if first and first - 1 in new:
                continue
            end = next(i for i in range(first, len(chain) + 1) if i not in new)
            self.store(holding, chain, first, end)

    def store(self, holding: Holding, chain: Sequence[bytes], first: int, end: int) -> None:
        """One message for the blocks `first` to `end` of the chain."""
        size = self.block_size
        tokens, parent = tuple(holding.tokens[first * size : end * size]), chain[first - 1] if first else None
        self.messages.append(BlockStored(tuple(chain[first:end]), parent, tokens, size, holding.request.parts))

    def removed(self, key: bytes) -> None:
        """No block of this key is left."""
        self.messages.append(BlockRemoved((key,)))

    def cleared(self) -> None:
        """The index is empty."""
        self.messages.append(AllBlocksCleared())

    def take(self) -> tuple[Published, ...]:
        """The messages since the last call."""
        taken, self.messages = tuple(self.messages), []
        return taken


class PublishingPool(ReferencePool):
    """The reference pool, telling a publisher whenever its index changes."""

    publisher_type: type[Publisher] = Publisher

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.publisher = self.publisher_type(world.block_size)

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Publish what enters the index, parents first."""
        known = set(self.cache.index)
        super().computed(id, num_computed)
        holding = self.holdings[id]
        chain = list(self.cache.chain(self.publishable(holding), holding.request.parts)) if self.world.caching else []
        new = [i for i, key in enumerate(chain) if key in self.cache.index and key not in known]
        self.publisher.stored(holding, chain, new)

    def recycle(self, block: BlockId) -> None:
        """A key leaves with the block that has it."""
        key = self.cache.key_of.get(block)
        super().recycle(block)
        if key is not None and key not in self.cache.index:
            self.publisher.removed(key)

    def reset(self) -> bool:
        """Everything leaves at once."""
        if done := super().reset():
            self.publisher.cleared()
        return done

    def take_events(self) -> tuple[Published, ...]:
        """What was published since the last call."""
        return self.publisher.take()


class PublishingStepper(ReferenceStepper):
    """The reference scheduler on such a pool."""

    pool_type = PublishingPool

    def take_events(self) -> tuple[Published, ...]:
        """What was published since the last call."""
        taken: tuple[Published, ...] = self.pool.take_events()  # type: ignore[attr-defined]
        return taken
