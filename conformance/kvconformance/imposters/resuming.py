"""Imposters that lose their place in a request, after a preemption or a chunk, or in what they count of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, StepPlan
from kvspec.vocabulary import RequestId, TokenId, World

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
