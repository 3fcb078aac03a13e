"""Answers of the wrong shape: each is told as a slip of the adapter, by name, and never as an error of ours."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.search.trial import play
from kvconformance.surfaces import records
from kvconformance.surfaces.answers import truth
from kvconformance.surfaces.generator.operations import Generate
from kvconformance.surfaces.pool.operations import FreeAgain, Lookup
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step, Transfer
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper
from kvspec import rules
from kvspec.plans import Admission, Admitted, BlockCopy, Extension, Hit, Scheduled, StepPlan, SwappedIn, SwappedOut
from kvspec.published import BlockStored
from kvspec.violation import HarnessFault, Tally, Waived
from kvspec.vocabulary import Capabilities, Request, Surface, World

ADDS = (h.Add((0, 1, 0, 1), 2), h.Add((0, 1, 0, 1), 2))
POOL = h.History(
    6,
    2,
    (*ADDS, Lookup((0, 1, 0)), h.Commit(), h.Grow(0), h.Fork(), h.Grow(1), h.Reset(), h.Free(), FreeAgain()),
)
STEPPER = h.History(
    7,
    2,
    (*ADDS, Step(), h.Fork(), Begin(), h.Reset(), End(), Abort(), h.Fail(), Transfer()),
    preemption="swap",
)


class Merging(ReferencePool):
    """Declares that it merges, so that its tables are read."""

    capabilities = Capabilities(forks=True, resets=True, remaps_duplicates=True)


class MergingStepper(ReferenceStepper):
    """Likewise."""

    capabilities = replace(ReferenceStepper.capabilities, remaps_duplicates=True)


def garbled(engine: type[Any], method: str, answer: object, *, on_call: int = 0) -> type[Any]:
    """An engine of which one method answers something else, at one call and after it."""

    class Garbled(engine):  # type: ignore[misc]
        calls = 0

    def answers(self: Any, *arguments: Any) -> Any:
        self.calls += 1
        return answer if self.calls > on_call else getattr(engine, method)(self, *arguments)

    setattr(Garbled, method, answers)
    return Garbled


def told(surface: Surface, engine: type[Any], method: str, answer: object, **options: int) -> str:
    """The words of the harness fault."""
    history = POOL if surface == Surface.POOL else STEPPER
    wrong = garbled(engine, method, answer, **options)
    with pytest.raises(HarnessFault) as fault:
        play(wrong, engine.capabilities, surface, history, Tally())
    return str(fault.value)


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("admit", [0, 4, (0, 1)], "admit() answers list [0, 4, (0, 1)], not Admission"),
        ("admit", Admission("0", 4, (0, 1)), "admit().hit is str '0', not a whole number"),  # type: ignore[arg-type]
        ("admit", Admission(0, 4, None), "admit().table is None, not a sequence"),  # type: ignore[arg-type]
        ("admit", Admission(0, 4, ("a", "b")), "admit().table is str 'a', not a whole number"),  # type: ignore[arg-type]
        ("admit", Admission(0, 4, {0: 1}), "admit().table is dict {0: 1}, not a sequence"),  # type: ignore[arg-type]
        ("extend", (0, 1), "extend() answers tuple (0, 1), not Extension"),
        ("extend", Extension((0, 1, 2), ((0, 1),)), "extend().copies is tuple (0, 1), not BlockCopy"),  # type: ignore[arg-type]
        ("fork", 3, "fork() answers int 3, not a sequence"),
        ("lookup", 2, "lookup() answers int 2, not Hit"),
        ("lookup", Hit(2, "0"), "lookup().blocks is str '0', not a sequence"),  # type: ignore[arg-type]
        ("reset", None, "reset() answers None, not True or False"),
        ("reset", "no", "reset() answers str 'no', not True or False"),
        ("tables", [("A", (0, 1))], "tables() answers list [('A', (0, 1))], not a mapping"),
        ("tables", {1: (0, 1)}, "tables() answers int 1, not str"),
        ("free_blocks", None, "free_blocks() answers None, not a whole number"),
        ("free_set", 3, "free_set() answers int 3, not a sequence"),
        ("ref_counts", {0: None}, "ref_counts() answers None, not a whole number"),
        ("keyed_blocks", {"a"}, "keyed_blocks() answers str 'a', not a whole number"),
        ("counters", 3, "counters() answers int 3, not a sequence"),
        ("counters", (1, 2, 3), "counters() answers 3 things, not 2"),
    ],
)
def test_a_pool_that_answers_something_else(method: str, answer: object, words: str) -> None:
    assert words in told(Surface.POOL, Merging, method, answer)


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("plan", [Scheduled("A", 0, 1, (0,))], "plan() answers list"),  # type: ignore[arg-type]
        ("plan", StepPlan(None), "plan().actions is None, not a sequence"),  # type: ignore[arg-type]
        ("plan", StepPlan(("A",)), "plan().actions has a str, none of Scheduled, "),  # type: ignore[arg-type]
        ("plan", StepPlan((Scheduled("A", 0, 1.5, (0,)),)), "plan() -> Scheduled().count is float 1.5"),  # type: ignore[arg-type]
        ("plan", StepPlan((Scheduled("A", 0, 1, (0,), ((0,),)),)), "plan() -> Scheduled().slots has the slot (0,)"),  # type: ignore[arg-type]
        ("plan", StepPlan((Scheduled(0, 0, 1, (0,)),)), "plan() -> Scheduled().request is int 0, not str"),  # type: ignore[arg-type]
        ("plan", StepPlan((SwappedIn("A", (0,), "t"),)), "plan() -> SwappedIn().transfer is str 't'"),  # type: ignore[arg-type]
        ("complete", 3, "complete() answers int 3, not a sequence"),
        ("complete", "A", "complete() answers str 'A', not a sequence"),
        ("complete", [0], "complete() answers int 0, not str"),
        ("complete", ["?"], "the adapter names request '?', which was never added"),
        ("fork", (0, 1), "fork() answers tuple (0, 1), not True or False"),
        ("reset", None, "reset() answers None, not True or False"),
        ("tables", None, "tables() answers None, not a mapping"),
        ("queues", ("A",), "queues() answers 1 things, not 2"),
        ("queues", (("A",), 3), "queues() answers int 3, not a sequence"),
        ("queues", ("A", ()), "queues() answers str 'A', not a sequence"),
        ("queues", ((0,), ()), "queues() answers int 0, not str"),
        ("take_events", 3, "take_events() answers int 3, not a sequence"),
        ("take_events", [BlockStored(("a",), None, 3, 2)], "take_events() -> BlockStored().tokens is int 3, not"),  # type: ignore[arg-type]
        ("take_events", [BlockStored(([],), None, (3,), 2)], "take_events() -> BlockStored().keys is no key: "),  # type: ignore[arg-type]
        ("take_events", ["stored"], "take_events() has a str, none of BlockStored, "),
    ],
)  # fmt: skip
def test_a_stepper_that_answers_something_else(method: str, answer: object, words: str) -> None:
    assert words in told(Surface.STEPPER, MergingStepper, method, answer)


class Echo:
    """A Generator that answers with what it is told to."""

    capabilities = Capabilities()
    answer: object = [(0,)]
    alone: object = (0,)

    def __init__(self, world: World) -> None:
        self.world = world

    def generate(self, prompts: Any, max_new_tokens: int) -> Any:
        return self.answer

    def expected(self, prompt: Any, max_new_tokens: int) -> Any:
        return self.alone


@pytest.mark.parametrize(
    ("answer", "alone", "words"),
    [
        (None, (0,), "generate() answers None, not a sequence"),
        ([], (0,), "generate() answers 0 outputs for 1 prompts"),
        ([3], (0,), "generate() answers int 3, not a sequence"),
        (["0"], (0,), "generate() answers str '0', not a sequence"),
        ([(0.5,)], (0,), "generate() answers float 0.5, not a whole number"),
        ([(0,)], None, "expected() answers None, not a sequence"),
    ],
)
def test_a_generator_that_answers_something_else(answer: object, alone: object, words: str) -> None:
    wrong = type("Wrong", (Echo,), {"answer": answer, "alone": alone})
    history = h.History(6, 2, (Generate(((0, 1),), 1),))
    with pytest.raises(HarnessFault) as fault:
        play(wrong, Echo.capabilities, Surface.GENERATOR, history, Tally())
    assert words in str(fault.value)
    assert play(Echo, Echo.capabilities, Surface.GENERATOR, history, Tally()).violation is None


SMALL = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.floats(), st.text(max_size=2), st.sampled_from(["A", "B", "?"])
)
THINGS = st.recursive(
    SMALL,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(SMALL, inner, max_size=2),
        st.builds(deque, st.lists(inner, max_size=2)),
    ),
    max_leaves=6,
)
RECORDS = st.one_of(
    THINGS,
    st.builds(Admission, THINGS, THINGS, THINGS),
    st.builds(Extension, THINGS, st.lists(st.builds(BlockCopy, THINGS, THINGS, THINGS, THINGS), max_size=2)),
    st.builds(Hit, THINGS, THINGS),
    st.lists(
        st.one_of(
            st.builds(Scheduled, THINGS, THINGS, THINGS, THINGS, THINGS, THINGS),
            st.builds(Admitted, THINGS, THINGS, THINGS),
            st.builds(SwappedOut, THINGS, THINGS),
            st.builds(SwappedIn, THINGS, THINGS, THINGS),
            st.builds(BlockCopy, THINGS, THINGS, THINGS),
        ),
        max_size=2,
    ).map(lambda actions: StepPlan(tuple(actions))),
    st.lists(st.builds(BlockStored, THINGS, THINGS, THINGS, THINGS), max_size=2),
)
OBSERVED = ("tables", "free_blocks", "free_set", "ref_counts", "keyed_blocks", "counters", "take_events", "reset")
METHODS = {
    Surface.POOL: (Merging, POOL, ("admit", "extend", "fork", "lookup", *OBSERVED)),
    Surface.STEPPER: (MergingStepper, STEPPER, ("plan", "complete", "fork", "queues", *OBSERVED)),
}


@pytest.mark.parametrize("surface", METHODS)
@settings(max_examples=400, deadline=None, derandomize=True)
@given(data=st.data())
def test_whatever_is_answered_no_error_of_ours_comes_out(surface: Surface, data: st.DataObject) -> None:
    """An adapter may be wrong in every way: a verdict or a harness fault, nothing else."""
    engine, history, methods = METHODS[surface]
    method, on_call = data.draw(st.sampled_from(methods)), data.draw(st.integers(0, 3))
    wrong = garbled(engine, method, data.draw(RECORDS), on_call=on_call)
    try:
        play(wrong, engine.capabilities, surface, history, Tally())
    except (HarnessFault, Waived):
        return


def test_truth_takes_what_is_true_or_false_whatever_its_type() -> None:
    numpy = pytest.importorskip("numpy")
    assert [truth(one, "m") for one in (True, False, 1, 0, numpy.bool_(True))] == [True, False, True, False, True]
    for wrong in (None, "", "no", (), [1], 2, numpy.zeros(2)):
        with pytest.raises(HarnessFault):
            truth(wrong, "m")


def test_an_honest_pool_is_left_alone() -> None:
    """Tables as lists and numbers of other libraries are as good as ours."""
    numpy = pytest.importorskip("numpy")

    class Foreign(ReferencePool):
        """Answers with NumPy's numbers."""

        def admit(self, request: Request, chunk: int) -> Admission | None:
            admission = super().admit(request, chunk)
            if admission is None:
                return None
            return Admission(numpy.int64(admission.hit), admission.count, list(map(numpy.int32, admission.table)))  # type: ignore[arg-type]

        def free_blocks(self) -> int:
            return numpy.int64(super().free_blocks())  # type: ignore[no-any-return]

    class Keyed(ReferenceStepper):
        """Answers with dictionaries where any collection will do."""

        def complete(self, plan: StepPlan, sampled: Any) -> Any:
            return dict.fromkeys(super().complete(plan, sampled))

        def queues(self) -> Any:
            return [dict.fromkeys(queue) for queue in super().queues()]

    assert play(Foreign, Foreign.capabilities, Surface.POOL, POOL, Tally()).violation is None
    assert play(Keyed, Keyed.capabilities, Surface.STEPPER, STEPPER, Tally()).violation is None


