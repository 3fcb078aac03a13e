"""Spoiled effects: what deliberate faults make of a state after an event, in place, given the state before it."""

from __future__ import annotations

from kvspec import events as ev
from kvspec.state import State


def forward(before: State, state: State, event: ev.Event) -> None:
    """Blocks join the order of eviction from the head of the table on."""
    joined = [id for id in state.free if id not in before.free]
    for id in joined:
        del state.free[id]
    state.free.update(dict.fromkeys(reversed(joined)))


def unreferenced(before: State, state: State, event: ev.Event) -> None:
    """Shared blocks are not counted."""
    for block, old in zip(state.blocks, before.blocks, strict=True):
        if block.ref > 1:
            block.ref = min(block.ref, max(old.ref, 1))


def keeps_key(before: State, state: State, event: ev.Event) -> None:
    """Blocks that change hands keep their keys."""
    for block, old in zip(state.blocks, before.blocks, strict=True):
        if old.key is not None and not block.key:
            block.key = old.key


def copies_nothing(before: State, state: State, event: ev.Event) -> None:
    """A private block is taken, and nothing is copied."""
    if isinstance(event, ev.Copy):
        state.blocks[event.target].contexts = [None] * state.world.block_size


def copies_less(before: State, state: State, event: ev.Event) -> None:
    """The last valid token is not copied."""
    if isinstance(event, ev.Copy):
        target = state.blocks[event.target].contexts
        target[max((p for p, context in enumerate(target) if context is not None), default=0)] = None


def forks_empty(before: State, state: State, event: ev.Event) -> None:
    """The private block of a fork receives no copy."""
    if isinstance(event, ev.Fork):
        for id in {id for id in event.table if id is not None} - {*before.requests[event.parent].table}:
            state.own(id).contexts = [None] * state.world.block_size


def leaks(before: State, state: State, event: ev.Event) -> None:
    """Blocks that nobody holds are never idle again."""
    for id in [id for id in state.free if id not in before.free]:
        state.own(id).ref = 1
        del state.free[id]


def twice(before: State, state: State, event: ev.Event) -> None:
    """Blocks are given back twice."""
    for live in before.requests.values():
        if state.requests[live.request.id].phase is not live.phase:
            for id in live.table:
                state.blocks[id].ref -= 1


def keeps_table(before: State, state: State, event: ev.Event) -> None:
    """A victim keeps its table."""
    if isinstance(event, ev.Preempt):
        state.requests[event.request].tables = before.requests[event.request].tables


def loses_tokens(before: State, state: State, event: ev.Event) -> None:
    """A victim forgets what it has sampled."""
    if isinstance(event, ev.Preempt):
        live = state.requests[event.request]
        del live.tokens[len(live.request.prompt) :], live.contexts[len(live.request.prompt) :]


def publishes_half(before: State, state: State, event: ev.Event) -> None:
    """A block is keyed before it is full."""
    if isinstance(event, ev.Compute):
        live = state.requests[event.request]
        index = (live.computed - 1) // state.world.block_size
        end = (index + 1) * state.world.block_size
        if end <= len(live.contexts):
            state.blocks[live.table[index]].key = live.contexts[end - 1]


def hits_too_far(before: State, state: State, event: ev.Event) -> None:
    """A hit counts one token too many."""
    if isinstance(event, ev.Start) and event.hit:
        live = state.requests[event.request]
        live.computed = live.allocated = event.hit + 1


def next_slot(before: State, state: State, event: ev.Event) -> None:
    """What is computed goes one slot further."""
    if isinstance(event, ev.Compute):
        contexts = state.blocks[state.requests[event.request].table[-1]].contexts
        contexts.insert(0, contexts.pop())


def keeps_keys(before: State, state: State, event: ev.Event) -> None:
    """Keys stay as they were."""
    for block, old in zip(state.blocks, before.blocks, strict=True):
        if block.key != old.key:
            block.key = old.key


def keeps_left(before: State, state: State, event: ev.Event) -> None:
    """The budget stays as it was."""
    state.left = before.left


def stays_idle(before: State, state: State, event: ev.Event) -> None:
    """Blocks that are hit stay in the order of eviction."""
    state.free = dict(before.free)


def swaps_less(before: State, state: State, event: ev.Event) -> None:
    """The last slot is not copied to the host."""
    if isinstance(event, ev.SwapOut) and (swapped := state.requests[event.request].swapped):
        swapped[-1] = None


def stays_fenced(before: State, state: State, event: ev.Event) -> None:
    """Blocks stay fenced."""
    for block, old in zip(state.blocks, before.blocks, strict=True):
        if block.fence != old.fence:
            block.fence = old.fence


def forgets_progress(before: State, state: State, event: ev.Event) -> None:
    """What is done does not count as progress."""
    state.progressed = before.progressed
