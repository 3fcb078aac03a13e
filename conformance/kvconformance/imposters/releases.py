"""Imposters that give something back twice: two paths that end one request, or two lists that name one block."""

from __future__ import annotations

from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper, Task
from kvspec import rules
from kvspec.plans import Hit
from kvspec.vocabulary import BlockId, Request, RequestId, TransferId

# Two paths.


class OffloadedBlocksReleasedAgain(ReferenceStepper):
    """Releases a victim's blocks at preemption and, as a list of stored blocks, once more (vLLM #42571)."""

    bug, broken_rule = "B007", rules.COUNT_EQUALS_HOLDERS

    def transfer_done(self, id: TransferId) -> None:
        task, stored = self.transfers[id]
        super().transfer_done(id)
        if task.on_host:
            self.pool.blocks.release(stored)


class OverlappedSlotFreedByHand(ReferenceStepper):
    """Frees the block of the step in flight at an abort, and again with the whole table (sglang-jax #982)."""

    bug, broken_rule = "B024", rules.COUNT_EQUALS_HOLDERS

    def abort(self, id: RequestId) -> None:
        task = self.tasks.get(id)
        super().abort(id)
        if task is not None and task.cancelled:
            self.pool.blocks.release(task.holding.table[-1:])


class ExtraStepFreesThePageAgain(ReferenceStepper):
    """Frees the partly filled page of a finished request again, for a step that was still queued (SGLang #9068)."""

    bug, broken_rule = "B032", rules.COUNT_EQUALS_HOLDERS

    def finish(self, task: Task) -> None:
        partly = task.holding.table[-1:] if task.holding.computed % self.world.block_size else []
        super().finish(task)
        self.pool.blocks.release(partly)


# Two lists.


class TwoPiecesShareTheSeam(ReferencePool):
    """Frees a table in two pieces, each rounded to pages of two blocks, so that both have the seam (SGLang #38941)."""

    bug, broken_rule = "B034", rules.COUNT_EQUALS_HOLDERS

    def free(self, id: RequestId) -> None:
        holding = self.holdings.pop(id, None)
        if holding is not None:
            seam = holding.computed // self.world.block_size
            self.blocks.release(holding.table[seam // 2 * 2 :])
            self.blocks.release(holding.table[: -(-seam // 2) * 2])


class UnusedHitsReleasedTwice(ReferencePool):
    """Lowers the count of what a lookup found and did not use once by itself and once with the rest (LMCache #2772)."""

    bug, broken_rule = "B037", rules.COUNT_EQUALS_HOLDERS

    def lookup(self, request: Request) -> Hit:
        hit = super().lookup(request)
        for block in hit.blocks:
            self.blocks.share(block)
        self.blocks.release(hit.blocks[1:])
        self.blocks.release(hit.blocks)
        return hit


class PaddingFreedWithTheRow(ReferencePool):
    """Frees the padding behind a table as if it were the request's (unified-cache-management #1053)."""

    bug, broken_rule = "B248", rules.RESERVED_BLOCK

    def free(self, id: RequestId) -> None:
        known = id in self.holdings
        super().free(id)
        if known:
            self.blocks.idle[BlockId(0)] = None
