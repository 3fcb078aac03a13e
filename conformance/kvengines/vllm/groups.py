"""vLLM's `KVCacheManager` with several groups of layers, called in the order in which its scheduler calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vllm.v1.core.kv_cache_manager import KVCacheManager

from kvengines.vllm.setup import Requests, hash_block_size, kv_cache_config
from kvspec.layout import Kind, Layout, Tables
from kvspec.plans import GroupAdmission
from kvspec.vocabulary import BlockId, GroupsCapabilities, Request, RequestId, TokenId, World

MAX_MODEL_LEN = 4096


class VllmGroups:
    """Attention with and without windows, EAGLE drafters, and recurrent states kept for every block.

    Not driven: recurrent states in the mode "align", for which the scheduler cuts chunks, and hits inside a block.
    """

    capabilities = GroupsCapabilities(
        num_blocks=(4, 40),
        # Block 0 is the null block that pads tables, and stands where nothing is held.
        reserved_blocks=frozenset({BlockId(0)}),
        # `allocate_slots` means "computed in the step at hand", and publishes at once.
        publishes="scheduled",
        max_in_flight=2,
        # The drafter's inputs are the step's tokens moved by one, and the sampled token at the end.
        drafts_ahead=True,
        layouts=(
            "full:2 window:2:3",
            "full:2 window:2:4",
            "full:4 window:2:5",
            "full:2 window:4:3",
            "full:2 window:3:4",
            "full:1 window:2:1",
            "window:2:3 window:2:6",
            "full:2 window:2:3 window:2:6",
            "full:2 state:2",
            "full:2 state:2 window:2:4",
            "full:2 draft:2:1",
            "full:4 window:2:4 draft:2:1",
        ),
    )

    def __init__(self, world: World) -> None:
        layout = Layout.of(world)
        unit = hash_block_size(layout)
        self.requests = Requests(replace(world, block_size=unit))
        self.seen: dict[RequestId, Any] = {}
        self.steps: dict[RequestId, int] = {}
        self.manager: Any = KVCacheManager(
            kv_cache_config=kv_cache_config(world),
            max_model_len=MAX_MODEL_LEN,
            scheduler_block_size=layout.unit,
            hash_block_size=unit,
            enable_caching=world.caching,
            use_eagle=any(group.kind is Kind.DRAFT for group in layout.groups),
        )

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        """Look up and allocate, in a step of its own."""
        self.manager.new_step_starts()
        ours = self.requests.make(request)
        blocks, hit, ours.shared_prefix_boundary = self.manager.get_computed_blocks(ours)
        count = min(chunk, ours.num_tokens - hit)
        new = self.manager.allocate_slots(ours, count, num_new_computed_tokens=hit, new_computed_blocks=blocks)
        if new is None:
            return None
        self.seen[request.id] = ours
        ours.num_computed_tokens = self.steps[request.id] = hit
        self.scheduled(ours, count)
        return GroupAdmission(int(hit), int(count))

    def extend(self, id: RequestId, count: int) -> bool:
        """Slots for the next tokens of a running request, in a step of its own."""
        self.manager.new_step_starts()
        if self.manager.allocate_slots(self.seen[id], count) is None:
            return False
        self.scheduled(self.seen[id], count)
        return True

    def scheduled(self, request: Any, count: int) -> None:
        """The scheduler's bookkeeping once a step is planned: tokens count as computed, and as in flight."""
        request.num_computed_tokens += count
        request.num_in_flight_tokens += count

    def completed(self, id: RequestId, num_computed: int) -> None:
        """The scheduler's bookkeeping once a step's output is there."""
        self.seen[id].num_in_flight_tokens -= num_computed - self.steps[id]
        self.steps[id] = num_computed

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.seen[id].append_output_token_ids(int(token))

    def free(self, id: RequestId) -> None:
        """The request is over."""
        self.manager.free(self.seen[id])

    def tables(self, id: RequestId) -> Tables:
        """The manager's own block tables; its null block stands where nothing is held."""
        tables = self.manager.get_block_ids(str(id))
        return tuple(tuple(BlockId(block) if block else None for block in table) for table in tables)

    def free_blocks(self) -> tuple[int, ...]:
        """Blocks that a new request could get: one pool for all groups."""
        return (int(self.manager.block_pool.get_num_free_blocks()),)

    def ref_counts(self) -> tuple[Mapping[BlockId, int], ...]:
        """The counts of all blocks but the null block, whose count vLLM does not keep."""
        blocks = self.manager.block_pool.blocks
        return ({BlockId(b.block_id): b.ref_cnt for b in blocks if b.ref_cnt and not b.is_null},)
