"""mini-infer: its block pool, block table and prefix cache alone, and its whole `InferenceEngine`.

One call of the engine plans, computes and samples, so `plan` runs that call with a model of ours in the place of its
Qwen2, and reports what the model was given. Each token's keys and values are one number of its own: where they land
in the engine's cache is looked up there and not derived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import torch
from mini_infer.cache import BlockPool, BlockTable, PrefixCache
from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.scheduler.continuous import ContinuousScheduler, SequenceStatus

from kvconformance.surfaces import Engine, Sampler
from kvspec.plans import Action, Admission, Admitted, Extension, Preempted, Released, Scheduled, Slot, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

VOCABULARY = 2
"""The harness samples 0 or 1."""


def engine() -> Engine:
    """mini-infer as it is installed."""
    factories = {Surface.POOL: MiniInferPool, Surface.STEPPER: MiniInferStepper}
    return Engine("mini-infer", version("mini-infer"), factories)


class Observations:
    """What a block pool and the prefix cache beside it say of themselves; `cache` is None where caching is off."""

    pool: Any
    cache: Any

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that the prefix index names; the cache itself holds one reference to each."""
        return frozenset(self.cache.cache.values()) if self.cache else frozenset()

    def ref_counts(self) -> Mapping[BlockId, int]:
        """Reference counts without the cache's own references, where any are left."""
        cached = self.keyed_blocks()
        held = {BlockId(block): count - (block in cached) for block, count in self.pool.ref_counts.items()}
        return {block: count for block, count in held.items() if count}

    def free_blocks(self) -> int:
        """Blocks that are free, or cached and held by nobody else (`PrefixCache.evict_lru` can free these)."""
        idle = sum(1 for block in self.keyed_blocks() if self.pool.ref_counts[block] == 1)
        return int(self.pool.num_free) + idle

    def free_set(self) -> tuple[BlockId, ...]:
        """The pool's free list."""
        return tuple(self.pool.free_list)


class Holding:
    """A request with its block table, in the place of a `Sequence`, whose table has blocks of 16 whatever is asked."""

    def __init__(self, request: Request, block_size: int) -> None:
        self.prompt = list(request.prompt)
        self.table: Any = BlockTable(block_size)
        self.published = False

    def blocks(self) -> tuple[BlockId, ...]:
        """The block table."""
        return tuple(self.table.physical_block_ids)


