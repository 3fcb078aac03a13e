"""Clients come and requests begin: add, reject, refuse, lookup, start, fork."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.hits import check_hit, narrow
from kvspec.state import Live, State
from kvspec.transition.blocks import copy_content, give_back, share, take
from kvspec.transition.guards import (
    check_order,
    live_of,
    require_arrived,
    require_phase,
    require_present,
    require_sound,
)
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import Phase


def add(state: State, event: ev.Add, tally: Tally) -> None:
    """A client sends a request: it waits."""
    request = event.request
    if request.id in state.requests:
        raise HarnessFault(f"request {request.id} is added twice")
    contexts = state.contexts.chain(request.parts, request.prompt)
    state.requests[request.id] = Live(
        request, len(state.requests), list(request.prompt), contexts, waits_since=state.step
    )
    first = tuple(request.prompt[: state.world.block_size])
    state.variants.setdefault(narrow(first), set()).add((first, request.parts))
    state.last = "add"


def reject(state: State, event: ev.Reject, tally: Tally) -> None:
    """The engine turns a request away for good: only one that can never fit."""
    live = live_of(state, event.request)
    require_present(tally, live, "is rejected")
    tally.require(
        not state.feasible(live.request),
        rules.PROGRESS_OR_REJECT,
        lambda: (
            f"{event.request} is rejected although its {live.request.limit} tokens fit into {state.usable} blocks",
            "only what can never fit is rejected",
        ),
        request=event.request,
    )
    give_back(state, live)
    live.phase, live.left_in = Phase.DONE, state.step
    state.progressed, state.last = True, "exit"


def refuse(state: State, event: ev.Refuse, tally: Tally) -> None:
    """The engine declines for now: only what does not fit, and nothing changes."""
    live_of(state, event.request)
    idle_hits = sum(1 for block in event.hit if block in state.evictable)
    spare = state.capabilities.watermark_blocks + state.capabilities.lookahead_blocks
    tally.require(
        event.need + idle_hits + spare > state.available,
        rules.FIT_AGREES_WITH_ALLOCATE,
        lambda: (
            f"{event.request} is refused {event.need} blocks while {state.available - idle_hits} are free",
            "what fits is given",
        ),
        request=event.request,
    )
    state.last = "refusal"


def decline(state: State, event: ev.Decline, tally: Tally) -> None:
    """The engine does not do what it may leave undone, and nothing changes."""
    live_of(state, event.request)
    state.last = "refusal"


def lookup(state: State, event: ev.Lookup, tally: Tally) -> None:
    """A hit that is reported and not taken must be as right as one that is."""
    live = live_of(state, event.request)
    check_hit(state, tally, live, event.hit, event.blocks)
    live.looked_up = event.blocks
    state.last = "lookup"


def start(state: State, event: ev.Start, tally: Tally) -> None:
    """A waiting request begins to run on a hit that is whole, right and allowed, and shares its blocks."""
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.WAITING, "starts")
    tally.require(
        live.preempted_in != state.step,
        rules.ONE_QUEUE,
        lambda: (f"{event.request} starts in the step that preempts it", "a victim waits for the next step"),
        request=event.request,
    )
    check_hit(state, tally, live, event.hit, event.blocks)
    check_order(state, tally, live)
    share(state, event.blocks)
    live.phase, live.started = Phase.RUNNING, True
    live.table, live.computed = list(event.blocks), event.hit
    live.hit = live.homes = event.hit
    live.looked_up, live.swapped = (), None
    if live.resumed:
        state.resumed_hit_tokens += event.hit
    else:
        state.hit_tokens += event.hit
    state.last = "start"


def fork(state: State, event: ev.Fork, tally: Tally) -> None:
    """A request is continued twice: the child shares its parent's blocks, or receives copies of their content."""
    parent = live_of(state, event.parent)
    if event.child.id in state.requests:
        raise HarnessFault(f"request {event.child.id} is added twice")
    if (event.child.prompt, event.child.parts) != (parent.request.prompt, parent.request.parts):
        raise HarnessFault(f"the fork {event.child.id} has another prompt or other key parts than {event.parent}")
    require_phase(tally, parent, Phase.RUNNING, "is forked")
    child = parent.copy()
    child.request, child.arrival = event.child, len(state.requests)
    child.table, child.ran, child.forked = [], False, child.arrival
    tally.require(
        len(event.table) == len(parent.table),
        rules.COVERAGE_AND_LIMIT,
        lambda: (
            f"the fork {event.child.id} has {len(event.table)} blocks, its parent {len(parent.table)}",
            "a fork has a home for every computed position",
        ),
        request=event.child.id,
    )
    for ours, theirs in zip(event.table, parent.table, strict=True):
        if ours == theirs:
            share(state, (ours,))
        else:
            require_arrived(state, tally, child, (theirs,))
            require_sound(state, tally, child, (theirs,))
            take(state, tally, ours, child)
            copy_content(state, theirs, ours, state.world.block_size)
        child.table.append(ours)
    state.requests[event.child.id] = child
    state.last = "fork"
