"""The explorer beside plain breadth-first search on the same scope: `make bench` shows the ratio."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kvexamine.explorer.broken import tried
from kvexamine.explorer.paged.model import PagedModel
from kvexamine.explorer.paged.scopes import find
from kvexamine.explorer.run import search_of
from kvspec import State

SCOPE = replace(find("prefix"), requests=find("prefix").requests[1:])
"""Two of the three requests: a few thousand states."""


def canonical(state: State) -> str:
    """A state as text, up to the names of its blocks: only the fields that this scope can change."""
    order: dict[int, None] = {}
    for live in state.requests.values():
        order.update(dict.fromkeys(live.table))
    order.update(state.free)
    names = {id: name for name, id in enumerate(order)}
    requests = [
        (live.phase.value, live.tokens, live.computed, [names[id] for id in live.table], live.ran)
        + ((live.preempted_in == state.step,) if live.phase.value == "waiting" else ())
        for live in state.requests.values()
        if live.phase.value != "done" or live.ran
    ]
    done = [live.phase.value == "done" for live in state.requests.values()]
    blocks = [(block.contexts, block.key, block.ref) for block in (state.blocks[id] for id in order)]
    return repr((requests, done, blocks, len(state.free), state.left, state.progressed))


def allowed(model: PagedModel, state: State) -> Iterator[State]:
    """The states after each move that the transition allows."""
    for move in model.proposals(state):
        if (played := tried(model.play, state, move)) is not None:
            yield played[1]


def plain() -> int:
    """How many states a queue of whole states finds, with all invariants for every move."""
    model = PagedModel(SCOPE)
    first = model.start()
    seen, queue = {canonical(first)}, deque([first])
    while queue:
        for after in allowed(model, queue.popleft()):
            assert model.broken_state(after) is None
            if (key := canonical(after)) not in seen:
                seen.add(key)
                queue.append(after)
    return len(seen)


def explored() -> int:
    found = search_of(SCOPE).run()
    assert found.complete and found.broken is None
    return found.states


@pytest.mark.benchmark(group="states of a scope with two requests")
def test_plain_search(benchmark: Any) -> None:
    benchmark.pedantic(plain, rounds=2)


@pytest.mark.benchmark(group="states of a scope with two requests")
def test_explorer(benchmark: Any) -> None:
    benchmark.pedantic(explored, rounds=4)


def test_both_find_the_same_states() -> None:
    assert plain() == explored()
