"""What running requests do: reserve, trim, compute, waste, copy on write, merge duplicates, sample."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.hits import check_entry
from kvspec.needs import first_kept, reads, slots_after
from kvspec.state import State
from kvspec.transition.blocks import copy_content, grow, publish, release, share, take
from kvspec.transition.contents import catch_up, read, spoil, write
from kvspec.transition.guards import (
    group_of,
    live_of,
    per_group,
    require_arrived,
    require_budget,
    require_continues,
    require_entry,
    require_goes_on,
    require_phase,
    require_scheduled_once,
    require_sound,
    require_whole_block,
)
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import RUNNING


def reserve(state: State, event: ev.Reserve, tally: Tally) -> None:
    """A running request is given slots for its next tokens.

    Raises what `require_phase` and `grow` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, RUNNING)
    grow(state, tally, live, per_group(state, event), event.end)


def compute(state: State, event: ev.Compute, tally: Tally) -> None:
    """A step computes positions of a request: slots first, then in every group the writes, the reads, and the keys.

    A recurrence reads the state that it overwrites before it does.

    Raises what `require_scheduled_once`, `require_budget`, `require_continues`, `grow`, `write` and `read` raise.
    """
    live = live_of(state, event.request)
    require_scheduled_once(state, tally, live)
    require_budget(state, tally, live, event.count)
    require_continues(tally, live, event)
    end, ahead = event.start + event.count, state.capabilities.drafts_ahead
    grow(state, tally, live, per_group(state, event), end)
    for number, group in enumerate(state.layout.groups):
        first, last = live.filled[number], slots_after(group, end, len(live.tokens), ahead=ahead)
        past = reads(group, first)
        if group.recurs:
            read(state, tally, live, number, past)
            write(state, tally, live, number, first, last, event)
        else:
            write(state, tally, live, number, first, last, event)
            read(state, tally, live, number, range(past.start, max(first, last)))
        live.filled[number] = max(first, last)
        publish(state, live, number, first)
    live.computed, live.ran = end, True
    state.left -= event.count
    state.progressed = True
    state.planned[event.request] = event.start


def waste(state: State, event: ev.Waste, tally: Tally) -> None:
    """A step computes positions behind all tokens that are known, or from the last of them on: what it writes is lost.

    Nothing is computed or published. It is progress (L1); who wastes steps for ever is found by the bound on all steps.

    Raises sched/chunk-independence, and what `require_scheduled_once`, `require_budget`, `grow` and `spoil` raise.
    """
    live = live_of(state, event.request)
    require_scheduled_once(state, tally, live)
    require_budget(state, tally, live, event.count)
    known, computed = len(live.tokens), live.computed
    if computed + 1 < known:
        tally.fail(rules.CHUNK_INDEPENDENCE, "left", request=event.request, computed=computed, total=known)
    start = computed + live.wasted
    end, ahead = start + event.count, state.capabilities.drafts_ahead
    grow(state, tally, live, per_group(state, event), end)
    for number, group in enumerate(state.layout.groups):
        first, last = (slots_after(group, place, place + group.lag, ahead=ahead) for place in (start, end))
        spoil(state, tally, live, number, max(first, live.filled[number]), last)
    live.wasted += event.count
    live.ran = True
    state.left -= event.count
    state.progressed = True
    state.planned[event.request] = start


def trim(state: State, event: ev.Trim, tally: Tally) -> None:
    """A running request gives back an entry that no query in flight or to come reads.

    Raises prefix/every-group-hit, and what `require_phase` raises.
    """
    live, group = live_of(state, event.request), group_of(state, event.group)
    require_phase(tally, live, RUNNING)
    table = live.tables[event.group]
    if not 0 <= event.index < len(table):
        raise HarnessFault(f"{event.request} has no entry {event.index} in group {event.group}")
    earliest = state.earliest(live)
    kept = first_kept(group, earliest)
    tally.met(rules.EVERY_GROUP_HIT)
    if event.index >= kept:
        facts = {"index": event.index, "block": table[event.index], "position": earliest, "kept": kept}
        tally.fail(rules.EVERY_GROUP_HIT, "trimmed", request=event.request, group=event.group, **facts)
    release(state, (table[event.index],))
    table[event.index] = None
    state.progressed = True


def copy(state: State, event: ev.Copy, tally: Tally) -> None:
    """A table entry moves to a private block, with at least the valid extent of the old one.

    Raises prefix/shared-bytes-never-change, and what `require_entry`, `require_arrived`, `require_sound` and `take`
    raise.
    """
    live, group = live_of(state, event.request), group_of(state, event.group)
    require_entry(tally, live.tables[event.group], live, event.index, event.source)
    require_arrived(state, tally, live, (event.source,))
    require_sound(state, tally, live, (event.source,))
    take(state, tally, event.target, live, event.group)
    size = group.slots
    valid = min(live.filled[event.group] - event.index * group.block_size, size)
    extent = valid if event.extent is None else event.extent
    copy_content(state, event.source, event.target, extent)
    live.tables[event.group][event.index] = event.target
    tally.met(rules.SHARED_BYTES_NEVER_CHANGE)
    if not (event.extent is None or valid <= extent <= size):
        facts = {"source": event.source, "valid": valid, "extent": extent, "size": size}
        tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "copied", request=event.request, block=event.target, **facts)
    release(state, (event.source,))


def remap(state: State, event: ev.Remap, tally: Tally) -> None:
    """A table entry moves to a block of the same content, shared; the old block is given back after that.

    Raises alloc/no-dangling-reference, and what `require_phase`, `require_whole_block` and `check_entry` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, RUNNING)
    old = require_whole_block(state, tally, live, event.group, event.index)
    tally.met(rules.NO_DANGLING_REFERENCE)
    if not state.capabilities.remaps_duplicates:
        who, index = event.request, event.index
        tally.fail(rules.NO_DANGLING_REFERENCE, "remapped", request=who, block=event.target, index=index, old=old)
    check_entry(state, tally, live, event.group, event.index, event.target)
    share(state, (event.target,))
    live.tables[event.group][event.index] = event.target
    release(state, (old,))


def sample(state: State, event: ev.Sample, tally: Tally) -> None:
    """A token is appended, once all tokens before it are computed and none too many.

    Raises sched/chunk-independence, and what `require_phase` and `require_goes_on` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, RUNNING)
    require_goes_on(tally, live)
    if live.computed != len(live.tokens):
        who, computed, total = event.request, live.computed, len(live.tokens)
        tally.fail(rules.CHUNK_INDEPENDENCE, "sampled", request=who, computed=computed, total=total)
    if live.generated >= live.request.max_new_tokens:
        tally.fail(rules.CHUNK_INDEPENDENCE, "again", request=event.request, most=live.request.max_new_tokens)
    parent = live.contexts[-1]
    live.contexts += state.contexts.continue_chain(parent, len(live.tokens), live.request.parts, (event.token,))
    live.tokens.append(event.token)
    if state.capabilities.drafts_ahead:
        catch_up(state, live)
