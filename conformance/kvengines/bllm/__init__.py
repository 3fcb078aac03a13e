"""bllm-inference: its continuous-batching `Scheduler` with allocator and page table, told what its engine would tell.

The engine calls `schedule`, feeds its model (prompts from position 0, decodes from the start positions that the
scheduler names) and hands the tokens to `process_outputs`; the adapter does the same without a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bllm.core.block_allocator import BlockAllocator
from bllm.core.config import InferenceConfig, PagedCacheConfig
from bllm.core.page_table import PageTable
from bllm.scheduler.request import InferenceRequest
from bllm.scheduler.scheduler import Scheduler

from kvconformance.surfaces import Engine
from kvspec.plans import Rejected, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

NO_STOP = -1
"""A token that no model says."""

WIDEST = 64
"""Blocks of one request in the page table: more than any world has."""


def engine() -> Engine:
    """bllm-inference as it is installed."""
    return Engine("bllm", version("bllm-inference"), {Surface.STEPPER: BllmStepper})


class BllmStepper:
    """The scheduler. It takes the blocks of a whole request at once, and knows neither chunks nor a prefix cache."""

    capabilities = Capabilities(
        token_budgets=(1_000, 1_000),
        caching=(False,),
        # All blocks up to the limit are taken when a request is admitted.
        lookahead_blocks=WIDEST,
        profiles=frozenset({"fcfs"}),
    )

    def __init__(self, world: World) -> None:
        cache = PagedCacheConfig(1, 1, 1, world.block_size, world.num_blocks, world.max_running, device="cpu")
        self.allocator: Any = BlockAllocator(world.num_blocks, world.block_size)
        self.pages: Any = PageTable(world.max_running, WIDEST, world.block_size, device="cpu")
        limits = InferenceConfig(max_batch_size=world.max_running)
        self.scheduler: Any = Scheduler(cache, limits, self.allocator, self.pages)

    def add(self, request: Request) -> None:
        """Queue a request; the engine's own answer says whether it can ever fit."""
        theirs = InferenceRequest(request.id, list(request.prompt), request.max_new_tokens)
        if not self.scheduler.add_request(theirs):
            raise Rejected(request.id)

    def plan(self) -> StepPlan:
        """Schedule, and tell what the model would be fed."""
        output = self.scheduler.schedule()
        prompts = zip(output.prefill_requests, output.prefill_batch_indices, strict=True)
        decodes = zip(output.decode_requests, output.decode_batch_indices, output.decode_start_positions, strict=True)
        prefills = [self.scheduled(one, slot, 0, one.sequence.prompt_tokens) for one, slot in prompts]
        return StepPlan(
            (*prefills, *(self.scheduled(one, slot, at, one.sequence.all_tokens[-1:]) for one, slot, at in decodes))
        )

    def scheduled(self, request: Any, slot: int, start: int, fed: Sequence[int]) -> Scheduled:
        """One row of the batch."""
        table = tuple(BlockId(block) for block in self.pages.get_physical_blocks(slot))
        return Scheduled(
            RequestId(request.request_id), start, len(fed), table, tokens=tuple(TokenId(token) for token in fed)
        )

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Hand over the sampled tokens."""
        completed, _ = self.scheduler.process_outputs({id: int(token) for id, token in sampled.items()}, NO_STOP)
        return [RequestId(request.request_id) for request in completed]

    def abort(self, id: RequestId) -> None:
        """The client went away."""
        self.scheduler.abort_request(id)

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running) request ids."""
        waiting = tuple(RequestId(request.request_id) for request in self.scheduler._pending_queue)
        return waiting, tuple(self.scheduler._active_requests)

    def free_blocks(self) -> int:
        """The allocator's count of free blocks."""
        return int(self.allocator.num_free_blocks)

    def free_set(self) -> Sequence[BlockId]:
        """The ids on its stack."""
        return [BlockId(block) for block in self.allocator._free_blocks]

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The rows of the page table of active requests."""
        return {
            RequestId(id): tuple(BlockId(block) for block in self.pages.get_physical_blocks(one.sequence.batch_slot))
            for id, one in self.scheduler._active_requests.items()
        }
