"""vLLM's published KV events: a subscriber that counts copies has its index, and one that does not loses content."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kvconformance.surfaces.stepper.operations import Step

pytest.importorskip("vllm")

from kvconformance.adapters import load
from kvconformance.claims import claimed
from kvconformance.history import Add, Commit, Free, History, Operation
from kvconformance.search.check import replay
from kvconformance.search.examples import Plan, search
from kvconformance.surfaces import Engine
from kvspec.rules import MIRROR_EQUALS_INDEX
from kvspec.vocabulary import Surface

ENGINE = load("vllm")
POOL: Any = ENGINE.factories[Surface.POOL]
ONLY = frozenset({MIRROR_EQUALS_INDEX})


@pytest.mark.parametrize("surface", [Surface.POOL, Surface.STEPPER], ids=lambda surface: surface.value)
def test_its_events_give_its_index(surface: Surface) -> None:
    """Salts, adapters and their versions, images and duplicates are among the histories."""
    plan = Plan(300, 2, 300, 0.5, rules=ONLY)
    outcome = search(ENGINE, surface, plan, claimed(ENGINE, surface))
    assert not outcome.found
    assert outcome.exercised[MIRROR_EQUALS_INDEX] > 1_000


def broken(pool: type, *operations: Operation) -> list[str]:
    engine = Engine("vllm", "0", {Surface.POOL: pool})  # type: ignore[dict-item]
    result = replay(engine, Surface.POOL, History(5, 2, operations), Plan(), "vllm")  # type: ignore[arg-type]
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


TWICE = (Add((0, 0)), Add((0, 0)), Commit(0), Commit(1), Free(), Free(), Add((1, 1, 1, 1, 1, 1)))
"""Two requests compute the same block, which is more than a hit may leave; then one of the copies is evicted."""


def test_a_removal_is_published_for_each_copy() -> None:
    """Subscribers that count copies are not misled, which the adapter declares; see vLLM #55092."""

    class Uncounted(POOL):
        capabilities = replace(POOL.capabilities, counts_copies=False)

    assert broken(Uncounted, *TWICE) == [MIRROR_EQUALS_INDEX.id]
    assert broken(POOL, *TWICE) == []


class TellsNoRemoval(POOL):
    def take_events(self) -> tuple[Any, ...]:
        return tuple(event for event in super().take_events() if type(event).__name__ != "BlockRemoved")


class ForgetsSalts(POOL):
    def take_events(self) -> tuple[Any, ...]:
        events = super().take_events()
        return tuple(replace(e, parts=replace(e.parts, salt=None)) if hasattr(e, "parts") else e for e in events)


@pytest.mark.parametrize(
    ("pool", "operations"),
    [
        (TellsNoRemoval, (Add((0,) * 5), Free(), Add((1,) * 7))),
        (ForgetsSalts, (Add((0,) * 5, salt="x"), Commit(0))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_stream_with_a_fault_is_found(pool: type, operations: tuple[Operation, ...]) -> None:
    assert broken(pool, *operations) == [MIRROR_EQUALS_INDEX.id]
    assert broken(POOL, *operations) == []


def test_the_scheduler_publishes_a_step_at_its_end() -> None:
    engine = ENGINE.factories[Surface.STEPPER]
    result = replay(ENGINE, Surface.STEPPER, History(6, 2, (Add((0,) * 5, 3), Step(), Step())), Plan(), "vllm")
    assert not result.findings and not result.fault
    assert result.exercised[MIRROR_EQUALS_INDEX.id]
    assert hasattr(engine, "take_events")
