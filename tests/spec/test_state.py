"""What a state says of itself: who is present, and which requests fit or never can."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec.state import initial
from kvspec.vocabulary import BlockId, World
from tests.spec.test_transition import PLAIN, RUN_A, after, request

pytestmark = pytest.mark.kills("law")

WORLD = World(num_blocks=4, block_size=2, options={"max_model_len": 8})
RESERVED = replace(PLAIN, reserved_blocks=frozenset({BlockId(0)}))


@pytest.mark.parametrize(
    ("tokens", "declared", "feasible", "infeasible"),
    [
        (8, PLAIN, True, False),
        (9, PLAIN, False, True),
        (6, RESERVED, True, False),
        (7, RESERVED, False, False),
        (8, RESERVED, False, True),
        (6, replace(PLAIN, watermark_blocks=1), True, False),
        (8, replace(PLAIN, watermark_blocks=1), False, False),
    ],
)
def test_what_fits_alone_and_what_never_does(tokens: int, declared: object, feasible: bool, infeasible: bool) -> None:
    """Between them lies the token whose keys and values nobody reads, and what only the watermark forbids."""
    asked, state = request("A", *(0,) * (tokens - 1), new=1), initial(WORLD, declared)  # type: ignore[arg-type]
    assert asked.limit == tokens
    assert (state.feasible(asked), state.infeasible(asked)) == (feasible, infeasible)


def test_a_context_longer_than_the_model_takes_never_fits_whatever_the_pool() -> None:
    state = initial(replace(WORLD, num_blocks=9), PLAIN)
    assert state.feasible(request("A", *(0,) * 7, new=1)) and state.infeasible(request("A", *(0,) * 8, new=1))


def test_where_nobody_says_who_is_present_everybody_is() -> None:
    state = after(*RUN_A)
    assert replace(state, present={}).present == state.requests == {"A": state.requests["A"]}
