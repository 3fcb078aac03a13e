"""kvstream: its block manager with the prefix cache beside it (Pool), and its scheduler with both (Stepper)."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from kvstream.memory.block_manager import BlockManager
from kvstream.memory.prefix_cache import PrefixKVCache
from kvstream.scheduler.continuous_batch import ContinuousBatchScheduler, SeqStatus, SequenceGroup

from kvconformance.surfaces import Engine
from kvspec.plans import Action, Admission, BlockCopy, Extension, Hit, Preempted, Released, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

CANONICAL = "prefix:"
"""How the ids of sequences begin that the prefix cache keeps for itself."""

SWAP_SPACE = 64
"""Blocks on the host: enough for any world."""


def engine() -> Engine:
    """The installed kvstream."""
    return Engine("kvstream", version("kvstream"), {Surface.POOL: KvstreamPool, Surface.STEPPER: KvstreamStepper})


class Memory:
    """A block manager and a prefix cache, and what they say of themselves; the cache's own references set apart."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.manager: Any = BlockManager(world.num_blocks, SWAP_SPACE, world.block_size)
        self.cache: Any = PrefixKVCache(self.manager, min_match_tokens=world.block_size) if world.caching else None

    def match(self, tokens: Sequence[int]) -> Any:
        """The longest cached prefix, or None."""
        return self.cache.match(list(tokens)) if self.cache else None

    def table(self, id: str) -> tuple[BlockId, ...]:
        """The block table of a sequence, empty if it has none."""
        return tuple(self.manager.get_block_table(id)) if self.manager.has_sequence(id) else ()

    def held_by_cache(self) -> dict[BlockId, int]:
        """How often each block stands in the cache's own sequences."""
        counts: dict[BlockId, int] = {}
        for id, state in self.manager._seq_states.items():
            for block in state.logical_to_physical if id.startswith(CANONICAL) else ():
                counts[block] = counts.get(block, 0) + 1
        return counts

    def free_set(self) -> tuple[BlockId, ...]:
        """The free list."""
        return tuple(BlockId(block) for block in self.manager._gpu_free)

    def ref_counts(self) -> Mapping[BlockId, int]:
        """Reference counts without the cache's own."""
        cached, blocks = self.held_by_cache(), self.manager._gpu_blocks
        counts = {BlockId(id): block.ref_count - cached.get(BlockId(id), 0) for id, block in blocks.items()}
        return {id: count for id, count in counts.items() if count > 0}

    def free_blocks(self) -> int:
        """Blocks that are free, or cached and held by nobody else."""
        cached, held = self.held_by_cache(), self.ref_counts()
        return int(self.manager.num_free_gpu_blocks()) + sum(1 for block in cached if block not in held)

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        return frozenset(self.held_by_cache())


class KvstreamPool(Memory):
    """The manager's calls as its docstrings ask for them: `cow_write` before a shared block is continued."""

    # A block manager alone is not told how long a request may become.
    capabilities = Capabilities(block_sizes=(2, 3, 4), forks=True, rejects_infeasible=False)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.prompts: dict[RequestId, tuple[TokenId, ...]] = {}
        self.done: dict[RequestId, int] = {}

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now."""
        entry = self.match(request.prompt)
        if entry is None:
            return Hit(0, ())
        return Hit(entry.num_tokens, self.table(entry.seq_id)[: entry.num_tokens // self.world.block_size])

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Fork the cached prefix or allocate, then a slot for each token of the first chunk."""
        entry, id = self.match(request.prompt), request.id
        hit = entry.num_tokens if entry else 0
        count = min(chunk, len(request.prompt) - hit)
        need = self.world.blocks_for(hit + count) - hit // self.world.block_size
        if need > self.manager.num_free_gpu_blocks():
            return None
        if entry is None:
            self.manager.allocate(id, count)
        else:
            self.cache.fork_prefix(entry, id)
            self.slots(id, count)
        self.prompts[id], self.done[id] = request.prompt, 0
        return Admission(hit, count, self.table(id))

    def slots(self, id: RequestId, count: int) -> None:
        """Slots for the next tokens."""
        for _ in range(count):
            self.manager.append_slot(id)

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """A private copy of a shared block that is continued, and slots for the next tokens."""
        size, table = self.world.block_size, self.table(id)
        held = self.manager._seq_states[id].num_tokens
        tail = held // size
        shared = bool(held % size) and self.manager._gpu_blocks[table[tail]].ref_count > 1
        if self.world.blocks_for(held + count) - len(table) + shared > self.manager.num_free_gpu_blocks():
            return None
        copies = []
        if shared:
            copies.append(BlockCopy(id, table[tail], self.manager.cow_write(id, tail), held % size))
        self.slots(id, count)
        return Extension(self.table(id), tuple(copies))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Remembered for the end: `generate` registers a prompt when its request is over."""
        self.done[id] = num_computed

    def append(self, id: RequestId, token: TokenId) -> None:
        """A sampled token concerns only the next `extend`."""

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...]:
        """Share the parent's blocks."""
        self.manager.fork(parent, child.id)
        self.prompts[child.id], self.done[child.id] = child.prompt, self.done[parent]
        return self.table(child.id)

    def free(self, id: RequestId) -> None:
        """Register the prompt, if it was computed, and give back the blocks."""
        if self.cache and id in self.done and self.done[id] >= len(self.prompts[id]):
            self.cache.register(id, list(self.prompts[id]))
        self.manager.free(id)

    def free_again(self, id: RequestId) -> None:
        """The manager's own release, a second time."""
        self.manager.free(id)

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return {RequestId(id): self.table(id) for id in self.manager._seq_states if not id.startswith(CANONICAL)}


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing, as the scheduler's do while nobody else holds its lock."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the scheduler waits for somebody")


