"""smol-vllm: its block manager alone, and its whole `LLMEngine`, with a model of ours in the place of its `FakeModel`.

One call of the engine plans, computes and samples, so `plan` runs that call and reports what the model was given.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from smol_vllm.block_manager import BlockSpaceManager
from smol_vllm.engine import LLMEngine

from kvconformance.surfaces import Engine, Sampler
from kvspec.plans import Action, Admission, Extension, Preempted, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

NO_STOP = -1
"""A token that no model says."""


def engine() -> Engine:
    """smol-vllm as it is installed."""
    factories = {Surface.POOL: SmolPool, Surface.STEPPER: SmolStepper}
    return Engine("smol-vllm", version("smol-vllm"), factories)


class Memory:
    """What a `BlockSpaceManager` says of itself; the engine's sequences are numbers, `names` has whose they are."""

    manager: Any
    names: list[RequestId]

    def free_blocks(self) -> int:
        """The number of free blocks, by the manager's own count."""
        return int(self.manager.num_free_blocks())

    def free_set(self) -> tuple[BlockId, ...]:
        """The free queue."""
        return tuple(BlockId(block) for block in self.manager._free_blocks)

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The counts of the held blocks."""
        return {BlockId(block): count for block, count in self.manager._ref_count.items()}

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every block table."""
        return {id: self.table(number) for number, id in enumerate(self.names)}

    def table(self, number: int) -> tuple[BlockId, ...]:
        """The block table of one sequence."""
        return tuple(BlockId(block) for block in self.manager.get_block_table(number))


