"""Imposters that give blocks back too little, or too early while a step or a transfer may touch them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, Hit, StepPlan
from kvspec.vocabulary import Request, RequestId, TokenId, World

# Every exit gives everything back.


class SharedBlocksLeakOnFree(ReferencePool):
    """Lowers, when a request ends, only the counts of blocks that it alone holds (mistral.rs #1388, a guess)."""

    bug, broken_rule = "B026", rules.EVERY_EXIT_RELEASES

    def free(self, id: RequestId) -> None:
        holding = self.holdings.pop(id, None)
        if holding is not None:
            self.blocks.release([block for block in holding.table if self.blocks.count[block] == 1])


class AbortDuringTransferLeaks(ReferenceStepper):
    """Forgets an aborted request that is being swapped in, and then the end of its transfer (vllm-ascend #16663)."""

    bug, broken_rule = "B027", rules.EVERY_EXIT_RELEASES

    def abort(self, id: RequestId) -> None:
        task = self.tasks.get(id)
        if task is not None and task.transfer is not None:
            self.pool.holdings.pop(id, None)
        super().abort(id)


class FailureRemovesOnlyTheFirst(ReferenceStepper):
    """Removes one request where a failed step means all of its requests (llama.cpp #13985)."""

    bug, broken_rule = "B029", rules.EVERY_EXIT_RELEASES

    def fail(self, plan: StepPlan) -> None:
        super().fail(StepPlan(plan.scheduled[:1]))


class LookupPinsForGood(ReferencePool):
    """Pins the blocks that a lookup finds until a fetch that may never come (LMCache #1034)."""

    bug, broken_rule = "B043", rules.EVERY_EXIT_RELEASES

    def lookup(self, request: Request) -> Hit:
        hit = super().lookup(request)
        for block in hit.blocks:
            self.blocks.share(block)
        return hit


class FetchedBlocksKeepTheirReference(ReferencePool):
    """Gives back a request's own blocks but not those that a hit fetched for it (LMCache #3884)."""

    bug, broken_rule = "B044", rules.EVERY_EXIT_RELEASES

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.fetched: dict[RequestId, int] = {}

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        admission = super().begin(holding, chunk, resumed=resumed)
        self.fetched[holding.request.id] = admission.hit // self.world.block_size if admission else 0
        return admission

    def free(self, id: RequestId) -> None:
        holding = self.holdings.pop(id, None)
        if holding is not None:
            self.blocks.release(holding.table[self.fetched.get(id, 0) :])


class LateAbortCountsAsSuccess(ReferenceStepper):
    """Takes the output of a step before the abort that came during it, and never frees the request (vLLM #29987)."""

    bug, broken_rule = "B116", rules.EVERY_EXIT_RELEASES

    def abort(self, id: RequestId) -> None:
        task = self.tasks.get(id)
        super().abort(id)
        if task is not None and task.cancelled:
            task.cancelled = False
            self.tasks[id] = task


# Nothing is reused while it may be touched.


class AbortFreesUnderTransfer(ReferenceStepper):
    """Frees the blocks of an aborted request though a transfer still writes them (SGLang #35049)."""

    bug, broken_rule = "B003", rules.IN_FLIGHT_FENCE

    def abort(self, id: RequestId) -> None:
        task = self.tasks.get(id)
        super().abort(id)
        if task is not None and task.transfer is not None:
            _, blocks = self.transfers[task.transfer]
            self.pool.blocks.unfence(blocks)
            self.transfers[task.transfer] = (task, ())


class VictimStillComputes(ReferenceStepper):
    """Takes the blocks of a victim whose step is still on the device (SGLang #18803)."""

    bug, broken_rule = "B004", rules.IN_FLIGHT_FENCE

    def choose_victim(self, step: Step) -> Task | None:
        flying = [task for task in self.in_order(self.running) if task.in_flight and task.transfer is None]
        return flying[-1] if flying else super().choose_victim(step)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        kept = [s for s in plan.scheduled if s.request in self.pool.holdings]
        return super().complete(StepPlan(tuple(kept)), sampled)


class AbortFreesUnderStep(ReferenceStepper):
    """Frees the blocks of an aborted request though its step is still on the device (vLLM #45357)."""

    bug, broken_rule = "B111", rules.IN_FLIGHT_FENCE

    def abort(self, id: RequestId) -> None:
        super().abort(id)
        self.pool.free(id)
