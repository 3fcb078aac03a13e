"""Imposters whose cached blocks hold something else than their key says, or nothing yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvreference.pool import Holding, ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission
from kvspec.vocabulary import BlockId, KeyParts, Request, RequestId, TokenId, World

# A key means its content.


class EvictedBlockStaysFindable(ReferencePool):
    """Recycles a cached block without withdrawing its key (vLLM #4764)."""

    bug, broken_rule = "B046", rules.CONTENT_MATCHES_KEY

    def recycle(self, block: BlockId) -> None:
        """The key is left in the index."""


class RecycledBlockKeepsComputedFlag(ReferencePool):
    """Believes a new block computed because it was when it was cached for somebody else (vLLM #5364)."""

    bug, broken_rule = "B047", rules.CONTENT_MATCHES_KEY

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.flagged: set[BlockId] = set()

    def recycle(self, block: BlockId) -> None:
        if block in self.cache.key_of:
            self.flagged.add(block)
        super().recycle(block)

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is None or admission.count <= self.world.block_size:
            return admission
        first = admission.table[admission.hit // self.world.block_size]
        if first not in self.flagged:
            return admission
        hit, count = admission.hit + self.world.block_size, admission.count - self.world.block_size
        holding.computed = hit
        return replace(admission, hit=hit, count=count)


class _KeyMapNotCleared(PrefixCache):
    def withdraw(self, block: BlockId) -> None:
        self.key_of.pop(block, None)


class ReassignedBlockKeepsOldKey(ReferencePool):
    """Clears the block but not the map from its old key (nano-vllm #163)."""

    bug, broken_rule = "B048", rules.CONTENT_MATCHES_KEY
    cache_type = _KeyMapNotCleared


class _IndexClearedOnly(PrefixCache):
    def withdraw(self, block: BlockId) -> None:
        key = self.key_of.get(block)
        if key is not None and self.index.get(key) == block:
            del self.index[key]


class EvictedBlockKeepsItsHash(ReferencePool):
    """Takes an evicted block out of the index but leaves its hash, which a later release indexes (kvcached #362)."""

    bug, broken_rule = "B049", rules.CONTENT_MATCHES_KEY
    cache_type = _IndexClearedOnly

    def free(self, id: RequestId) -> None:
        holding = self.holdings.get(id)
        super().free(id)
        for block in holding.table if holding else ():
            if block in self.cache.key_of:
                self.cache.index.setdefault(self.cache.key_of[block], block)


class _StaleUntilRepublished(PrefixCache):
    """Evicts by a mark on the block; whoever publishes the block again clears the mark and revives the old key."""

    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self.evicted: set[BlockId] = set()

    def withdraw(self, block: BlockId) -> None:
        self.key_of.pop(block, None)
        self.evicted.add(block)

    def publish(self, key: bytes, block: BlockId) -> None:
        super().publish(key, block)
        self.evicted.discard(block)

    def longest_hit(self, tokens: Sequence[TokenId], parts: KeyParts) -> list[BlockId]:
        blocks = super().longest_hit(tokens, parts)
        return blocks[: next((i for i, block in enumerate(blocks) if block in self.evicted), len(blocks))]


class EvictorAndIndexDriftApart(ReferencePool):
    """Marks a block evicted in one structure and leaves its key in the other, until it is cached anew (vLLM #16825)."""

    bug, broken_rule = "B051", rules.CONTENT_MATCHES_KEY
    cache_type = _StaleUntilRepublished

    def keyed_blocks(self) -> frozenset[BlockId]:
        stale = self.cache.evicted if isinstance(self.cache, _StaleUntilRepublished) else set()
        return super().keyed_blocks() - stale


class ForkKeepsTheParentsHashes(ReferencePool):
    """Keys the blocks of a fork by its parent's text, which the fork has replaced by its own (vLLM #49449)."""

    bug, broken_rule = "B053", rules.CONTENT_MATCHES_KEY

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.parents: dict[RequestId, Holding] = {}

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        self.parents[child.id] = self.holdings[parent]
        return super().fork(parent, child)

    def publishable(self, holding: Holding) -> list[TokenId]:
        text = self.parents.get(holding.request.id, holding).tokens
        return [*text, *holding.tokens[len(text) :]][: holding.computed]

    def computed(self, id: RequestId, num_computed: int) -> None:
        super().computed(id, num_computed)
        holding = self.holdings[id]
        if id in self.parents and self.world.caching:
            for index, key in enumerate(self.cache.chain(self.publishable(holding), holding.request.parts)):
                self.cache.index[key] = holding.table[index]


class _RegistersEveryStep(ReferencePool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.cached: dict[RequestId, dict[bytes, BlockId]] = {}

    def computed(self, id: RequestId, num_computed: int) -> None:
        holding, cached = self.holdings[id], self.cached.setdefault(id, {})
        for key, block in cached.items():
            self.cache.publish(key, block)
        super().computed(id, num_computed)
        for index, key in enumerate(self.cache.chain(self.publishable(holding), holding.request.parts)):
            cached.setdefault(key, holding.table[index])


class RetiredKeysComeBackOnResume(ReferenceStepper):
    """Registers again, once a victim runs again, the blocks that it had cached before (vLLM #49125)."""

    bug, broken_rule = "B054", rules.CONTENT_MATCHES_KEY
    pool_type = _RegistersEveryStep


# Only computed tokens are published.


class PublishesAtSchedule(ReferenceStepper):
    """Publishes the blocks of a step when it is planned, so that the same step hits them (vLLM #29387)."""

    bug, broken_rule = "B081", rules.PUBLISH_ONLY_COMPUTED

    def schedule(self, step: Step, task: Task, count: int) -> None:
        super().schedule(step, task, count)
        if self.world.caching:
            ahead = task.holding.tokens[: task.holding.computed + count]
            for index, key in enumerate(self.pool.cache.chain(ahead, task.request.parts)):
                self.pool.cache.publish(key, task.holding.table[index])


class SampledTokenPublishedUnverified(ReferencePool):
    """Publishes a block with the token just sampled, which no step has computed yet (vLLM #12415)."""

    bug, broken_rule = "B082", rules.PUBLISH_ONLY_COMPUTED

    def append(self, id: RequestId, token: TokenId) -> None:
        super().append(id, token)
        holding = self.holdings[id]
        for key, block in zip(self.cache.chain(holding.tokens, holding.request.parts), holding.table, strict=False):
            if self.world.caching:
                self.cache.publish(key, block)


class PublishesOneTokenAhead(ReferencePool):
    """Counts one token too many as computed when it decides what to publish (vLLM #18668)."""

    bug, broken_rule = "B083", rules.PUBLISH_ONLY_COMPUTED

    def publishable(self, holding: Holding) -> list[TokenId]:
        return holding.tokens[: min(holding.computed + 1, len(holding.table) * self.world.block_size)]
