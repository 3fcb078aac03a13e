"""The scheduler: which requests compute which positions in a step, and who gives way when memory runs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.pool import Holding, ReferencePool
from kvspec.plans import Action, Preempted, Rejected, Scheduled, StepPlan, SwappedIn, SwappedOut
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, TransferId, World


class Task:
    """A request in the scheduler's queues. Its tokens live in `holding`, which survives preemption."""

    def __init__(self, request: Request, arrival: int) -> None:
        self.request = request
        self.arrival = arrival
        self.holding = Holding(request)
        self.generated = 0
        self.in_flight = False
        self.cancelled = False
        self.resumed = False
        self.on_host = False
        self.transfer: TransferId | None = None

    @property
    def remaining(self) -> int:
        """Tokens without keys and values."""
        return len(self.holding.tokens) - self.holding.computed


class ReferenceStepper:
    """Continuous batching under a token budget, with chunked prefill and preemption by recompute or by swap.

    Policies: `fcfs` and `priority` serve running requests first, `prefill-first` serves prompts first. The victim is
    the running request that comes last in policy order.
    """

    capabilities = Capabilities(
        policies=("fcfs", "priority", "prefill-first"),
        preemptions=("recompute", "swap"),
        priorities=True,
        salts=True,
        adapters=True,
        media=True,
        forks=True,
        resets=True,
        fails=True,
        max_in_flight=2,
        defers_in_flight=True,
        reserved_blocks=frozenset({BlockId(0)}),
        profiles=frozenset({"lru", "fcfs"}),
    )
    pool_type: type[ReferencePool] = ReferencePool

    def __init__(self, world: World) -> None:
        self.world = world
        self.pool = self.pool_type(world)
        self.waiting: list[Task] = []
        self.running: list[Task] = []
        self.tasks: dict[RequestId, Task] = {}
        self.transfers: dict[TransferId, tuple[Task, tuple[BlockId, ...]]] = {}
        self.arrivals = 0
        self.num_transfers = 0

    # Clients.

    def add(self, request: Request) -> None:
        """Queue a request. Raises `Rejected` if it can never fit."""
        self.pool.reject_infeasible(request)
        task = Task(request, self.arrivals)
        task.holding = self.pool.new_holding(request)
        self.arrivals += 1
        self.tasks[request.id] = task
        self.enqueue(task)

    def abort(self, id: RequestId) -> None:
        """Cancel a request. Blocks of a step in flight are given back when it completes."""
        task = self.tasks.pop(id, None)
        if task is None:
            return
        self.leave_queues(task)
        if task.in_flight:
            task.cancelled = True
        else:
            self.pool.free(id)

    def fork(self, parent: RequestId, child: Request) -> bool:
        """Continue a running request twice; refused when the batch is full or the parent's step is in flight."""
        task = self.tasks.get(parent)
        if task is None or task not in self.running or task.in_flight or task.transfer is not None:
            return False
        if self.batch_full():
            return False
        self.pool.fork(parent, child)
        twin = Task(child, self.arrivals)
        self.arrivals += 1
        twin.holding, twin.generated, twin.resumed = self.pool.holdings[child.id], task.generated, task.resumed
        self.tasks[child.id] = twin
        self.running.append(twin)
        return True

    def reset(self) -> bool:
        """Forget every cached prefix; refused while any block is held."""
        return self.pool.reset()

    # A step.

    def plan(self) -> StepPlan:
        """Decide the next step and take the blocks that it writes."""
        step = self.new_step()
        if self.world.policy == "prefill-first":
            self.continue_running(step, prefills=True)
            self.admit_waiting(step, newcomers=True)
            self.continue_running(step, prefills=False)
        else:
            self.continue_running(step)
        self.admit_waiting(step)
        for task in step.done:
            task.in_flight = True
        return step.plan()

    def new_step(self) -> Step:
        """A step within the limits of this engine."""
        return Step(self.world.token_budget, self.world.max_running)

    def continue_running(self, step: Step, prefills: bool | None = None) -> None:
        """Serve running requests in order, preempting from the end when blocks run out."""
        for task in self.in_order(list(self.running)):
            if task not in self.running or task.in_flight or task.transfer is not None or task in step.done:
                continue
            if prefills is not None and prefills != (task.generated == 0):
                continue
            count = self.chunk(step, task)
            if count < 1 or step.full:
                continue
            if self.make_room(step, task, count):
                self.schedule(step, task, count)

    def chunk(self, step: Step, task: Task) -> int:
        """How many tokens of a running request the step computes."""
        return min(task.remaining, step.left)

    def make_room(self, step: Step, task: Task, count: int) -> bool:
        """Extend the task's table, preempting others and in the end the task itself.

        While a transfer is under way the task waits: a victim on its way to the host frees nothing yet, and who
        preempts somebody else for it, or itself, may do so forever.
        """
        while (extension := self.pool.extend(task.request.id, count)) is None:
            victim = None if self.transfers else self.choose_victim(step)
            if victim is None:
                return False
            self.preempt(step, victim)
            if victim is task:
                return False
        step.actions += extension.copies
        return True

    def choose_victim(self, step: Step) -> Task | None:
        """The last running request in policy order that this step has not scheduled."""
        for task in reversed(self.in_order(self.running)):
            if task not in step.done and not task.in_flight and task.transfer is None:
                return task
        return None

    def preempt(self, step: Step, task: Task) -> None:
        """Take a running request's blocks away; its tokens are kept."""
        self.running.remove(task)
        task.resumed = step.short = True
        if self.world.preemption == "swap" and task.holding.computed:
            step.actions.append(SwappedOut(task.request.id, self.swap_out(task)))
        else:
            step.actions.append(Preempted(task.request.id))
            task.holding.computed = task.holding.allocated = 0
        self.pool.free(task.request.id)
        task.holding.table = []
        self.enqueue(task, front=True)

    def admit_waiting(self, step: Step, newcomers: bool = False) -> None:
        """Start waiting requests in order until budget, batch or memory is used up.

        With `newcomers`, stop at a victim: it comes back only after those for whom it gave way.
        """
        while self.waiting and step.left and not step.full and not step.short:
            task = self.waiting[0]
            if self.batch_full() or task.transfer is not None or (newcomers and task.resumed):
                break
            if not (self.swap_in(step, task) if task.on_host else self.admit(step, task)):
                break
            self.waiting.remove(task)
            self.running.append(task)

    def batch_full(self) -> bool:
        """Whether as many requests run as may."""
        return len(self.running) >= self.world.max_running

    def admit(self, step: Step, task: Task) -> bool:
        """Start a request on its prefix hit."""
        admission = self.pool.begin(task.holding, step.left, resumed=task.resumed)
        if admission is None:
            return False
        self.schedule(step, task, admission.count)
        return True

    def schedule(self, step: Step, task: Task, count: int) -> None:
        """Put `count` tokens of the task into the step."""
        start = task.holding.computed
        table, fed = tuple(task.holding.table), tuple(task.holding.tokens[start : start + count])
        step.add(task, Scheduled(task.request.id, start, count, table, tokens=fed))

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """The step has run: publish what it computed, append what it sampled, and return who has finished."""
        finished = []
        for scheduled in plan.scheduled:
            task = self.tasks.get(scheduled.request)
            if task is None or task.cancelled:
                self.pool.free(scheduled.request)
                continue
            task.in_flight = False
            self.pool.computed(scheduled.request, scheduled.start + scheduled.count)
            if scheduled.request in sampled and self.append(task, sampled[scheduled.request]):
                finished.append(scheduled.request)
        return finished

    def append(self, task: Task, token: TokenId) -> bool:
        """Add a sampled token; True if that was the last one and the request is gone."""
        self.pool.append(task.request.id, token)
        task.generated += 1
        if task.generated < task.request.max_new_tokens:
            return False
        self.finish(task)
        return True

    def finish(self, task: Task) -> None:
        """A request has all its tokens."""
        del self.tasks[task.request.id]
        self.leave_queues(task)
        self.pool.free(task.request.id)

    def fail(self, plan: StepPlan) -> None:
        """The step failed: its requests are dropped and nothing it wrote is ever found."""
        for scheduled in plan.scheduled:
            self.pool.failed(scheduled.request)
            task = self.tasks.pop(scheduled.request, None)
            if task is not None:
                self.leave_queues(task)
            self.pool.free(scheduled.request)

    # Swapping.

    def swap_out(self, task: Task) -> TransferId:
        """Begin to copy a victim's blocks to the host, and fence them meanwhile."""
        task.on_host = True
        return self.begin_transfer(task, tuple(task.holding.table))

    def swap_in(self, step: Step, task: Task) -> bool:
        """Begin to bring a request back into new blocks; it computes once they have arrived."""
        need = self.world.blocks_for(task.holding.computed)
        if need > self.pool.blocks.num_idle:
            return False
        task.holding.table = self.pool.take(need)
        task.holding.allocated = task.holding.computed
        task.on_host = False
        self.pool.holdings[task.request.id] = task.holding
        table = tuple(task.holding.table)
        step.actions.append(SwappedIn(task.request.id, table, self.begin_transfer(task, table)))
        return True

    def begin_transfer(self, task: Task, blocks: tuple[BlockId, ...]) -> TransferId:
        """Name a transfer and remember what it touches."""
        self.num_transfers += 1
        id = TransferId(self.num_transfers)
        self.transfers[id] = (task, blocks)
        self.pool.blocks.fence(blocks)
        task.transfer = id
        return id

    def transfer_done(self, id: TransferId) -> None:
        """A transfer has finished: its blocks may be used."""
        task, blocks = self.transfers.pop(id)
        task.transfer = None
        self.pool.blocks.unfence(blocks)

    # Queues.

    def enqueue(self, task: Task, front: bool = False) -> None:
        """Add to the waiting queue, which is kept in policy order; a victim goes before those who never ran."""
        self.waiting.insert(0 if front else len(self.waiting), task)
        if self.world.policy == "priority":
            self.waiting.sort(key=self.rank)

    def in_order(self, tasks: list[Task]) -> list[Task]:
        """Tasks in policy order."""
        return sorted(tasks, key=self.rank)

    def rank(self, task: Task) -> tuple[int, int]:
        """Position in policy order: smaller is served first."""
        return (task.request.priority if self.world.policy == "priority" else 0, task.arrival)

    def leave_queues(self, task: Task) -> None:
        """Take a task out of whichever queue it is in."""
        for queue in (self.waiting, self.running):
            if task in queue:
                queue.remove(task)

    # Observations.

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running) request ids."""
        return tuple(t.request.id for t in self.waiting), tuple(t.request.id for t in self.running)

    def free_blocks(self) -> int:
        """Blocks that a new request could get."""
        return self.pool.free_blocks()

    def free_set(self) -> tuple[BlockId, ...]:
        """The ids of those blocks."""
        return self.pool.free_set()

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The number of holders of each held block."""
        return self.pool.ref_counts()

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return self.pool.tables()

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        return self.pool.keyed_blocks()

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit) of first admissions."""
        return self.pool.counters()


class Step:
    """A step while it is being planned."""

    def __init__(self, budget: int, max_running: int) -> None:
        self.left = budget
        self.max_running = max_running
        self.actions: list[Action] = []
        self.done: list[Task] = []
        self.short = False
        """Whether blocks ran out, so that nobody new is admitted."""

    @property
    def full(self) -> bool:
        """Whether as many requests run as may."""
        return len(self.done) >= self.max_running

    def add(self, task: Task, scheduled: Scheduled) -> None:
        """One more request, at the cost of its tokens."""
        self.actions.append(scheduled)
        self.done.append(task)
        self.left -= scheduled.count

    def plan(self) -> StepPlan:
        """The finished plan."""
        return StepPlan(tuple(self.actions))


__all__ = ["ReferenceStepper", "Rejected", "Task"]
