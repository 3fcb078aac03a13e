"""Refinement by a set of compatible states: complete (the truth is among them) and sound (they allow nothing else)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kvrefine.refinement as module
from kvrefine.footprint import footprint
from kvrefine.refinement import (
    Compatible,
    ComputeSomewhere,
    Evictions,
    Observed,
    OneOf,
    Refuted,
    StartSomewhere,
    Undecided,
    compatible,
    follow,
    refine,
)
from kvspec import Capabilities, Request, State, Tally, World, advance, initial, rules
from kvspec import events as ev
from kvspec.violation import HarnessFault
from tests.spec.test_any_events import anything

WORLD = World(num_blocks=4, block_size=2, token_budget=4, max_running=2)
PLAIN = Capabilities()
TAIL_FIRST = Capabilities(profiles=frozenset({"tail-first"}))


def add(id: str, *prompt: int, new: int = 2) -> ev.Add:
    return ev.Add(Request(id, prompt, new))  # type: ignore[arg-type]


def after(*events: Observed, world: World = WORLD, capabilities: Capabilities = PLAIN, most: int = 100) -> Compatible:
    states = compatible(world, capabilities, most)
    for event in events:
        states = refine(states, event)
    return states


def refutes(rule: rules.Rule, *events: Observed, **settings: object) -> Refuted:
    states = after(*events[:-1], **settings)  # type: ignore[arg-type]
    with pytest.raises(Refuted) as caught:
        refine(states, events[-1])
    assert caught.value.rule is rule, str(caught.value)
    assert caught.value.candidates == len(states.states)
    return caught.value


RUN_A = (add("A", 0, 1, 0), ev.Start("A"))  # type: ignore[arg-type]
CACHED = (*RUN_A, ev.Compute("A", 0, 3, (0, 1)), ev.EndStep(), ev.Abort("A"))  # type: ignore[arg-type]
"""Block 0 stays cached with A's tokens 0 1."""
COMPUTES = ev.Compute("A", 0, 3, (0, 1))  # type: ignore[arg-type]
SOMEWHERE = ComputeSomewhere("A", 0, 3)  # type: ignore[arg-type]


def test_without_hidden_choices_there_is_one_state_changed_in_place() -> None:
    states = compatible(WORLD, PLAIN)
    (state,) = states.states
    for event in CACHED:
        states = follow(states, event, Tally())
        assert states.states == (state,)


def test_refining_leaves_the_states_that_it_is_given_alone() -> None:
    states = after(*RUN_A)
    told = repr(states)
    refine(states, SOMEWHERE)
    assert repr(states) == told


def test_a_wrong_event_names_its_rule_and_its_state() -> None:
    refuted = refutes(rules.STEP_BUDGET, *RUN_A, ev.Compute("A", 0, 0, ()))  # type: ignore[arg-type]
    assert "A" in refuted.state.requests


def test_a_table_that_is_not_told_may_be_any_until_it_is() -> None:
    states = after(*RUN_A, SOMEWHERE)
    assert {tuple(state.requests["A"].table) for state in states.states} == {  # type: ignore[index]
        (a, b) for a in range(4) for b in range(4) if a != b
    }
    seen = refine(states, ev.Observe(tables={"A": (3, 1)}))  # type: ignore[dict-item]
    assert [state.requests["A"].table for state in seen.states] == [[3, 1]]  # type: ignore[index]
    refuted = refutes(rules.NO_DANGLING_REFERENCE, *RUN_A, SOMEWHERE, ev.Observe(tables={"A": (2, 2)}))  # type: ignore[dict-item]
    assert refuted.candidates == 12


def test_a_table_that_is_not_told_still_needs_its_blocks() -> None:
    small = replace(WORLD, num_blocks=2)
    refutes(
        rules.COVERAGE_AND_LIMIT, *CACHED[:-1], add("B", 1), ev.Start("B"), ComputeSomewhere("B", 0, 1), world=small
    )  # type: ignore[arg-type]


def test_a_table_that_is_not_told_may_hold_the_lookahead_that_is_declared() -> None:
    states = after(*RUN_A, SOMEWHERE, capabilities=replace(PLAIN, lookahead_blocks=1))
    assert {len(state.requests["A"].table) for state in states.states} == {2, 3}  # type: ignore[index]


