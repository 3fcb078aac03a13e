"""Imposters that use what a transfer still brings, or give away where it brings it."""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import StepPlan
from kvspec.vocabulary import BlockId, Request, TokenId, TransferId, World

# What is on its way is no hit, and nobody reads it.


class LoadedChainMatchesAtOnce(ReferenceStepper):
    """Makes the blocks of a load findable when it begins, so that others take them (bytedance-iaas/sglang #768)."""

    bug, broken_rule = "B280", rules.IN_FLIGHT_FENCE

    def swap_in(self, step: Step, task: Task) -> bool:
        begun = super().swap_in(step, task)
        if begun:
            self.pool.computed(task.request.id, task.holding.computed)
        return begun


class _FindsLoads(ReferencePool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.loading: dict[bytes, BlockId] = {}

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        blocks = super().find(tokens, request)
        for key in list(self.cache.chain(tokens[: len(tokens) - 1], request.parts))[len(blocks) :]:
            if key not in self.loading or not self.world.caching:
                break
            blocks.append(self.loading[key])
        return blocks


class ReusesWhatIsBeingLoaded(ReferenceStepper):
    """Looks among pending loads for what the cache lacks, and does not wait for them (TensorRT-LLM #9056)."""

    bug, broken_rule = "B281", rules.IN_FLIGHT_FENCE
    pool_type = _FindsLoads
    pool: _FindsLoads

    def swap_in(self, step: Step, task: Task) -> bool:
        begun = super().swap_in(step, task)
        if begun:
            chain = self.pool.cache.chain(task.holding.tokens[: task.holding.computed], task.request.parts)
            self.pool.loading |= dict(zip(chain, task.holding.table, strict=False))
        return begun

    def transfer_done(self, id: TransferId) -> None:
        super().transfer_done(id)
        self.pool.loading.clear()


class UsedWithoutWaitingForItsLoad(ReferenceStepper):
    """Reads what a load brings in the next step, whether it is there or not (vLLM #48534)."""

    bug, broken_rule = "B284", rules.IN_FLIGHT_FENCE

    def plan(self) -> StepPlan:
        for task, _ in self.transfers.values():
            if not task.on_host:
                task.transfer = None
        return super().plan()


# Where something is on its way, nothing else goes on.


class PreemptionForgetsTransfers(ReferenceStepper):
    """Takes blocks from a request by preemption, which does not know that a transfer uses them (DingoCache #76)."""

    bug, broken_rule = "B282", rules.IN_FLIGHT_FENCE

    def make_room(self, step: Step, task: Task, count: int) -> bool:
        self.known, self.transfers = self.transfers, {}
        try:
            return super().make_room(step, task, count)
        finally:
            self.transfers = {**self.known, **self.transfers}

    def choose_victim(self, step: Step) -> Task | None:
        loading = [task for task in self.in_order(self.running) if task.transfer in self.known]
        return loading[-1] if loading else super().choose_victim(step)

    def preempt(self, step: Step, task: Task) -> None:
        if task.transfer is not None:
            self.pool.blocks.unfence(self.known.pop(task.transfer)[1])
            task.transfer = None
        super().preempt(step, task)

    def transfer_done(self, id: TransferId) -> None:
        if id in self.transfers:
            super().transfer_done(id)


class SavedWhileItIsComputed(ReferenceStepper):
    """Saves the blocks of a victim without waiting for the step that still writes them (vLLM #45704)."""

    bug, broken_rule = "B283", rules.IN_FLIGHT_FENCE

    def choose_victim(self, step: Step) -> Task | None:
        flying = [task for task in self.in_order(self.running) if task.in_flight and task.transfer is None]
        return flying[-1] if flying and self.world.preemption == "swap" else super().choose_victim(step)