class SmolPool(Memory):
    """`BlockSpaceManager`, asked `can_allocate` before each `allocate`, and free blocks before each `append_token`.

    `copy_on_write` is its fork; that a block which it has shared is written needs a copy that the class does not offer.
    """

    capabilities = Capabilities(caching=(False,), forks=True, rejects_infeasible=False)

    def __init__(self, world: World) -> None:
        self.size = world.block_size
        self.manager = BlockSpaceManager(world.num_blocks, world.block_size)
        self.names: list[RequestId] = []

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Blocks for the first tokens."""
        count = min(chunk, len(request.prompt))
        if not self.manager.can_allocate(count):
            return None
        self.names.append(request.id)
        self.manager.allocate(len(self.names) - 1, count)
        return Admission(0, count, self.table(len(self.names) - 1))

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Homes for the next tokens, one at a time."""
        number = self.names.index(id)
        held = self.manager._tokens_allocated[number]
        if -(-(held + count) // self.size) - len(self.table(number)) > self.free_blocks():
            return None
        for _ in range(count):
            self.manager.append_token(number)
        return Extension(self.table(number))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Nothing is published."""

    def append(self, id: RequestId, token: TokenId) -> None:
        """A sampled token concerns only the next `extend`."""

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...]:
        """Share the parent's blocks."""
        self.names.append(child.id)
        self.manager.copy_on_write(self.names.index(parent), len(self.names) - 1)
        return self.table(len(self.names) - 1)

    def free(self, id: RequestId) -> None:
        """Give back the blocks; a second time is nothing."""
        self.manager.free(self.names.index(id))


class Model:
    """Stands where the engine has its model: notes what it is given and asks the sampler."""

    def __init__(self, stepper: SmolStepper) -> None:
        self.stepper = stepper

    def prefill(self, groups: Sequence[Any]) -> list[int]:
        """The next token of prompts, computed whole."""
        return [self.stepper.run(group, 0, None) for group in groups]

    def decode(self, groups: Sequence[Any], block_tables: Sequence[Sequence[int]]) -> list[int]:
        """The next token after the last one of each, through the tables that the engine hands over."""
        return [
            self.stepper.run(group, group.sequences[0].num_tokens - 1, table)
            for group, table in zip(groups, block_tables, strict=True)
        ]


class SmolStepper(Memory):
    """`LLMEngine.step`, whole. It has no budget of tokens, no abort and no prefix cache.

    At the end of a step the engine takes a slot for the token that it has just sampled; it is shown as taken by the
    step that computes the token. What the engine says of itself while the model runs is noted then, because by the time
    that the harness asks, the step is over.
    """

    capabilities = Capabilities(
        token_budgets=(1_000, 1_000),
        num_blocks=(3, 12),
        caching=(False,),
        aborts=False,
        # A request is admitted only where a block stays free for each that runs.
        watermark_blocks=1,
        # The engine hands block tables to its model, which does not read them: a step is judged by these, or by those
        # that the block manager keeps.
        options={"tables": ("handed over", "kept")},
    )

    def __init__(self, world: World) -> None:
        self.world = world
        self.engine: Any = LLMEngine(world.num_blocks, world.block_size, world.max_running, enable_metrics=False)
        self.engine.model = Model(self)
        self.manager = self.engine.block_manager
        self.names: list[RequestId] = []
        self.actions: list[Action] = []
        self.finished: list[RequestId] = []
        self.noted: Noted | None = None
        self.sampler: Sampler = lambda request, tokens: TokenId(0)

    def set_sampler(self, sampler: Sampler) -> None:
        """Whom the model asks."""
        self.sampler = sampler

    def add(self, request: Request) -> None:
        """Queue a request."""
        self.names.append(request.id)
        self.engine.add_request(list(request.prompt), request.max_new_tokens, stop_token_ids=[NO_STOP])

    def plan(self) -> StepPlan:
        """Run the engine's step and tell what it did."""
        self.actions, self.noted = [], None
        before = {group.group_id for group in self.engine.scheduler.swapped}
        with Path(os.devnull).open("w", encoding="utf-8") as null, contextlib.redirect_stdout(null):
            outputs = self.engine.step()
        self.finished = [self.names[output.group_id] for output in outputs if output.finished]
        after = {group.group_id for group in self.engine.scheduler.swapped}
        victims = tuple(Preempted(self.names[number]) for number in sorted(after - before))
        return StepPlan((*victims, *self.actions))

    def run(self, group: Any, start: int, handed: Sequence[int] | None) -> int:
        """The model computes the rest of a sequence from `start` on."""
        self.noted = self.noted or self.note(ahead=False)
        sequence, id = group.sequences[0], self.names[group.group_id]
        tokens = [*sequence.prompt_tokens, *sequence.output_tokens]
        kept = handed is None or self.world.options.get("tables") == "kept"
        table = self.table(group.group_id) if kept else tuple(BlockId(block) for block in handed or ())
        fed = tuple(TokenId(token) for token in tokens[start:])
        self.actions.append(Scheduled(id, start, len(fed), table, tokens=fed))
        return self.sampler(id, tokens)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Who finished; the tokens are known already, from the sampler."""
        self.noted = None
        return self.finished

    def abort(self, id: RequestId) -> None:
        """The engine cannot; see `aborts` in the capabilities."""
        raise NotImplementedError

    # Observations.

    def note(self, *, ahead: bool) -> Noted:
        """What the engine says now; `ahead` where running sequences have a slot for a token not computed yet."""
        scheduler, tables, early = self.engine.scheduler, {}, set()
        for group in scheduler.running:
            table = self.table(group.group_id)
            keep = self.world.blocks_for(group.sequences[0].num_tokens - ahead)
            tables[self.names[group.group_id]] = table[:keep]
            early |= set(table[keep:])
        counts = {block: count for block, count in super().ref_counts().items() if block not in early}
        waiting = tuple(self.names[group.group_id] for group in (*scheduler.waiting, *scheduler.swapped))
        return Noted(tables, (*super().free_set(), *early), counts, waiting)

    @property
    def now(self) -> Noted:
        """What was noted, or what the engine says at rest."""
        return self.noted or self.note(ahead=True)

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting or swapped, running) request ids."""
        return self.now.waiting, tuple(self.now.tables)

    def free_blocks(self) -> int:
        """The number of free blocks, and of those taken too early."""
        return len(self.now.free)

    def free_set(self) -> tuple[BlockId, ...]:
        """Their ids."""
        return self.now.free

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The counts of the held blocks."""
        return self.now.counts

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The block tables of running requests."""
        return self.now.tables


@dataclass(frozen=True)
class Noted:
    """What the engine says of itself at one moment."""

    tables: Mapping[RequestId, tuple[BlockId, ...]]
    free: tuple[BlockId, ...]
    counts: Mapping[BlockId, int]
    waiting: tuple[RequestId, ...]