def test_one_of_several_courses_is_told_by_what_follows() -> None:
    either = OneOf(((ev.Preempt("A"),), (ev.Abort("A"),), ()))  # type: ignore[arg-type]
    run = (*RUN_A, COMPUTES, ev.EndStep())
    assert len(after(*run, either).states) == 3
    assert len(after(*run, either, ev.Observe(free=4)).states) == 2
    assert len(after(*run, either, ev.Observe(free=4), ev.EndStep(), ev.Start("A", 2, (0,))).states) == 1  # type: ignore[arg-type]
    refutes(rules.ONE_QUEUE, *run, either, ev.Observe(free=4), ev.Sample("A", 0))  # type: ignore[arg-type]


def test_courses_that_are_all_wrong_are_told_by_the_one_that_got_furthest() -> None:
    nowhere = OneOf(((ev.Sample("A", 0),), (COMPUTES, ev.EndStep(), ev.Sample("A", 0), ev.Finish("A"))))  # type: ignore[arg-type]
    refuted = refutes(rules.CHUNK_INDEPENDENCE, *RUN_A, nowhere)
    assert refuted.state.step == 1


@pytest.mark.parametrize("courses", [(), ((ev.Observe(free=1),),)])
def test_a_hidden_choice_is_between_events_and_not_observations(courses: tuple[tuple[ev.Event, ...], ...]) -> None:
    with pytest.raises(ValueError, match="hidden choice"):
        OneOf(courses)


def test_an_eviction_that_nobody_saw_allows_a_hit_and_a_miss() -> None:
    b = (add("B", 0, 1, 1), ev.Start("B", 2, (0,)))  # type: ignore[arg-type]
    after(*CACHED, Evictions(1), *b)
    after(*CACHED, Evictions(1), ev.Observe(keyed=frozenset()), *b)
    refutes(rules.CONTENT_MATCHES_KEY, *CACHED, Evictions(1), *b[:1], ev.Start("B", 2, (1,)))  # type: ignore[arg-type]


LONG = Capabilities(profiles=frozenset({"tail-first"}), hides_lost_takes=True)
SIX = World(num_blocks=6, block_size=2, token_budget=6, max_running=2)
CHAIN = (add("A", *(0,) * 6), ev.Start("A"), ev.Compute("A", 0, 6, (0, 1, 2)), ev.EndStep(), ev.Abort("A"))  # type: ignore[arg-type]
VICTIM = (add("B", 1), ev.Start("B"), ev.Compute("B", 0, 1, (3,)), ev.EndStep(), ev.Sample("B", 1), ev.EndStep())  # type: ignore[arg-type]
LOSES = (*VICTIM[:-1], ev.Preempt("B"))  # type: ignore[arg-type]


def taking(*blocks: int) -> tuple[ev.Event, ...]:
    tokens = (1,) * (2 * len(blocks))
    return add("C", *tokens), ev.Start("C"), ev.Compute("C", 0, len(tokens), blocks)  # type: ignore[arg-type]


def test_a_victim_may_have_taken_a_tail_unseen_but_no_more_than_its_step_needs() -> None:
    """B has a slot for its second token: unseen it can have taken one block at most, for a third."""
    grown = (*VICTIM[:-1], ev.EndStep(), ev.Compute("B", 1, 1, (3,)), ev.EndStep(), ev.Sample("B", 1), ev.Preempt("B"))  # type: ignore[arg-type]
    idle = replace(LONG, idle_steps=1)
    refutes(
        rules.CONTIGUOUS_CHAIN,
        *CHAIN,
        *grown,
        *taking(1),
        world=SIX,
        capabilities=replace(idle, hides_lost_takes=False),
    )
    after(*CHAIN, *grown, *taking(1), world=SIX, capabilities=idle)
    refutes(rules.CONTIGUOUS_CHAIN, *CHAIN, *grown, *taking(0), ev.EndStep(), world=SIX, capabilities=idle)
    after(*CHAIN, *LOSES, *taking(2), world=SIX, capabilities=LONG)


