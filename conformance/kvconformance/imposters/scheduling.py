"""Imposters that plan wrong steps: too much, nobody, somebody twice, a resumed request as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.blocks import OutOfBlocks
from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, StepPlan
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


# Preempted and resumed.


class OlderOutputAppliedTwice(ReferenceStepper):
    """Applies to a victim the output that it had before the preemption a second time (vLLM #48245)."""

    bug, broken_rule = "B138", rules.RESUME_EQUALS_UNINTERRUPTED

    def preempt(self, step: Step, task: Task) -> None:
        super().preempt(step, task)
        if task.generated:
            task.holding.tokens.append(task.holding.tokens[-1])


class ResumedIsTakenForDecode(ReferenceStepper):
    """Ends the prefill of a resumed request where its prompt ends and goes on with its last token (vllm-gaudi #524)."""

    bug, broken_rule = "B141", rules.RESUME_EQUALS_UNINTERRUPTED

    def admit(self, step: Step, task: Task) -> bool:
        if not task.resumed:
            return super().admit(step, task)
        admission = self.pool.begin(task.holding, min(step.left, len(task.request.prompt)), resumed=True)
        if admission is not None:
            self.schedule(step, task, admission.count)
        return admission is not None

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        finished = super().complete(plan, sampled)
        for scheduled in plan.scheduled:
            task = self.tasks.get(scheduled.request)
            if task is not None and task.resumed and task.holding.computed >= len(task.request.prompt):
                task.holding.computed = task.holding.allocated = len(task.holding.tokens) - 1
        return finished


class FirstTokenAfterResumeDropped(ReferenceStepper):
    """Drops the token that is sampled when a victim's tokens are computed again (nano-vllm #217)."""

    bug, broken_rule = "B142", rules.RESUME_EQUALS_UNINTERRUPTED

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.again: set[RequestId] = set()

    def preempt(self, step: Step, task: Task) -> None:
        super().preempt(step, task)
        self.again.add(task.request.id)

    def append(self, task: Task, token: TokenId) -> bool:
        if task.request.id not in self.again:
            return super().append(task, token)
        self.again.discard(task.request.id)
        task.holding.computed -= 1
        task.holding.allocated -= 1
        return False


# Chunks.


class _MovesAfterChunks(ReferenceStepper):
    """Where a prompt goes on after a chunk is decided by `next_start`."""

    def next_start(self, task: Task) -> int:
        return task.holding.computed

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        finished = super().complete(plan, sampled)
        for scheduled in plan.scheduled:
            task = self.tasks.get(scheduled.request)
            if task is not None and task.generated == 0 and task.remaining:
                start = min(self.next_start(task), len(task.holding.tokens) - 1)
                task.holding.computed = task.holding.allocated = start
        return finished


class UnalignedTailCountedAsStored(_MovesAfterChunks):
    """Rounds up to a whole block what a chunk stored, and goes on after it (SGLang #25091)."""

    bug, broken_rule = "B108", rules.CHUNK_INDEPENDENCE

    def next_start(self, task: Task) -> int:
        return self.world.blocks_for(task.holding.computed) * self.world.block_size


class ImageAtChunkStartSkipped(_MovesAfterChunks):
    """Takes an image for begun when a chunk starts exactly on it, and skips its first placeholder (vLLM #52306)."""

    bug, broken_rule = "B143", rules.CHUNK_INDEPENDENCE

    def next_start(self, task: Task) -> int:
        start = task.holding.computed
        return start + any(item.position == start for item in task.request.parts.media)


class ImageCountedWhole(_MovesAfterChunks):
    """Counts the whole of an image as computed when a chunk ends inside it (SGLang #38627)."""

    bug, broken_rule = "B144", rules.CHUNK_INDEPENDENCE

    def next_start(self, task: Task) -> int:
        start = task.holding.computed
        cut = [m for m in task.request.parts.media if m.position < start < m.position + m.length]
        return max((item.position + item.length for item in cut), default=start)


# Counters.


class RecomputationCountedAsHits(ReferenceStepper):
    """Counts as hits what a resumed request finds of its own (vLLM #25787)."""

    bug, broken_rule = "B231", rules.COUNTERS

    def admit(self, step: Step, task: Task) -> bool:
        resumed, task.resumed = task.resumed, False
        admitted = super().admit(step, task)
        task.resumed = resumed
        return admitted


class CounterRenewedOnReadmission(ReferenceStepper):
    """Replaces at readmission the hits that were counted at the first admission (LMCache #3269)."""

    bug, broken_rule = "B232", rules.COUNTERS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counted: dict[RequestId, int] = {}

    def admit(self, step: Step, task: Task) -> bool:
        admitted = super().admit(step, task)
        hit, before = task.holding.computed, self.counted.get(task.request.id)
        if admitted and self.world.caching:
            self.pool.hits += 0 if before is None else hit - before
            self.counted[task.request.id] = hit
        return admitted


class HitsOfChunksNotCounted(ReferencePool):
    """Counts the hits of requests that are admitted whole and not of those admitted in chunks (vllm-ascend #16639)."""

    bug, broken_rule = "B233", rules.COUNTERS

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        before = self.hits
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is not None and admission.hit + admission.count < len(holding.tokens):
            self.hits = before
        return admission
