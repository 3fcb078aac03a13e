"""SGLang's `RadixCache` and `UnifiedRadixCache` over its own allocator, called as its scheduler calls them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt.mem_cache.base_prefix_cache import EvictParams, InsertParams, MatchPrefixParams
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.radix_cache import RadixCache, RadixKey
from sglang.srt.mem_cache.unified_radix_cache import ComponentType, UnifiedRadixCache

from kvengines.sglang.allocators import allocator
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.tree.vocabulary import Found, Inserted, Node
from kvspec.vocabulary import Capabilities, KeyParts, TokenId, World


class SglangTree:
    """The tree. An adapter is named in the extra key, as a request names it, and in the table of public names."""

    capabilities = Capabilities(
        salts=True,
        adapters=True,
        resets=True,
        options={"cache": ("radix", "unified"), "eviction_policy": ("lru", "lfu", "fifo")},
    )

    def __init__(self, world: World) -> None:
        self.page_size = world.block_size
        self.allocator = allocator(world.num_blocks, world.block_size)
        params = CacheInitParams(
            disable=False,
            req_to_token_pool=None,
            token_to_kv_pool_allocator=self.allocator,
            page_size=world.block_size,
            eviction_policy=str(world.options.get("eviction_policy", "lru")),
            enable_kv_cache_events=True,
            tree_components=(ComponentType.FULL,),
            # The other core, in Rust, does not show its nodes.
            tree_core_backend="python",
        )
        self.names = params.kv_event_lora_names
        self.unified = world.options.get("cache") == "unified"
        self.tree: Any = UnifiedRadixCache(params) if self.unified else RadixCache(params)
        self.parts: dict[tuple[str | None, str | None], KeyParts] = {}
        self.numbers: dict[tuple[str | None, int, int], str] = {}
        self.locks: dict[Any, list[Any]] = {}

    def key(self, tokens: Sequence[TokenId], parts: KeyParts) -> Any:
        """A key in the namespace of the parts. The last 32 characters of an extra key are the number of an adapter."""
        extra = None
        if parts.computes != KeyParts().computes:
            number = self.numbers.setdefault(parts.computes, f"{len(self.numbers):032x}")
            extra = f"{parts.adapter or ''}{number}"
            self.names.register(SimpleNamespace(extra_key=extra, lora_id=number), extra)
        self.parts[extra, parts.salt] = parts
        return RadixKey(array("q", tokens), extra_key=extra, cache_salt=parts.salt)

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        """`match_prefix`, and the places on the path that it found."""
        found = self.tree.match_prefix(MatchPrefixParams(key=self.key(tokens, parts)))
        slots = self.tree.path_device_indices(found.last_device_node).tolist()
        return Found(int(found.device_prefix_len), found.last_device_node, tuple(slots))

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        """Look up, allocate what is new, and insert the whole row, as for a request that has just been computed."""
        whole = tokens[: len(tokens) // self.page_size * self.page_size]
        hit = self.match(whole, parts)
        new = self.allocator.alloc(len(whole) - hit.tokens)
        if new is None:
            return None
        row = torch.cat((torch.tensor(hit.slots, dtype=torch.int64), new))
        result = self.tree.insert(InsertParams(key=self.key(whole, parts), value=row, prev_prefix_len=hit.tokens))
        return Inserted(int(result.prefix_len), tuple(new.tolist()))

    def lock(self, node: Any) -> None:
        """A lock for one more holder of the node."""
        self.locks.setdefault(node, []).append(self.tree.lock(node))

    def unlock(self, node: Any) -> None:
        """The lock of one holder ends."""
        self.tree.unlock(self.locks[node].pop())

    def evict(self, count: int) -> int:
        """What was evicted, in tokens."""
        return int(self.tree.evict(EvictParams(num_tokens=count)).num_tokens_evicted)

    def reset(self) -> bool:
        """Flush the tree and the pool behind it."""
        self.tree.reset()
        self.allocator.clear()
        return True

    # Observations.

    def nodes(self) -> tuple[Node, ...]:
        """Every node but the root, with its lock count."""
        return tuple(self.walk(self.tree.root_node, ()))

    def walk(self, node: Any, before: tuple[TokenId, ...]) -> Iterator[Node]:
        """The nodes below one whose prefix is `before`."""
        for child in node.children.values():
            own = tuple(TokenId(token) for token in child.key.token_ids)
            parts = self.parts[child.key.extra_key, child.key.cache_salt]
            yield Node(before + own, len(own), self.locks_on(child), parts)
            yield from self.walk(child, before + own)

    def locks_on(self, node: Any) -> int:
        """The lock count of a node, which the unified tree keeps for each component."""
        return int(node.component_data[ComponentType.FULL].lock_ref if self.unified else node.lock_ref)

    def evictable_size(self) -> int:
        """Tokens that an eviction could free."""
        return int(self.tree.evictable_size())

    def protected_size(self) -> int:
        """Tokens under a lock."""
        return int(self.tree.protected_size())

    def available_size(self) -> int:
        """Free slots."""
        return int(self.allocator.available_size())

    def take_events(self) -> tuple[Published, ...]:
        """The events of the recorder."""
        return tuple(self.translate(event) for event in self.tree.take_events())

    def translate(self, event: Any) -> Published:
        """One event; its type is told by its fields."""
        if hasattr(event, "token_ids"):
            tokens = tuple(TokenId(token) for token in event.token_ids)
            parts = self.parts[event.lora_name, event.cache_salt]
            return BlockStored(tuple(event.block_hashes), event.parent_block_hash, tokens, event.block_size, parts)
        return BlockRemoved(tuple(event.block_hashes)) if hasattr(event, "block_hashes") else AllBlocksCleared()