def test_what_a_victim_may_have_taken_is_told_by_the_index() -> None:
    grown = (*VICTIM[:-1], ev.EndStep(), ev.Compute("B", 1, 1, (3,)), ev.EndStep(), ev.Sample("B", 1), ev.Preempt("B"))  # type: ignore[arg-type]
    settings = {"world": SIX, "capabilities": replace(LONG, idle_steps=1)}
    whole = ev.Observe(keyed=frozenset({0, 1, 2, 3}))  # type: ignore[arg-type]
    assert len(after(*CHAIN, *grown, **settings).states) == 4  # type: ignore[arg-type]
    assert len(after(*CHAIN, *grown, whole, **settings).states) == 1  # type: ignore[arg-type]
    refutes(rules.CONTIGUOUS_CHAIN, *CHAIN, *grown, whole, *taking(1), **settings)


def test_too_many_states_are_not_decided() -> None:
    assert len(after(*RUN_A, SOMEWHERE, most=12).states) == 12
    with pytest.raises(Undecided, match="more than 11 states are compatible with what was shown"):
        after(*RUN_A, SOMEWHERE, most=11)


LARGE = World(num_blocks=200, block_size=2, token_budget=64)
LONG_A = (add("A", *(0, 1) * 10), ev.Start("A"))  # type: ignore[arg-type]


def test_courses_that_are_all_ruled_out_are_not_tried_for_ever() -> None:
    """The gap before position 3 is wrong in whichever of 200 blocks the rest is computed."""
    states = after(*LONG_A, world=LARGE)
    with pytest.raises(Undecided, match="more than 216 courses"):
        refine(states, ComputeSomewhere("A", 3, 10))  # type: ignore[arg-type]


def test_a_table_for_more_than_there_are_blocks_is_refuted_at_once() -> None:
    refutes(rules.STEP_BUDGET, *LONG_A, ComputeSomewhere("A", 0, 2**53 - 1), world=LARGE)  # type: ignore[arg-type]


def test_blocks_without_names_of_one_kind_are_taken_once() -> None:
    """160 tokens in 10 of 200 empty blocks: one choice, not one of C(200, 10)."""
    states = compatible(World(num_blocks=200, block_size=16, token_budget=200), PLAIN, nameless=True)
    for event in (add("A", *(1,) * 160), StartSomewhere("A"), ComputeSomewhere("A", 0, 160)):  # type: ignore[arg-type]
        states = refine(states, event)
    assert len(states.states) == 1


def test_of_blocks_without_names_every_number_of_each_kind_is_taken() -> None:
    """One block is cached, one half full, two are empty: B takes two, and A's cached one is gone or stays."""
    states = compatible(WORLD, PLAIN, nameless=True)
    b = (add("B", 1, 1, 1), StartSomewhere("B"), ComputeSomewhere("B", 0, 3))  # type: ignore[arg-type]
    for event in (*RUN_A, SOMEWHERE, ev.EndStep(), ev.Abort("A"), *b):  # type: ignore[arg-type]
        states = refine(states, event)
    cached = [sum(block.key is not None for block in state.blocks) for state in states.states]
    assert sorted(cached) == [1, 1, 2, 2]


def test_evictions_of_blocks_without_names_count_each_kind_once() -> None:
    states = compatible(replace(WORLD, token_budget=8), PLAIN, nameless=True)
    run = (add("A", 1), StartSomewhere("A"), ComputeSomewhere("A", 0, 1), ev.EndStep(), ev.Abort("A"))  # type: ignore[arg-type]
    for event in (*run, Evictions(2**53 - 1)):
        states = refine(states, event)
    assert len(states.states) == 2


def test_a_hit_beyond_the_tokens_of_a_request_is_refuted_at_once() -> None:
    refutes(rules.ONE_TOKEN_LEFT, add("A", 0, 1, 0), StartSomewhere("A", 2**53 - 1))  # type: ignore[arg-type]


def test_a_rule_is_counted_once_however_many_states_there_are() -> None:
    one, many = Tally(), Tally()
    follow(after(*RUN_A), COMPUTES, one)
    states = follow(after(*RUN_A), SOMEWHERE, many)
    assert many.exercised == one.exercised
    follow(states, ev.Observe(free=2), many)
    assert many.exercised[rules.CONSERVATION] == one.exercised[rules.CONSERVATION] + 1


