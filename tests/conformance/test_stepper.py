"""The surface Stepper: steps in flight, queues that are tidied late, and refusals, beside the nearest wrong engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kvconformance.adapters import as_engine
from kvconformance.claims import unclaimed
from kvconformance.history import Add, Commit, Fork, Grow, History, Reset
from kvconformance.search.trial import play
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step
from kvreference.pool import ReferencePool
from kvreference.publishing import PublishingStepper
from kvreference.scheduler import ReferenceStepper, Task
from kvreference.scheduler import Step as Planned
from kvspec import rules
from kvspec.plans import BlockCopy, Extension, Scheduled, StepPlan
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, Request, RequestId, Surface, TokenId, World


def broken(stepper: type[Any], history: History) -> Rule | None:
    """The rule that a stepper breaks."""
    trial = play(stepper, stepper.capabilities, Surface.STEPPER, history, Tally())
    return trial.violation.rule if trial.violation else None


class Chunks(ReferenceStepper):
    """Plans the next chunk of a prompt while those before are in flight; who is aborted keeps its blocks until then."""

    capabilities = replace(ReferenceStepper.capabilities, forks=False, fails=False, max_in_flight=3)
    waits = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.flying: dict[RequestId, int] = {}
        self.planned: dict[RequestId, int] = {}

    def plan(self) -> StepPlan:
        """Everybody that runs, then who waits."""
        step = self.new_step()
        for task in self.running:
            count = min(len(task.holding.tokens) - self.planned[task.request.id], step.left)
            if count > 0 and self.pool.extend(task.request.id, count) is not None:
                self.put(step, task, count)
        self.admit_waiting(step)
        for task in step.done:
            self.flying[task.request.id] = self.flying.get(task.request.id, 0) + 1
        return step.plan()

    def put(self, step: Planned, task: Task, count: int) -> None:
        """Schedule a chunk behind those that are planned."""
        id, start = task.request.id, self.planned[task.request.id]
        step.add(task, Scheduled(id, start, count, tuple(task.holding.table)))
        self.planned[id] = start + count

    def admit(self, step: Planned, task: Task) -> bool:
        """Start a request."""
        admission = self.pool.begin(task.holding, step.left)
        if admission is None:
            return False
        self.planned[task.request.id] = admission.hit
        self.put(step, task, admission.count)
        return True

    def abort(self, id: RequestId) -> None:
        """Cancel a request."""
        task = self.tasks[id]
        self.leave_queues(task)
        task.cancelled = bool(self.flying.get(id))
        if not task.cancelled:
            self.pool.free(self.tasks.pop(id).request.id)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """The oldest step is back."""
        finished = []
        for scheduled in plan.scheduled:
            id = scheduled.request
            self.flying[id] -= 1
            task = self.tasks.get(id)
            if task is not None and task.cancelled:
                if not (self.waits and self.flying[id]):
                    self.pool.free(self.tasks.pop(id).request.id)
            elif task is not None:
                self.pool.computed(id, scheduled.start + scheduled.count)
                if id in sampled and self.append(task, sampled[id]):
                    finished.append(id)
        return finished


class Early(Chunks):
    """Gives the blocks of who was aborted back when the first of its steps is back."""

    waits = False


@pytest.mark.parametrize(("stepper", "rule"), [(Chunks, None), (Early, rules.IN_FLIGHT_FENCE)])
def test_who_is_aborted_keeps_its_blocks_until_the_last_of_its_steps_is_back(
    stepper: type[Chunks], rule: Rule | None
) -> None:
    two = (Add((0, 1, 0, 1), 1), Begin(), Begin(), Abort(), End(), End(), Step())
    assert broken(stepper, History(6, 1, two, token_budget=2)) is rule


class Late(PublishingStepper):
    """Whoever leaves stands in the queue of the running until a step completes."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.ghosts: list[RequestId] = []

    def leave_queues(self, task: Task) -> None:
        """It stays for a while."""
        super().leave_queues(task)
        self.ghosts.append(task.request.id)

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """With those that have left."""
        waiting, running = super().queues()
        return waiting, (*running, *self.ghosts)

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Tidy up, then the step."""
        self.ghosts.clear()
        return super().complete(plan, sampled)


class Never(Late):
    """Tidies nothing up."""

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Sequence[RequestId]:
        """Only the step."""
        return PublishingStepper.complete(self, plan, sampled)


class Stuck(PublishingStepper):
    """Starts nobody."""

    def admit(self, step: Planned, task: Task) -> bool:
        """Not now."""
        return False


@pytest.mark.parametrize(
    ("stepper", "rule"), [(Late, None), (Never, rules.ONE_QUEUE), (Stuck, rules.PROGRESS_OR_REJECT)]
)
def test_an_empty_step_completes_as_any_other(stepper: type[PublishingStepper], rule: Rule | None) -> None:
    assert broken(stepper, History(6, 1, (Add((0,), 1), Step(), Begin(), End(), Begin(), End()))) is rule


class Forgetting(ReferencePool):
    """Refuses to be reset, and has forgotten what is idle."""

    def reset(self) -> bool:
        """Half a reset."""
        refused = any(self.blocks.count)
        for block in list(self.blocks.idle):
            self.recycle(block)
        return not refused and super().reset()


class Half(PublishingStepper):
    """With that pool."""

    pool_type = Forgetting


class NoFork:
    """That engine behind the fewest methods, and a reset."""

    capabilities = replace(PublishingStepper.capabilities, forks=False, fails=False, preemptions=("recompute",))

    def __init__(self, world: World) -> None:
        self.engine = Half(world)

    def add(self, request: Any) -> None:
        """Pass on."""
        self.engine.add(request)

    def plan(self) -> StepPlan:
        """Pass on."""
        return self.engine.plan()

    def complete(self, plan: StepPlan, sampled: Any) -> Any:
        """Pass on."""
        return self.engine.complete(plan, sampled)

    def abort(self, request: RequestId) -> None:
        """Pass on."""
        self.engine.abort(request)

    def reset(self) -> bool:
        """Pass on."""
        return self.engine.reset()

    def free_blocks(self) -> int:
        """Pass on."""
        return self.engine.free_blocks()

    def keyed_blocks(self) -> Any:
        """Pass on."""
        return self.engine.keyed_blocks()


def test_a_refused_reset_that_forgets_is_told_of_a_stepper_that_cannot_fork() -> None:
    history = History(6, 1, (Add((0, 0), 1), Step(), Step(), Add((1, 1), 2), Step(), Reset()))
    assert broken(NoFork, history) is rules.FAILURE_IS_ATOMIC
    assert unclaimed(as_engine(NoFork), Surface.STEPPER, rules.FAILURE_IS_ATOMIC) is None
    neither = type("Neither", (NoFork,), {"capabilities": replace(NoFork.capabilities, resets=False)})
    assert unclaimed(as_engine(neither), Surface.STEPPER, rules.FAILURE_IS_ATOMIC) == "the adapter has no fork()"


class PendingCopySurvives(ReferenceStepper):
    """A fork that was to copy its last block is preempted, and when it has blocks again the copy still takes place."""

    def fork(self, parent: RequestId, child: Request) -> bool:
        """Note the block that is to be copied."""
        done = super().fork(parent, child)
        self.pending = {child.id: self.tasks[child.id].holding.table[-1]} if done else {}
        return done

    def admit(self, step: Planned, task: Task) -> bool:
        """Start a request, and copy what was to be copied before."""
        done = super().admit(step, task)
        source = self.pending.pop(task.request.id, None) if done and task.resumed else None
        if source is not None:
            scheduled = step.actions.pop()
            step.actions += [BlockCopy(task.request.id, source, task.holding.table[-1]), scheduled]
        return done

    pending: Mapping[RequestId, BlockId] = {}


def test_a_copy_out_of_a_block_that_is_no_longer_held_is_a_verdict_with_its_history() -> None:
    """The fault of xLLM #1984: with no room to grow, the fork is preempted before it has copied anything."""
    fork = (Add((0, 1, 0), 3), Step(), Fork(), Add((1, 1, 1, 1, 1), 3), *[Step()] * 6)
    history = History(5, 2, fork, token_budget=8, max_running=3)
    stepper = PendingCopySurvives
    trial = play(stepper, stepper.capabilities, Surface.STEPPER, history, Tally())
    assert trial.violation is not None and trial.violation.rule is rules.NO_DANGLING_REFERENCE
    assert "copies from block" in trial.violation.seen and trial.violation.facts["request"] == "B"
    assert broken(ReferenceStepper, history) is None


