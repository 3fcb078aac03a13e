"""Speeds, shown by `make bench`: events per second of the checker, and of driving and checking together."""

from __future__ import annotations

import random
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.stepper import StepperDriver
from kvreference.scheduler import ReferenceStepper
from kvspec import Tally, World, advance, initial
from kvspec import events as ev

WORLD = World(num_blocks=24, block_size=4, token_budget=16, max_running=6)


def traffic(seed: int = 0, requests: int = 60) -> tuple[h.AnyOperation, ...]:
    """A busy hour in a small world: shared prefixes, aborts, preemptions, steps until all is done."""
    dice = random.Random(seed)
    operations: list[h.AnyOperation] = []
    for _ in range(requests):
        shared = (0,) * dice.choice([0, 4, 8])
        operations.append(h.Add(shared + tuple(dice.choices((0, 1), k=dice.randint(1, 16))), dice.randint(1, 12)))
        operations += [h.Step()] * dice.randint(0, 5)
        if dice.random() < 0.1:
            operations.append(h.Abort(dice.randint(0, 3)))
    return tuple(operations)


def drive(operations: tuple[h.AnyOperation, ...]) -> list[ev.Event]:
    """The events of the reference engine under these operations."""
    checker = Checker(WORLD, ReferenceStepper.capabilities, Tally())
    StepperDriver(ReferenceStepper, checker).run(operations)
    return [event for event in checker.events if type(event).__module__ == ev.__name__]


def test_speed_of_the_checker(benchmark: Any) -> None:
    events = drive(traffic())

    def judge() -> None:
        state, tally = initial(WORLD, ReferenceStepper.capabilities), Tally()
        for event in events:
            advance(state, event, tally)

    benchmark(judge)
    if benchmark.enabled:
        benchmark.extra_info["events"] = len(events)
        benchmark.extra_info["events_per_second"] = round(len(events) / benchmark.stats["min"])


def test_speed_of_the_checker_without_what_the_engine_says_of_itself(benchmark: Any) -> None:
    events = [event for event in drive(traffic()) if not isinstance(event, ev.Observe)]

    def judge() -> None:
        state, tally = initial(WORLD, ReferenceStepper.capabilities), Tally()
        for event in events:
            advance(state, event, tally)

    benchmark(judge)
    if benchmark.enabled:
        benchmark.extra_info["events"] = len(events)
        benchmark.extra_info["events_per_second"] = round(len(events) / benchmark.stats["min"])


def test_speed_of_driving_and_checking(benchmark: Any) -> None:
    operations = traffic()
    events = benchmark(drive, operations)
    if benchmark.enabled:
        benchmark.extra_info["events_per_second"] = round(len(events) / benchmark.stats["min"])