def test_states_that_differ_only_in_what_words_a_violation_are_one() -> None:
    """Which of two idle blocks without content was released first is nobody's question."""
    b = (add("B", 1), ev.Start("B"), ev.Compute("B", 0, 1, (2,)), ev.EndStep())  # type: ignore[arg-type]
    orders = OneOf(((ev.Abort("A"), ev.Abort("B")), (ev.Abort("B"), ev.Abort("A"))))  # type: ignore[arg-type]
    run = (*RUN_A, ev.Compute("A", 0, 3, (0, 1)), *b)  # type: ignore[arg-type]
    assert len(after(*run, orders).states) == 1
    assert len(after(*run, orders, capabilities=replace(PLAIN, profiles=frozenset({"lru"}))).states) == 2


def recorded(seed: int) -> tuple[World, Capabilities, list[ev.Event]]:
    """What the reference engine did in one busy world."""
    from kvconformance.adapters import load
    from kvconformance.traces.recording import record
    from kvspec.vocabulary import Surface

    recording = record(load("reference"), Surface.STEPPER, seed, steps=40)
    world, capabilities = recording.header.built()
    return world, replace(capabilities, profiles=frozenset()), list(recording.events)  # type: ignore[arg-type]


def hide(events: Iterable[ev.Event], seed: int) -> Iterable[tuple[ev.Event, Observed]]:
    """Each event beside what is shown of it."""
    dice = random.Random(seed)
    for event in events:
        shown: Observed = event
        if isinstance(event, ev.Compute) and event.count <= 2 and dice.random() < 0.5:
            shown = ComputeSomewhere(event.request, event.start, event.count)
        elif isinstance(event, ev.Sample | ev.EndStep) and dice.random() < 0.2:
            shown = OneOf(((), (event,), (ev.Abort("A"), event)))  # type: ignore[arg-type]
        yield event, shown


@pytest.mark.parametrize("seed", range(6))
def test_the_truth_is_always_among_the_compatible_states(seed: int) -> None:
    world, capabilities, events = recorded(seed)
    truth: State = initial(world, capabilities)
    states = compatible(world, capabilities)
    states.states[0].contexts = truth.contexts
    for event, shown in hide(events, seed):
        advance(truth, event, Tally())
        states = follow(states, shown, Tally())
        assert footprint(truth) in {footprint(state) for state in states.states}


# Logs that name no block.


@cache
def log(seed: int) -> tuple[World, Capabilities, list[tuple[ev.Event, Observed]]]:
    """What the reference did with requests, beside what a log without any block id shows of it."""
    from kvconformance.search.trial import play
    from kvconformance.traces.traffic import traffic
    from kvreference.scheduler import ReferenceStepper
    from kvspec.vocabulary import Surface

    whole = ReferenceStepper.capabilities
    able = replace(whole, forks=False, preemptions=("recompute",), resets=False, fails=False, policies=("fcfs",))
    history = traffic(Surface.STEPPER, able, seed, 60)
    trial = play(ReferenceStepper, whole, Surface.STEPPER, history, Tally())
    assert trial.violation is None
    events = [event for event in trial.checker.events if type(event).__module__ == ev.__name__]
    return history.world(), whole, [(event, shown(event)) for event in events]  # type: ignore[arg-type, misc]


def shown(event: object) -> Observed:
    """The event without the names of blocks."""
    if isinstance(event, ev.Start):
        return StartSomewhere(event.request, event.hit)
    if isinstance(event, ev.Compute):
        return ComputeSomewhere(event.request, event.start, event.count)
    if isinstance(event, ev.Observe):
        return ev.Observe(free=event.free, counters=event.counters)
    return event  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("profile", ["lru", "no"])
def test_a_log_that_names_no_block_is_followed(seed: int, profile: str) -> None:
    """The truth stays among the compatible states, up to the names of blocks. Without an order there are soon many."""
    world, whole, events = log(seed)
    capabilities = whole if profile == "lru" else replace(whole, profiles=frozenset())
    truth = initial(world, capabilities)
    states = compatible(world, capabilities, nameless=True)
    states.states[0].contexts = truth.contexts
    for event, told in events if profile == "lru" else events[:75]:
        advance(truth, event, Tally())
        states = follow(states, told, Tally())
        assert footprint(truth, nameless=True) in {footprint(state, nameless=True) for state in states.states}


