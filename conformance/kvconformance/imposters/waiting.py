"""Imposters that let requests wait: for each other, out of order, or while others take their turn."""

from __future__ import annotations

from dataclasses import replace

from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import StepPlan
from kvspec.vocabulary import RequestId, World

# For each other.


class LoadedRequestsWaitForEachOther(ReferenceStepper):
    """Lets requests that came by a transfer hold their blocks while all of them need one more (vLLM #57104)."""

    bug, broken_rule = "B132", rules.PROGRESS_OR_REJECT

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.loaded: set[RequestId] = set()

    def swap_in(self, step: Step, task: Task) -> bool:
        self.loaded.add(task.request.id)
        return super().swap_in(step, task)

    def choose_victim(self, step: Step) -> Task | None:
        victim = super().choose_victim(step)
        return None if victim is not None and victim.request.id in self.loaded else victim


class _AdmitsFirst(ReferenceStepper):
    """Starts requests before it serves those that run."""

    def plan(self) -> StepPlan:
        step = self.new_step()
        self.admit_waiting(step)
        if self.serves(step):
            self.continue_running(step)
        for task in step.done:
            task.in_flight = True
        return step.plan()

    def serves(self, step: Step) -> bool:
        """Whether the step serves running requests too."""
        return True


class ResumedPreemptsItsPreemptor(_AdmitsFirst):
    """Takes the room for a chunk of a resumed request from the one for which it gave way (vLLM #25538)."""

    bug, broken_rule = "B134", rules.PROGRESS_OR_REJECT

    def admit(self, step: Step, task: Task) -> bool:
        while not super().admit(step, task):
            victim = self.choose_victim(step) if task.resumed else None
            if victim is None:
                return False
            self.preempt(step, victim)
        return True


# Out of order.


class SkippedComeBackReversed(ReferenceStepper):
    """Puts the requests that could not start back in front of the queue, the last of them first (vLLM #32173)."""

    bug, broken_rule = "B251", rules.FCFS_ORDER

    def admit_waiting(self, step: Step, newcomers: bool = False) -> None:
        super().admit_waiting(step, newcomers)
        self.waiting.reverse()


class CutOffByTheBudgetGoesLast(ReferenceStepper):
    """Puts the request at which the budget ran out behind those that came after it (vLLM #27441)."""

    bug, broken_rule = "B253", rules.FCFS_ORDER

    def admit_waiting(self, step: Step, newcomers: bool = False) -> None:
        super().admit_waiting(step, newcomers)
        if self.waiting and not step.left:
            self.waiting.append(self.waiting.pop(0))


# While others take their turn.

DECODE_FIRST = replace(
    ReferenceStepper.capabilities,
    policies=("fcfs",),
    preemptions=("recompute",),
    max_in_flight=1,
    profiles=frozenset({"fcfs", "decode-first"}),
)
"""What the reference could declare that serves running requests first, one step at a time."""


class NewPromptsBeforeDecodes(_AdmitsFirst):
    """Runs requests that decode only in steps in which no new prompt can start (SGLang #32549)."""

    bug, broken_rule = "B252", rules.BOUNDED_DECODE_GAP
    capabilities = DECODE_FIRST

    def serves(self, step: Step) -> bool:
        return not step.done


class ChunkStopsDecodes(ReferenceStepper):
    """Ends the plan of a step once a chunk of a long prompt is in it (ATOM #1835)."""

    bug, broken_rule = "B254", rules.BOUNDED_DECODE_GAP
    capabilities = DECODE_FIRST

    def continue_running(self, step: Step, prefills: bool | None = None) -> None:
        super().continue_running(step, prefills=True)
        if not step.done:
            super().continue_running(step, prefills=False)
