"""Imposters that lose count of blocks: who holds them, and which tables name them."""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.blocks import Blocks
from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, BlockCopy, Extension, StepPlan
from kvspec.vocabulary import BlockId, Request, RequestId, TransferId, World

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


class PrunedUnderAnOlderStep(ReferenceStepper):
    """Frees the first block of a request, as out of its window, while an older step reads it (vllm-ascend #13501)."""

    bug, broken_rule = "B112", rules.NO_DANGLING_REFERENCE

    def plan(self) -> StepPlan:
        for task in self.running:
            if task.in_flight and len(task.holding.table) > 1:
                self.pool.blocks.release(task.holding.table[:1])
        return super().plan()


# The padding block.


class PaddingBlockIsHandedOut(ReferencePool):
    """Takes whatever block comes first for padding, so that data live in block 0 (kvcached #398)."""

    bug, broken_rule = "B013", rules.RESERVED_BLOCK

    def __init__(self, world: World) -> None:
        super().__init__(world)
        first = next(iter(self.blocks.idle))
        del self.blocks.idle[first]
        self.blocks.idle[BlockId(0)] = None