def test_a_log_that_names_no_block_is_still_held_to_the_rules() -> None:
    def nameless(*events: Observed) -> Compatible:
        states = compatible(WORLD, PLAIN, nameless=True)
        for event in events:
            states = refine(states, event)
        return states

    cached = (*RUN_A, SOMEWHERE, ev.EndStep(), ev.Abort("A"), add("B", 0, 1, 1, 1, 0))  # type: ignore[arg-type]
    assert len(nameless(*cached).states) == 1
    nameless(*cached, StartSomewhere("B", 2))  # type: ignore[arg-type]
    wrong = (
        (rules.COUNT_EQUALS_HOLDERS, (*cached[:3], ev.Observe(free=3))),
        (rules.CONTIGUOUS_CHAIN, (*cached, StartSomewhere("B", 4))),  # type: ignore[arg-type]
        (rules.STEP_BUDGET, (*cached, StartSomewhere("B"), ComputeSomewhere("B", 0, 5))),  # type: ignore[arg-type]
    )
    for rule, events in wrong:
        with pytest.raises(Refuted) as caught:
            nameless(*events)
        assert caught.value.rule is rule


def renamed(state: State, names: list[int]) -> State:
    """The same state with other names of blocks."""
    from kvspec.vocabulary import BlockId

    other = state.copy()
    for old, new in enumerate(names):
        other.blocks[new] = state.blocks[old].copy()
    other.free = {BlockId(names[id]): None for id in state.free}
    other.in_flight = {step: frozenset(BlockId(names[id]) for id in ids) for step, ids in state.in_flight.items()}
    other.transfers = {one: frozenset(BlockId(names[id]) for id in ids) for one, ids in state.transfers.items()}
    for live in other.requests.values():
        live.tables = [[BlockId(names[id]) for id in live.table]]
    return other


@settings(max_examples=30)
@given(st.integers(0, 2), st.integers(0, 150), st.randoms(use_true_random=False))
def test_states_that_differ_in_names_have_one_nameless_footprint(seed: int, steps: int, dice: random.Random) -> None:
    world, capabilities, events = log(seed)
    state = initial(world, capabilities)
    for event, _ in events[:steps]:
        advance(state, event, Tally())
    free = [id for id in range(world.num_blocks) if id not in capabilities.reserved_blocks]
    mixed = dict(zip(free, dice.sample(free, len(free)), strict=True))
    other = renamed(state, [mixed.get(id, id) for id in range(world.num_blocks)])
    assert footprint(state, nameless=True) == footprint(other, nameless=True)


hidden = st.one_of(
    anything,
    anything,
    st.builds(Evictions, st.integers(0, 2)),
    st.builds(StartSomewhere, st.sampled_from("ABC"), st.integers(0, 4)),
    st.builds(ComputeSomewhere, st.sampled_from("ABC"), st.integers(0, 4), st.integers(1, 4)),
)


@settings(max_examples=100)
@given(st.lists(hidden, min_size=1, max_size=6), st.booleans())
def test_merging_never_changes_the_answer(events: list[Observed], tail_first: bool) -> None:
    chosen = replace(TAIL_FIRST if tail_first else PLAIN, lookahead_blocks=1, remaps_duplicates=True)
    start = (*CACHED, add("B", 0, 1, 1), ev.Start("B"), ComputeSomewhere("B", 0, 3), Evictions(1))  # type: ignore[arg-type]
    merged = apart = after(*start, capabilities=chosen, most=5_000)
    for event in events:
        merged_next, answer = answered(merged, event)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "footprint", lambda state, nameless: id(state))
            apart_next, expected = answered(apart, event)
        assert answer == expected
        if merged_next is None or apart_next is None:
            return
        merged, apart = merged_next, apart_next
        assert {footprint(s) for s in merged.states} == {footprint(s) for s in apart.states}
        if len(apart.states) > 300:
            return


def answered(states: Compatible, event: Observed) -> tuple[Compatible | None, str]:
    try:
        return refine(states, event), "allowed"
    except Refuted:
        return None, "refuted"
    except HarnessFault:
        return None, "nonsense"
