"""The block manager for several groups: what it shares and releases, and that it refines the specification."""

from __future__ import annotations

import pytest
from hypothesis import given

from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.surfaces.groups.driver import GroupsDriver
from kvconformance.surfaces.groups.strategies import group_histories
from kvconformance.surfaces.pool.driver import stepless
from kvreference.groups import ReferenceGroups
from kvspec import Tally
from kvspec.hits import longest_hit
from kvspec.invariants import broken_invariants
from kvspec.plans import Rejected
from kvspec.vocabulary import Request, RequestId, TokenId, World


def manager(groups: str, num_blocks: int = 30, pool: str = "shared", *, caching: bool = True) -> ReferenceGroups:
    return ReferenceGroups(World(num_blocks, 1, caching=caching, options={"groups": groups, "pool": pool}))


def request(id: str, *tokens: int, new: int = 3) -> Request:
    return Request(RequestId(id), tuple(TokenId(token) for token in tokens), new)


def served(engine: ReferenceGroups, who: Request, chunk: int = 100) -> int:
    """Admit and compute a whole prompt; the length of its hit."""
    admission = engine.admit(who, chunk)
    assert admission is not None
    done = admission.hit + admission.count
    engine.completed(who.id, done)
    while done < len(who.prompt):
        count = min(chunk, len(who.prompt) - done)
        assert engine.extend(who.id, count)
        done += count
        engine.completed(who.id, done)
    return admission.hit


def held(engine: ReferenceGroups, id: str) -> list[list[bool]]:
    """Where the tables of a request hold something."""
    return [[block is not None for block in table] for table in engine.tables(RequestId(id))]


def test_a_window_gives_back_what_lies_behind_it() -> None:
    engine = manager("full:2 window:2:3")
    served(engine, request("A", 0, 0, 0, 0, 0, 0, 0))
    assert held(engine, "A") == [[True] * 4, [False, False, True, True]]
    assert engine.free_blocks() == (29 - 6,)
    engine.free(RequestId("A"))
    assert engine.free_blocks() == (29,)


def test_of_states_only_the_last_is_held() -> None:
    engine = manager("full:2 state:2")
    served(engine, request("A", 0, 0, 0, 0, 0))
    assert held(engine, "A") == [[True] * 3, [False, False, True]]


@pytest.mark.parametrize(
    ("groups", "hit"),
    [
        ("full:2 window:2:3", 6),
        ("full:4 window:2:3", 4),
        ("full:2 state:4", 4),
        ("full:2 draft:2:1", 6),
        ("full:2 draft:2:2", 4),
        ("full:3 state:2", 6),
    ],
)
def test_an_equal_prompt_hits_whole_blocks_of_every_group(groups: str, hit: int) -> None:
    engine = manager(groups)
    prompt = (0, 1, 0, 1, 0, 1, 0)
    assert served(engine, request("A", *prompt)) == 0
    assert served(engine, request("B", *prompt)) == hit


def test_a_drafter_shortens_a_hit_where_the_next_token_differs() -> None:
    engine, other = manager("full:2 draft:2:1"), manager("full:2 window:2:3")
    for each, hit in ((engine, 2), (other, 4)):
        served(each, request("A", 0, 0, 0, 0, 1))
        assert served(each, request("B", 0, 0, 0, 0, 0)) == hit


def test_absence_in_the_window_shortens_the_hit_and_blocks_nobody() -> None:
    engine = manager("full:2 window:2:3", 7, "own")
    served(engine, request("A", 0, 0, 0, 0, 0, 0))
    engine.free(RequestId("A"))
    index = engine.indexes[1]
    index.withdraw(next(iter(index.blocks[next(reversed(index.blocks))])))
    assert served(engine, request("B", 0, 0, 0, 0, 0, 0, 0)) == 4


def test_a_step_in_flight_keeps_what_its_first_query_sees() -> None:
    engine = manager("full:2 window:2:3")
    assert engine.admit(request("A", 0, 0, 0, 0, 0, 0, 0), 2)
    assert engine.extend(RequestId("A"), 5)
    engine.completed(RequestId("A"), 2)
    assert held(engine, "A")[1] == [True] * 4
    engine.completed(RequestId("A"), 7)
    assert held(engine, "A")[1] == [False, False, True, True]


def test_a_refusal_changes_nothing() -> None:
    engine = manager("full:2 window:2:3", 7)
    served(engine, request("A", 0, 0, 0, 0, new=1))
    before = (engine.free_blocks(), engine.ref_counts(), engine.tables(RequestId("A")))
    assert engine.admit(request("B", 1, 1, 1, 1, new=1), 100) is None
    assert not engine.extend(RequestId("A"), 5)
    assert (engine.free_blocks(), engine.ref_counts(), engine.tables(RequestId("A"))) == before


def test_what_can_never_fit_is_rejected() -> None:
    with pytest.raises(Rejected):
        manager("full:2 window:2:3", 5).admit(request("A", 0, 0, 0, 0, 0), 1)


def test_without_a_cache_nothing_is_hit() -> None:
    engine = manager("full:2 window:2:3", caching=False)
    assert [served(engine, request(id, 0, 0, 0, 0, 0)) for id in "AB"] == [0, 0]


class ComparedGroups(GroupsDriver):
    """Compares the whole states whenever the engine is asked about itself."""

    engine: ReferenceGroups

    def observe(self) -> None:
        super().observe()
        assert list(broken_invariants(self.state)) == []
        counts = [count for pool in self.engine.pools for count in pool.count]
        assert counts == [block.ref for block in self.state.blocks]
        for live in self.running():
            id = live.request.id
            assert [list(table) for table in self.tables(id)] == live.tables
            assert self.engine.holdings[id].tokens == live.tokens
            if self.state.world.caching:
                assert self.engine.longest_hit(live.request, live.tokens)[0] == longest_hit(self.state, live)


@given(group_histories(ReferenceGroups.capabilities))
def test_the_manager_refines_the_specification(history: History) -> None:
    checker = Checker(*stepless(history.world(), ReferenceGroups.capabilities), Tally())
    ComparedGroups(ReferenceGroups, checker).run(history.operations)
