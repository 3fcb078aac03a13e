"""vLLM's `KVCacheManager` alone, called in the order in which its scheduler calls it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vllm.v1.core.kv_cache_manager import KVCacheManager

from kvengines.vllm.events import Subscriber
from kvengines.vllm.observations import Publishing
from kvengines.vllm.setup import Requests, kv_cache_config, max_model_len
from kvspec.plans import Admission, Extension, Hit
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class VllmPool(Publishing):
    """The manager. It has no fork; a failed step ends the engine, so there is nothing to fail either."""

    capabilities = Capabilities(
        salts=True,
        adapters=True,
        media=True,
        resets=True,
        # Block 0 is the null block that pads tables.
        reserved_blocks=frozenset({BlockId(0)}),
        # `allocate_slots` means "computed in the step at hand", and publishes at once.
        publishes="scheduled",
        # Duplicates are kept, and every physical copy is published when it is cached and when it is evicted; known
        # subscribers count them (one that does not loses content early, vLLM #55092).
        counts_copies=True,
        # Requests longer than `max_model_len` are refused by the front end, before the manager sees them.
        rejects_infeasible=False,
        # `free` walks the table backwards "so that the tail blocks are evicted first". It is not "lru": blocks
        # without a key go to the front of the free queue.
        profiles=frozenset({"tail-first"}),
        options={"hash": ("sha256", "sha256_cbor")},
    )

    def __init__(self, world: World) -> None:
        self.requests = Requests(world)
        self.seen: dict[RequestId, Any] = {}
        self.manager: Any = KVCacheManager(
            kv_cache_config=kv_cache_config(world),
            max_model_len=max_model_len(world),
            scheduler_block_size=world.block_size,
            hash_block_size=world.block_size,
            enable_caching=world.caching,
            log_stats=True,
            enable_kv_cache_events=True,
        )
        self.subscriber = Subscriber(self.requests)

    def known(self) -> Iterable[RequestId]:
        """Every request ever admitted."""
        return self.seen

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now."""
        blocks, hit = self.find(self.requests.make(request))
        return Hit(hit, tuple(BlockId(block.block_id) for block in blocks.blocks[0]))

    def find(self, request: Any) -> tuple[Any, int]:
        """The manager's lookup: its blocks and their number of tokens."""
        found = self.manager.get_computed_blocks(request)
        return found[0], int(found[1])

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Look up, allocate, and only then count the query, as the scheduler does."""
        ours = self.requests.make(request)
        blocks, hit = self.find(ours)
        count = min(chunk, ours.num_tokens - hit)
        new = self.manager.allocate_slots(ours, count, num_new_computed_tokens=hit, new_computed_blocks=blocks)
        if new is None:
            return None
        self.manager.record_prefix_cache_stats(ours, hit)
        ours.num_computed_tokens = hit
        self.seen[request.id] = ours
        return Admission(hit, count, self.table(request.id))

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Slots for the next tokens of a running request."""
        if self.manager.allocate_slots(self.seen[id], count) is None:
            return None
        return Extension(self.table(id))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """The scheduler's bookkeeping: the manager reads it from the request."""
        self.seen[id].num_computed_tokens = num_computed

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.seen[id].append_output_token_ids(int(token))

    def free(self, id: RequestId) -> None:
        """The request is over; vLLM lets it be freed twice."""
        self.manager.free(self.seen[id])

    def reset(self) -> bool:
        """Forget every cached prefix; refused while any block is held."""
        return bool(self.manager.reset_prefix_cache())

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit)."""
        stats = self.manager.prefix_cache_stats
        return (stats.queries, stats.hits)

    def block_keys(self, request: Request) -> list[bytes]:
        """The hashes of the full blocks of a prompt."""
        return list(self.requests.make(request).block_hashes)
