"""The real `PagedAttentionCache` in a geometry in which block ids mean the same to it and to the specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from transformers import LlamaConfig
from transformers.generation.configuration_utils import ContinuousBatchingConfig
from transformers.generation.continuous_batching.cache import PagedAttentionCache
from transformers.generation.continuous_batching.distributed import DistributedHelper

from kvspec.plans import Slot
from kvspec.vocabulary import BlockId, World

CPU = torch.device("cpu")
TRASH = 2
"""The tensor begins with two sectors that nobody is given: padding reads from the first and writes to the second."""
RESERVED = frozenset(BlockId(block) for block in range(TRASH))
BLOCK_SIZES = (4, 5)
"""Tokens per page. `resolve_continuous_batching_config` accepts none below 4."""
FULL_ATTENTION = "full_attention"


@dataclass(frozen=True, slots=True)
class Layout:
    """How physical indices name tokens: block `b` begins at row `b * stride` of the cache `[rows, heads, dim]`."""

    stride: int
    block_size: int

    def slot(self, index: int) -> Slot:
        """The place of a key. Raises `IndexError` for a row in which no key of the first layer stands."""
        block, offset = divmod(index, self.stride)
        if index < 0 or offset >= self.block_size:
            raise IndexError(f"row {index} of the cache tensor is offset {offset} of block {block}: no place of a key")
        return BlockId(block), offset

    def slots(self, indices: Iterable[int]) -> tuple[Slot, ...]:
        """The places of keys."""
        return tuple(self.slot(index) for index in indices)


class Alone(DistributedHelper):  # type: ignore[misc] # the installed package is untyped
    """Not distributed, and without the seeding of a sampler that is never asked (8 ms each time)."""

    def set_tp_seed(self, seed: int | None, model_device: object) -> None:
        """Nothing samples here."""


@lru_cache(maxsize=1)
def distributed() -> Any:
    """The helper that stands for 'not distributed'."""
    return Alone(None, None)


@lru_cache(maxsize=1)
def model_config() -> Any:
    """One head of 16 float32 numbers: a token takes 128 bytes a layer, the alignment of sectors, so sector = block."""
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
    )
    config._attn_implementation = (
        "flash_attention_2"  # as on a GPU: no attention mask is built, and nobody would read it
    )
    return config


def batching_config(world: World, **more: Any) -> Any:
    """The continuous batching configuration of a world, with every value given that the engine would else infer."""
    return ContinuousBatchingConfig(
        page_size=world.block_size,
        num_blocks=world.num_blocks - TRASH,
        max_batch_tokens=world.token_budget,
        max_requests_per_batch=min(world.max_running, world.token_budget),
        max_memory_percent=0.5,
        allow_block_sharing=world.caching,
        use_async_batching=False,
        seed=0,
        **more,
    )


@lru_cache(maxsize=512)
def _cache(num_blocks: int, block_size: int, caching: bool) -> Any:
    world = World(num_blocks, block_size, caching=caching)
    return PagedAttentionCache(model_config(), batching_config(world), CPU, distributed(), dtype=torch.float32)


def fresh_cache(world: World) -> Any:
    """An empty cache. Building one takes 8 ms, mostly to ask how much memory there is; so caches are used again."""
    cache = _cache(world.num_blocks, world.block_size, world.caching)
    cache.reset()
    cache.max_batch_tokens = world.token_budget
    cache.max_blocks_per_request = 0
    cache.max_decode_fast_path_length = 0
    return cache


class CacheView:
    """What the cache says of itself. The engine calls its requests by other names where it made them: `names` tells."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache
        self.allocator = cache.cache_allocators[FULL_ATTENTION]
        self.layout = Layout(self.allocator.block_physical_stride, self.allocator.tokens_per_page)

    def table(self, id: str) -> tuple[BlockId, ...]:
        """The block table of a request, empty if it has none."""
        return tuple(BlockId(block) for block in self.allocator.block_table.get(id, ()))

    def tables(self) -> Mapping[str, tuple[BlockId, ...]]:
        """Every live block table."""
        return {id: self.table(id) for id in self.allocator.block_table}

    def free(self) -> list[BlockId]:
        """Blocks in free sectors and free blocks of sectors in use."""
        free = [*self.cache.pool.free_sectors]
        for leaves in self.cache.pool._free_blocks[self.allocator.index].trees.values():
            free += leaves
        return [BlockId(block) for block in free]

    def idle(self) -> list[BlockId]:
        """Blocks that a new request could get: free, or cached and evicted when memory is short."""
        return self.free() + [BlockId(block) for block in self.allocator.ledger.cached_blocks]

    def free_blocks(self) -> int:
        """The number of those, by the engine's own counts."""
        pool = self.cache.pool
        free = pool.num_free_sectors * self.allocator.blocks_per_sector + pool.count_free_blocks(self.allocator.index)
        return int(free + len(self.allocator.ledger.cached_blocks))

    def ref_counts(self) -> Mapping[BlockId, int]:
        """Counts of all blocks that are not idle. The ledger stores those from 2 on; 1 is what it leaves unsaid."""
        idle, shared = set(self.idle()), self.allocator.ledger.shared_ref_counts
        held = (BlockId(b) for b in range(TRASH, TRASH + self.allocator.num_blocks))
        return {block: shared.get(block, 1) for block in held if block not in idle}

    def keyed(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        ledger = self.allocator.ledger
        return frozenset(BlockId(b) for b in (*ledger.hash_to_block.values(), *ledger.block_to_hash))
