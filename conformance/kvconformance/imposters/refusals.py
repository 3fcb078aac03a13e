"""Imposters that misjudge what fits: refusals that leave something, tables too short, too long or rounded twice."""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.blocks import Blocks
from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, Extension
from kvspec.vocabulary import BlockId, Request, RequestId, World

# Refusals change nothing.


class HitTouchedBeforeCheck(ReferencePool):
    """Takes the blocks of a hit before it knows whether the rest fits, and keeps them if not (vLLM #11565)."""

    bug, broken_rule = "B014", rules.FAILURE_IS_ATOMIC

    def fits(self, new: int, hit: Sequence[BlockId]) -> bool:
        fits = super().fits(new, hit)
        if not fits:
            for block in hit:
                self.blocks.share(block)
        return fits


class ForkFailsHalfWay(ReferencePool):
    """Copies every block for a fork, one by one, and stops where the pool ends (transformers #46117)."""

    bug, broken_rule = "B016", rules.FAILURE_IS_ATOMIC

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        holding = self.holdings[parent].fork(child)
        copies: list[BlockId] = []
        for _ in holding.table:
            if not self.blocks.num_idle:
                return None
            copies += self.take(1)
        holding.table = copies
        self.holdings[child.id] = holding
        return tuple(copies)


class RefusedAdmissionKeepsBlocks(ReferencePool):
    """Keeps the blocks that a request got before its admission failed (neuralmagic/vllm #92)."""

    bug, broken_rule = "B113", rules.FAILURE_IS_ATOMIC

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is None:
            holding.table = self.take(self.blocks.num_idle)
            self.holdings[holding.request.id] = holding
        return admission


class RefusedResetForgetsWhatIsIdle(ReferencePool):
    """Clears the parts of the cache that can be, and then refuses for the sake of the rest (tokenspeed #1125)."""

    bug, broken_rule = "B286", rules.FAILURE_IS_ATOMIC

    def reset(self) -> bool:
        for block in self.blocks.idle:
            self.cache.withdraw(block)
        return super().reset()


# What fits is given, what does not is refused.


class _TakesBeforeTest(Blocks):
    def take(self, number: int) -> list[BlockId]:
        taken = [self._pop() for _ in range(number)]
        for block in taken:
            self.count[block] = 1
        return taken


class AllocatesBeforeTest(ReferencePool):
    """Fetches the new blocks of an extension first and tests for shortage afterwards (SGLang #34399)."""

    bug, broken_rule = "B017", rules.FIT_AGREES_WITH_ALLOCATE
    blocks_type = _TakesBeforeTest

    def extend(self, id: RequestId, count: int) -> Extension | None:
        holding = self.holdings[id]
        total = holding.allocated + count
        copies = tuple(self.make_private(holding, i) for i in self.shared_entries(holding, holding.allocated, total))
        holding.table += self.take(self.new_blocks(holding.table, holding.allocated, total))
        holding.allocated = total
        return Extension(tuple(holding.table), copies)


class IdleHitsCountedAsFree(ReferencePool):
    """Counts the idle blocks of the hit among the blocks that are still free (vLLM #6849)."""

    bug, broken_rule = "B018", rules.FIT_AGREES_WITH_ALLOCATE

    def fits(self, new: int, hit: Sequence[BlockId]) -> bool:
        return new <= self.blocks.num_idle


class AdmissionCappedByWindow(ReferencePool):
    """Tests admission for a window of two blocks and allocates the whole prompt (vLLM #17834)."""

    bug, broken_rule = "B019", rules.FIT_AGREES_WITH_ALLOCATE

    def fits(self, new: int, hit: Sequence[BlockId]) -> bool:
        return super().fits(min(new, 2), hit)


class NegativeRestIsNoLimit(ReferencePool):
    """Takes what is left for unlimited where nothing is left (SGLang #23174)."""

    bug, broken_rule = "B114", rules.FIT_AGREES_WITH_ALLOCATE

    def fits(self, new: int, hit: Sequence[BlockId]) -> bool:
        rest = self.blocks.num_idle - sum(1 for block in hit if self.blocks.count[block] == 0)
        return new <= rest or rest <= 0


# A slot for every position, within the limit.


class PreallocatesPastLimit(ReferencePool):
    """Adds a spare block to a growing table without capping it at the request's limit (vLLM #10730)."""

    bug, broken_rule = "B021", rules.COVERAGE_AND_LIMIT

    def new_blocks(self, table: Sequence[BlockId], start: int, end: int) -> int:
        needed = super().new_blocks(table, start, end)
        return needed + 1 if needed and start % self.world.block_size == 0 and start else needed


class BlockClaimedOneTokenLate(ReferencePool):
    """Sizes a growing table without the token that is about to be computed (nano-vllm #240)."""

    bug, broken_rule = "B022", rules.COVERAGE_AND_LIMIT

    def new_blocks(self, table: Sequence[BlockId], start: int, end: int) -> int:
        return super().new_blocks(table, start, end - 1 if start else end)


class TableFrozenAfterTransfer(ReferenceStepper):
    """Never grows the table of a request whose keys and values came by a transfer (TensorRT-LLM #13320)."""

    bug, broken_rule = "B023", rules.COVERAGE_AND_LIMIT

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.loaded: set[RequestId] = set()

    def swap_in(self, step: Step, task: Task) -> bool:
        self.loaded.add(task.request.id)
        return super().swap_in(step, task)

    def make_room(self, step: Step, task: Task, count: int) -> bool:
        return task.request.id in self.loaded or super().make_room(step, task, count)


class WidthOfTheTableNotChecked(ReferenceStepper):
    """Hands over rows of two blocks, however many the length needs (flash-attention #2711)."""

    bug, broken_rule = "B147", rules.COVERAGE_AND_LIMIT

    def schedule(self, step: Step, task: Task, count: int) -> None:
        whole = task.holding.table
        task.holding.table = whole[:2]
        super().schedule(step, task, count)
        task.holding.table = whole


# One block size, one rounding.


class RetractRoundsDown(ReferenceStepper):
    """Frees the whole pages of a retracted request and loses the page that it filled in part (SGLang #4977)."""

    bug, broken_rule = "B031", rules.ONE_PAGE_ROUNDING

    def preempt(self, step: Step, task: Task) -> None:
        holding = task.holding
        if self.world.preemption == "recompute":
            del holding.table[holding.computed // self.world.block_size :]
        super().preempt(step, task)


class PartsRoundedSeparately(ReferencePool):
    """Rounds each part of a request up to whole pages by itself, not the sum of the parts (SGLang #38840)."""

    bug, broken_rule = "B033", rules.ONE_PAGE_ROUNDING

    def new_blocks(self, table: Sequence[BlockId], start: int, end: int) -> int:
        return self.world.blocks_for(end - start)


class BudgetAndAllocatorRoundDifferently(ReferencePool):
    """Takes a page for every begun one and one more, where the budget counted whole tokens (SGLang #7397)."""

    bug, broken_rule = "B117", rules.ONE_PAGE_ROUNDING

    def new_blocks(self, table: Sequence[BlockId], start: int, end: int) -> int:
        return end // self.world.block_size + 1 - len(table)
