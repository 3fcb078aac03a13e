"""What running requests do: reserve, compute, copy on write, merge duplicates, sample."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.hits import check_hit_block
from kvspec.state import State
from kvspec.transition.blocks import copy_content, grow, publish, release, share, take
from kvspec.transition.contents import read, write
from kvspec.transition.guards import (
    live_of,
    require_arrived,
    require_budget,
    require_continues,
    require_entry,
    require_phase,
    require_scheduled_once,
    require_sound,
    require_whole_block,
)
from kvspec.violation import Tally
from kvspec.vocabulary import Phase


def reserve(state: State, event: ev.Reserve, tally: Tally) -> None:
    """A running request is given homes for its next tokens.

    Raises what `require_phase` and `grow` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING)
    grow(state, tally, live, event.table, event.end)


def compute(state: State, event: ev.Compute, tally: Tally) -> None:
    """A step computes positions of a request: homes first, then the writes, then the reads, then the keys.

    Raises what `require_scheduled_once`, `require_budget`, `require_continues`, `grow`, `write` and `read` raise.
    """
    live = live_of(state, event.request)
    require_scheduled_once(state, tally, live)
    require_budget(state, tally, live, event.count)
    require_continues(tally, live, event)
    grow(state, tally, live, event.table, event.start + event.count)
    write(state, tally, live, event)
    read(state, tally, live, event.start + event.count)
    live.computed = event.start + event.count
    live.ran = True
    state.left -= event.count
    state.progressed = True
    state.planned |= {event.request}
    publish(state, live, event.start)


def copy(state: State, event: ev.Copy, tally: Tally) -> None:
    """A table entry moves to a private block, with at least the valid extent of the old one.

    Raises prefix/shared-bytes-never-change, and what `require_entry`, `require_arrived`, `require_sound` and `take`
    raise.
    """
    live = live_of(state, event.request)
    require_entry(tally, live, event.index, event.source)
    require_arrived(state, tally, live, (event.source,))
    require_sound(state, tally, live, (event.source,))
    take(state, tally, event.target, live)
    size = state.world.block_size
    valid = min(live.computed - event.index * size, size)
    extent = valid if event.extent is None else event.extent
    copy_content(state, event.source, event.target, extent)
    live.table[event.index] = event.target
    tally.met(rules.SHARED_BYTES_NEVER_CHANGE)
    if not (event.extent is None or valid <= extent <= size):
        facts = {"source": event.source, "valid": valid, "extent": extent, "size": size}
        tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "copied", request=event.request, block=event.target, **facts)
    release(state, (event.source,))


def remap(state: State, event: ev.Remap, tally: Tally) -> None:
    """A table entry moves to a block of the same content, shared; the old block is given back after that.

    Raises alloc/no-dangling-reference, and what `require_phase`, `require_whole_block` and `check_hit_block` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING)
    require_whole_block(state, tally, live, event.index)
    old = live.table[event.index]
    tally.met(rules.NO_DANGLING_REFERENCE)
    if not state.capabilities.remaps_duplicates:
        who, index = event.request, event.index
        tally.fail(rules.NO_DANGLING_REFERENCE, "remapped", request=who, block=event.target, index=index, old=old)
    check_hit_block(state, tally, live, event.index, event.target)
    share(state, (event.target,))
    live.table[event.index] = event.target
    release(state, (old,))


def sample(state: State, event: ev.Sample, tally: Tally) -> None:
    """A token is appended, once all tokens before it are computed and none too many.

    Raises sched/chunk-independence, and what `require_phase` raises.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING)
    if live.computed != len(live.tokens):
        who, computed, total = event.request, live.computed, len(live.tokens)
        tally.fail(rules.CHUNK_INDEPENDENCE, "sampled", request=who, computed=computed, total=total)
    if live.generated >= live.request.max_new_tokens:
        tally.fail(rules.CHUNK_INDEPENDENCE, "again", request=event.request, most=live.request.max_new_tokens)
    parent = live.contexts[-1]
    live.contexts += state.contexts.continue_chain(parent, len(live.tokens), live.request.parts, (event.token,))
    live.tokens.append(event.token)
