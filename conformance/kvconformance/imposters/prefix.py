"""Imposters whose prefix cache hands out keys and values of something else, too early, too late or too many."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from kvreference.blocks import Blocks
from kvreference.pool import Holding, ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, BlockCopy, Scheduled, StepPlan
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


# The key covers everything.


class _NoAdapter(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter=None, adapter_version=0))


class AdapterNotInKey(ReferencePool):
    """Makes keys of the tokens alone, whatever the adapter (vLLM #3263)."""

    bug, broken_rule = "B087", rules.COMPLETE_KEY
    cache_type = _NoAdapter


class _OneName(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter="adapter" if parts.adapter else None))


class AdaptersOfOneNameShare(ReferencePool):
    """Keys an adapter by a name that all adapters have and not by its identity (vLLM #30931)."""

    bug, broken_rule = "B088", rules.COMPLETE_KEY
    cache_type = _OneName


class _NoMedia(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, tokens, replace(parts, media=()), start)


class AllImagesShareOneEntry(ReferencePool):
    """Makes keys of the placeholder tokens and not of the image behind them (LMCache #690)."""

    bug, broken_rule = "B089", rules.COMPLETE_KEY
    cache_type = _NoMedia


# Keys are the same everywhere.

_SEED = secrets.token_bytes(8)


