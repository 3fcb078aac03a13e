"""Speeds, shown by `make bench`: events per second of the checker, and of driving and checking together."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.surfaces.stepper.driver import StepperDriver
from kvconformance.surfaces.stepper.operations import Abort, Step
from kvreference.scheduler import ReferenceStepper
from kvspec import Tally, World, advance, initial
from kvspec import events as ev

WORLD = World(num_blocks=24, block_size=4, token_budget=16, max_running=6)


def traffic(seed: int = 0, requests: int = 60) -> tuple[h.Operation, ...]:
    """A busy hour in a small world: shared prefixes, aborts, preemptions, steps until all is done."""
    dice = random.Random(seed)
    operations: list[h.Operation] = []
    for _ in range(requests):
        shared = (0,) * dice.choice([0, 4, 8])
        operations.append(h.Add(shared + tuple(dice.choices((0, 1), k=dice.randint(1, 16))), dice.randint(1, 12)))
        operations += [Step()] * dice.randint(0, 5)
        if dice.random() < 0.1:
            operations.append(Abort(dice.randint(0, 3)))
    return tuple(operations)


def drive(operations: tuple[h.Operation, ...]) -> list[ev.Event]:
    """The events of the reference engine under these operations."""
    checker = Checker(WORLD, ReferenceStepper.capabilities, Tally())
    StepperDriver(ReferenceStepper, checker).run(operations)
    return [event for event in checker.events if type(event).__module__ == ev.__name__]


def judge(events: list[ev.Event]) -> None:
    """The specification alone."""
    state, tally = initial(WORLD, ReferenceStepper.capabilities), Tally()
    for event in events:
        advance(state, event, tally)


@pytest.mark.parametrize("observing", [True, False], ids=["with all that the engine says of itself", "events alone"])
def test_speed_of_the_checker(benchmark: Any, observing: bool) -> None:
    events = [event for event in drive(traffic()) if observing or not isinstance(event, ev.Observe)]
    benchmark(judge, events)
    if benchmark.enabled:
        benchmark.extra_info["events"] = len(events)
        benchmark.extra_info["events_per_second"] = round(len(events) / benchmark.stats["min"])


def test_speed_of_driving_and_checking(benchmark: Any) -> None:
    operations = traffic()
    events = benchmark(drive, operations)
    if benchmark.enabled:
        benchmark.extra_info["events_per_second"] = round(len(events) / benchmark.stats["min"])
