"""The explorer: keys lose nothing, looking up is the same as playing, every fault is noticed, and the page is true."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from kvexamine.explorer.page import scopes_table
from kvexamine.explorer.paged.checks import broken_state
from kvexamine.explorer.paged.components import Header, Local, Physical
from kvexamine.explorer.paged.dropped import DROPPED
from kvexamine.explorer.paged.expand import Local as Looking
from kvexamine.explorer.paged.expand import Whole, successors
from kvexamine.explorer.paged.faults import FAULTS, Fault
from kvexamine.explorer.paged.liveness import broken_runs, longest_run, stuck
from kvexamine.explorer.paged.model import next_token
from kvexamine.explorer.paged.packing import Codec
from kvexamine.explorer.paged.run import explore_one
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import SCOPES, everyday, find
from kvexamine.explorer.paged.search import Search, honest
from kvspec import Capabilities, State, World
from kvspec.state import Block, Live

PAGE = (Path(__file__).parents[2] / "spec" / "explorer.md").read_text("utf-8")
EVERYDAY = list(everyday())
LOCAL = [scope for scope in EVERYDAY if scope.local]
by_name = pytest.mark.parametrize("scope", EVERYDAY, ids=lambda scope: scope.name)


def walk(scope: Scope, seed: int, moves: int = 40) -> Iterator[State]:
    """The states of a run that takes any move that is allowed."""
    dice, state = random.Random(seed), Codec(scope).start
    for _ in range(moves):
        yield state
        following = [after for _, after in successors(scope, honest, state)]
        if not following:
            return
        state = dice.choice(following)


# Keys.


@by_name
def test_a_key_is_read_as_a_state_of_the_same_key_and_the_same_future(scope: Scope) -> None:
    codec = Codec(scope)
    for state in walk(scope, 1, 25):
        key = codec.key(state)
        again = codec.read(key)
        assert codec.key(again) == key
        assert broken_state(scope, state) is None and broken_state(scope, again) is None
        true = {codec.key(after) for _, after in successors(scope, honest, state)}
        assert {codec.key(after) for _, after in successors(scope, honest, again)} == true


def renamed(state: State, names: list[int]) -> State:
    """The state with block b called names[b]."""
    new = state.copy()
    for id, block in enumerate(state.blocks):
        new.blocks[names[id]] = block.copy()
    for live in new.requests.values():
        live.tables = [[names[id] for id in live.table]]  # type: ignore[misc]
    new.evictable = {names[id]: None for id in state.evictable}  # type: ignore[misc]
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
        "State": {*Header._fields, "requests", "blocks", "evictable", "in_flight"},
        "Live": {*Local._fields, "tables", "preempted_in"},
        "Block": {*Physical._fields},
    }
    for record in (State, Live, Block):
        named = {field.name for field in fields(record)}
        dropped = set(DROPPED[record.__name__])
        assert named <= kept[record.__name__] | dropped and dropped <= named, record


# Views.


@pytest.mark.parametrize("scope", LOCAL, ids=lambda scope: scope.name)
def test_looking_up_gives_the_successors_that_playing_gives(scope: Scope) -> None:
    search = Search(scope)
    look, play = Looking(search.codec, honest), Whole(search.codec, honest)
    known, queue = set(search.seen), list(search.seen)
    while queue and len(known) < 1200:
        key = queue.pop(0)
        found = play(key)
        assert sorted(look(key)) == sorted(found)
        queue += sorted(set(found) - known)
        known.update(found)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_looking_up_notices_what_playing_notices(fault: Fault) -> None:
    scope = next((one for one in LOCAL if fault.shows_in(one) and one.name != "prefix"), None)
    if scope is None:
        pytest.skip("no scope with views has what the fault needs")
    seen, played = (Search(scope, fault.transition, whole=whole).run(300) for whole in (False, True))
    assert (seen.counterexample is None) == (played.counterexample is None)
    if seen.counterexample is not None and played.counterexample is not None:
        assert len(seen.counterexample.moves) == len(played.counterexample.moves)


# Verdicts.


@pytest.mark.parametrize("name", ["exact-hit", "chains", "any-block", "failure", "fcfs", "fcfs-four"])
def test_a_scope_holds(name: str) -> None:
    result = explore_one(find(name))
    assert result.complete and not result.violations, result.violations
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


# The page.


def test_the_page_has_the_scopes_as_they_are() -> None:
    assert scopes_table(SCOPES.values()) in PAGE


def cells() -> dict[str, dict[str, str]]:
    """The table of faults as the page has it: fault, scope, what is in the cell."""
    lines = PAGE.split("<!-- faults:begin -->\n")[1].split("\n<!-- faults:end -->")[0].splitlines()
    names = [cell.strip() for cell in lines[0].strip("|").split("|")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0].split("`")[1]: dict(zip(names, row[1:], strict=True)) for row in rows}


def test_the_page_has_all_faults_and_everyday_scopes() -> None:
    table = cells()
    assert set(table) == set(FAULTS)
    assert all(list(row) == [scope.name for scope in EVERYDAY] for row in table.values())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_a_fault_is_noticed_as_the_page_says(fault: Fault) -> None:
    noticed = {name: int(cell) for name, cell in cells()[fault.name].items() if cell.isdigit()}
    name = min(noticed, key=lambda one: (noticed[one], one == "prefix"))
    assert fault.tried(find(name)).moves == noticed[name]


@by_name
def test_every_scope_notices_a_fault(scope: Scope) -> None:
    assert any(row[scope.name].isdigit() for row in cells().values())
