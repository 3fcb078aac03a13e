"""Steps as a whole: their end, their flight on the device, their failure, and the reset of the cache."""

from __future__ import annotations

from typing import cast

from kvspec import events as ev
from kvspec import rules
from kvspec.needs import first_kept
from kvspec.state import Live, State
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import RUNNING, BlockId


def reset(state: State, event: ev.Reset, tally: Tally) -> None:
    """The prefix cache forgets every key, or refuses to."""
    tally.met(rules.INVALIDATE)
    if not event.accepted:
        state.kept = state.shown
        return
    state.epoch += 1
    for block in state.blocks:
        if block.key is not None:
            block.key = None
    state.shown = state.kept = None


def fail_step(state: State, event: ev.FailStep, tally: Tally) -> None:
    """What a failed step wrote is garbage, on the host too, and can no longer be matched."""
    for block in state.blocks:
        for offset, writer in enumerate(block.writers):
            if writer is not None and writer[1] == event.step:
                block.contexts[offset] = None
                block.failed, block.key = True, None
    for live in state.present.values():
        if live.swapped is not None:
            live.garbage |= {position for position, step in enumerate(live.swapped_by) if step == event.step}
            live.swapped = [None if p in live.garbage else context for p, context in enumerate(live.swapped)]


def end_step(state: State, event: ev.EndStep, tally: Tally) -> None:
    """A step ends that has computed a token, freed a block or rejected a request, if anything waits.

    Raises sched/progress-or-reject, and what `_check_decode_gap` raises.
    """
    pending = state.live()
    if state.progressed:
        state.idle_steps = 0
    if pending and not state.transfers and not any(state.in_flight.values()):
        tally.met(rules.PROGRESS_OR_REJECT)
        state.idle_steps += not state.progressed
        if state.idle_steps > state.capabilities.idle_steps:
            tally.fail(rules.PROGRESS_OR_REJECT, "idle", waiting=", ".join(live.request.id for live in pending))
    _check_decode_gap(state, tally)
    state.unseen = state.step not in state.in_flight
    state.step += 1
    state.left = state.world.token_budget
    state.progressed, state.planned = False, {}
    for live in state.present.values():
        live.ran = False
    state.present = {id: live for id, live in state.present.items() if not live.gone}


def dispatch(state: State, event: ev.Dispatch, tally: Tally) -> None:
    """The step is on the device, which may touch what the requests that it runs hold and read."""
    if event.step in state.in_flight:
        raise HarnessFault(f"step {event.step} is dispatched twice")
    if event.step != state.step:
        raise HarnessFault(f"step {event.step} is dispatched while step {state.step} is planned")
    touched: set[BlockId | None] = set()
    for id, start in state.planned.items():
        for group, table in zip(state.layout.groups, state.requests[id].tables, strict=True):
            touched.update(table[first_kept(group, start) :])
    state.in_flight[event.step] = frozenset(cast(set[BlockId], touched - {None}))
    state.starts[event.step] = state.planned


def complete(state: State, event: ev.Complete, tally: Tally) -> None:
    """The step has left the device."""
    if event.step not in state.in_flight:
        raise HarnessFault(f"step {event.step} completes but was not dispatched")
    del state.in_flight[event.step]
    state.starts.pop(event.step, None)


def _check_decode_gap(state: State, tally: Tally) -> None:
    """Profile decode-first: a running request that fits into what is left was scheduled.

    Raises sched/bounded-decode-gap.
    """
    if "decode-first" not in state.capabilities.profiles:
        return
    for live in state.present.values():
        if live.phase is not RUNNING or live.transfer is not None or live.computed >= len(live.tokens):
            continue
        fits = all(need <= state.available_in(pool) for pool, need in enumerate(_needs(state, live)))
        could = state.left > 0 and fits and len(state.planned) < state.world.max_running
        tally.met(rules.BOUNDED_DECODE_GAP)
        if could and not live.ran:
            tally.fail(rules.BOUNDED_DECODE_GAP, "skipped", request=live.request.id, left=state.left)


def _needs(state: State, live: Live) -> list[int]:
    """Per pool, the blocks that the request has to be given for one token more."""
    needs = [0] * state.layout.num_pools
    for number, (group, table) in enumerate(zip(state.layout.groups, live.tables, strict=True)):
        needs[state.layout.pool_of(number)] += live.computed >= len(table) * group.block_size
    return needs
