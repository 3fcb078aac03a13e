"""`ContinuousBatchProcessor` as a Stepper: the real step from queue to tensors and back, without the model between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessorList
from transformers.generation.continuous_batching.continuous_api import (
    BackgroundThreadStatus,
    ContinuousBatchProcessor,
    OutputRouter,
)
from transformers.generation.continuous_batching.requests import RequestState, RequestStatus
from transformers.generation.continuous_batching.scheduler import SCHEDULER_MAPPING, Scheduler
from transformers.generation.logits_process import LogitsProcessorList

from kvengines.transformers.cache import (
    BLOCK_SIZES,
    CPU,
    RESERVED,
    CacheView,
    batching_config,
    distributed,
    fresh_cache,
    model_config,
)
from kvspec.plans import Action, Admitted, Preempted, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class Noting(Scheduler):  # type: ignore[misc] # the installed package is untyped
    """Mixed into a scheduler of the engine: notes its decisions in order and changes none.

    Entries of `journal` are actions; a request that was scheduled stands as its id until the tensors are there.
    """

    def reset(self) -> None:
        """Forget everything; also called while it is built."""
        super().reset()
        self.journal: list[Action | str] = []

    def _infer_request_tokens(self, state: Any, removed: set[str]) -> Any:
        before = state.status
        tokens = super()._infer_request_tokens(state, removed)
        if state.status is not before:
            table = CacheView(self.cache).table(state.request_id)
            self.journal.append(Admitted(state.request_id, state.position_offset, table))
        return tokens

    def _schedule_request(self, state: Any, *rest: Any) -> None:
        super()._schedule_request(state, *rest)
        self.journal.append(state.request_id)

    def finish_request(self, request_id: str) -> None:
        """While a step is planned, only a victim of preemption is finished."""
        super().finish_request(request_id)
        self.journal.append(Preempted(RequestId(request_id)))


NOTING: dict[str, type[Any]] = {
    name: type(f"Noting{scheduler.__name__}", (Noting, scheduler), {}) for name, scheduler in SCHEDULER_MAPPING.items()
}


class Processor(ContinuousBatchProcessor):  # type: ignore[misc] # the installed package is untyped
    """The engine's processor without its destructor, which collects garbage for longer than an example lasts."""

    def __del__(self) -> None:
        pass


def processor(world: World) -> Any:
    """A batch processor as `ContinuousBatchingManager._create_batch_processor` builds it."""
    width = int(str(world.options.get("max_blocks_per_request", 0)))
    cache = fresh_cache(world)
    cache.max_blocks_per_request = width
    cache.max_decode_fast_path_length = cache._infer_max_decode_fast_path_length()
    config = batching_config(world, max_blocks_per_request=width)
    scheduler = NOTING[world.policy](cache, world.options.get("safety_margin"), config.max_requests_per_batch)
    return Processor(
        cache=cache,
        config=model_config(),
        generation_config=_greedy(),
        continuous_batching_config=config,
        logit_processor=ContinuousBatchingLogitsProcessorList(LogitsProcessorList()),
        input_queue=None,
        cancel_queue=None,
        output_router=OutputRouter(),
        background_thread_status=BackgroundThreadStatus(),
        model_device=CPU,
        model_dtype=torch.float32,
        scheduler=scheduler,
        distributed_helper=distributed(),
    )


@lru_cache(maxsize=1)
def _greedy() -> Any:
    return GenerationConfig(do_sample=False)


