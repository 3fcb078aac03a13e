"""Imposters that believe computed what is not, or feed another token than the one that comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Scheduled, StepPlan
from kvspec.vocabulary import RequestId, TokenId, World

# What a victim had is gone.


class _KeepsProgress(ReferenceStepper):
    """Resumes some victims where they stood, in blocks that nobody has filled."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.stood: dict[RequestId, int] = {}

    def keeps(self, task: Task) -> bool:
        """Whether a victim is believed to keep its progress."""
        return self.world.preemption == "recompute"

    def preempt(self, step: Step, task: Task) -> None:
        if self.keeps(task):
            self.stood[task.request.id] = task.holding.computed
            task.holding.computed = 0
        super().preempt(step, task)

    def admit(self, step: Step, task: Task) -> bool:
        if self.pool.begin(task.holding, step.left, resumed=task.resumed) is None:
            return False
        holding, size = task.holding, self.world.block_size
        stood = min(self.stood.pop(task.request.id, 0), holding.allocated - 1) // size * size
        holding.computed = max(holding.computed, stood)
        self.schedule(step, task, holding.allocated - holding.computed)
        return True


class FailedBackupTakenForDone(_KeepsProgress):
    """Takes a victim to be on the host, which had no room for it, and resumes it where it stood (SGLang #27108)."""

    bug, broken_rule = "B042", rules.RESUME_EQUALS_UNINTERRUPTED

    def keeps(self, task: Task) -> bool:
        return any(other.on_host for other in self.tasks.values())


class RemovalKeepsTheState(_KeepsProgress):
    """Says that a victim's blocks are gone and leaves the state that says how far it is (llama.cpp #26695)."""

    bug, broken_rule = "B107", rules.RESUME_EQUALS_UNINTERRUPTED


class PreemptedInItsLastStepFinishes(ReferenceStepper):
    """Preempts a request whose last step is in flight, and lets it finish without its blocks (vLLM #50297)."""

    bug, broken_rule = "B139", rules.RESUME_EQUALS_UNINTERRUPTED

    def choose_victim(self, step: Step) -> Task | None:
        flying = [task for task in self.running if task.in_flight and task.transfer is None]
        last = [task for task in flying if task.generated + 1 == task.request.max_new_tokens]
        return last[-1] if last else super().choose_victim(step)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        gone = [s.request for s in plan.scheduled if s.request not in self.pool.holdings and s.request in self.tasks]
        kept = [s for s in plan.scheduled if s.request not in gone]
        finished = super().complete(StepPlan(tuple(kept)), sampled)
        for id in gone:
            self.finish(self.tasks[id])
        return [*finished, *gone]


# The token that comes.


class DraftsFromTheTokenBefore(ReferenceStepper):
    """Computes what follows a sampled token from the token before it (vLLM #9730)."""

    bug, broken_rule = "B084", rules.CHUNK_INDEPENDENCE

    def schedule(self, step: Step, task: Task, count: int) -> None:
        super().schedule(step, task, count)
        planned = step.actions[-1]
        if task.generated and isinstance(planned, Scheduled):
            before = task.holding.tokens[planned.start - 1 : planned.start - 1 + count]
            step.actions[-1] = replace(planned, tokens=tuple(before))


class PositionsRestartAfterAHit(ReferenceStepper):
    """Feeds a request that begins on a hit the tokens from its first on (MinivLLM #98)."""

    bug, broken_rule = "B109", rules.CHUNK_INDEPENDENCE

    def admit(self, step: Step, task: Task) -> bool:
        admitted = super().admit(step, task)
        planned = step.actions[-1] if admitted else None
        if isinstance(planned, Scheduled):
            step.actions[-1] = replace(planned, tokens=tuple(task.holding.tokens[: planned.count]))
        return admitted
