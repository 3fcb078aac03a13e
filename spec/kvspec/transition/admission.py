"""Clients come and requests begin: add, reject, refuse, lookup, start, fork."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.hits import check_hit
from kvspec.needs import first_kept
from kvspec.state import Live, State
from kvspec.transition.blocks import copy_content, give_back, share, take
from kvspec.transition.guards import (
    check_order,
    live_of,
    per_group,
    require_arrived,
    require_phase,
    require_present,
    require_sound,
)
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import DONE, RUNNING, WAITING


def add(state: State, event: ev.Add, tally: Tally) -> None:
    """A client sends a request: it waits."""
    request = event.request
    if request.id in state.requests:
        raise HarnessFault(f"request {request.id} is added twice")
    contexts, groups = state.contexts.chain(request.parts, request.prompt), state.layout.groups
    live = Live(request, len(state.requests), list(request.prompt), contexts)
    live.tables, live.filled = [[] for _ in groups], [0 for _ in groups]
    state.enter(live)


def reject(state: State, event: ev.Reject, tally: Tally) -> None:
    """The engine turns a request away for good: only one that can never fit.

    Raises sched/progress-or-reject, and what `require_present` raises.
    """
    live = live_of(state, event.request)
    require_present(tally, live)
    tally.met(rules.PROGRESS_OR_REJECT)
    if state.feasible(live.request):
        limit = live.request.limit
        tally.fail(rules.PROGRESS_OR_REJECT, "fits", request=event.request, limit=limit, usable=state.usable)
    give_back(state, live)
    live.phase, live.left_in = DONE, state.step
    state.progressed = True


def refuse(state: State, event: ev.Refuse, tally: Tally) -> None:
    """The engine declines for now: only what does not fit, and nothing changes.

    Raises alloc/fit-agrees-with-allocate.
    """
    live_of(state, event.request)
    tally.met(rules.FIT_AGREES_WITH_ALLOCATE)
    spare = state.capabilities.watermark_blocks + state.capabilities.lookahead_blocks * len(state.layout.groups)
    idle = [id for id in event.hit if id in state.free]
    for pool, need in enumerate((event.need, *event.more)):
        free = state.available_in(pool) - sum(id // state.world.num_blocks == pool for id in idle)
        if need + spare > free:
            return
    tally.fail(rules.FIT_AGREES_WITH_ALLOCATE, "fits", request=event.request, need=event.need, free=free)


def decline(state: State, event: ev.Decline, tally: Tally) -> None:
    """The engine does not do what it may leave undone, and nothing changes."""
    live_of(state, event.request)


def lookup(state: State, event: ev.Lookup, tally: Tally) -> None:
    """A hit that is reported and not taken must be as right as one that is.

    Raises what `check_hit` raises.
    """
    check_hit(state, tally, live_of(state, event.request), event.hit, per_group(state, event))


def start(state: State, event: ev.Start, tally: Tally) -> None:
    """A waiting request begins to run on a hit that is whole, right and allowed, and shares its blocks.

    Raises sched/one-queue, and what `require_phase`, `check_hit` and `check_order` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, WAITING)
    tally.met(rules.ONE_QUEUE)
    if live.preempted_in == state.step:
        tally.fail(rules.ONE_QUEUE, "at once", request=event.request)
    tables = per_group(state, event)
    check_hit(state, tally, live, event.hit, tables)
    check_order(state, tally, live)
    for table in tables:
        share(state, table)
    live.phase, live.started = RUNNING, True
    live.tables, live.filled = [list(table) for table in tables], [event.hit for _ in tables]
    live.hit = live.allocated = live.computed = event.hit
    live.swapped, live.wasted = None, 0
    if not live.resumed:
        state.hit_tokens += event.hit


def fork(state: State, event: ev.Fork, tally: Tally) -> None:
    """A request is continued twice: the child shares its parent's blocks, or receives copies of their content.

    Raises alloc/coverage-and-limit, and what `require_phase`, `require_arrived`, `require_sound` and `take` raise.
    """
    parent = live_of(state, event.parent)
    if event.child.id in state.requests:
        raise HarnessFault(f"request {event.child.id} is added twice")
    if (event.child.prompt, event.child.parts) != (parent.request.prompt, parent.request.parts):
        raise HarnessFault(f"the fork {event.child.id} has another prompt or other key parts than {event.parent}")
    require_phase(tally, parent, RUNNING)
    child = parent.copy()
    child.request, child.arrival = event.child, len(state.requests)
    child.tables, child.ran, child.forked = [[] for _ in parent.tables], False, child.arrival
    for number, (table, old) in enumerate(zip(per_group(state, event), parent.tables, strict=True)):
        tally.met(rules.COVERAGE_AND_LIMIT)
        length, wanted, kept = len(table), len(old), first_kept(state.layout.groups[number], parent.computed)
        if length != wanted:
            tally.fail(rules.COVERAGE_AND_LIMIT, "fork", request=event.child.id, length=length, wanted=wanted)
        for index, (ours, theirs) in enumerate(zip(table, old, strict=True)):
            if (ours is None) != (theirs is None) and (theirs is None or index >= kept):
                facts = {"group": number, "index": index}
                tally.fail(rules.COVERAGE_AND_LIMIT, "fork entry", request=event.child.id, **facts)
            if ours == theirs:
                share(state, (ours,))
            elif ours is not None and theirs is not None:
                require_arrived(state, tally, child, (theirs,))
                require_sound(state, tally, child, (theirs,))
                take(state, tally, ours, child, number)
                copy_content(state, theirs, ours, state.layout.groups[number].slots)
            child.tables[number].append(ours)
    state.enter(child)
