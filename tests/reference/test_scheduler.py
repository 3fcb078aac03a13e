"""The reference scheduler, by cases made by hand from sentences of the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import kvreference.pool
import kvreference.scheduler
from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.surfaces.stepper.driver import StepperDriver
from kvconformance.surfaces.stepper.operations import Step, Transfer
from kvreference.scheduler import ReferenceStepper
from kvspec import Tally, rules
from kvspec import events as ev
from kvspec.plans import Preempted, SwappedIn, SwappedOut
from kvspec.vocabulary import TokenId, TransferId, World
from tests.reference.test_pool import request

pytestmark = pytest.mark.kills("reference")

# The scheduler. Requests of one token per block, unless said otherwise; block 0 is reserved.


def engine_of(num_blocks: int, block_size: int = 1, **limits: Any) -> ReferenceStepper:
    return ReferenceStepper(World(num_blocks, block_size, **limits))


def ids(engine: ReferenceStepper) -> list[str]:
    """Who is scheduled in the next step, in this order; the step stays in flight."""
    return [action.request for action in engine.plan().scheduled]


def step(engine: ReferenceStepper) -> list[str]:
    """One whole step: whoever has no token left to compute samples a zero."""
    plan = engine.plan()
    last = [one.request for one in plan.scheduled if one.count == engine.tasks[one.request].remaining]
    engine.complete(plan, {id: TokenId(0) for id in last})
    return [one.request for one in plan.scheduled]


def test_two_steps_may_be_in_flight() -> None:
    assert ReferenceStepper.capabilities.max_in_flight == 2
    assert set(kvreference.scheduler.__all__) == {"ReferenceStepper", "Rejected", "Task"}


def test_running_requests_are_served_in_order_of_arrival() -> None:
    engine = engine_of(12)
    for id in "ABC":
        engine.add(request(id, 0))
    assert step(engine) == ["A", "B", "C"]
    tasks = [engine.tasks[id] for id in "CBA"]
    assert [task.request.id for task in engine.in_order(tasks)] == ["A", "B", "C"]


def test_a_fork_arrives_when_it_is_made() -> None:
    engine = engine_of(12)
    engine.add(request("A", 0))
    step(engine)
    assert engine.fork("A", request("B", 0))
    assert engine.fork("A", request("C", 0))
    engine.add(request("D", 0))
    arrivals = [engine.tasks[id].arrival for id in "ABCD"]
    assert arrivals == sorted(set(arrivals))


def test_under_the_priority_policy_the_smallest_number_is_served_first_and_then_who_came_first() -> None:
    engine = engine_of(12, policy="priority")
    for id, priority in (("A", 2), ("B", 1), ("C", 2), ("D", 1)):
        engine.add(replace(request(id, 0), priority=priority))
    assert [task.request.id for task in engine.waiting] == ["B", "D", "A", "C"]
    assert step(engine) == ["B", "D", "A", "C"]
    assert [task.request.id for task in engine.in_order(engine.running[::-1])] == ["B", "D", "A", "C"]


@pytest.mark.parametrize("policy", ["fcfs", "prefill-first"])
def test_under_other_policies_priorities_do_not_count(policy: str) -> None:
    engine = engine_of(12, policy=policy)
    for id, priority in (("A", 2), ("B", 1)):
        engine.add(replace(request(id, 0), priority=priority))
    assert [task.request.id for task in engine.waiting] == ["A", "B"]
    step(engine)
    assert [task.request.id for task in engine.in_order(engine.running[::-1])] == ["A", "B"]


def test_under_the_priority_policy_the_last_in_order_gives_way() -> None:
    # A and B fill four blocks in two steps; A, which came first, has the greater number and gives way to B.
    engine = engine_of(5, policy="priority")
    engine.add(replace(request("A", 0, new=3), priority=2))
    engine.add(replace(request("B", 1, new=3), priority=1))
    assert [sorted(step(engine)) for _ in range(2)] == [["A", "B"], ["A", "B"]]
    plan = engine.plan()
    assert [action.request for action in plan.actions if isinstance(action, Preempted)] == ["A"]


def test_no_more_requests_run_than_may() -> None:
    engine = engine_of(12, max_running=1)
    engine.add(request("A", 0, new=1))
    engine.add(request("B", 1, new=1))
    assert ids(engine) == ["A"]
    assert engine.queues() == (("B",), ("A",))
    assert ids(engine) == []
    assert engine.queues() == (("B",), ("A",))


def test_a_step_runs_at_most_so_many_even_of_those_that_run() -> None:
    engine = engine_of(12, max_running=2)
    engine.add(request("A", 0))
    engine.add(request("B", 1))
    step(engine)
    engine.world = replace(engine.world, max_running=1)
    assert ids(engine) == ["A"]


def test_the_priority_policy_continues_before_it_admits() -> None:
    engine = engine_of(12, 2, token_budget=2, policy="priority")
    engine.add(request("A", 0, 1))
    step(engine)
    engine.add(request("B", 2, 3, 4, 5))
    assert ids(engine) == ["A", "B"]


def test_a_request_in_flight_does_not_hold_up_those_behind_it() -> None:
    engine = engine_of(12, token_budget=2)
    engine.add(request("A", 0))
    assert ids(engine) == ["A"]
    engine.add(request("B", 1, 2, 3))
    assert step(engine) == ["B"]
    assert ids(engine) == ["B"]


def test_prefill_first_serves_a_prompt_that_was_begun_before_decodes_and_before_newcomers() -> None:
    engine = engine_of(12, token_budget=2, policy="prefill-first")
    engine.add(request("A", 0))
    step(engine)
    engine.add(request("B", 1, 2, 3, 4))
    assert step(engine) == ["B"]
    engine.add(request("C", 5))
    assert step(engine) == ["B"]
    assert step(engine) == ["C", "A"]


def test_a_fork_of_a_running_request_runs_too() -> None:
    engine = engine_of(12)
    engine.add(request("A", 0, 1, new=3))
    step(engine)
    assert engine.fork("A", request("B", 0, 1, new=3)) is True
    assert engine.queues() == ((), ("A", "B"))
    assert engine.tasks["B"].holding.tokens == engine.tasks["A"].holding.tokens  # type: ignore[index]
    assert step(engine) == ["A", "B"]
    assert step(engine) == ["A", "B"]
    assert engine.queues() == ((), ())
    assert engine.free_blocks() == 11


def test_a_fork_is_refused_where_nothing_runs_that_could_be_forked() -> None:
    engine = engine_of(12, max_running=2)
    child = request("B", 0)
    assert engine.fork("Z", child) is False
    engine.add(request("A", 0))
    assert engine.fork("A", child) is False, "it waits"
    plan = engine.plan()
    assert engine.fork("A", child) is False, "its step is in flight"
    engine.complete(plan, {"A": TokenId(0)})  # type: ignore[dict-item]
    assert engine.fork("A", child) is True
    assert engine.fork("A", request("C", 0)) is False, "the batch is full"
    assert set(engine.tasks) == {"A", "B"} == set(engine.tables())


def test_an_abort_in_flight_takes_nobody_else_along() -> None:
    engine = engine_of(12)
    for id in "AB":
        engine.add(request(id, 0, new=1))
    plan = engine.plan()
    engine.abort("A")  # type: ignore[arg-type]
    assert engine.complete(plan, {"B": TokenId(0)}) == ["B"]  # type: ignore[dict-item]
    assert engine.free_blocks() == 11 and not engine.tables()


def swapped_out() -> tuple[ReferenceStepper, TransferId]:
    """A and B had filled all four blocks, A needed one more, and now B is on its way to the host."""
    engine = engine_of(5, token_budget=8, preemption="swap")
    engine.add(request("A", 0, new=3))
    engine.add(request("B", 1, new=3))
    step(engine)
    step(engine)
    (out,) = (action for action in engine.plan().actions if isinstance(action, SwappedOut))
    assert out.request == "B"
    return engine, out.transfer


def test_a_request_does_not_come_back_before_it_is_on_the_host() -> None:
    engine, transfer = swapped_out()
    engine.abort("A")  # type: ignore[arg-type]
    assert engine.free_blocks() == 2
    assert engine.plan().actions == ()
    engine.transfer_done(transfer)
    (back,) = (action for action in engine.plan().actions if isinstance(action, SwappedIn))
    assert back.request == "B"


def test_a_request_comes_back_into_the_last_free_blocks() -> None:
    engine, transfer = swapped_out()
    engine.transfer_done(transfer)
    engine.abort("A")  # type: ignore[arg-type]
    engine.pool.take(2)
    assert engine.free_blocks() == 2
    (back,) = (action for action in engine.plan().actions if isinstance(action, SwappedIn))
    assert len(back.table) == 2 and engine.free_blocks() == 0


def test_every_transfer_has_a_name_of_its_own() -> None:
    engine, first = swapped_out()
    names = {first, *(engine.begin_transfer(engine.tasks["A"], ()) for _ in range(3))}  # type: ignore[index]
    assert len(names) == 4


def test_a_victim_goes_to_the_front_of_the_queue_and_only_the_priority_policy_sorts_it() -> None:
    for policy, order in (("fcfs", ["B", "A"]), ("prefill-first", ["B", "A"]), ("priority", ["A", "B"])):
        engine = engine_of(12, policy=policy)
        engine.add(request("A", 0))
        engine.add(request("B", 1))
        engine.enqueue(engine.waiting.pop(), front=True)
        assert [task.request.id for task in engine.waiting] == order


def test_a_request_waits_until_its_blocks_are_back_from_the_host() -> None:
    operations = (h.Add((0,), 3), h.Add((0, 0, 0), 3), *[Step()] * 3, Transfer(), *[Step()] * 2)
    history = h.History(5, 2, operations, token_budget=9, max_running=3, preemption="swap")
    checker = Checker(history.world(), ReferenceStepper.capabilities, Tally())
    StepperDriver(ReferenceStepper, checker).run(history.operations)
    assert checker.tally.exercised[rules.IN_FLIGHT_FENCE]
    assert any(isinstance(event, ev.SwapIn) for event in checker.events)
