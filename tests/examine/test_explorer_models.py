"""Exploring groups and radix trees: names lose nothing, definitions agree, holes stay closed; and any model."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kvexamine.explorer import ALL, everyday, find
from kvexamine.explorer.broken import Broken, Wrong
from kvexamine.explorer.campaign import read, scope_line
from kvexamine.explorer.groups import frame as group_frame
from kvexamine.explorer.groups.model import GroupsModel
from kvexamine.explorer.groups.moves import admitted, computed, refused
from kvexamine.explorer.groups.reads import past, unread
from kvexamine.explorer.groups.scopes import GROUPS
from kvexamine.explorer.groups.world import GroupsWorld, Move
from kvexamine.explorer.run import explore_one, model_of
from kvexamine.explorer.scope import WorldScope
from kvexamine.explorer.search import Search
from kvexamine.explorer.tree import frame as tree_frame
from kvexamine.explorer.tree.model import TreeModel
from kvexamine.explorer.tree.scopes import TREES
from kvexamine.explorer.tree.shown import lies, truth
from kvexamine.explorer.tree.world import TreeWorld
from kvspec import events as ev
from kvspec import rules
from kvspec import transition as law
from kvspec.layout import Group, Kind, Tables
from kvspec.needs import first_kept, reads, runs
from kvspec.state import State
from kvspec.tree import TreeState, judge
from kvspec.tree import events as tev
from kvspec.tree.state import HandleId, Page
from kvspec.violation import Broken as Refused
from kvspec.violation import HarnessFault, Tally, Violation
from kvspec.vocabulary import (
    NO_PARTS,
    BlockId,
    Capabilities,
    GroupsCapabilities,
    Phase,
    Request,
    RequestId,
    StepId,
    TokenId,
    World,
)

Small = WorldScope[Any]
SMALL: dict[str, Small] = {**GROUPS, **TREES}
EVERYDAY = [small for small in SMALL.values() if not small.large]
SHORT = ("groups-draft", "groups-drafts-ahead", "tree-pages", "tree-places")
KEPT = {line.name: line for line in read().scopes}
by_name = pytest.mark.parametrize("small", EVERYDAY, ids=lambda small: small.name)
A, B, C = RequestId("A"), RequestId("B"), RequestId("C")


def walk(small: Small, seed: int, moves: int) -> Iterator[Any]:
    """The states of a run that does anything that is allowed."""
    model, dice = model_of(small), random.Random(seed)
    state = model.start()
    for _ in range(moves):
        yield state
        following = []
        for event in model.proposals(state):
            try:
                following.append(model.play(state, event)[1])
            except (Violation, Refused):
                continue
        state = dice.choice(following) if following else model.start()


# Verdicts.


@pytest.mark.parametrize("name", SHORT)
def test_a_small_world_holds(name: str) -> None:
    result = explore_one(SMALL[name])
    assert scope_line(result) == KEPT[name]
    assert result.states > 50


@by_name
def test_the_first_states_of_every_world_hold(small: Small) -> None:
    result = explore_one(small, limit=120)
    assert not result.violations and result.transitions > 100, result.violations


def test_small_worlds_are_scopes_like_the_others() -> None:
    assert [scope for scope in everyday() if isinstance(scope, WorldScope)] == EVERYDAY
    assert find("groups-any") is SMALL["groups-any"] and len(ALL) > len(SMALL)
    with pytest.raises(KeyError, match="did you mean tree-locks"):
        find("tree-lock")


# Keys.


@pytest.mark.parametrize("small", [one for one in EVERYDAY if one.of == "groups"], ids=lambda one: one.name)
def test_names_of_blocks_are_not_part_of_a_key(small: Small) -> None:
    model, dice = model_of(small), random.Random(1)
    for before in walk(small, 2, 25):
        state, size, names = before.copy(), before.world.num_blocks, list(range(len(before.blocks)))
        for first in range(0, len(names), size):
            pool = names[first : first + size]
            dice.shuffle(pool)
            names[first : first + size] = pool
        for old, new in enumerate(names):
            state.blocks[new] = before.blocks[old]
        for live in state.requests.values():
            live.tables = [[None if id is None else BlockId(names[id]) for id in table] for table in live.tables]
        state.free = {BlockId(names[id]): None for id in before.free}
        state.in_flight = {step: frozenset(BlockId(names[id]) for id in ids) for step, ids in before.in_flight.items()}
        assert model.key(state) == model.key(before)


@pytest.mark.parametrize("name", ["tree", "tree-places"])
def test_names_of_handles_and_places_are_not_part_of_a_key(name: str) -> None:
    model = model_of(SMALL[name])
    for state in walk(SMALL[name], 3, 25):
        _, other = model.play(state, tev.Match(HandleId(9), (TokenId(1),), NO_PARTS, 0))
        other.found = {HandleId(7 - handle): end for handle, end in reversed(state.found.items())}
        for page in other.pages.values():
            page.slots = None if page.slots is None else tuple(100 - slot for slot in page.slots)
        assert model.key(other) == model.key(state)


def test_a_copy_is_equal_and_independent() -> None:
    for state in walk(SMALL["groups-in-flight"], 4, 20):
        copy = state.copy()
        assert copy == state
        copy.own(BlockId(1)).ref += 1
        assert copy != state


# What is read.


WINDOWS = [Group(Kind.WINDOW, size, window) for size in (1, 2, 3) for window in (1, 2, 5)]


@pytest.mark.parametrize("group", [Group(Kind.FULL, 2), Group(Kind.STATE, 3), *WINDOWS], ids=str)
def test_the_definition_and_the_specification_say_the_same(group: Group) -> None:
    for start in range(9):
        by_definition = {(held.entry, held.offset, held.position) for held in past(group, start, start, 20)}
        told = [(run, slot) for run in runs(group, reads(group, start)) for slot in range(run.first, run.stop)]
        assert by_definition == {(run.entry, run.offset + slot - run.first, slot) for run, slot in told}
        kept = first_kept(group, start)
        assert all(unread(group, entry, start, 20) == (entry < kept) for entry in range(4))


# Holes that the explorer has found, each stated as its rule.


def pages(num_blocks: int = 2, size: int = 2) -> TreeState:
    return TreeState(World(num_blocks, size), Capabilities())


def tokens(*values: int) -> tuple[TokenId, ...]:
    return tuple(TokenId(value) for value in values)


def test_no_more_pages_are_cached_than_there_is_room_for() -> None:
    state = pages(2)
    judge(state, tev.Insert(tokens(0, 0), NO_PARTS, 0), Tally())
    with pytest.raises(Violation) as caught:
        judge(state, tev.Insert(tokens(1, 1, 0, 0), NO_PARTS, 0), Tally())
    assert caught.value.rule is rules.CONSERVATION
    judge(state, tev.Insert(tokens(1, 1), NO_PARTS, 0), Tally())


def test_a_place_is_that_of_one_token() -> None:
    with pytest.raises(Violation) as caught:
        judge(pages(), tev.Insert(tokens(0, 0), NO_PARTS, 0, (3, 3)), Tally())
    assert caught.value.rule is rules.CONSERVATION


def ids(*tables: tuple[int | None, ...]) -> Tables:
    return tuple(tuple(None if id is None else BlockId(id) for id in table) for table in tables)


def request(id: RequestId, *prompt: int, new: int = 1) -> Request:
    return Request(id, tokens(*prompt), new)


def groups(layout: str, *requests: Request, **declared: Any) -> State:
    """These requests wait."""
    return GroupsWorld(layout, 8, requests, capabilities=GroupsCapabilities(**declared)).start()


def step(state: State, *events: ev.Event) -> State:
    """The state after events that are all allowed."""
    for event in events:
        state = law.step(state, event)
    return state


def begin(state: State, id: RequestId, hit: int, end: int, tables: Tables) -> Move:
    return admitted(state, state.requests[id], hit, end, tables)


def computes(state: State, id: RequestId, count: int) -> State:
    """A step is dispatched that computes so many tokens."""
    return step(state, *computed(state, state.requests[id], count))


def broken(state: State, *events: ev.Event) -> rules.Rule:
    """The rule that one of these events breaks."""
    with pytest.raises(Refused) as caught:
        step(state, *events)
    return caught.value.rule


def test_what_its_holder_is_still_to_write_is_not_shared_even_where_nothing_is_read() -> None:
    """With a window of one a hit reads nothing of it, yet its holder writes there next."""
    state = groups("full:1 window:1:1", request(A, 0, 1), request(B, 0, 1))
    state = step(state, *begin(state, A, 0, 2, ids((0, 1), (2, 3))))
    state = step(computes(state, A, 1), ev.Complete(StepId(0)))
    assert broken(state, *begin(state, B, 1, 1, ids((0,), (3,)))) is rules.PUBLISH_ONLY_COMPUTED
    for other in (None, 2):
        computes(step(state, *begin(state, B, 1, 1, ids((0,), (other,)))), A, 1)


def test_a_draft_slot_of_a_step_in_flight_is_not_hit_before_it_is_finished() -> None:
    state = groups("full:2 draft:2:1", request(A, 0, 1), request(B, 0, 1, 1), drafts_ahead=True)
    state = computes(step(state, *begin(state, A, 0, 2, ids((0,), (1,)))), A, 2)
    state.blocks[0].writers = [None, None]
    hit = begin(state, B, 2, 3, ids((0, 2), (1, 3)))
    assert broken(state, *hit) is rules.PUBLISH_ONLY_COMPUTED
    step(state, ev.Complete(StepId(0)), *hit)


def test_a_drafter_that_runs_ahead_needs_a_home_for_what_it_drafts_from_the_sampled_token() -> None:
    state = groups("full:1 draft:1:1", request(A, 0, 1, new=2), drafts_ahead=True)
    state = step(state, *begin(state, A, 0, 2, ids((0, 1), (2, None))))
    assert broken(state, *computed(state, state.requests[A], 2)) is rules.COVERAGE_AND_LIMIT
    computes(state, A, 1)  # its slot is the first, for the second token of the prompt


# What an event leaves alone.


def chain(state: TreeState, *values: int) -> Any:
    """The last page of a prefix."""
    return list(state.chain(tokens(*values), NO_PARTS))[-1]


def locked_and_found() -> TreeState:
    """Of a chain of two pages and a branch: the first is locked, the second found, and the places are told."""
    state = TreeState(World(4, 1), Capabilities())
    for event in (
        tev.Insert(tokens(0, 0), NO_PARTS, 0, (0, 1)),
        tev.Insert(tokens(1), NO_PARTS, 0),
        tev.Match(HandleId(1), tokens(0), NO_PARTS, 1),
        tev.Lock(HandleId(1)),
        tev.Match(HandleId(2), tokens(0, 0), NO_PARTS, 2),
    ):
        judge(state, event, Tally())
    return state


TREE_EVENTS: tuple[tev.Event, ...] = (
    tev.Match(HandleId(3), tokens(1), NO_PARTS, 1),
    tev.Match(HandleId(2), tokens(1), NO_PARTS, 0),
    tev.Insert(tokens(0, 1), NO_PARTS, 1),
    tev.Refuse(tokens(1, 0, 0), NO_PARTS, 1),
    tev.Lock(HandleId(2)),
    tev.Unlock(HandleId(1)),
    tev.Evict(0, 0, frozenset(locked_and_found().pages)),
)


def _tree_page(state: TreeState) -> None:
    state.pages.pop(chain(state, 1))


def _tree_new_page(state: TreeState) -> None:
    state.pages[chain(state, 1, 1)] = Page()


def _tree_place(state: TreeState) -> None:
    state.pages[chain(state, 0, 0)].slots = (9,)


def _tree_places_told(state: TreeState) -> None:
    state.pages[chain(state, 0)].slots = None


def _tree_more(state: TreeState) -> None:
    state.pages[chain(state, 1)].locks += 1


def _tree_less(state: TreeState) -> None:
    state.pages[chain(state, 0)].locks -= 1


def _tree_locked(state: TreeState) -> None:
    state.locked[HandleId(5)] = chain(state, 1)


def _tree_unlocked(state: TreeState) -> None:
    state.locked = {}


def _tree_found(state: TreeState) -> None:
    state.found[HandleId(6)] = chain(state, 0)


TREE_EFFECTS = (
    _tree_page, _tree_new_page, _tree_place, _tree_places_told, _tree_more, _tree_less, _tree_locked, _tree_unlocked,
    _tree_found,
)  # fmt: skip


@pytest.mark.parametrize("event", TREE_EVENTS, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("effect", TREE_EFFECTS, ids=lambda effect: effect.__name__)
def test_an_event_of_a_tree_does_nothing_else(event: tev.Event, effect: Any) -> None:
    model = TreeModel(TreeWorld(World(4, 1), (), 1))
    before = locked_and_found()
    _, after = model.play(before, event)
    assert tree_frame.disturbed(before, event, after) is None
    _, changed = model.play(before, event)
    effect(changed)
    if (changed.pages, changed.locked, changed.found) != (after.pages, after.locked, after.found):
        assert tree_frame.disturbed(before, event, changed) is not None


def test_a_tree_remembers_what_a_lookup_finds_and_what_others_found() -> None:
    before, event = locked_and_found(), tev.Match(HandleId(3), tokens(0, 0), NO_PARTS, 2)
    _, after = TreeModel(TreeWorld(World(4, 1), (), 1)).play(before, event)
    right = dict(after.found)
    for wrong in ({}, {HandleId(2): right[HandleId(2)]}, right | {HandleId(3): chain(after, 0)}):
        after.found = wrong
        assert tree_frame.disturbed(before, event, after) is not None


def test_a_reset_leaves_nothing() -> None:
    before = TreeState(World(4, 1), Capabilities())
    judge(before, tev.Insert(tokens(0, 0), NO_PARTS, 0), Tally())
    _, after = TreeModel(TreeWorld(World(4, 1), (), 1)).play(before, tev.Reset())
    assert tree_frame.disturbed(before, tev.Reset(), after) is None


def test_only_the_first_lookup_that_tells_places_gives_them() -> None:
    before, event = locked_and_found(), tev.Match(HandleId(3), tokens(1), NO_PARTS, 1, (3,))
    _, after = TreeModel(TreeWorld(World(4, 1), (), 1)).play(before, event)
    assert after.pages[chain(after, 1)].slots == (3,) and tree_frame.disturbed(before, event, after) is None
    assert tree_frame.disturbed(before, tev.Match(HandleId(3), tokens(0), NO_PARTS, 1), after) is not None


def running() -> State:
    """A has computed two of its three tokens in two steps, which are on the device; what B had is cached and idle."""
    asked = (request(B, 1, 1), request(A, 0, 1, 0, new=3), request(C, 0, 1))
    state = groups("full:1 draft:1:1", *asked, max_in_flight=2, drafts_ahead=True)
    state = computes(step(state, *begin(state, B, 0, 1, ids((4,), (5,)))), B, 1)
    state = step(state, ev.Complete(StepId(0)), ev.Abort(B), *begin(state, A, 0, 3, ids((0, 1, 2), (3, 6, 7))))
    return computes(computes(state, A, 1), A, 1)


def done() -> State:
    """A has computed all three, and no step is on the device."""
    return step(computes(running(), A, 1), *(ev.Complete(StepId(number)) for number in (1, 2, 3)))


GROUP_EVENTS: dict[str, tuple[Callable[[], State], Callable[[State], Move]]] = {
    "Compute": (running, lambda state: computed(state, state.requests[A], 1)),
    "Complete": (running, lambda state: (ev.Complete(StepId(1)),)),
    "Refuse": (running, lambda state: refused(state, state.requests[C], 9)),
    "Start": (done, lambda state: begin(state, C, 0, 1, ids((4,), (5,)))),
    "Reserve": (done, lambda state: (ev.Reserve(A, 4, *_tables((0, 1, 2, 4), (3, 6, 7))),)),
    "Sample": (done, lambda state: (ev.Sample(A, TokenId(1)),)),
    "Abort": (done, lambda state: (ev.Abort(A),)),
}


def _tables(first: tuple[int, ...], *others: tuple[int, ...]) -> tuple[tuple[BlockId, ...], Tables]:
    return tuple(map(BlockId, first)), ids(*others)


def _group_content(state: State) -> None:
    state.blocks[0].contexts = [None]


def _group_idle_content(state: State) -> None:
    state.blocks[4].contexts = [7]


def _group_writer(state: State) -> None:
    state.blocks[1].writers = [(A, 99)]


def _group_owner(state: State) -> None:
    state.blocks[5].owner = 0


def _group_token(state: State) -> None:
    for live in state.requests.values():
        live.tokens.append(TokenId(1))


def _group_computed(state: State) -> None:
    for live in state.requests.values():
        live.computed -= 1


def _group_newest(state: State) -> None:
    state.starts = dict(list(state.starts.items())[:-1])


def _group_flight(state: State) -> None:
    state.starts = {StepId(number + 1): first for number, first in state.starts.items()}


def _group_table(state: State) -> None:
    for live in state.requests.values():
        live.tables[0][:1] = [None]


def _group_waits(state: State) -> None:
    for live in state.requests.values():
        live.phase = Phase.RUNNING if live.phase is Phase.WAITING else Phase.WAITING


def _group_gone(state: State) -> None:
    state.requests.pop(A, None)


def _group_comes(state: State) -> None:
    state.requests[RequestId("D")] = running().requests[A]


GROUP_EFFECTS = (
    _group_content, _group_idle_content, _group_writer, _group_owner, _group_token, _group_computed, _group_newest,
    _group_flight, _group_table, _group_waits, _group_gone, _group_comes,
)  # fmt: skip


@pytest.mark.parametrize("name", GROUP_EVENTS)
@pytest.mark.parametrize("effect", GROUP_EFFECTS, ids=lambda effect: effect.__name__)
def test_an_event_of_groups_does_nothing_else(name: str, effect: Any) -> None:
    start, made = GROUP_EVENTS[name]
    before = start()
    move = made(before)
    right, wrong = step(before, *move), step(before, *move)
    assert group_frame.disturbed(before, move, right) is None
    effect(wrong)
    if right != wrong:
        assert group_frame.disturbed(before, move, wrong) is not None


@pytest.mark.parametrize("field", ["tokens", "computed", "tables", "phase"])
def test_a_request_begins_as_its_admission_says(field: str) -> None:
    before = done()
    move = begin(before, C, 0, 1, ids((4,), (5,)))
    wrongs = {"tokens": ([], tokens(9)), "computed": (1, -1), "tables": ([], [[9]]), "phase": (Phase.WAITING,)}
    for wrong in wrongs[field]:
        after = step(before, *move)
        setattr(after.requests[C], field, wrong)
        assert group_frame.disturbed(before, move, after) is not None


def test_who_begins_has_no_step_in_flight() -> None:
    before = done()
    move = begin(before, C, 0, 1, ids((4,), (5,)))
    after = step(before, *move)
    after.starts[StepId(7)] = {C: 0}
    assert group_frame.disturbed(before, move, after) is not None


def test_nothing_is_sampled_before_all_tokens_are_computed() -> None:
    before, move = running(), (ev.Sample(A, TokenId(1)),)
    after = before.copy()
    after.requests[A].tokens.append(TokenId(1))
    told = group_frame.disturbed(before, move, after)
    assert told is not None and "before its tokens are computed" in told.what


@pytest.mark.parametrize(("kind", "end", "wrong"), [("Grow", 4, 5), ("Grow", 5, 3), ("Admit", 1, 2), ("Admit", 2, 1)])
def test_tables_reach_as_far_as_they_say_and_no_further(kind: str, end: int, wrong: int) -> None:
    asked = (request(A, 0, 1, new=4), request(B, 0, 1))
    world = GroupsWorld("full:1", 9, asked, capabilities=GroupsCapabilities())
    state = world.start()
    state = step(state, *begin(state, A, 0, 2, ids((0, 1))))

    def move(entries: int) -> Move:
        if kind == "Grow":
            return (ev.Reserve(A, end, *_tables(tuple(range(entries)))),)
        return begin(state, B, 0, end, ids(tuple(range(2, 2 + entries))))

    after = step(state, *move(end))
    assert group_frame.disturbed(state, move(end), after) is None
    told = group_frame.disturbed(state, move(wrong), after)
    assert told is not None and told.rule is rules.COVERAGE_AND_LIMIT


# Showing and publishing.


def test_a_tree_may_be_cut_in_nodes_as_it_likes_and_may_not_lie() -> None:
    """A chain of three pages, of which two are locked, and a branch: two nodes at least, or one for each page."""
    state = TreeState(World(6, 1), Capabilities())
    events = (
        tev.Insert(tokens(0, 0, 0), NO_PARTS, 0),
        tev.Match(HandleId(1), tokens(0, 0), NO_PARTS, 2),
        tev.Lock(HandleId(1)),
    )
    for event in events:
        judge(state, event, Tally())
    whole, single = truth(state, whole=True), truth(state, whole=False)
    assert [(node.length, node.locks) for node in whole.nodes] == [(2, 1), (1, 0)]
    assert [(node.length, node.locks) for node in single.nodes] == [(1, 1), (1, 1), (1, 0)]
    assert (whole.evictable, whole.protected, whole.available) == (1, 2, 3)
    model = TreeModel(TreeWorld(World(6, 1), (), 1))
    for show in (whole, single):
        model.play(state, show)
    told = list(lies(state))
    assert len(told) == 3 + 3 * 4 + 3 * 2
    for lie in told:
        with pytest.raises(Violation):
            model.play(state, lie)


# Searching.


class Counting:
    """A model of numbers: each may grow by one or two up to seven."""

    def __init__(self, wrong: int = -1, forbidden: int = -1, falls: int = -1, end: int = 7, most: int = 2) -> None:
        self.wrong, self.forbidden, self.falls, self.end, self.most = wrong, forbidden, falls, end, most

    def start(self) -> int:
        return 0

    def key(self, state: int) -> int:
        return state

    def proposals(self, state: int) -> tuple[int, ...]:
        return tuple(more for more in (1, 2) if state + more <= 7)

    permitted = proposals

    def play(self, state: int, event: int) -> tuple[int, int]:
        if state + event == self.forbidden:
            raise Violation(rules.CONSERVATION, "so many", "fewer")
        return event, state + event if state != self.falls else [][event]

    def broken_state(self, state: int) -> Broken | None:
        return Broken(rules.CONSERVATION, "wrong") if state == self.wrong else None

    def broken_move(self, before: int, event: int, after: int) -> Broken | None:
        return None

    def broken_choice(self, moves: Sequence[int]) -> Broken | None:
        return Broken(rules.CONSERVATION, "too much to choose") if len(moves) > self.most else None

    def finished(self, state: int) -> bool:
        return state == self.end

    def history(self, events: Any, state: int) -> tuple[str, ...]:
        return tuple(map(str, events))


def test_a_search_goes_through_all_states() -> None:
    found = Search(Counting()).run()
    assert (found.states, found.transitions, found.depth, found.complete) == (8, 13, 4, True)
    assert found.broken is None


def test_what_is_wrong_is_told_with_a_shortest_way() -> None:
    found = Search(Counting(wrong=5)).run()
    assert found.broken is not None and len(found.moves) == 3 and sum(found.moves) == 5 == found.last
    assert not found.complete


class Toy:
    """Moves as given, of which that from 1 to 3 is wrong; state 2 is wrong too where it is told so."""

    def __init__(self, moves: dict[int, tuple[int, ...]], wrong: int = -1) -> None:
        self.moves, self.wrong = moves, wrong

    def start(self) -> int:
        return 0

    def key(self, state: int) -> int:
        return state

    def proposals(self, state: int) -> tuple[int, ...]:
        return self.moves[state]

    def permitted(self, state: int) -> tuple[int, ...]:
        return ()

    def play(self, state: int, event: int) -> tuple[int, int]:
        return event, event

    def broken_state(self, state: int) -> Broken | None:
        return Broken(rules.CONSERVATION, "state") if state == self.wrong else None

    def broken_move(self, before: int, event: int, after: int) -> Broken | None:
        return Broken(rules.CONSERVATION, "move") if (before, after) == (1, 3) else None

    def broken_choice(self, moves: Sequence[int]) -> Broken | None:
        return None

    def finished(self, state: int) -> bool:
        return False

    def history(self, events: Any, state: int) -> tuple[str, ...]:
        return tuple(map(str, events))


def test_all_states_of_a_layer_are_looked_at_before_any_step_out_of_it() -> None:
    found = Search(Toy({0: (1, 2), 1: (3,), 2: (3,), 3: (0,)}, wrong=2)).run()
    assert found.broken is not None and (found.broken.what, found.moves) == ("state", (2,))
    found = Search(Toy({0: (1, 2), 1: (3,), 2: (3,), 3: (0,)})).run()
    assert found.broken is not None and (found.broken.what, found.moves) == ("move", (1, 3))


def test_a_state_that_leads_only_to_itself_is_a_dead_end() -> None:
    found = Search(Toy({0: (0, 2), 2: (2,)})).run()
    assert found.broken is not None and "deadlock" in found.broken.what and found.moves == (2,)
    assert Search(Toy({0: (0, 2), 2: (2, 0)})).run().complete


def test_what_is_permitted_must_not_be_forbidden() -> None:
    found = Search(Counting(forbidden=2)).run()
    assert found.broken is not None and "permitted" in found.broken.what and found.moves == (2,)


def test_a_dead_end_and_a_fall_are_told() -> None:
    dead = Search(Counting(end=8)).run()
    assert dead.broken is not None and "deadlock" in dead.broken.what and len(dead.moves) == 4
    fallen = Search(Counting(falls=3)).run()
    assert fallen.broken is not None and "falls over" in fallen.broken.what and len(fallen.moves) == 3


def test_the_moves_of_a_state_are_looked_at_together() -> None:
    found = Search(Counting(most=1)).run()
    assert found.broken is not None and (found.broken.what, found.moves) == ("too much to choose", ())


def test_a_first_state_that_is_wrong_is_told() -> None:
    found = Search(Counting(wrong=0)).run()
    assert found.broken is not None and (found.moves, found.last, found.complete) == ((), 0, False)


def test_what_is_told_is_played_again_on_whole_states() -> None:
    """A faster way to the successors that sees what is not there is a fault of ours."""

    def mistaken(key: Any) -> list[Any]:
        raise Wrong(Broken(rules.CONSERVATION, "nothing"))

    with pytest.raises(HarnessFault, match="does not show what the search saw: nothing"):
        Search(Counting(), mistaken).run()
    with pytest.raises(HarnessFault, match="leads to 9"):
        Search(Counting(), lambda key: [9] if key == 0 else mistaken(key)).run()


def test_a_search_that_is_cut_short_says_so() -> None:
    found = Search(Counting()).run(limit=3)
    assert not found.complete and found.broken is None and 3 < found.states < 8


def test_a_request_that_cannot_go_on_is_told() -> None:
    """Two requests share the block that one of them must write next: nothing is read there, and nobody can go on."""
    world = SMALL["groups-any"].world
    assert isinstance(world, GroupsWorld)
    model = GroupsModel(replace(world, num_blocks=4))
    state = model.start()
    first, second = (one.id for one in world.requests)
    state = computes(step(state, *begin(state, first, 0, 2, ids((0, 1), (4, 5)))), first, 1)
    state = step(state, ev.Complete(StepId(0)), *begin(state, second, 1, 1, ids((0,), (4,))))
    assert model.broken_state(state) is None
    shared = state.copy()
    shared.requests[second].tables[1] = [BlockId(5)]
    shared.blocks[4].ref, shared.blocks[5].ref = 1, 2
    told = GroupsModel(world).broken_state(shared)
    assert told is not None and told.rule is rules.SHARED_BYTES_NEVER_CHANGE and "cannot go on" in told.what