class StrayCopies(ReferencePool):
    """Copies a block that the request does not hold."""

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """An extension with a copy out of nowhere, or out of a block that there is not."""
        done = super().extend(id, count)
        return done and replace(done, copies=(BlockCopy(id, self.stray, done.table[0]),))

    stray = BlockId(3)


class StrayCopiesOfNoBlock(StrayCopies):
    stray = BlockId(99)


@pytest.mark.parametrize("pool", [StrayCopies, StrayCopiesOfNoBlock])
def test_a_stray_copy_of_a_pool_is_a_verdict(pool: type[StrayCopies]) -> None:
    history = History(4, 2, (Add((0, 1, 0)), Commit(), Grow()))
    trial = play(pool, pool.capabilities, Surface.POOL, history, Tally())
    assert trial.violation is not None and trial.violation.rule is rules.NO_DANGLING_REFERENCE
    assert "its table" in trial.violation.expected


class Slices(ReferenceStepper):
    """One request at a time, which gives way to the others after each token and is computed anew in its turn."""

    capabilities = replace(ReferenceStepper.capabilities, forks=False, max_in_flight=1, profiles=frozenset())

    def plan(self) -> StepPlan:
        """Whoever has had its slice waits behind those that wait."""
        step = self.new_step()
        for task in [task for task in self.running if self.waiting and self.had_its_slice(task)]:
            self.preempt(step, task)
            self.waiting.remove(task)
            self.waiting.append(task)
        step.short = False
        self.continue_running(step)
        if not self.running:
            task = self.waiting[0]
            task.slice = task.generated + 1  # type: ignore[attr-defined]
            if self.admit(step, task):
                self.waiting.remove(task)
                self.running.append(task)
        return step.plan()

    def had_its_slice(self, task: Task) -> bool:
        """It has sampled a token since it runs."""
        return task.generated >= task.slice  # type: ignore[attr-defined]

    def batch_full(self) -> bool:
        """One runs."""
        return bool(self.running)