class MiniInferPool(Observations):
    """`BlockPool`, `BlockTable` and `PrefixCache`, put together as `InferenceEngine.step` does.

    Nothing in the package calls `PrefixCache.evict_lru`, so this adapter does not either. What does not fit is refused
    before anything is taken; the engine would let `append_slot` raise half way, but that would be a fault of its loop.
    """

    # A block manager alone is not told how long a request may become. With blocks of 1 the engine's way with a fully
    # cached prompt would take a block more; it is written for blocks of 16, so that is not held against it.
    capabilities = Capabilities(block_sizes=(2, 3, 4), rejects_infeasible=False)

    def __init__(self, world: World) -> None:
        self.world = world
        # No layers: a block manager alone needs no tensors.
        self.pool: Any = BlockPool(world.num_blocks, world.block_size, 0, 1, 1, torch.device("cpu"))
        self.cache: Any = PrefixCache(world.block_size) if world.caching else None
        self.holdings: dict[RequestId, Holding] = {}
        self.gone: dict[RequestId, tuple[BlockId, ...]] = {}

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Take the longest hit, then a slot for each token of the first chunk."""
        holding = Holding(request, self.world.block_size)
        hit = self.match(holding)
        count = min(chunk, len(holding.prompt) - hit)
        if count == 0:  # of a fully cached prompt the engine computes the last token once more
            holding.table.num_tokens -= 1
            count = 1
        if not self.append_slots(holding, count):
            holding.table.free(self.pool)
            return None
        self.holdings[request.id] = holding
        return Admission(hit, count, holding.blocks())

    def match(self, holding: Holding) -> int:
        """Begin a table with the longest hit; its length in tokens."""
        if self.cache is None:
            return 0
        blocks, hit = self.cache.match_prefix(holding.prompt, self.pool)
        holding.table.physical_block_ids.extend(blocks)
        holding.table.num_tokens = hit
        return int(hit)

    def append_slots(self, holding: Holding, count: int) -> bool:
        """Slots for the next `count` tokens, or nothing at all."""
        begun = holding.table.num_tokens
        new = sum(1 for position in range(begun, begun + count) if position % self.world.block_size == 0)
        if new > self.pool.num_free:
            return False
        for _ in range(count):
            holding.table.append_slot(self.pool)
        return True

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Slots for the next tokens."""
        holding = self.holdings[id]
        return Extension(holding.blocks()) if self.append_slots(holding, count) else None

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Publish the full blocks of a prompt once all of it is computed."""
        holding = self.holdings[id]
        if self.cache is None or holding.published or num_computed < len(holding.prompt):
            return
        holding.published = True
        size = self.world.block_size
        for index, block in enumerate(holding.blocks()[: len(holding.prompt) // size]):
            self.cache.insert_prefix_block(tuple(holding.prompt[: (index + 1) * size]), block, self.pool)

    def append(self, id: RequestId, token: TokenId) -> None:
        """A sampled token concerns only the next `extend`."""

    def free(self, id: RequestId) -> None:
        """Give back the blocks of a request."""
        holding = self.holdings.pop(id)
        self.gone[id] = holding.blocks()
        holding.table.free(self.pool)

    def free_again(self, id: RequestId) -> None:
        """Hand the same block ids to the pool once more, those that are still free.

        Of a block that has changed hands or is cached, a pool that is told only ids cannot know whose release this is.
        """
        self.pool.free_blocks([block for block in self.gone[id] if self.pool.ref_counts[block] == 0])

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return {id: holding.blocks() for id, holding in self.holdings.items()}


class Pass:
    """The forward pass of one sequence: what the model was given, and the stamps that are its keys and values."""

    def __init__(self, sequence: Any, start: int, tokens: Sequence[int], first_stamp: int) -> None:
        self.request = RequestId(sequence.request_id)
        self.table = tuple(BlockId(block) for block in sequence.block_table.physical_block_ids)
        self.start = start
        self.tokens = tuple(TokenId(token) for token in tokens)
        self.stamps = range(first_stamp, first_stamp + len(tokens))

    def scheduled(self, slots: tuple[Slot, ...]) -> Scheduled:
        """The pass in a plan, with the places where its keys and values landed."""
        return Scheduled(self.request, self.start, len(self.tokens), self.table, slots, self.tokens)


def admitted(sequence: Any) -> Admitted:
    """The hit on which a sequence begins: whole blocks, all the tokens that the engine counts as processed."""
    table, hit = sequence.block_table, sequence.prompt_tokens_processed
    return Admitted(RequestId(sequence.request_id), hit, tuple(table.physical_block_ids[: hit // table.block_size]))


class Step:
    """What one call of the engine does, in the order in which it does it."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.actions: list[Action] = []
        self.prefills: Iterator[Any] = iter(())
        self.decodes: Sequence[Any] = ()
        self.open: Pass | None = None

    def begin(self, one: Pass) -> None:
        """A pass whose keys and values the engine writes once the model has returned."""
        self.close()
        self.open = one

    def close(self) -> None:
        """The engine has written the last pass: see where."""
        if self.open is not None:
            self.actions.append(self.open.scheduled(self.landed(self.open.stamps)))
            self.open = None

    def landed(self, stamps: range) -> tuple[Slot, ...]:
        """The slots that hold these stamps, in their order."""
        keys = self.pool.key_caches[0][:, 0, :, 0]
        found = (keys >= stamps.start) & (keys < stamps.stop)
        places = zip(keys[found].tolist(), found.nonzero().tolist(), strict=True)
        return tuple((BlockId(block), offset) for _, (block, offset) in sorted(places))

    def act(self, action: Action) -> None:
        """Something the scheduler does between passes."""
        self.close()
        self.actions.append(action)

    def plan(self) -> StepPlan:
        """The step is over."""
        self.close()
        return StepPlan(tuple(self.actions))


class WatchedScheduler(ContinuousScheduler):  # type: ignore[misc]  # the engine has no types
    """The engine's scheduler, telling what it decides."""

    def __init__(self, watch: Callable[[], Step], *arguments: Any, **limits: Any) -> None:
        super().__init__(*arguments, **limits)
        self.watch = watch

    def schedule(self) -> tuple[list[Any], list[Any]]:
        """Schedule, after telling whose blocks this gives back."""
        step = self.watch()
        for sequence in self.running:
            if sequence.status == SequenceStatus.FINISHED:
                step.act(Released(RequestId(sequence.request_id)))
        prefills, decodes = super().schedule()
        step.prefills, step.decodes = iter(prefills), decodes
        return prefills, decodes

    def preempt(self, sequence: Any) -> None:
        """Tell, and preempt."""
        self.watch().act(Preempted(RequestId(sequence.request_id)))
        super().preempt(sequence)


