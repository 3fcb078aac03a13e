"""Deliberate faults of the transition as groups need it, each of which some small world must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from kvexamine.explorer.groups.world import earliest
from kvexamine.explorer.spoiling import Fault, after, around, forbidding, without
from kvexamine.explorer.transition import Transition, honest
from kvspec import events as ev
from kvspec import rules
from kvspec.layout import Group, Kind
from kvspec.state import State


def _regrouped(change: Callable[[Group], Group]) -> Callable[[State, Any], AbstractContextManager[None]]:
    """As if the groups were others."""

    @contextmanager
    def disguise(state: State, event: Any) -> Iterator[None]:
        layout = state.layout
        state.layout = replace(layout, groups=tuple(map(change, layout.groups)))
        yield
        state.layout = layout

    return disguise


def _window(by: int) -> Callable[[Group], Group]:
    return lambda group: replace(group, window=max(1, group.window + by)) if group.kind is Kind.WINDOW else group


_NARROW, _WIDE = _regrouped(_window(-1)), _regrouped(_window(1))


@contextmanager
def _landed(state: State, event: ev.Trim) -> Iterator[None]:
    """As if no step were on the device."""
    starts, state.starts = state.starts, {}
    yield
    state.starts = starts


@contextmanager
def _dangling(state: State, event: ev.Trim) -> Iterator[None]:
    """An entry that was given back still names its block."""
    table = state.requests[event.request].tables[event.group]
    id = table[event.index]
    yield
    table[event.index] = id


@contextmanager
def _leaking(state: State, event: ev.Abort) -> Iterator[None]:
    """The last group keeps its references."""
    table = state.requests[event.request].tables[-1][:]
    yield
    for id in table:
        if id is not None:
            state.blocks[id].ref += 1


def _unreferenced(state: State, event: ev.Start) -> None:
    """The shared blocks of a hit are not counted."""
    for table in event.tables:
        for id in table:
            if id is not None:
                state.blocks[id].ref -= 1


def _too_far(state: State, event: ev.Start) -> None:
    """A hit counts one token too many."""
    if event.hit:
        live = state.requests[event.request]
        live.computed, live.filled = event.hit + 1, [event.hit + 1] * len(live.tables)


def _older(state: State, event: ev.Compute) -> None:
    """What is kept is the state before the last token."""
    live = state.requests[event.request]
    for number, group in enumerate(state.layout.groups):
        if group.kind is Kind.STATE and live.computed > 1:
            id = live.tables[number][(live.computed - 1) // group.block_size]
            if id is not None:
                state.blocks[id].contexts[0] = live.contexts[live.computed - 2]


def _at_once(state: State, event: ev.Compute) -> None:
    """A drafter counts the slots that still lack the tokens behind them."""
    live = state.requests[event.request]
    for number, group in enumerate(state.layout.groups):
        if group.kind is Kind.DRAFT:
            live.filled[number] = live.computed


@contextmanager
def _undrafted(state: State, event: ev.Sample) -> Iterator[None]:
    """The slots that were drafted from the sampled token stay as they were, and count."""
    blocks = [block.copy() for block in state.blocks]
    yield
    state.blocks = blocks


def _next_slot(state: State, event: ev.Compute) -> None:
    """What is computed goes into the slot after it."""
    live = state.requests[event.request]
    for number, group in enumerate(state.layout.groups):
        id = live.tables[number][(live.computed - 1) // group.block_size]
        if group.slots > 1 and id is not None:
            contexts = state.blocks[id].contexts
            contexts.insert(0, contexts.pop())


def _forgets_idle(state: State, event: ev.Event) -> None:
    """The content of blocks that nobody holds is gone."""
    for id, block in enumerate(state.blocks):
        if not block.ref and any(context is not None for context in block.contexts):
            state.blocks[id].contexts = [None] * len(block.contexts)


@contextmanager
def _uncleared(state: State, event: ev.Reserve) -> Iterator[None]:
    """A block that is handed over within its group keeps its content."""
    old = [block.copy() for block in state.blocks]
    yield
    for block, was in zip(state.blocks, old, strict=True):
        if block.owner == was.owner and block.contexts != was.contexts:
            block.contexts, block.writers = was.contexts, was.writers


def _newest_first(state: State, event: ev.Event) -> None:
    """The newest step of a request leaves the device in the place of its oldest."""
    if isinstance(event, ev.Complete):
        (who,) = state.starts[event.step]
        event = ev.Complete([step for step, starts in state.starts.items() if who in starts][-1])
    honest(state, event)


@contextmanager
def _all_landed(state: State, event: ev.Complete) -> Iterator[None]:
    """No step of the request is on the device any more."""
    (who,) = state.starts[event.step]
    yield
    for step in [step for step, starts in state.starts.items() if who in starts]:
        del state.starts[step], state.in_flight[step]


def _sampled_twice(state: State, event: ev.Sample) -> None:
    """The token joins the request once more, where that may have so many."""
    live = state.requests[event.request]
    if live.generated < live.request.max_new_tokens:
        live.contexts += state.contexts.continue_chain(
            live.contexts[-1], len(live.tokens), live.request.parts, [event.token]
        )
        live.tokens.append(event.token)


@contextmanager
def _kept_progress(state: State, event: ev.Preempt) -> Iterator[None]:
    """A victim counts as computed what it has given back."""
    live = state.requests[event.request]
    computed, filled = live.computed, live.filled[:]
    yield
    live.computed, live.filled = computed, filled


def _half_copied(state: State, event: ev.SwapOut) -> None:
    """The last slot of the last group does not reach the host."""
    if swapped := state.requests[event.request].swapped:
        swapped[-1] = None


def _is_kept(state: State, event: ev.Trim) -> bool:
    """Whether the entry is the last that may go, rounded down once more."""
    group, query = state.layout.groups[event.group], earliest(state, state.requests[event.request])
    return group.kind is Kind.WINDOW and (event.index + 2) * group.block_size > query - group.window + 1


def _fault(name: str, says: str, transition: Transition) -> Fault:
    return Fault("groups", name, says, transition)


_SAID = (
    rules.COUNT_EQUALS_HOLDERS,
    rules.CONSERVATION,
    rules.NO_DANGLING_REFERENCE,
    rules.EVERY_EXIT_RELEASES,
    rules.FAILURE_IS_ATOMIC,
)

FAULTS = (
    _fault("full-hit", "a hit on all tokens leaves none to compute", without(ev.Start, rules.ONE_TOKEN_LEFT)),
    _fault(
        "one-group-hit",
        "a hit is valid for the first group and not for the others",
        without(ev.Start, rules.EVERY_GROUP_HIT, rules.CONTENT_MATCHES_KEY),
    ),
    _fault("short-window-hit", "a hit lacks the first position of a window", around(ev.Start, _NARROW)),
    _fault(
        "draft-hit",
        "a hit is judged without tokens behind draft slots",
        without(ev.Start, rules.DRAFT_GROUP_HIT),
    ),
    _fault("unfinished-hit", "a hit on blocks of a step in flight", without(ev.Start, rules.PUBLISH_ONLY_COMPUTED)),
    _fault("held-block", "a block that somebody holds is handed out", without(ev.Reserve, rules.CONSERVATION)),
    _fault("reserved-block", "the reserved block is handed out", without(ev.Reserve, rules.RESERVED_BLOCK)),
    _fault(
        "homeless-step",
        "a step writes what has no block, and does not read it",
        without(ev.Compute, rules.COVERAGE_AND_LIMIT, rules.EVERY_GROUP_HIT, rules.DRAFT_GROUP_HIT),
    ),
    _fault("refuses-what-fits", "blocks are refused that are free", without(ev.Refuse, rules.FIT_AGREES_WITH_ALLOCATE)),
    _fault("early-release", "a window gives back one position too early", around(ev.Trim, _NARROW)),
    _fault("any-release", "any entry is given back", without(ev.Trim, rules.EVERY_GROUP_HIT)),
    _fault("scheduled-release", "a release does not wait for the steps in flight", around(ev.Trim, _landed)),
    _fault("dangling-entry", "an entry that was given back still names its block", around(ev.Trim, _dangling)),
    _fault("end-leaks", "the last group of a request that ends keeps its blocks", around(ev.Abort, _leaking)),
    _fault("unreferenced-hit", "a shared block is not counted", after(ev.Start, _unreferenced)),
    _fault("hit-too-far", "a hit counts one token too many", after(ev.Start, _too_far)),
    _fault("short-hit", "a hit is shorter than declared", without(ev.Start, rules.LONGEST_GROUP_HIT)),
    _fault("says-too-much", "the free blocks and the tables may be others", without(ev.Observe, *_SAID)),
    _fault("older-state", "the state that is kept is that before the last token", after(ev.Compute, _older)),
    _fault("draft-without-lag", "draft slots count before the tokens behind them", after(ev.Compute, _at_once)),
    _fault("draft-not-corrected", "what was drafted from the sampled token stays", around(ev.Sample, _undrafted)),
    _fault("next-slot", "what is computed goes into the next slot", after(ev.Compute, _next_slot)),
    _fault(
        "stranger-hit",
        "a hit on blocks of other tokens",
        without(ev.Start, rules.CONTENT_MATCHES_KEY),
    ),
    _fault(
        "grows-too-far",
        "a table grows further than declared",
        without(ev.Reserve, rules.COVERAGE_AND_LIMIT, rules.ONE_PAGE_ROUNDING),
    ),
    _fault("end-forgets", "the end of a request forgets what idle blocks hold", after(ev.Abort, _forgets_idle)),
    _fault("release-forgets", "a release forgets what idle blocks hold", after(ev.Trim, _forgets_idle)),
    _fault("refusal-forgets", "a refusal forgets what idle blocks hold", after(ev.Refuse, _forgets_idle)),
    _fault("old-content", "a block keeps its content when it is handed out", around(ev.Reserve, _uncleared)),
    _fault("newest-completes", "the newest step of a request is complete first", _newest_first),
    _fault("all-complete", "all steps of a request are complete with the oldest", around(ev.Complete, _all_landed)),
    _fault("sampled-twice", "a token that is sampled joins the request twice", after(ev.Sample, _sampled_twice)),
    _fault("keeps-progress", "a victim counts as computed what it gave back", around(ev.Preempt, _kept_progress)),
    _fault("half-copied", "the last slot of the last group does not reach the host", after(ev.SwapOut, _half_copied)),
    _fault(
        "late-release",
        "false alarm: an entry is not given back that no query reads any more",
        forbidding(ev.Trim, rules.EVERY_GROUP_HIT, _is_kept),
    ),
    _fault(
        "wide-window-hit",
        "false alarm: a hit must hold a position before the window",
        around(ev.Start, _WIDE),
    ),
    _fault(
        "never-refused",
        "false alarm: what does not fit must not be refused",
        forbidding(ev.Refuse, rules.FIT_AGREES_WITH_ALLOCATE, lambda state, event: True),
    ),
)
