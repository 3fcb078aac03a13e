"""Invariants over several entries and groups: every one that does not hold is told, with what it is about."""

from __future__ import annotations

import pytest

from kvspec import rules
from kvspec.invariants import broken_invariants
from kvspec.state import State
from kvspec.vocabulary import BlockId, TransferId
from tests.spec.grouped import A, B, ran, request, trim, world
from tests.spec.grouped import play as after
from tests.spec.test_transition import RUN_A
from tests.spec.test_transition import after as paged
from tests.spec.test_transition import request as asks

pytestmark = pytest.mark.kills("law")


def told(state: State) -> list[tuple[rules.Rule, str]]:
    return list(broken_invariants(state))


def windows() -> State:
    """Entry 0 of the window is trimmed; the others are blocks 6 to 8."""
    cache = ran(world("full:2 window:2:3", num_blocks=20), request(A, *(0,) * 7), (1, 2, 3, 4), (5, 6, 7, 8))
    return after(cache, trim(A, 1, 0)).state


def test_what_lies_behind_a_trimmed_entry_is_looked_at() -> None:
    state = windows()
    assert told(state) == []
    state.blocks[8].owner = 0
    assert told(state) == [
        (rules.CONSERVATION, "S2: A holds block 8 in group 1, which is of 0"),
    ]


def test_every_entry_that_is_lacking_is_told() -> None:
    state = windows()
    for index, id in ((2, 7), (3, 8)):
        state.requests[A].tables[1][index] = None
        state.blocks[id].ref = 0
        state.free[BlockId(id)] = None
    assert [text for rule, text in told(state) if rule is rules.EVERY_GROUP_HIT] == [
        "S5: A holds nothing for entry 2 of group 1",
        "S5: A holds nothing for entry 3 of group 1",
    ]


def test_the_transfer_that_brings_it_for_another_is_named() -> None:
    state = paged(*RUN_A)
    state.blocks[0].fence = state.arriving = frozenset({TransferId(7)})
    assert (rules.IN_FLIGHT_FENCE, "S1: A holds block 0, which transfer 7 brings for another") in told(state)


def test_the_last_writer_of_a_block_counts_as_the_first() -> None:
    state = paged(*RUN_A)
    state.requests[B] = paged(*RUN_A).requests["A"].copy()
    state.requests[B].request = asks("B", 0, 1, 0, salt="x")
    state.requests[B].tables = [[]]
    state.blocks[0].writers[1] = (B, 0)
    assert (rules.ISOLATION, "S10: A block 0 was written by B under another salt") in told(state)
