"""Imposters of a scheduler over several groups of layers: hits from which one cannot go on, states never written."""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.groups import ReferenceGroups
from kvreference.hybrid import HybridHolding, HybridPool, HybridStepper, hybrid
from kvreference.pool import Holding, OutOfBlocks
from kvreference.scheduler import Step, Task
from kvspec import rules
from kvspec.layout import Kind
from kvspec.plans import Admission
from kvspec.vocabulary import BlockId, Request, TokenId


class StatePublishedAtSchedule(HybridStepper):
    """Makes states findable when the step that writes them is planned, which may never run (vLLM #56525)."""

    bug, broken_rule = "B309", rules.PUBLISH_ONLY_COMPUTED

    def schedule(self, step: Step, task: Task, count: int) -> None:
        super().schedule(step, task, count)
        holding = hybrid(task.holding)
        before, holding.computed = holding.computed, holding.allocated
        self.pool.manager.publish(holding, before)
        holding.computed = before


class _LongestOfAll(ReferenceGroups):
    """Takes the hit that any group has, and of the others nothing."""

    def longest_hit(self, request: Request, tokens: Sequence[TokenId]) -> tuple[int, list[list[BlockId | None]]]:
        for hit in self.hit_lengths(len(tokens)):
            found = [self.cached(number, request.parts, tokens, hit) for number in range(len(self.groups))]
            if any(table is not None for table in found):
                entries = (hit // group.block_size for group in self.groups)
                return hit, [table or [None] * count for table, count in zip(found, entries, strict=True)]
        return super().longest_hit(request, tokens)


class LongestOfTheGroupsHits(HybridStepper):
    """Counts as computed what the group has that hits most, as where attention was evicted (vLLM #46455)."""

    bug, broken_rule = "B310", rules.EVERY_GROUP_HIT

    class pool_type(HybridPool):  # noqa: N801 - what the scheduler calls its kind of pool
        """A block manager with that hit."""

        manager_type = _LongestOfAll


class WindowRestoredTooShort(HybridStepper):
    """Brings back less of a window than the next query reads, as it was kept with another length (vLLM #56701)."""

    bug, broken_rule = "B311", rules.EVERY_GROUP_HIT

    class pool_type(HybridPool):  # noqa: N801 - what the scheduler calls its kind of pool
        """A block manager that forgets the first entry of a window."""

        def bring_back(self, holding: HybridHolding) -> bool:
            if not super().bring_back(holding):
                return False
            for group, table in zip(self.groups, holding.tables, strict=True):
                held = [index for index, block in enumerate(table) if block is not None]
                if group.kind is Kind.WINDOW and len(held) > 1:
                    self.blocks.release([block for block in (table[held[0]],) if block is not None])
                    table[held[0]] = None
            return True


class MissingStateKillsTheScheduler(HybridStepper):
    """Admits by the blocks of attention, and dies where none is left for a recurrent state (SGLang #34676)."""

    bug, broken_rule = "B312", rules.PROGRESS_OR_REJECT

    class pool_type(HybridPool):  # noqa: N801 - what the scheduler calls its kind of pool
        """A block manager that takes blocks for states last."""

        def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
            admission = super().begin(holding, chunk, resumed=resumed)
            states = sum(group.kind is Kind.STATE for group in self.groups)
            if admission is None and states and self.blocks.num_idle > len(self.groups) - states:
                raise OutOfBlocks("no block is left for a recurrent state")
            return admission