def test_what_can_be_read_once_is_written_down_and_the_engine_has_it_back() -> None:
    completed = []

    class Lazy(ReferenceStepper):
        """Plans with generators, for the places written too."""

        def plan(self) -> StepPlan:
            return StepPlan(self.told(action) for action in super().plan().actions)  # type: ignore[arg-type]

        def told(self, action: Any) -> Any:
            if not isinstance(action, Scheduled):
                return action
            size, table = self.world.block_size, action.table
            places = range(action.start, action.start + action.count)
            return replace(action, slots=((table[p // size], p % size) for p in places), table=iter(table))  # type: ignore[arg-type]

        def complete(self, plan: StepPlan, sampled: Any) -> Any:
            completed.extend(list(action.slots or ()) for action in plan.scheduled)
            return super().complete(plan, sampled)

    class Copying(ReferencePool):
        """Tells its copies by a generator."""

        def extend(self, id: Any, count: int) -> Extension | None:
            extension = super().extend(id, count)
            return extension and replace(extension, copies=iter(extension.copies))  # type: ignore[arg-type]

    recompute = h.History(7, 2, STEPPER.operations)
    assert play(Lazy, Lazy.capabilities, Surface.STEPPER, recompute, Tally()).violation is None
    assert completed and all(completed)
    forked = h.History(6, 2, (h.Add((0, 1, 0), 3), h.Commit(), h.Fork(), h.Grow(0), h.Grow(1)))
    tally = Tally()
    assert play(Copying, Copying.capabilities, Surface.POOL, forked, tally).violation is None
    assert tally.exercised[rules.SHARED_BYTES_NEVER_CHANGE]


def test_a_record_that_can_be_read_again_is_the_same_record() -> None:
    plan = StepPlan((Scheduled("A", 0, 1, (0,), ((0, 0),), (1,)),))  # type: ignore[arg-type]
    assert records.record(plan, StepPlan, "plan") is plan


def test_a_slip_in_what_can_be_read_once_is_named_as_any_other() -> None:
    slip = StepPlan(iter([Scheduled("A", 0, 1, iter(("a",)))]))  # type: ignore[arg-type]
    assert "plan() -> Scheduled().table is str 'a', not a whole number" in told(
        Surface.STEPPER, MergingStepper, "plan", slip
    )
