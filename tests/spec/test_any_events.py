"""Whatever events come, sensible or not, the transition answers: it allows them, or names a rule, or blames the teller.

A trace file is written by strangers, so no event may end in another error, and none may leave a state that is broken.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvspec import Capabilities, KeyParts, Request, State, Tally, World, advance, initial, rules
from kvspec import events as ev
from kvspec.invariants import broken_invariants
from kvspec.violation import Broken, HarnessFault
from kvspec.vocabulary import StepId

WORLD = World(num_blocks=4, block_size=2, token_budget=4, max_running=2)
SWAPS = ("recompute", "swap")
ABLE = Capabilities(
    salts=True, adapters=True, remaps_duplicates=True, lookahead_blocks=1, max_in_flight=2, preemptions=SWAPS
)

numbers = st.integers(-2, 5)
names = st.sampled_from("ABC")
blocks = st.lists(numbers, max_size=3).map(tuple)
slots = st.none() | st.lists(st.tuples(numbers, numbers), max_size=3).map(tuple)
prompts = st.lists(st.integers(0, 1), min_size=1, max_size=5).map(tuple)
requests = st.builds(
    Request,
    names,
    prompts,
    st.integers(1, 3),
    st.just(0),
    st.builds(KeyParts, st.sampled_from([None, "x"])),
    st.frozensets(st.integers(0, 1), max_size=1),
)

observations = st.builds(
    ev.Observe,
    free=st.none() | numbers,
    refs=st.none() | st.dictionaries(numbers, numbers, max_size=2),
    tables=st.none() | st.dictionaries(names, blocks, max_size=2),
    free_set=st.none() | blocks,
    keyed=st.none() | st.frozensets(numbers, max_size=2),
    waiting=st.none() | st.lists(names, max_size=2).map(tuple),
    running=st.none() | st.lists(names, max_size=2).map(tuple),
    counters=st.none() | st.tuples(numbers, numbers),
    published=st.none() | st.just(()),
)
anything = st.one_of(
    st.builds(ev.Add, requests),
    st.builds(ev.Reject, names),
    st.builds(ev.Refuse, names, numbers, blocks),
    st.builds(ev.Decline, names),
    st.builds(ev.Lookup, names, numbers, blocks),
    st.builds(ev.Start, names, numbers, blocks),
    st.builds(ev.Reserve, names, numbers, blocks),
    st.builds(ev.Compute, names, numbers, numbers, blocks, slots, st.none() | blocks),
    st.builds(ev.Waste, names, numbers, blocks),
    st.builds(ev.Copy, names, numbers, numbers, numbers, st.none() | numbers),
    st.builds(ev.Remap, names, numbers, numbers),
    st.builds(ev.Fork, names, requests, blocks),
    st.builds(ev.Sample, names, numbers),
    st.builds(ev.Preempt, names, st.booleans()),
    st.builds(ev.SwapOut, names, numbers),
    st.builds(ev.SwapIn, names, blocks, numbers),
    st.builds(ev.TransferDone, numbers),
    st.builds(ev.Finish, names, st.booleans()),
    st.builds(ev.Abort, names, st.booleans()),
    st.builds(ev.Release, names),
    st.builds(ev.ReleaseAgain, names),
    st.builds(ev.Reset, st.booleans()),
    st.builds(ev.FailStep, numbers),
    st.just(ev.EndStep()),
    st.builds(ev.Dispatch, numbers),
    st.builds(ev.Complete, numbers),
    observations,
)

RUNS = (
    ev.Add(Request("A", (0, 1, 0), 2)),  # type: ignore[arg-type]
    ev.Start("A"),  # type: ignore[arg-type]
    ev.Compute("A", 0, 3, (0, 1)),  # type: ignore[arg-type]
    ev.EndStep(),
    ev.Add(Request("B", (0, 1, 1), 2)),  # type: ignore[arg-type]
)


def running(capabilities: Capabilities = ABLE) -> State:
    """A has run for a step, B waits."""
    state = initial(WORLD, capabilities)
    for event in RUNS:
        advance(state, event, Tally())
    return state


@settings(max_examples=1_500)
@given(st.lists(anything, min_size=1, max_size=8))
def test_every_event_is_allowed_or_refused_by_name(events: list[ev.Event]) -> None:
    state = running()
    for event in events:
        try:
            advance(state, event, Tally())
        except (Broken, HarnessFault):
            return
        assert list(broken_invariants(state)) == [], event


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        (ev.Start("B", 0, (3,)), rules.CONTIGUOUS_CHAIN),  # type: ignore[arg-type]
        (ev.Remap("A", 7, 0), rules.NO_DANGLING_REFERENCE),  # type: ignore[arg-type]
        (ev.Copy("A", -1, 1, 3), rules.NO_DANGLING_REFERENCE),  # type: ignore[arg-type]
        (ev.Observe(keyed=frozenset({9})), rules.NO_DANGLING_REFERENCE),  # type: ignore[arg-type]
        (ev.Observe(refs={0: 1, 1: 1, -1: 1}), rules.NO_DANGLING_REFERENCE),  # type: ignore[dict-item]
        (ev.Observe(free_set=(2, 3, 4)), rules.NO_DANGLING_REFERENCE),  # type: ignore[arg-type]
    ],
    ids=lambda value: getattr(value, "id", None) or type(value).__name__,
)
def test_a_block_or_an_entry_that_does_not_exist_breaks_a_rule(event: ev.Event, rule: rules.Rule) -> None:
    with pytest.raises(Broken) as caught:
        advance(running(), event, Tally())
    assert caught.value.rule is rule


@pytest.mark.parametrize(
    "event", [ev.Refuse("Z", 9), ev.Decline("Z"), ev.ReleaseAgain("Z")], ids=["refused", "declined", "released"]
)  # type: ignore[arg-type]
def test_a_stranger_is_told_by_name(event: ev.Event) -> None:
    with pytest.raises(HarnessFault, match="never added"):
        advance(running(), event, Tally())


def test_a_step_is_dispatched_once() -> None:
    state = running()
    advance(state, ev.Dispatch(StepId(state.step)), Tally())
    with pytest.raises(HarnessFault, match="dispatched twice"):
        advance(state, ev.Dispatch(StepId(state.step)), Tally())