class SlicesTooSmall(Slices):
    """The slice is a step, in which no prompt is computed as a whole: the requests throw each other's work away."""

    def had_its_slice(self, task: Task) -> bool:
        """It has run at all."""
        return True


TWO_LONG = History(24, 1, (Add((0, 1, 0, 1), 15), Add((1, 1, 0, 1), 15)), token_budget=1, max_running=2, caching=False)


def test_who_recomputes_after_each_token_finishes_in_as_many_steps_as_there_are_pairs_of_tokens() -> None:
    """4 + 5 + … + 18 = 165 steps for each of two requests, with a budget of one token."""
    trial = play(Slices, Slices.capabilities, Surface.STEPPER, TWO_LONG, Tally())
    assert trial.violation is None and trial.checker.state.step > 300


def test_who_recomputes_for_ever_is_told() -> None:
    trial = play(SlicesTooSmall, Slices.capabilities, Surface.STEPPER, TWO_LONG, Tally())
    assert trial.violation is not None and trial.violation.rule is rules.PROGRESS_OR_REJECT
    assert "A, B did not finish" in trial.violation.seen
    assert trial.checker.state.step < 100


class Rests(Slices):
    """Rests for three steps in a row before each that works, and says so."""

    capabilities = replace(Slices.capabilities, idle_steps=3)

    def plan(self) -> StepPlan:
        """An empty plan, three times of four."""
        self.plans = getattr(self, "plans", 0) + 1
        return super().plan() if self.plans % 4 == 0 else StepPlan()


class RestsTooLong(Rests):
    """... but says that it rests for two."""

    capabilities = replace(Rests.capabilities, idle_steps=2)


@pytest.mark.parametrize(("stepper", "rule"), [(Rests, None), (RestsTooLong, rules.PROGRESS_OR_REJECT)])
def test_declared_idle_steps_between_steps_that_work(stepper: type[Rests], rule: Rule | None) -> None:
    assert broken(stepper, TWO_LONG) is rule
