"""`PagedAttentionCache` as a Pool: the calls that scheduler and batch processor make, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transformers.generation.continuous_batching.cache_allocators.cache_allocator import compute_block_hash
from transformers.generation.continuous_batching.requests import RequestState

from kvengines.transformers.cache import BLOCK_SIZES, FULL_ATTENTION, RESERVED, CacheView, fresh_cache
from kvspec.plans import Admission, Extension, Hit
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class TransformersPool:
    """A paged cache with prefix sharing. A request that does not fit takes nothing and keeps nothing."""

    capabilities = Capabilities(
        block_sizes=BLOCK_SIZES,
        num_blocks=(3, 12),
        forks=True,
        # Whether a request can ever fit is for whoever calls the cache to know; it judges the next tokens only.
        rejects_infeasible=False,
        reserved_blocks=RESERVED,
        # mark_complete_blocks lets a request adopt the published twin of a block that it has just filled.
        remaps_duplicates=True,
    )

    def __init__(self, world: World) -> None:
        self.world = world
        self.cache = fresh_cache(world)
        self.view = CacheView(self.cache)
        self.states: dict[RequestId, Any] = {}

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now."""
        if not self.cache.use_prefix_sharing:
            return Hit(0, ())
        found = self.view.allocator.match_prefix_blocks(list(request.prompt))
        return Hit(len(found) * self.world.block_size, tuple(BlockId(block) for block in found))

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Share the longest hit and store the next tokens, at most `chunk`; None if they do not fit."""
        state = RequestState(request.id, list(request.prompt), max_new_tokens=request.max_new_tokens)
        state.position_offset = hit = self.cache.search_prefix_match(request.id, state.initial_tokens)
        count = min(chunk, len(request.prompt) - hit)
        if not self.store(state, count):
            self.cache.free_blocks(request.id)
            return None
        self.states[request.id] = state
        return Admission(hit, count, self.view.table(request.id))

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Store the next `count` tokens; None if they do not fit."""
        return Extension(self.view.table(id)) if self.store(self.states[id], count) else None

    def store(self, state: Any, count: int) -> bool:
        """Allocate, after evicting what is cached if need be, as the offloading manager does for a starved request."""
        self.cache.pool.try_to_free_sectors()
        if self.cache.can_store_request_tokens(state, count):
            return True
        return self.cache.evict_cached_blocks() and bool(self.cache.can_store_request_tokens(state, count))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """The forward pass is over: publish the blocks that it filled."""
        state = self.states[id]
        complete = self.cache.count_new_complete_blocks(state, num_computed - state.position_offset)
        state.position_offset = num_computed
        self.cache.mark_complete_blocks(state, complete)

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.states[id].generated_tokens.append(token)

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        """Share the full blocks, copy the rest; None if the copies do not fit."""
        self.cache.pool.try_to_free_sectors()
        state, copies = self.states[parent], {FULL_ATTENTION: ([], [])}  # type: ignore[var-annotated]
        if not self.cache.prepare_fork_request(state, [child.id], copies):
            return None
        self.cache.perform_cache_copy(copies)
        self.states[child.id] = state.fork(child.id)
        return self.view.table(child.id)

    def free(self, id: RequestId) -> None:
        """Give back the blocks of a request; full ones stay cached."""
        self.states.pop(id, None)
        self.cache.free_blocks(id)

    # Observations.

    def free_blocks(self) -> int:
        """Blocks that a new request could get."""
        return self.view.free_blocks()

    def free_set(self) -> Sequence[BlockId]:
        """The ids of those blocks."""
        return self.view.idle()

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The number of holders of each block that is not idle."""
        return self.view.ref_counts()

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return {RequestId(id): table for id, table in self.view.tables().items()}

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        return self.view.keyed()

    def block_keys(self, request: Request) -> Sequence[int]:
        """The chained hashes of the full blocks of a prompt, which the ranks of a group must agree on."""
        size, keys = self.world.block_size, []
        key: int | None = None
        for start in range(0, len(request.prompt) - size + 1, size):
            key = compute_block_hash(key, list(request.prompt[start : start + size]))
            keys.append(key)
        return keys
