"""The explorer: keys lose nothing, looking up is the same as playing, every fault is noticed, and runs end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from kvexamine.explorer.campaign import read, scope_line
from kvexamine.explorer.paged.components import Header, Local, Physical
from kvexamine.explorer.paged.dropped import DROPPED
from kvexamine.explorer.paged.faults import FAULTS
from kvexamine.explorer.paged.liveness import broken_runs, longest_run, stuck
from kvexamine.explorer.paged.looking import Looking
from kvexamine.explorer.paged.model import PagedModel
from kvexamine.explorer.paged.packing import Codec
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import everyday, find
from kvexamine.explorer.run import explore_one
from kvexamine.explorer.sampling import next_token
from kvexamine.explorer.search import Played, Search
from kvexamine.explorer.spoiling import Fault
from kvspec import Capabilities, State, World
from kvspec.state import Block, Live

EVERYDAY = list(everyday())
KEPT = {line.name: line for line in read().scopes}
LOCAL = [scope for scope in EVERYDAY if scope.local]
by_name = pytest.mark.parametrize("scope", EVERYDAY, ids=lambda scope: scope.name)


def walk(scope: Scope, seed: int, moves: int = 40) -> Iterator[State]:
    """The states of a run that takes any move that is allowed."""
    dice, model = random.Random(seed), PagedModel(scope)
    state = model.start()
    for _ in range(moves):
        yield state
        following = [after for _, _, after in Played(model).moves(state, model.key(state))]
        if not following:
            return
        state = dice.choice(following)


# Keys.


@by_name
def test_a_key_is_read_as_a_state_of_the_same_key_and_the_same_future(scope: Scope) -> None:
    model = PagedModel(scope)
    for state in walk(scope, 1, 25):
        key = model.key(state)
        again = model.codec.read(key)
        assert model.key(again) == key
        assert model.broken_state(state) is None and model.broken_state(again) is None
        assert following(model, again) == following(model, state)


def following(model: PagedModel, state: State) -> list[Any]:
    """The keys after all moves of a state."""
    return sorted(new for _, new, _ in Played(model).moves(state, model.key(state)))


def renamed(state: State, names: list[int]) -> State:
    """The state with block b called names[b]."""
    new = state.copy()
    for id, block in enumerate(state.blocks):
        new.blocks[names[id]] = block.copy()
    for live in new.requests.values():
        live.tables = [[names[id] for id in live.table]]  # type: ignore[misc]
    new.free = {names[id]: None for id in state.free}  # type: ignore[misc]
    new.in_flight = {step: frozenset(names[id] for id in ids) for step, ids in state.in_flight.items()}  # type: ignore[misc]
    new.transfers = {t: frozenset(names[id] for id in ids) for t, ids in state.transfers.items()}  # type: ignore[misc]
    return new


@by_name
def test_names_of_blocks_are_not_part_of_a_key(scope: Scope) -> None:
    codec, dice = Codec(scope), random.Random(2)
    for state in walk(scope, 3):
        names = list(range(scope.world.num_blocks))
        dice.shuffle(names)
        assert codec.key(renamed(state, names)) == codec.key(state)


def test_every_field_of_a_state_is_kept_or_dropped_for_a_reason() -> None:
    kept = {
        "State": {*Header._fields, "requests", "blocks", "free", "in_flight"},
        "Live": {*Local._fields, "tables", "preempted_in"},
        "Block": {*Physical._fields},
    }
    for record in (State, Live, Block):
        named = {field.name for field in fields(record)}
        dropped = set(DROPPED[record.__name__])
        assert named <= kept[record.__name__] | dropped and dropped <= named, record


@pytest.mark.parametrize("name", ["in-flight", "failure", "swap", "any-block"])
def test_states_of_one_key_have_one_future(name: str) -> None:
    """Whatever way led to a state: two steps in flight were once taken for one, when the first way had only one."""
    model = PagedModel(find(name))
    state = model.start()
    known: set[Any] = {model.key(state)}
    queue = [state]
    while queue and len(known) < 500:
        before = queue.pop()
        key = model.key(before)
        assert following(model, model.codec.read(key)) == following(model, before)
        for _, new, after in Played(model).moves(before, key):
            if new not in known:
                known.add(new)
                queue.append(after)


# Views.


@pytest.mark.parametrize("scope", LOCAL, ids=lambda scope: scope.name)
def test_looking_up_gives_the_successors_that_playing_gives(scope: Scope) -> None:
    model = PagedModel(scope)
    look = Looking(model)
    queue = [model.key(model.start())]
    known = set(queue)
    while queue and len(known) < 1200:
        key = queue.pop(0)
        found = following(model, model.codec.read(key))
        assert sorted(look(key)) == found
        queue += sorted(set(found) - known)
        known.update(found)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_looking_up_notices_what_playing_notices(fault: Fault) -> None:
    scope = next((one for one in LOCAL if fault.shows_in(one) and one.name != "prefix"), None)
    if scope is None:
        pytest.skip("no scope with views has what the fault needs")
    model = PagedModel(scope, fault.transition)
    seen, played = (Search(model, expand).run(300) for expand in (Looking(model), None))
    assert (seen.broken, len(seen.moves)) == (played.broken, len(played.moves))


# Verdicts.


@pytest.mark.parametrize("name", ["exact-hit", "chains", "any-block", "failure", "fcfs", "fcfs-four"])
def test_a_scope_holds(name: str) -> None:
    result = explore_one(find(name))
    assert result.complete and not result.violations, result.violations
    assert scope_line(result) == KEPT[name]
    assert (result.longest is not None) == find(name).fcfs


def test_a_dead_end_is_told_with_a_shortest_way_to_it() -> None:
    """Two requests hold one of two blocks each, both need another, and nobody can be preempted.

    Each starts and computes one token in a step of its own; after the second step nothing is left to do.
    """
    base = find("swap")
    scope = replace(base, world=World(2, 1, 1), may=frozenset(), capabilities=Capabilities(publishes="scheduled"))
    result = explore_one(scope)
    (violation,) = result.violations
    assert violation.rule == "sched/progress-or-reject" and "dead" in violation.what
    assert result.moves == 6, violation.history
    assert sum("computes position" in line for line in violation.history) == 2


def test_a_search_that_is_cut_short_says_so() -> None:
    result = explore_one(find("prefix"), limit=500)
    assert not result.complete and result.states > 500


def test_an_unknown_scope_is_named_with_those_that_there_are() -> None:
    with pytest.raises(KeyError, match=r"prefxi.*did you mean prefix.*in-flight"):
        find("prefxi")


def test_the_model_sees_every_token() -> None:
    for length in range(1, 6):
        for number in range(2**length):
            tokens = [number >> place & 1 for place in range(length)]
            assert next_token(tokens) != next_token(tokens, forked=True)
    assert next_token([1, 0]) != next_token([0, 0])


# Runs: states 0, 1, 2, ... with the states that follow each.


def test_a_run_that_cannot_end_is_found() -> None:
    assert stuck([(1, 2), (), (2,)]) == 2
    assert stuck([(1,), (0, 2), ()]) is None


def test_the_longest_run_is_that_of_a_graph_without_cycles() -> None:
    assert longest_run([(1, 2), (2,), ()]) == 2
    assert longest_run([(1,), (0, 2), ()]) is None


def test_a_cycle_is_wrong_only_under_a_scheduler() -> None:
    cycle = [(1,), (0, 2), ()]
    assert broken_runs(cycle, fcfs=False) is None
    assert broken_runs(cycle, fcfs=True) is not None
