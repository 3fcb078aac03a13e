"""SGLang's scheduler as a Stepper: admission, chunks, decode and retraction, with a model and a device of ours.

Two things differ from a server. A chunk is put into the tree when its step completes, as a whole prompt is, and not
at the head of the next step. And requests stay so far below the size of the pool that SGLang shortens none of them
(`init_req_max_new_tokens`). Not driven: the overlap of steps, mixed batches, priorities, hierarchical caches, drafts.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from sglang.srt.managers.schedule_batch import Req
from sglang.srt.managers.utils import GenerationBatchResult
from sglang.srt.sampling.sampling_params import SamplingParams

from kvengines.sglang.scheduler import VOCABULARY, BareScheduler
from kvspec.plans import Scheduled, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class SglangStepper:
    """Synchronous scheduling with chunked prefill. Requests are not aborted: one that runs computes one step more."""

    capabilities = Capabilities(
        block_sizes=(1, 2, 3, 4),
        num_blocks=(5, 14),
        # A batch of decode is not bounded by the size of a chunk, and a chunk has at least one page.
        token_budgets=(4, 12),
        policies=("fcfs", "lpm"),
        # The share of their remaining tokens that running requests are taken to need: at first (0.7), or as it is
        # after some 600 steps of decode without a retraction (0.098). Who ignores the end of text is taken to need all.
        options={
            "cache": ("unified", "radix"),
            "new_token_ratio": ("first", "decayed", "decayed"),
            "ignore_eos": (False, False, True),
            # SGLang's own switch for tests: every third step takes a decoding request away from the others.
            "test_retract": (False, False, True),
        },
        aborts=False,
        # Page 0 takes what padded tokens write.
        reserved_blocks=frozenset({BlockId(0)}),
        # A longer prompt is refused before it is queued, and of a request that may come near the pool's size the new
        # tokens are cut: by one page that the rounding may take, one that is held back, and one token.
        rejects_infeasible=False,
        watermark_blocks=2,
        # A request that computed what the tree has by then takes the tree's pages.
        remaps_duplicates=True,
    )

    def __init__(self, world: World) -> None:
        self.scheduler = BareScheduler(world)
        self.size = self.scheduler.page_size
        if world.options.get("new_token_ratio") == "decayed":
            self.scheduler.new_token_ratio_tracker.current = self.scheduler.new_token_ratio_tracker.min
        self.ignore_eos = bool(world.options.get("ignore_eos"))
        self.requests: dict[RequestId, Any] = {}

    def add(self, request: Request) -> None:
        """Queue a request."""
        sampling = SamplingParams(max_new_tokens=request.max_new_tokens, ignore_eos=self.ignore_eos)
        sampling.normalize(None)
        req = Req(request.id, "", array("q", request.prompt), sampling, vocab_size=VOCABULARY)
        self.scheduler.init_req_max_new_tokens(req)
        if sampling.max_new_tokens != request.max_new_tokens:
            raise RuntimeError(f"{request.max_new_tokens} new tokens are cut to {sampling.max_new_tokens}")
        self.requests[request.id] = req
        self.scheduler._add_request_to_queue(req)

    def plan(self) -> StepPlan:
        """SGLang's next batch, if there is one, and whom it retracted for it."""
        self.scheduler.journal = []
        batch = self.scheduler.next_batch()
        scheduled = tuple(self.scheduled(batch)) if batch else ()
        return StepPlan((*self.scheduler.journal, *scheduled))

    def scheduled(self, batch: Any) -> Iterator[Scheduled]:
        """What each request of a batch computes, and into which slots."""
        slots = deque(batch.out_cache_loc.tolist())
        for req in batch.reqs:
            tokens = (*req.origin_input_ids, *req.output_ids)
            end = req.kv.kv_committed_len
            start = req.prefix_len if batch.forward_mode.is_extend() else end - 1
            places = tuple(divmod(slots.popleft(), self.size) for _ in range(start, end))
            yield Scheduled(RequestId(req.rid), start, end - start, self.table(req), places, tokens[start:end])

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Hand SGLang the tokens of its batch; a request in the middle of its prompt is given one that nobody reads."""
        batch = self.scheduler.last_batch
        if batch is None:
            return ()
        tokens = torch.tensor([sampled.get(RequestId(req.rid), 0) for req in batch.reqs])
        self.scheduler.result(batch, GenerationBatchResult(next_token_ids=tokens))
        return [RequestId(req.rid) for req in batch.reqs if req.finished()]

    def abort(self, id: RequestId) -> None:
        """See `aborts` in the capabilities."""
        raise NotImplementedError

    # Observations.

    def table(self, req: Any) -> tuple[BlockId, ...]:
        """The pages of a request's row."""
        if not req.kv.holds_kv:
            return ()
        row = self.scheduler.req_to_token_pool.req_to_token[req.kv.req_pool_idx, : req.kv.kv_allocated_len]
        return tuple(BlockId(slot // self.size) for slot in row.tolist()[:: self.size])

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The pages of every request that holds some."""
        return {id: table for id, req in self.requests.items() if (table := self.table(req))}

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running) request ids."""
        waiting = tuple(RequestId(req.rid) for req in self.scheduler.waiting_queue)
        return waiting, tuple(self.tables())

    def free_blocks(self) -> int:
        """Free pages, and those that an eviction could free."""
        scheduler = self.scheduler
        free = scheduler.token_to_kv_pool_allocator.available_size() + scheduler.tree_cache.evictable_size()
        return int(free) // self.size

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The pages in the tree."""
        tree = self.scheduler.tree_cache
        slots = tree.all_values_flatten().tolist() if tree.evictable_size() + tree.protected_size() else ()
        return frozenset(BlockId(slot // self.size) for slot in slots)
