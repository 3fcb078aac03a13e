"""LMCache's cache on the host as a Pool: chunk keys of its token database, objects of its CPU backend as blocks.

Callers are to hold what they read by its count and to ask for one token less than the prompt, as its connector for vLLM
does. Nothing is forked: objects are whole chunks and never shared half full. A key has the tags of a request and no
adapter or image; tags stand for salts here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from typing import Any

os.environ.setdefault("LMCACHE_LOG_LEVEL", "CRITICAL")

import torch
from lmcache.v1.config import LMCacheEngineConfig
from lmcache.v1.memory_allocators.tensor_memory_allocator import TensorMemoryAllocator
from lmcache.v1.memory_management import MemoryFormat
from lmcache.v1.metadata import LMCacheMetadata
from lmcache.v1.storage_backend.local_cpu_backend import LocalCPUBackend
from lmcache.v1.token_database import ChunkedTokenDatabase

from kvconformance.surfaces import Engine
from kvspec.plans import Admission, Extension, Hit
from kvspec.vocabulary import BlockId, Capabilities, KeyParts, Request, RequestId, Surface, TokenId, World

PAGE = 4096
"""Bytes of one object: what the allocator aligns to, and more than any chunk here has."""

WIDTH = 8
"""Numbers that one token has in one of keys and values."""


def engine() -> Engine:
    """LMCache as it is installed."""
    return Engine("lmcache", version("lmcache"), {Surface.POOL: LMCachePool})


class LMCachePool:
    """`ChunkedTokenDatabase`, `TensorMemoryAllocator` and `LocalCPUBackend`; a block is the object at its address."""

    capabilities = Capabilities(
        salts=True,
        # A cache is not told how long a request may become.
        rejects_infeasible=False,
        options={"cache_policy": ("LRU", "FIFO", "LFU", "MRU")},
    )

    def __init__(self, world: World) -> None:
        self.size = world.block_size
        policy = world.options.get("cache_policy", "LRU")
        config = LMCacheEngineConfig.from_defaults(
            chunk_size=self.size, local_cpu=world.caching, save_unfull_chunk=False, cache_policy=policy
        )
        shape = (1, 2, self.size, 1, WIDTH)
        metadata = LMCacheMetadata("model", 1, 1, 0, 0, torch.float32, shape)
        self.database: Any = ChunkedTokenDatabase(config, metadata)
        self.allocator: Any = TensorMemoryAllocator(torch.empty(world.num_blocks * PAGE, dtype=torch.uint8))
        self.backend: Any = LocalCPUBackend(config, metadata, dst_device="cpu", memory_allocator=self.allocator)
        self.requests: dict[RequestId, Request] = {}
        self.tokens: dict[RequestId, list[int]] = {}
        self.held: dict[RequestId, list[Any]] = {}
        self.gone: dict[RequestId, list[Any]] = {}
        self.published: dict[RequestId, int] = {}
        self.computed_to: dict[RequestId, int] = {}

    def keys(self, tokens: Sequence[int], parts: KeyParts) -> Iterator[Any]:
        """The keys of the full chunks."""
        tags = {"lmcache.tag.salt": parts.salt} if parts.salt is not None else None
        found = self.database.process_tokens(list(tokens), request_configs=tags)
        return (key for _, _, key in found)

    def reusable(self, request: Request) -> list[Any]:
        """The keys of the longest chain that is cached, all but the last token long at most."""
        chain = []
        for key in self.keys(request.prompt[:-1], request.parts):
            if not self.backend.contains(key):
                break
            chain.append(key)
        return chain

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now."""
        objects = [self.backend.hot_cache[key] for key in self.reusable(request)]
        return Hit(len(objects) * self.size, tuple(block(one) for one in objects))

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Take what is cached, and memory for the rest; nothing if that does not fit."""
        objects = [self.backend.get_blocking(key) for key in self.reusable(request)]
        hit = len(objects) * self.size
        count = min(chunk, len(request.prompt) - hit)
        if not self.grow(objects, hit + count):
            self.give_back(objects)
            return None
        id = request.id
        self.requests[id], self.tokens[id] = request, list(request.prompt)
        self.held[id], self.published[id], self.computed_to[id] = objects, hit // self.size, hit
        return Admission(hit, count, self.table(id))

    def grow(self, objects: list[Any], tokens: int) -> bool:
        """Memory for so many tokens, old entries evicted; or nothing at all."""
        need = -(-tokens // self.size) - len(objects)
        if need > self.free_blocks():
            return False
        shape = torch.Size([2, 1, self.size, WIDTH])
        for _ in range(need):
            one = self.backend.allocate([shape], [torch.float32], MemoryFormat.KV_2LTD, busy_loop=False)
            if one is None:
                raise MemoryError(f"{self.free_blocks()} objects are free or can be evicted, and none is given")
            objects.append(one)
        return True

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Memory for the next tokens."""
        return Extension(self.table(id)) if self.grow(self.held[id], self.computed_to[id] + count) else None

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Put what has become full into the cache."""
        self.computed_to[id] = num_computed
        if not self.backend.use_hot:
            return
        full, put = num_computed // self.size, self.published[id]
        keys = self.keys(self.tokens[id][: full * self.size], self.requests[id].parts)
        for key, one in islice(zip(keys, self.held[id], strict=False), put, full):
            self.backend.submit_put_task(key, one)
        self.published[id] = full

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.tokens[id].append(int(token))

    def free(self, id: RequestId) -> None:
        """Let go of every object, last first."""
        self.gone[id] = self.held.pop(id)
        self.give_back(self.gone[id])

    def give_back(self, objects: Sequence[Any]) -> None:
        """One count less for each."""
        for one in reversed(objects):
            one.ref_count_down()

    def free_again(self, id: RequestId) -> None:
        """One count less again for those that nobody holds; of others it could be somebody's own."""
        self.give_back([one for one in self.gone[id] if one.get_ref_count() == 0])

    # Observations.

    def table(self, id: RequestId) -> tuple[BlockId, ...]:
        """The objects of a request."""
        return tuple(block(one) for one in self.held[id])

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Those of every request."""
        return {id: self.table(id) for id in self.held}

    def free_blocks(self) -> int:
        """Objects that fit into free memory, and those that may be evicted."""
        evictable = sum(1 for one in self.backend.hot_cache.values() if one.can_evict)
        return int(self.allocator.address_manager.get_free_size()) // PAGE + evictable

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The counts of held objects, without the cache's own."""
        cached = {id(one) for one in self.backend.hot_cache.values()}
        objects = {block(one): one for table in self.held.values() for one in table}
        return {number: one.get_ref_count() - (id(one) in cached) for number, one in objects.items()}

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The objects that a lookup could return."""
        return frozenset(block(one) for one in self.backend.hot_cache.values())

    def block_keys(self, request: Request) -> Sequence[str]:
        """The keys of the full chunks of a prompt, as they are sent to other processes."""
        return [key.to_string() for key in self.keys(request.prompt, request.parts)]


def block(one: Any) -> BlockId:
    """The number of an object: its place in the memory."""
    return BlockId(one.meta.address // PAGE)