class TransformersStepper:
    """Continuous batching in its synchronous form. Offloading to the host needs pinned memory, which a CPU lacks."""

    capabilities = Capabilities(
        block_sizes=BLOCK_SIZES,
        num_blocks=(3, 12),
        token_budgets=(1, 12),
        policies=tuple(SCHEDULER_MAPPING),
        # The share of free blocks below which new prompts wait (None: 0.15 for fifo, 0 for prefill_first), and the
        # width of the kernel's block table, which a batch of decodes uses in place of indices (0: never). With
        # num_return_sequences above 1 the scheduler leaves one prompt token uncomputed until the request is forked.
        options={
            "safety_margin": (0.0, None, 0.5),
            "max_blocks_per_request": (0, 0, 2, 4),
            "num_return_sequences": (1, 1, 1, 2),
        },
        forks=True,
        reserved_blocks=RESERVED,
        # With num_return_sequences above 1 the last prompt token has a slot one step before it is computed. How the
        # allocator itself rounds is judged on the Pool, which declares no lookahead.
        lookahead_blocks=1,
        # mark_complete_blocks lets a request adopt the published twin of a block that it has just filled.
        remaps_duplicates=True,
        # A cancellation is looked at between steps: a request in flight keeps its blocks until its step completes.
        defers_in_flight=True,
    )

    def __init__(self, world: World) -> None:
        self.processor = processor(world)
        self.scheduler = self.processor.scheduler
        self.ios = self.processor.inputs_and_outputs
        self.view = CacheView(self.processor.cache)
        self.sequences = int(str(world.options.get("num_return_sequences", 1)))
        self.names: dict[str, RequestId] = {}
        self.batch: list[Any] = []
        self.cancelled: list[str] = []

    # Clients.

    def add(self, request: Request) -> None:
        """Queue a request, as the processor does with what the manager hands it."""
        children = self.sequences - 1
        state = RequestState(
            request.id, list(request.prompt), max_new_tokens=request.max_new_tokens, num_children=children
        )
        self.names[request.id] = request.id
        self.scheduler.add_waiting_request(state)

    def abort(self, request: RequestId) -> None:
        """Cancel, at once or, for a request in flight, between its step and the next."""
        id = self.engine_name(request)
        if any(future.state.request_id == id for future in self.batch):
            self.cancelled.append(id)
        else:
            self.cancel([id])

    def cancel(self, ids: Sequence[str]) -> None:
        """The first lines of `prepare_next_batch`."""
        for id in ids:
            self.scheduler.set_request_cancellation(id)
        for state in self.scheduler.clear_cancelled_requests():
            self.processor.offloading_manager.free_request_cpu_cache(state)

    def fork(self, parent: RequestId, child: Request) -> bool:
        """Ask for one child of a request in prefill, as parallel sampling does, and let `update_batch` make it.

        Refused where the engine would not fork: outside prefill, a second time, or with no room for the copies.
        """
        id = self.engine_name(parent)
        state = self.scheduler.active_requests.get(id)
        twin = f"{id}__child#0"
        if self.batch or state is None or state.status != RequestStatus.PREFILLING or twin in self.names:
            return False
        if self.view.allocator.count_non_shareable_blocks(id, state.current_len()) > len(self.view.free()):
            return False
        self.names[twin] = child.id
        state.num_children = 1
        self.scheduler._requests_to_fork.append(state)
        self.ios.requests_in_batch, self.ios.num_request_in_batch = [], 0
        self.processor.update_batch()
        return True

    # A step.

    def plan(self) -> StepPlan:
        """Let the engine decide and fill its tensors; read from these what the device would do."""
        self.scheduler.journal.clear()
        if not self.processor.prepare_next_batch():
            return StepPlan(self.actions({}))
        self.batch = list(self.ios.requests_in_batch)
        return StepPlan(self.actions(self.scheduled()))

    def actions(self, scheduled: Mapping[str, Scheduled]) -> tuple[Action, ...]:
        """The journal with the engine's names replaced by the specification's."""
        actions: list[Action] = []
        for entry in self.scheduler.journal:
            if isinstance(entry, str):
                actions.append(scheduled[entry])
            elif isinstance(entry, Admitted):
                actions.append(Admitted(self.names[entry.request], entry.hit, entry.table))
            elif isinstance(entry, Preempted):
                actions.append(Preempted(self.names[entry.request]))
        return tuple(actions)

    def scheduled(self) -> dict[str, Scheduled]:
        """The batch as its tensors describe it, by the engine's names."""
        tensors = Tensors(self.ios.get_model_kwargs(), self.view)
        ids = [future.state.request_id for future in self.batch]
        return {id: tensors.scheduled(row, id, self.names[id]) for row, id in enumerate(ids)}

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Put the sampled tokens where the model would, and let the engine take them."""
        finished: list[RequestId] = []
        if self.batch:
            tokens = [sampled.get(self.names[f.state.request_id], 0) for f in self.batch if f.has_new_token]
            self.ios.output_ids[0, : len(tokens)] = torch.tensor(tokens, dtype=torch.int32)
            self.forgo_children()
            self.processor.update_batch()
            over = [f.state.request_id for f in self.batch if f.state.status == RequestStatus.FINISHED]
            finished, self.batch = [self.names[id] for id in over], []
        self.cancel(self.cancelled)
        self.cancelled = []
        return finished

    def forgo_children(self) -> None:
        """A child that the engine makes of itself is a request that no client added: `fork` makes them instead."""
        for state in self.scheduler._requests_to_fork:
            state.num_children = 0
        self.scheduler._requests_to_fork.clear()

    # Observations.

    def engine_name(self, request: RequestId) -> str:
        """What the engine calls a request."""
        return next(theirs for theirs, ours in self.names.items() if ours == request)

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running) request ids."""
        waiting = tuple(self.names[id] for id in self.scheduler.waiting_requests_order)
        return waiting, tuple(self.names[id] for id in self.scheduler.active_requests)

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
        return {self.names[id]: table for id, table in self.view.tables().items()}

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        return self.view.keyed()


class Tensors:
    """The model's keyword arguments of one batch, read back: which request feeds, writes and reads what."""

    def __init__(self, inputs: Mapping[str, Any], view: CacheView) -> None:
        self.view = view
        self.tokens, self.positions = inputs["input_ids"][0].tolist(), inputs["position_ids"][0].tolist()
        self.queries = inputs["cu_seq_lens_q"].tolist()
        self.keys = next(iter(inputs["cu_seq_lens_k"].values())).tolist()
        self.writes, self.reads = inputs["write_index"][0].tolist(), inputs["read_index"][0].tolist()
        self.rows = None if inputs["block_table"] is None else inputs["block_table"][0].tolist()

    def scheduled(self, row: int, id: str, request: RequestId) -> Scheduled:
        """What the device does for the request in this row of the batch."""
        first, last = self.queries[row], self.queries[row + 1]
        start = self.positions[first] if last > first else self.keys[row + 1] - self.keys[row]
        tokens = tuple(TokenId(token) for token in self.tokens[first:last])
        slots = None if self.rows is not None else self.view.layout.slots(self.writes[first:last])
        return Scheduled(request, start, last - first, self.table(row, id), slots, tokens)

    def table(self, row: int, id: str) -> tuple[BlockId, ...]:
        """The blocks through which the device reads, and those of the block table that it does not read yet.

        Raises `IndexError` where the device reads positions out of order within a block.
        """
        table, layout = self.view.table(id), self.view.layout
        if self.rows is not None:
            pages = layout.stride // layout.block_size
            read = tuple(BlockId(entry // pages) for entry in self.rows[row] if entry >= 0)
        else:
            slots = layout.slots(self.reads[self.keys[row] : self.keys[row + 1]])
            if any(offset != position % layout.block_size for position, (_, offset) in enumerate(slots)):
                raise IndexError(f"the device reads the slots {slots} for the first positions of {id}")
            read = tuple(block for block, _ in slots[:: layout.block_size])
        return read + table[len(read) :]