class StampModel:
    """Stands where the engine expects its language model. One layer, one head, one number for keys and values."""

    def __init__(self, watch: Callable[[], Step]) -> None:
        self.watch = watch
        self.sampler: Sampler = lambda request, tokens: TokenId(0)
        self.stamps = 1  # the cache begins with zeros

    def parameters(self) -> Iterator[torch.Tensor]:
        """One, of the type in which the cache is made: stamps are exact in it."""
        yield torch.zeros(1, dtype=torch.float64)

    def __call__(
        self, input_ids: torch.Tensor, past_key_values: Any = None, block_tables: Any = None, **paged: Any
    ) -> tuple[torch.Tensor, Any]:
        """Logits `[batch, 1, 2]`, and keys and values `[1, 1, tokens so far, 1]` for a prefill."""
        if block_tables is not None:
            return self.decode(input_ids.tolist(), block_tables, **paged), None
        sequence, tokens = next(self.watch().prefills), input_ids[0].tolist()
        if past_key_values is None and sequence.prompt_tokens_processed:
            self.watch().act(admitted(sequence))
        stamps = self.run(sequence, sequence.block_table.num_tokens - len(tokens), tokens)
        new = torch.tensor(stamps, dtype=torch.float64).reshape(1, 1, -1, 1)
        keys = new if past_key_values is None else torch.cat((past_key_values[0][0], new), dim=2)
        return self.logits([sequence]), [(keys, keys)]

    def decode(
        self,
        input_ids: list[list[int]],
        block_tables: list[list[int]],
        block_pool: Any,
        context_lens: list[int],
        slot_mapping: list[Slot],
    ) -> torch.Tensor:
        """One token of each sequence, written as Qwen2's attention does."""
        owners = {id(s.block_table.physical_block_ids): s for s in self.watch().decodes}
        sequences = [owners[id(table)] for table in block_tables]
        for sequence, tokens, length, (block, offset) in zip(
            sequences, input_ids, context_lens, slot_mapping, strict=True
        ):
            (stamp,) = self.run(sequence, length - 1, tokens)
            state = torch.full((1, 1), stamp, dtype=torch.float64)
            block_pool.write_slot(0, block, offset, state, state)
        return self.logits(sequences)

    def run(self, sequence: Any, start: int, tokens: Sequence[int]) -> list[int]:
        """Note a pass over `tokens` from position `start` on; the stamps of its keys and values."""
        one = Pass(sequence, start, tokens, self.stamps)
        self.stamps += len(tokens)
        self.watch().begin(one)
        return list(one.stamps)

    def logits(self, sequences: Sequence[Any]) -> torch.Tensor:
        """Certainty about the token that the harness wants next."""
        logits = torch.zeros(len(sequences), 1, VOCABULARY)
        for row, sequence in enumerate(sequences):
            so_far = (*sequence.prompt_token_ids, *sequence.output_token_ids)
            logits[row, 0, self.sampler(RequestId(sequence.request_id), so_far)] = 1.0
        return logits


class MiniInferStepper(Observations):
    """`InferenceEngine.step`, whole. `prefix/…` rules see what it does after a hit in the slots that it writes.

    The engine's constructor does not pass `max_num_batched_tokens` on; here its scheduler is built with it. A chunk is
    never larger than the budget, so that only a sum over requests can exceed it.
    """

    capabilities = Capabilities(
        block_sizes=(16,),
        num_blocks=(2, 16),
        token_budgets=(8, 64),
        options=MappingProxyType({"chunked_prefill_size": (16, 24, 512)}),
        aborts=False,
        defers_release=True,
        # Passes follow each other within a step: what an earlier one published, it has computed.
        publishes="scheduled",
        profiles=frozenset({"fcfs", "decode-first"}),
    )

    def __init__(self, world: World) -> None:
        self.model = StampModel(lambda: self.step)
        chunk = min(int(str(world.options["chunked_prefill_size"])), world.token_budget)
        self.engine: Any = InferenceEngine(
            self.model,
            Qwen2Config(num_hidden_layers=1, num_key_value_heads=1, head_dim=1),
            num_blocks=world.num_blocks,
            block_size=world.block_size,
            max_batch_size=world.max_running,
            chunked_prefill_size=chunk,
            enable_prefix_caching=world.caching,
            device=torch.device("cpu"),
        )
        self.engine.scheduler = WatchedScheduler(
            lambda: self.step,
            self.engine.block_pool,
            max_batch_size=world.max_running,
            max_num_batched_tokens=world.token_budget,
            chunked_prefill_size=chunk,
        )
        self.step = Step(self.engine.block_pool)
        self.pool, self.cache = self.engine.block_pool, self.engine.prefix_cache
        self.finished: list[RequestId] = []

    def set_sampler(self, sampler: Sampler) -> None:
        """Whom the model asks for its next token."""
        self.model.sampler = sampler

    def add(self, request: Request) -> None:
        """Queue a request."""
        self.engine.add_request(list(request.prompt), max_tokens=request.max_new_tokens, request_id=request.id)

    def plan(self) -> StepPlan:
        """Run the engine's step and tell what it did."""
        self.step = Step(self.engine.block_pool)
        sampled = self.engine.step()
        self.finished = [RequestId(s.request_id) for s, _ in sampled if s.status == SequenceStatus.FINISHED]
        return self.step.plan()

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Who finished; the tokens are known already, from the sampler."""
        return self.finished

    def abort(self, id: RequestId) -> None:
        """The engine cannot; see `aborts` in the capabilities."""
        raise NotImplementedError

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running) request ids; who has finished runs until the next step."""
        scheduler = self.engine.scheduler
        return tuple(s.request_id for s in scheduler.waiting), tuple(s.request_id for s in scheduler.running)

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The block tables of the running requests."""
        running = self.engine.scheduler.running
        return {RequestId(s.request_id): tuple(s.block_table.physical_block_ids) for s in running}
