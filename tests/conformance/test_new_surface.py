"""A new surface is one module: operations, machine, driver, histories and story, and the record that says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import strategies as st

from kvconformance import Capabilities, Engine, Verdict, World, check
from kvconformance import history as h
from kvconformance.adapters import NotAnAdapter, as_engine
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces import Factory, SurfaceKind, registry
from kvconformance.telling.story import Story
from kvspec.rules import CONSERVATION, FIT_AGREES_WITH_ALLOCATE
from kvspec.violation import Tally
from kvspec.vocabulary import Surface

FREE_LIST = Surface("free-list")


class Take(h.Operation, frozen=True):
    """A block is wanted."""


class GiveBack(h.Operation, frozen=True):
    """The lowest or the highest block that is taken comes back."""

    highest: bool = False


@dataclass(frozen=True)
class Taken:
    block: int | None


@dataclass(frozen=True)
class GivenBack:
    block: int


def free_list(world: World, capabilities: Capabilities) -> tuple[set[int], Callable[[Any, Tally], None]]:
    """The machine: which blocks are taken."""
    taken: set[int] = set()
    return taken, partial(change, world, taken)


def change(world: World, taken: set[int], event: Taken | GivenBack, tally: Tally) -> None:
    if isinstance(event, GivenBack):
        taken.remove(event.block)
        return
    free = sorted(set(range(world.num_blocks)) - taken)
    right = not free if event.block is None else event.block in free
    tally.require(right, CONSERVATION, lambda: (f"block {event.block} is handed out", f"one of {free or None}"))
    taken |= set() if event.block is None else {event.block}


class FreeListDriver:
    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.checker, self.call = checker, Guarded(checker, FIT_AGREES_WITH_ALLOCATE)
        self.engine = self.call("building the engine", factory, checker.world)

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        for operation in operations:
            self.checker.note(operation)
            if isinstance(operation, Take):
                self.checker.feed(Taken(self.call("taking", self.engine.take)))
            elif isinstance(operation, GiveBack) and self.checker.state:
                block = (max if operation.highest else min)(self.checker.state)
                self.call("giving back", self.engine.give_back, block)
                self.checker.feed(GivenBack(block))


def free_list_histories(capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    operations = st.lists(st.sampled_from((Take(), GiveBack(), GiveBack(highest=True))), max_size=9).map(tuple)
    return st.builds(h.History, st.integers(*capabilities.num_blocks), st.just(1), operations)


SURFACE = SurfaceKind(
    surface=FREE_LIST,
    operations=(Take, GiveBack),
    required=("take", "give_back"),
    driver=FreeListDriver,
    histories=free_list_histories,
    raises=FIT_AGREES_WITH_ALLOCATE,
    rules=frozenset({CONSERVATION, FIT_AGREES_WITH_ALLOCATE}),
    machine=free_list,
    story=Story(
        verbs=MappingProxyType({"giveback": "give back"}),
        tell=MappingProxyType({Taken: lambda e, _: f"block {e.block}", GivenBack: lambda e, _: f"block {e.block}"}),
        ghost=lambda taken, violation: [f"taken: {sorted(taken)}"],
    ),
)


class FreeList:
    capabilities = Capabilities(num_blocks=(1, 3))

    def __init__(self, world: World) -> None:
        self.free = list(range(world.num_blocks))

    def take(self) -> int | None:
        return self.free.pop() if self.free else None

    def give_back(self, block: int) -> None:
        self.free.append(block)


class Leaking(FreeList):
    """What is given back is lost."""

    def give_back(self, block: int) -> None: ...


class Twice(FreeList):
    """What is given back is free twice."""

    def give_back(self, block: int) -> None:
        self.free += [block, block]


class Dying(FreeList):
    """An empty list is the end of the process."""

    def take(self) -> int | None:
        return self.free.pop() if self.free else os._exit(3)


class Raising(FreeList):
    """An empty list is an error."""

    def take(self) -> int | None:
        return self.free.pop()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    registry.register(SURFACE)
    yield


@pytest.mark.parametrize("isolated", [True, False])
def test_an_honest_engine_of_a_new_surface_passes(isolated: bool) -> None:
    report = check(FreeList, examples=60, isolated=isolated)
    assert (report.fault, report.findings) == ("", ())
    assert [line.rule for line in report.with_verdict(Verdict.HELD)] == [CONSERVATION]
    assert [line.rule for line in report.with_verdict(Verdict.NOT_REACHED)] == [FIT_AGREES_WITH_ALLOCATE]


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(
    ("engine", "rule", "steps"),
    [
        (Leaking, CONSERVATION, ("  1  take      block 0", "  2  give back block 0", "  3  take      block None")),
        (Twice, CONSERVATION, None),
        (Raising, FIT_AGREES_WITH_ALLOCATE, None),
    ],
)
def test_a_planted_fault_is_found_and_told(engine: Any, rule: Any, steps: Any, isolated: bool) -> None:
    (finding,) = check(engine, examples=200, isolated=isolated).findings
    assert finding.rule is rule
    assert steps in (None, finding.steps)
    assert finding.ghost and finding.ghost[0].startswith("taken:")


def test_an_engine_that_dies_leaves_a_history_of_the_new_operations() -> None:
    report = check(Dying, examples=200)
    assert report.fault == ""
    (finding,) = report.findings
    assert finding.rule is FIT_AGREES_WITH_ALLOCATE
    fatal = SURFACE.read(finding.history)
    assert fatal.operations == (Take(),) * (fatal.num_blocks + 1)


def test_its_name_is_always_the_same_object() -> None:
    """Msgspec asks `_missing_` itself for a name that was not there when it first saw the type."""
    assert Surface._missing_("free-list") is FREE_LIST is Surface("free-list")


def test_only_its_own_operations_are_read() -> None:
    history = h.History(2, 1, (Take(), GiveBack(highest=True)))
    assert SURFACE.read(history.to_json()) == history
    with pytest.raises(ValueError, match=r"not a history: Invalid value 'Free' - at `\$\.operations\[0\]\.type`"):
        SURFACE.read(h.History(2, 1, (h.Free(),)).to_json())


def test_its_name_is_taken_once_and_its_adapters_are_known_by_their_methods() -> None:
    with pytest.raises(ValueError, match="free-list is registered already"):
        registry.register(SURFACE)
    assert list(as_engine(FreeList).factories) == [FREE_LIST]
    with pytest.raises(NotAnAdapter, match=r"the free-list adapter \w+ lacks take\(\), give_back\(\)"):
        as_engine(Engine("bare", "1", {FREE_LIST: object}))
