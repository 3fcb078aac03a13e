"""Imposters that plan wrong steps: too much, nobody, or somebody twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.blocks import OutOfBlocks
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import StepPlan
from kvspec.vocabulary import Request, RequestId, TokenId, TransferId, World

# The budget.


class ReuseCountedTwice(ReferenceStepper):
    """Adds the tokens of a hit, which cost nothing anyway, to what the step may still compute (TensorRT-LLM #12665)."""

    bug, broken_rule = "B119", rules.STEP_BUDGET

    def admit(self, step: Step, task: Task) -> bool:
        reusable = self.pool.hit_length(self.pool.find(task.holding.tokens, task.request))
        admission = self.pool.begin(task.holding, step.left + reusable, resumed=task.resumed)
        if admission is not None:
            self.schedule(step, task, admission.count)
        return admission is not None


class OneOfTwoLimitsApplied(ReferenceStepper):
    """Keeps the token budget and forgets the most requests of a step (sglang-jax #1551)."""

    bug, broken_rule = "B121", rules.STEP_BUDGET

    def new_step(self) -> Step:
        return Step(self.world.token_budget, self.world.token_budget)

    def batch_full(self) -> bool:
        return False


class NegativeChunk(ReferenceStepper):
    """Reserves a token for each running request and schedules the rest, even where it is negative (SGLang #13698)."""

    bug, broken_rule = "B122", rules.STEP_BUDGET

    def admit(self, step: Step, task: Task) -> bool:
        admission = self.pool.begin(task.holding, step.left - len(self.running), resumed=task.resumed)
        if admission is not None:
            self.schedule(step, task, admission.count)
        return admission is not None


class PrefillNeverCounts(ReferenceStepper):
    """Does not subtract prompts from the budget of the step (mini-sglang #47)."""

    bug, broken_rule = "B123", rules.STEP_BUDGET

    def schedule(self, step: Step, task: Task, count: int) -> None:
        super().schedule(step, task, count)
        if task.generated == 0:
            step.left += count


class UntruncatedLengthScheduled(ReferenceStepper):
    """Schedules the whole rest of a prompt where only a part of it was paid for (sglang-jax #1328)."""

    bug, broken_rule = "B124", rules.STEP_BUDGET

    def chunk(self, step: Step, task: Task) -> int:
        return task.remaining if step.left else 0


# Queues.


class ScanSlipsAtVictims(ReferenceStepper):
    """Moves its scan back for every victim, also for one behind it, and meets a request twice (vLLM #49097)."""

    bug, broken_rule = "B127", rules.ONE_QUEUE

    def make_room(self, step: Step, task: Task, count: int) -> bool:
        victims = len(self.running)
        made = super().make_room(step, task, count)
        if made and len(self.running) < victims:
            self.schedule(step, task, count)
        return made


class VictimLosesItsPlace(ReferenceStepper):
    """Sends a victim to the end of the queue, behind requests that came after it (vLLM #41951)."""

    bug, broken_rule = "B128", rules.ONE_QUEUE

    def enqueue(self, task: Task, front: bool = False) -> None:
        super().enqueue(task)


class AbortLooksInTheWrongQueue(ReferenceStepper):
    """Looks for an aborted victim that runs again among those that wait, and leaves it there (vllm-omni #3774)."""

    bug, broken_rule = "B285", rules.ONE_QUEUE

    def abort(self, id: RequestId) -> None:
        task = self.tasks.get(id)
        runs_again = task is not None and task.resumed and task in self.running
        super().abort(id)
        if task is not None and runs_again:
            task.in_flight = True  # the scan passes over whoever is gone
            self.running.append(task)


# Progress.


class ChunksStopWithoutCache(ReferenceStepper):
    """Moves a prompt on to its next chunk only where the cache stores the last one (SGLang #36855)."""

    bug, broken_rule = "B129", rules.PROGRESS_OR_REJECT

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        finished = super().complete(plan, sampled)
        for scheduled in plan.scheduled:
            task = self.tasks.get(scheduled.request)
            if task is not None and not self.world.caching and scheduled.request not in sampled:
                task.in_flight = True
        return finished


class LoadsWaitForTheQueueHead(ReferenceStepper):
    """Notices that a load has arrived only after the head of the queue was admitted (vLLM #45388)."""

    bug, broken_rule = "B131", rules.PROGRESS_OR_REJECT

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.arrived: list[TransferId] = []

    def transfer_done(self, id: TransferId) -> None:
        task, _ = self.transfers[id]
        if task.on_host or not self.waiting:
            super().transfer_done(id)
        else:
            self.arrived.append(id)

    def admit_waiting(self, step: Step, newcomers: bool = False) -> None:
        head = self.waiting[:1]
        super().admit_waiting(step, newcomers)
        while self.arrived and self.waiting[:1] != head:
            super().transfer_done(self.arrived.pop())


class FencedVictimCountedAsFree(ReferenceStepper):
    """Allocates after one preemption without asking whether the victim's blocks are free by now (vLLM #49674)."""

    bug, broken_rule = "B133", rules.PROGRESS_OR_REJECT

    def make_room(self, step: Step, task: Task, count: int) -> bool:
        if (extension := self.pool.extend(task.request.id, count)) is None:
            victim = self.choose_victim(step)
            if victim is None or victim is task:
                return super().make_room(step, task, count)
            self.preempt(step, victim)
            extension = self.pool.extend(task.request.id, count)
            if extension is None:
                raise OutOfBlocks("no block is free after a preemption")
        step.actions += extension.copies
        return True


class FullCacheIsAnError(ReferenceStepper):
    """Gives up where a running request needs a block and none is free (transformers #43150)."""

    bug, broken_rule = "B136", rules.PROGRESS_OR_REJECT

    def choose_victim(self, step: Step) -> Task | None:
        raise OutOfBlocks("the cache is full")


class _TakesAnybody(ReferencePool):
    def reject_infeasible(self, request: Request) -> None:
        """Nobody is too large."""


class OversizedRequestAccepted(ReferenceStepper):
    """Accepts a request that is larger than the pool and retracts it for ever (SGLang #19881)."""

    bug, broken_rule = "B137", rules.PROGRESS_OR_REJECT
    pool_type = _TakesAnybody