class Watched(ContinuousBatchScheduler):  # type: ignore[misc] # follow_imports = skip
    """The scheduler, telling whom it preempts."""

    victims: list[str]

    def _pick_preemption_victim(self) -> Any:
        victim = super()._pick_preemption_victim()
        self.victims.append(victim.seq_id)
        return victim


class KvstreamStepper(Memory):
    """`ContinuousBatchScheduler` with what `KVStreamEngine.generate` does around it, for a backend it may preempt.

    A sampled token is given its slot at once; it is shown as taken by the step that computes the token. The prefix
    cache is off: `generate` forks a hit before it queues a request, and who waits on this surface holds nothing.
    """

    capabilities = Capabilities(
        block_sizes=(2, 3, 4),
        token_budgets=(1_000, 1_000),
        policies=("fcfs", "sjf"),
        caching=(False,),
        defers_release=True,
        options={"preemption_policy": ("swap", "recompute"), "allow_preemption": (True, False)},
    )

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.scheduler: Any = Watched(
            self.manager,
            max_batch_size=world.max_running,
            preemption_policy=str(world.options.get("preemption_policy", "swap")),
            priority=world.policy,
            allow_preemption=bool(world.options.get("allow_preemption", True)),
        )
        self.sequences: dict[RequestId, Any] = {}
        self.ahead: set[RequestId] = set()

    def add(self, request: Request) -> None:
        """Queue a request."""
        self.sequences[request.id] = SequenceGroup(request.id, list(request.prompt), request.max_new_tokens)
        at_once(self.scheduler.add_request(self.sequences[request.id]))

    def plan(self) -> StepPlan:
        """Schedule, and tell what the backend would compute."""
        self.scheduler.victims = []
        actions: list[Action] = [Released(RequestId(s.seq_id)) for s in self.scheduler.running if s.is_finished]
        output = at_once(self.scheduler.schedule())
        self.ahead.clear()
        actions += [Preempted(RequestId(id)) for id in self.scheduler.victims]
        actions += [self.scheduled(sequence, 0) for sequence in output.prefill]
        actions += [self.scheduled(sequence, sequence.total_tokens - 1) for sequence in output.decode]
        return StepPlan(tuple(actions))

    def scheduled(self, sequence: Any, start: int) -> Scheduled:
        """A running sequence computes from `start` on."""
        tokens = tuple(TokenId(token) for token in (*sequence.prompt_tokens, *sequence.output_tokens)[start:])
        return Scheduled(RequestId(sequence.seq_id), start, len(tokens), self.table(sequence.seq_id), tokens=tokens)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Each sampled token is appended and given a slot, whose failure `generate` only logs; the last one ends it."""
        finished = []
        for id, token in sampled.items():
            sequence = self.sequences[id]
            if sequence.is_finished:
                continue
            sequence.output_tokens.append(int(token))
            with suppress(MemoryError):
                self.manager.append_slot(id)
                self.ahead.add(id)
            if sequence.num_generated == sequence.max_new_tokens:
                sequence.status = SeqStatus.FINISHED
                finished.append(id)
        return finished

    def abort(self, id: RequestId) -> None:
        """The client goes away: as `generate` ends."""
        if self.sequences[id].status is SeqStatus.RUNNING:
            self.sequences[id].status = SeqStatus.FINISHED
        else:
            at_once(self.scheduler.abort_request(id))

    # Observations.

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting or swapped, running) request ids."""
        waiting = (*self.scheduler.waiting, *self.scheduler.swapped)
        return tuple(RequestId(s.seq_id) for s in waiting), tuple(RequestId(s.seq_id) for s in self.scheduler.running)

    def early(self, id: RequestId) -> tuple[BlockId, ...]:
        """The block that a running sequence has for a token which no step has computed yet."""
        computed = self.sequences[id].total_tokens - 1
        return self.table(id)[self.world.blocks_for(computed) :] if id in self.ahead else ()

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The block tables of running sequences."""
        ids = [RequestId(sequence.seq_id) for sequence in self.scheduler.running]
        return {id: self.table(id)[: len(self.table(id)) - len(self.early(id))] for id in ids}

    def all_early(self) -> tuple[BlockId, ...]:
        """Those blocks of all sequences."""
        return tuple(block for id in self.ahead for block in self.early(id))

    def free_set(self) -> tuple[BlockId, ...]:
        """The free list, and what was taken early."""
        return (*super().free_set(), *self.all_early())

    def free_blocks(self) -> int:
        """How many they are."""
        return super().free_blocks() + len(self.all_early())

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The counts of the others."""
        early = set(self.all_early())
        return {block: count for block, count in super().ref_counts().items() if block not in early}
