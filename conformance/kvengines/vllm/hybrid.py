"""vLLM's `Scheduler` over a hybrid model: sliding windows and Mamba states beside full attention, under preemption.

The same scheduler as for one group. What it has given back of a table it does not tell the worker, whose kernels never
read it again: that stands in the manager's table, as the null block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kvengines.vllm.stepper import VllmScheduler, VllmStepper
from kvspec.layout import Table, Tables
from kvspec.plans import Scheduled, StepPlan
from kvspec.vocabulary import RequestId


class VllmHybrid(VllmScheduler):
    """Windows and recurrent states ("all": a state is kept for every block), in one pool with full attention."""

    capabilities = replace(
        VllmStepper.capabilities,
        num_blocks=(4, 20),
        options={
            "groups": (
                "full:2 window:2:3",
                "full:2 window:2:4",
                "full:4 window:2:5",
                "full:2 window:4:3",
                "full:2 state:2",
                "full:2 state:2 window:2:4",
                "window:2:3 window:2:6",
            ),
            **VllmStepper.capabilities.options,
        },
    )

    def plan(self) -> StepPlan:
        """Schedule a step and hand it to the worker."""
        plan = super().plan()
        return StepPlan(
            tuple(self.shown(action) if isinstance(action, Scheduled) else action for action in plan.actions)
        )

    def shown(self, action: Scheduled) -> Scheduled:
        """The worker's tables without what the manager has given back."""
        kept = self.group_tables(action.request)
        table, *more = (
            tuple(id if there else None for id, there in zip(told, now, strict=True))
            for told, now in zip((action.table, *action.more), kept, strict=True)
        )
        return replace(action, table=table, more=tuple(more))

    def group_tables(self, id: RequestId) -> Tables:
        """The manager's own tables of one request; the null block stands where nothing is held."""
        tables: list[Table] = [tuple(block or None for block in ids) for ids in self.manager.get_block_ids(str(id))]
        return tuple(tables)

    def tables(self) -> Mapping[RequestId, Tables]:  # type: ignore[override]
        """The manager's own tables."""
        return {id: self.group_tables(id) for id in self.known()}
