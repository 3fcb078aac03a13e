"""The transition of a cache with several groups: one short function per event, in the order guards, effect.

A guard that fails raises `Violation` with the rule it stands for. The relation judges what an engine chose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.blocks import fill, give_back, read, require_tables, share, take, write
from kvspec.groups.claims import observe
from kvspec.groups.hits import check_hit
from kvspec.groups.needs import first_kept, read_below, slots_after, written
from kvspec.groups.state import Live, State
from kvspec.groups.vocabulary import Kind
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import RequestId


def step(state: State, event: ev.Event, tally: Tally | None = None) -> State:
    """The state after `event`. Raises `Violation` where the event is not allowed; `state` is never changed."""
    after = state.copy()
    advance(after, event, tally or Tally())
    return after


def advance(state: State, event: ev.Event, tally: Tally) -> None:
    """Apply `event` to `state` in place."""
    _TRANSITIONS[type(event)](state, event, tally)


def admit(state: State, event: ev.Admit, tally: Tally) -> None:
    """A request begins: its hit is valid for all groups; hits are shared in all of them before new blocks are taken."""
    if event.request.id in state.requests:
        raise HarnessFault(f"request {event.request.id} is admitted twice")
    if event.hit < 0:
        raise HarnessFault(f"{event.request.id} is admitted on a hit of {event.hit} tokens")
    contexts = state.contexts.chain(event.request.parts, event.request.prompt)
    filled, tables = [event.hit] * len(event.tables), [list(table) for table in event.tables]
    live = Live(event.request, list(event.request.prompt), contexts, event.hit, filled, tables)
    require_tables(state, tally, live, event.tables, event.end)
    check_hit(state, tally, live, event.hit, event.tables)
    whole = [event.hit // group.block_size for group in state.layout.groups]
    for number, table in enumerate(event.tables):
        for id in table[: whole[number]]:
            share(state, tally, live, number, id)
    for number, table in enumerate(event.tables):
        for id in table[whole[number] :]:
            take(state, tally, live, number, id)
    state.requests[live.request.id] = live
    state.last = "admit"


def refuse(state: State, event: ev.Refuse, tally: Tally) -> None:
    """The engine declines: only what would not fit even if every entry of every group were needed anew."""
    live = state.requests.get(event.request.id)
    need = state.layout.most_blocks(event.end)
    if live is not None:
        for number, table in enumerate(live.tables):
            need[state.layout.pool_of(number)] -= len(table)
    spare = state.capabilities.watermark_blocks + state.capabilities.lookahead_blocks * len(state.layout.groups)
    free = state.free()
    tally.require(
        any(most + spare > idle for most, idle in zip(need, free, strict=True)),
        rules.FIT_AGREES_WITH_ALLOCATE,
        lambda: (
            f"{event.request.id} is refused at most {need} blocks while {list(free)} are free",
            "what fits is given",
        ),
        request=event.request.id,
    )
    state.last = "refusal"


def grow(state: State, event: ev.Grow, tally: Tally) -> None:
    """The tables of a running request grow at their ends."""
    live = _live(state, event.request)
    require_tables(state, tally, live, event.tables, event.end)
    for number, (old, new) in enumerate(zip(live.tables, event.tables, strict=True)):
        if list(new[: len(old)]) != old:
            seen = f"the table of {event.request} in group {number} turns from {old} to {list(new)}"
            tally.broken(rules.NO_DANGLING_REFERENCE, seen, "it keeps its entries", request=event.request, group=number)
        for id in new[len(old) :]:
            take(state, tally, live, number, id)
        live.tables[number] = list(new)
    state.last = "grow"


def release(state: State, event: ev.Release, tally: Tally) -> None:
    """An entry is given back that no query in flight or to come reads."""
    live = _live(state, event.request)
    if not (0 <= event.group < len(live.tables) and 0 <= event.index < len(live.tables[event.group])):
        raise HarnessFault(f"{event.request} has no entry {event.index} in group {event.group}")
    group = state.layout.groups[event.group]
    id = live.tables[event.group][event.index]
    kept = first_kept(group, live.earliest)
    tally.require(
        event.index < kept,
        rules.EVERY_GROUP_HIT,
        lambda: (
            f"{event.request} gives back entry {event.index} of group {event.group} ({group}), block {id}, "
            f"while its query at position {live.earliest} is {'in flight' if live.flights else 'still to come'}",
            f"entries from {kept} on are kept" if kept else "every entry is kept",
        ),
        request=event.request,
        group=event.group,
        block=id,
    )
    give_back(state, event.group, id)
    live.tables[event.group][event.index] = None
    state.last = "release"


def compute(state: State, event: ev.Compute, tally: Tally) -> None:
    """A step reads what its queries see of the past, and writes its positions, in every group."""
    live = _live(state, event.request)
    end = live.computed + event.count
    if not live.computed < end <= len(live.tokens):
        raise HarnessFault(f"{event.request} computes {event.count} of {len(live.tokens) - live.computed} tokens")
    for number, group in enumerate(state.layout.groups):
        for slot in read_below(group, live.filled[number]):
            read(state, tally, live, number, slot)
        filled = slots_after(group, end, len(live.tokens), ahead=state.capabilities.drafts_ahead)
        for slot in written(group, live.filled[number], filled):
            last = slot.position == end - 1
            if group.kind is not Kind.STATE or last or state.capabilities.states == "every":
                write(state, tally, live, number, slot, must=group.kind is not Kind.STATE or last)
        if group.kind is Kind.DRAFT and state.capabilities.drafts_ahead:
            # Of the tokens to come the step samples one, from which it drafts what the next step, if any, reads.
            goes_on = live.generated + 1 < live.request.max_new_tokens
            for slot in written(group, filled, end):
                write(state, tally, live, number, slot, must=goes_on and slot.position == end)
        live.filled[number] = max(live.filled[number], filled)
    live.flights[state.steps] = live.computed
    live.computed, state.steps = end, state.steps + 1
    state.last = "compute"


def complete(state: State, event: ev.Complete, tally: Tally) -> None:
    """The oldest step of a request is no longer on the device."""
    live = _live(state, event.request)
    if not live.flights:
        raise HarnessFault(f"no step of {event.request} is in flight")
    del live.flights[next(iter(live.flights))]
    state.last = "complete"


def sample(state: State, event: ev.Sample, tally: Tally) -> None:
    """A token joins a request; a drafter that runs ahead has used it in the step that sampled it."""
    live = _live(state, event.request)
    if live.computed < len(live.tokens):
        raise HarnessFault(f"{event.request} samples before all its tokens are computed")
    parent = live.contexts[-1]
    live.contexts += state.contexts.continue_chain(parent, len(live.tokens), live.request.parts, [event.token])
    live.tokens.append(event.token)
    for number, group in enumerate(state.layout.groups):
        if group.kind is Kind.DRAFT and state.capabilities.drafts_ahead:
            filled = slots_after(group, live.computed, len(live.tokens), ahead=True)
            for slot in written(group, live.filled[number], filled):
                fill(state, live, number, slot)
            live.filled[number] = max(live.filled[number], filled)
    state.last = "sample"


def end(state: State, event: ev.End, tally: Tally) -> None:
    """A request leaves and gives everything back."""
    live = _live(state, event.request)
    if live.flights:
        raise HarnessFault(f"{event.request} ends while a step of it is in flight")
    for number, table in enumerate(live.tables):
        for id in table:
            give_back(state, number, id)
    del state.requests[event.request]
    state.last = "exit"


def _live(state: State, id: RequestId) -> Live:
    if id not in state.requests:
        raise HarnessFault(f"request {id} does not run")
    return state.requests[id]


_TRANSITIONS: dict[type, Callable[[State, Any, Tally], None]] = {
    ev.Admit: admit,
    ev.Refuse: refuse,
    ev.Grow: grow,
    ev.Release: release,
    ev.Compute: compute,
    ev.Complete: complete,
    ev.Sample: sample,
    ev.End: end,
    ev.Observe: observe,
}
