"""A scheduler over several groups of layers: sliding windows and recurrent states beside full attention.

It decides as `ReferenceStepper` does. What differs is the block manager, which keeps a table per group, gives back what
lies behind a window once no query can read it, and shares a hit only where every group can go on from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kvreference.groups import Holding as GroupsHolding
from kvreference.groups import ReferenceGroups
from kvreference.pool import Holding, ReferencePool
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec.layout import Group, Tables
from kvspec.plans import Admission, BlockCopy, Extension, Rejected, Scheduled, SwappedIn
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, World


class HybridHolding(Holding, GroupsHolding):
    """A request with a table per group, which waits without blocks and comes back after it gave way."""

    def __init__(self, request: Request, groups: int) -> None:
        self.tables: list[list[BlockId | None]] = [[] for _ in range(groups)]
        Holding.__init__(self, request)

    @property
    def table(self) -> list[BlockId]:
        """Every block that it holds, in all groups."""
        return [id for table in self.tables for id in table if id is not None]

    @table.setter
    def table(self, blocks: Sequence[BlockId]) -> None:
        """Hold nothing: blocks are given to a group, never to all."""
        if blocks:
            raise ValueError("the blocks of a request are those of its groups")
        self.tables = [[] for _ in self.tables]


class HybridPool(ReferencePool):
    """The block manager that the scheduler asks. All groups take their blocks from one pool."""

    manager_type: type[ReferenceGroups] = ReferenceGroups
    holdings: dict[RequestId, HybridHolding]  # type: ignore[assignment]

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.manager = self.manager_type(world)
        self.groups = self.manager.groups
        self.manager.pools = [self.blocks]
        self.manager.holdings = self.holdings  # type: ignore[assignment]

    def new_holding(self, request: Request) -> HybridHolding:
        """A request that holds nothing yet."""
        return HybridHolding(request, len(self.groups))

    def reject_infeasible(self, request: Request) -> None:
        """Raise `Rejected` for a request of which the empty pool could not hold every entry."""
        (needs,), usable = self.manager.layout.most_blocks(request.limit), len(self.blocks.count)
        if needs > usable - len(self.blocks.reserved):
            raise Rejected(f"{request.id} needs {needs} of {usable - len(self.blocks.reserved)} blocks")

    # Admission and growth.

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        """Share the longest hit and give slots to the next `chunk` tokens; None if they do not fit."""
        own, manager = hybrid(holding), self.manager
        hit, tables = manager.longest_hit(own.request, own.tokens)
        count = min(chunk, len(own.tokens) - hit)
        if not manager.fits(manager.new_entries(tables, hit + count), tables):
            return None
        manager.hold(tables)
        own.tables, own.allocated, own.computed = tables, hit, hit
        self.holdings[own.request.id] = own
        manager.grow(own, count)
        if not resumed:
            self.count_query(len(own.tokens), hit)
        return Admission(hit, count, ())

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Give slots to the next `count` tokens, making the blocks that they continue private; None if not."""
        holding = self.holdings[id]
        new, shared = self.manager.new_entries(holding.tables, holding.allocated + count), self.continued(holding)
        if sum(new) + len(shared) > self.blocks.num_idle:
            return None
        copies = tuple(self.separate(holding, number, index) for number, index in shared)
        self.manager.grow(holding, count)
        return Extension((), copies)

    def continued(self, holding: HybridHolding) -> list[tuple[int, int]]:
        """By group, the entry that the next token continues where somebody else holds it too.

        A recurrent state is continued by being overwritten.
        """
        found = []
        for number, (group, table) in enumerate(zip(self.groups, holding.tables, strict=True)):
            slot = written(group, holding.allocated)
            block = table[slot // group.block_size] if slot % group.block_size else None
            if block is not None and self.blocks.count[block] > 1:
                found.append((number, slot // group.block_size))
        return found

    def separate(self, holding: HybridHolding, number: int, index: int) -> BlockCopy:
        """Copy-on-write of one entry that holds a block."""
        (target,), source = self.taken(number, 1), holding.tables[number][index]
        holding.tables[number][index] = target
        held = [block for block in (source,) if block is not None]
        self.blocks.release(held)
        return BlockCopy(holding.request.id, held[0], target)

    def taken(self, number: int, count: int) -> list[BlockId]:
        """Blocks for new content of a group; whatever they cached is forgotten."""
        taken = self.blocks.take(count)
        for block in taken:
            self.manager.recycle(number, block)
        return taken

    def bring_back(self, holding: HybridHolding) -> bool:
        """New blocks for what is still read of a request that lies on the host; False if they do not fit."""
        slots = [written(group, holding.computed) for group in self.groups]
        firsts = [self.manager.first_needed(group, slot) for group, slot in zip(self.groups, slots, strict=True)]
        ends = [group.entries(slot) for group, slot in zip(self.groups, slots, strict=True)]
        if sum(ends) - sum(firsts) > self.blocks.num_idle:
            return False
        spans = enumerate(zip(firsts, ends, strict=True))
        holding.tables = [[*[None] * first, *self.taken(number, end - first)] for number, (first, end) in spans]
        holding.allocated = holding.computed
        self.holdings[holding.request.id] = holding
        return True

    # Progress and endings.

    def computed(self, id: RequestId, num_computed: int) -> None:
        """A step has finished: publish what became full, give back what no query reads any more."""
        self.manager.completed(id, num_computed)

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...]:
        """A second holder of the parent's blocks; writes copy first."""
        holding, twin = self.holdings[parent], self.new_holding(child)
        twin.tokens, twin.tables = holding.tokens[:], [table[:] for table in holding.tables]
        twin.allocated, twin.computed = holding.allocated, holding.computed
        for block in twin.table:
            self.blocks.share(block)
        self.holdings[child.id] = twin
        return tuple(twin.table)

    def free(self, id: RequestId) -> None:
        """Give back every block of every group. A request that holds nothing is left alone."""
        if id in self.holdings:
            self.manager.free(id)

    def reset(self) -> bool:
        """Forget every cached prefix; refused while any block is held."""
        if any(self.blocks.count):
            return False
        for index in self.manager.indexes:
            index.clear()
        return True

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return, in whatever group."""
        return frozenset(block for index in self.manager.indexes for block in index.key_of)


def hybrid(holding: Holding) -> HybridHolding:
    """The holding as one with a table per group, which all of this pool are."""
    if not isinstance(holding, HybridHolding):
        raise TypeError(f"{holding.request.id} has one table")
    return holding


def written(group: Group, tokens: int) -> int:
    """How many slots of a group are written once so many tokens are computed."""
    return max(0, tokens - group.lag)


class HybridStepper(ReferenceStepper):
    """Continuous batching over several groups, with preemption by recompute or by swap, forks and failed steps."""

    capabilities: Capabilities = replace(
        ReferenceStepper.capabilities,
        num_blocks=(5, 24),
        profiles=frozenset({"fcfs", "tail-first"}),
        options={
            "groups": (
                "full:2 window:2:3",
                "full:2 state:2",
                "full:4 window:2:4",
                "full:2 state:4 window:2:5",
                "window:2:3 state:2",
                "window:2:3 window:3:4",
            )
        },
    )
    pool: HybridPool
    pool_type: type[HybridPool] = HybridPool

    def schedule(self, step: Step, task: Task, count: int) -> None:
        """Put `count` tokens of the task into the step, with the tables of all groups."""
        start, (table, *more) = task.holding.computed, self.pool.manager.tables(task.request.id)
        fed = tuple(task.holding.tokens[start : start + count])
        step.add(task, Scheduled(task.request.id, start, count, table, tokens=fed, more=tuple(more)))

    def swap_in(self, step: Step, task: Task) -> bool:
        """Begin to bring a request back into new blocks of every group."""
        if not self.pool.bring_back(hybrid(task.holding)):
            return False
        task.on_host = False
        transfer = self.begin_transfer(task, tuple(task.holding.table))
        table, *more = self.pool.manager.tables(task.request.id)
        step.actions.append(SwappedIn(task.request.id, table, transfer, tuple(more)))
        return True

    def tables(self) -> Mapping[RequestId, Tables]:  # type: ignore[override]
        """Every live block table, one for each group."""
        return {id: self.pool.manager.tables(id) for id in self.pool.holdings}
