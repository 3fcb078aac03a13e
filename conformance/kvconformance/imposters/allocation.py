"""Imposters that lose count of blocks: who holds them, how many are needed, whether everything is given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.blocks import Blocks
from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, BlockCopy, Extension, Hit, StepPlan
from kvspec.vocabulary import BlockId, Request, RequestId, TokenId, TransferId, World

# Each block in one state, with one owner.


class WatermarkReusesLivePage(ReferencePool):
    """Gives an extension the last page that was handed out, though its owner lives; sums agree (SGLang #27731)."""

    bug, broken_rule = "B001", rules.CONSERVATION

    def extend(self, id: RequestId, count: int) -> Extension | None:
        held = len(self.holdings[id].table)
        live = [other.table[-1] for other in self.holdings.values() if other.request.id != id and other.table]
        extension = super().extend(id, count)
        if extension is None or len(extension.table) == held or not live:
            return extension
        table = self.holdings[id].table = [*extension.table[:-1], live[-1]]
        return Extension(tuple(table), extension.copies)


class SwappedRequestReleasesToHost(ReferenceStepper):
    """Counts the blocks of a request that was once on the host as free on the host (TensorRT-LLM #12834)."""

    bug, broken_rule = "B002", rules.CONSERVATION

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.free_on_host = 0
        self.came_back: set[RequestId] = set()

    def swap_in(self, step: Step, task: Task) -> bool:
        self.came_back.add(task.request.id)
        return super().swap_in(step, task)

    def finish(self, task: Task) -> None:
        if task.request.id in self.came_back:
            self.free_on_host += len(task.holding.table)
        super().finish(task)

    def free_blocks(self) -> int:
        return super().free_blocks() - self.free_on_host


class _FreeCounter(Blocks):
    """Idle blocks counted by a number of its own, which forgets that a shared block is idle no more."""

    def __init__(self, num_blocks: int, reserved: Sequence[BlockId] = ()) -> None:
        super().__init__(num_blocks, reserved)
        self.drift = 0

    @property
    def num_idle(self) -> int:
        return len(self.idle) + self.drift

    def share(self, block: BlockId) -> None:
        self.drift += block in self.idle
        super().share(block)


class EvictableSizeDrifts(ReferencePool):
    """Keeps the evictable size in a counter that a hit on an idle block does not lower (mllm #656)."""

    bug, broken_rule = "B036", rules.CONSERVATION
    blocks_type = _FreeCounter


# One reference per holder.


class FreeWalksCopiedEntriesAgain(ReferencePool):
    """Releases, when a table is freed, also the entries that were copied away and released before (vLLM #3347)."""

    bug, broken_rule = "B006", rules.COUNT_EQUALS_HOLDERS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.replaced: dict[RequestId, list[BlockId]] = {}

    def make_private(self, holding: Holding, index: int) -> BlockCopy:
        copy = super().make_private(holding, index)
        self.replaced.setdefault(holding.request.id, []).append(copy.source)
        return copy

    def free(self, id: RequestId) -> None:
        super().free(id)
        self.blocks.release(self.replaced.pop(id, []))


class StrayFreeReleasesAgain(ReferencePool):
    """Queues the blocks of a request once more when it is freed a second time (TensorRT-LLM #14937)."""

    bug, broken_rule = "B008", rules.COUNT_EQUALS_HOLDERS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.freed: dict[RequestId, list[BlockId]] = {}

    def free(self, id: RequestId) -> None:
        if id in self.holdings:
            self.freed[id] = self.holdings[id].table
        self.blocks.release(self.freed.get(id, []))
        self.holdings.pop(id, None)


class ForkPinsTheIndexedBlock(ReferencePool):
    """Counts a fork on the block that the index has for the same tokens, not on the parent's (TensorRT-LLM #12648)."""

    bug, broken_rule = "B009", rules.COUNT_EQUALS_HOLDERS

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        holding = self.holdings[parent].fork(child)
        indexed = [self.cache.index.get(key) for key in self.cache.chain(self.publishable(holding), child.parts)]
        for index, block in enumerate(holding.table):
            pinned = indexed[index] if index < len(indexed) else None
            self.blocks.share(block if pinned is None else pinned)
        self.holdings[child.id] = holding
        return tuple(holding.table)


class _CountsFromZero(Blocks):
    def take(self, number: int) -> list[BlockId]:
        taken = super().take(number)
        for block in taken:
            self.count[block] = 0
        return taken


class NewBlocksStartAtZero(ReferencePool):
    """Hands out a block with a count of 0 (MinivLLM #87)."""

    bug, broken_rule = "B038", rules.COUNT_EQUALS_HOLDERS
    blocks_type = _CountsFromZero


# No table names a block that is free or somebody else's.


class StaleMappingFreesSlots(ReferenceStepper):
    """Frees with a request that was on the host also the blocks it had before, whoever owns them (SGLang #27586)."""

    bug, broken_rule = "B011", rules.NO_DANGLING_REFERENCE

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.tombstones: dict[RequestId, tuple[BlockId, ...]] = {}

    def swap_out(self, task: Task) -> TransferId:
        self.tombstones[task.request.id] = tuple(task.holding.table)
        return super().swap_out(task)

    def finish(self, task: Task) -> None:
        super().finish(task)
        stale = self.tombstones.pop(task.request.id, ())
        self.pool.blocks.release([block for block in stale if self.pool.blocks.count[block]])


class WorkerTableOnlyGrows(ReferenceStepper):
    """Sends workers new block ids but never a replaced one, so their table keeps the old (vLLM #42273)."""

    bug, broken_rule = "B012", rules.NO_DANGLING_REFERENCE

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.sent: dict[RequestId, list[BlockId]] = {}

    def schedule(self, step: Step, task: Task, count: int) -> None:
        current, id = task.holding.table, task.request.id
        known = self.sent.get(id, []) if task.holding.computed else []
        task.holding.table = self.sent[id] = known + current[len(known) :]
        super().schedule(step, task, count)
        task.holding.table = current


class DuplicatesFreedButNotRemapped(ReferencePool):
    """Frees a request's own copy of a prefix that is cached already, and leaves it in the table (mini-sglang #142)."""

    bug, broken_rule = "B039", rules.NO_DANGLING_REFERENCE

    def computed(self, id: RequestId, num_computed: int) -> None:
        super().computed(id, num_computed)
        holding = self.holdings[id]
        for index, key in enumerate(self.cache.chain(self.publishable(holding), holding.request.parts)):
            block = holding.table[index]
            if self.cache.index.get(key, block) != block and self.blocks.count[block]:
                self.blocks.release((block,))


class AdoptedBlocksFreedAsDuplicates(ReferencePool):
    """Frees the blocks that a request took over from the cache as if they were copies (sglang-jax #1618)."""

    bug, broken_rule = "B041", rules.NO_DANGLING_REFERENCE

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        revived = [block for block in self.find(holding.tokens, holding.request) if not self.blocks.count[block]]
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is not None:
            self.blocks.release(revived)
        return admission


# The padding block.


class PaddingBlockIsHandedOut(ReferencePool):
    """Takes whatever block comes first for padding, so that data live in block 0 (kvcached #398)."""

    bug, broken_rule = "B013", rules.RESERVED_BLOCK

    def __init__(self, world: World) -> None:
        super().__init__(world)
        first = next(iter(self.blocks.idle))
        del self.blocks.idle[first]
        self.blocks.idle[BlockId(0)] = None


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


# A home for every position, within the limit.


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