class _SeededRoot(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return sha256(_SEED + super().root(parts)).digest()


class RandomRootPerProcess(ReferencePool):
    """Seeds the first key of every chain from the randomness of its process (LMCache #1139)."""

    bug, broken_rule = "B093", rules.REPRODUCIBLE_KEY
    cache_type = _SeededRoot


class _Ordinals(PrefixCache):
    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self.loaded: list[str] = []

    def root(self, parts: KeyParts) -> bytes:
        if parts.adapter is None:
            return super().root(parts)
        if parts.adapter not in self.loaded:
            self.loaded.append(parts.adapter)
        return super().root(replace(parts, adapter=str(self.loaded.index(parts.adapter))))


class AdapterOrdinalInKey(ReferencePool):
    """Keys an adapter by the number under which it was loaded (vLLM #27211)."""

    bug, broken_rule = "B094", rules.REPRODUCIBLE_KEY
    cache_type = _Ordinals


# A full hit leaves a token to compute.


class WholePromptHit(ReferencePool):
    """Takes a hit on the whole prompt, with nothing left to run (vLLM #3239)."""

    bug, broken_rule = "B096", rules.ONE_TOKEN_LEFT

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        return super().find([*tokens, TokenId(0)], request)


class WholePromptHitOnResume(ReferenceStepper):
    """Keeps one token back from the hit of a new request but not from that of a resumed one (nano-vllm #144)."""

    bug, broken_rule = "B097", rules.ONE_TOKEN_LEFT

    def admit(self, step: Step, task: Task) -> bool:
        if not task.resumed:
            return super().admit(step, task)
        task.holding.tokens.append(TokenId(0))
        admitted = self.pool.begin(task.holding, step.left, resumed=True)
        task.holding.tokens.pop()
        if admitted is not None:
            self.schedule(step, task, min(admitted.count, task.remaining))
        return admitted is not None


class RecomputedTokenMisstated(ReferencePool):
    """Takes all blocks of a full hit and recomputes the last token in the last of them (vLLM #11186)."""

    bug, broken_rule = "B098", rules.ONE_TOKEN_LEFT

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        self.asked = len(tokens)
        return super().find([*tokens, TokenId(0)], request)

    def hit_length(self, blocks: Sequence[BlockId]) -> int:
        return min(super().hit_length(blocks), self.asked - 1)


# A hit is as fresh as its admission.


class _StoresHits(ReferencePool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.stored: dict[RequestId, list[BlockId]] = {}

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is not None:
            self.stored.pop(holding.request.id, None)
        return admission

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        return list(self.stored.setdefault(request.id, super().find(tokens, request)))


class HitStoredAtRefusedAdmission(ReferenceStepper):
    """Remembers the hit of a request that could not be admitted and uses it when it can (vLLM #18957)."""

    bug, broken_rule = "B099", rules.FRESH_HIT
    pool_type = _StoresHits


class LengthTakenBeforeTheHit(ReferenceStepper):
    """Decides how many tokens to run before the hit is known, and runs past the end (nano-vllm #211)."""

    bug, broken_rule = "B118", rules.FRESH_HIT

    def admit(self, step: Step, task: Task) -> bool:
        count = min(len(task.holding.tokens), step.left)
        if self.pool.begin(task.holding, step.left, resumed=task.resumed) is None:
            return False
        self.schedule(step, task, count)
        return True


# A hit is a chain.


class _FirstTokenOnly(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, tokens[:1], parts, start)


class SearchPassesPartialMatch(ReferencePool):
    """Follows the branch whose first token fits, though the rest of the block does not (TGI #3067)."""

    bug, broken_rule = "B101", rules.CONTIGUOUS_CHAIN
    cache_type = _FirstTokenOnly


class DeferredFreeChangesOrder(ReferenceStepper):
    """Frees tails first when a request ends, and heads first when its release was put off (vLLM #48489)."""

    bug, broken_rule = "B102", rules.CONTIGUOUS_CHAIN

    def complete(self, plan: StepPlan, sampled: object) -> Sequence[RequestId]:
        for scheduled in plan.scheduled:
            holding = self.pool.holdings.get(scheduled.request)
            if holding is not None and scheduled.request not in self.tasks:
                holding.table.reverse()
        return super().complete(plan, sampled)  # type: ignore[arg-type]


class _HeadsFirst(Blocks):
    def release(self, table: Sequence[BlockId]) -> None:
        super().release(table[::-1])


class ChainEvictedHeadFirst(ReferencePool):
    """Releases a chain in its own order, so that its head is evicted first (llm-d-inference-sim #704)."""

    bug, broken_rule = "B103", rules.CONTIGUOUS_CHAIN
    blocks_type = _HeadsFirst


# Shared bytes never change.


class SuffixWrittenOverThePrefix(ReferenceStepper):
    """Writes what follows a hit from the first slot of the table on (tt-xla #4190)."""

    bug, broken_rule = "B104", rules.SHARED_BYTES_NEVER_CHANGE

    def admit(self, step: Step, task: Task) -> bool:
        if not super().admit(step, task):
            return False
        planned, size = step.actions[-1], self.world.block_size
        if isinstance(planned, Scheduled):
            slots = tuple((planned.table[p // size], p % size) for p in range(planned.count))
            step.actions[-1] = replace(planned, slots=slots)
        return True


class SecondForkIsNotSeparated(ReferencePool):
    """Copies before a write only once per request, though a later fork shares its blocks again (vLLM #417)."""

    bug, broken_rule = "B106", rules.SHARED_BYTES_NEVER_CHANGE

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.separated: set[RequestId] = set()

    def make_private(self, holding: Holding, index: int) -> BlockCopy:
        self.separated.add(holding.request.id)
        return super().make_private(holding, index)

    def shared_entries(self, holding: Holding, start: int, end: int) -> list[int]:
        return [] if holding.request.id in self.separated else super().shared_entries(holding, start, end)


# What changed is not found again.


class _NoVersion(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter_version=0))


class ReloadedAdapterHitsTheOld(ReferencePool):
    """Leaves the version of an adapter out of the key and keeps its blocks when it is reloaded (vLLM #42125)."""

    bug, broken_rule = "B058", rules.INVALIDATE
    cache_type = _NoVersion


class _NoWeights(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, weights=0))


class NewWeightsHitTheOld(ReferencePool):
    """Keeps what the old weights computed when the weights change (lmdeploy #4917)."""

    bug, broken_rule = "B059", rules.INVALIDATE
    cache_type = _NoWeights


class FailedStepStaysMatchable(ReferencePool):
    """Keeps published what a failed step wrote (vLLM #50283)."""

    bug, broken_rule = "B061", rules.INVALIDATE

    def failed(self, id: RequestId) -> None:
        self.computed(id, self.holdings[id].allocated)
