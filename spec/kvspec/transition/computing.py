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
    """A running request is given homes for its next tokens."""
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING, "grows")
    grow(state, tally, live, event.table, event.end)
    state.last = "reserve"


def compute(state: State, event: ev.Compute, tally: Tally) -> None:
    """A step computes positions of a request: homes first, then the writes, then the reads, then the keys."""
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
    state.last = "compute"


def copy(state: State, event: ev.Copy, tally: Tally) -> None:
    """A table entry moves to a private block, with at least the valid extent of the old one."""
    live = live_of(state, event.request)
    require_entry(tally, live, event.index, event.source)
    require_arrived(state, tally, live, (event.source,))
    require_sound(state, tally, live, (event.source,))
    take(state, tally, event.target, live)
    size = state.world.block_size
    valid = min(live.computed - event.index * size, size)
    copy_content(state, event.source, event.target, valid if event.extent is None else event.extent)
    live.table[event.index] = event.target
    tally.require(
        event.extent is None or valid <= event.extent <= size,
        rules.SHARED_BYTES_NEVER_CHANGE,
        lambda: (
            f"block {event.source} has {valid} valid tokens, and {event.extent} are copied to block {event.target}",
            f"at least the valid extent is copied, and at most the {size} tokens of a block",
        ),
        request=event.request,
        block=event.target,
    )
    release(state, (event.source,))
    state.last = "copy"


def remap(state: State, event: ev.Remap, tally: Tally) -> None:
    """A table entry moves to a block of the same content, shared; the old block is given back after that."""
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING, "is remapped")
    require_whole_block(state, tally, live, event.index)
    old = live.table[event.index]
    tally.require(
        state.capabilities.remaps_duplicates,
        rules.NO_DANGLING_REFERENCE,
        lambda: (
            f"entry {event.index} of {event.request}'s table changes from block {old} to {event.target}",
            "a running request keeps its blocks (the engine does not declare that it merges duplicates)",
        ),
        request=event.request,
        block=event.target,
    )
    check_hit_block(state, tally, live, event.index, event.target)
    share(state, (event.target,))
    live.table[event.index] = event.target
    release(state, (old,))
    state.last = "remap"


def sample(state: State, event: ev.Sample, tally: Tally) -> None:
    """A token is appended, once all tokens before it are computed and none too many."""
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.RUNNING, "samples")
    rule = rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE
    tally.require(
        live.computed == len(live.tokens),
        rule,
        lambda: (
            f"{event.request} samples with {live.computed} of {len(live.tokens)} tokens computed",
            "a token is sampled when all tokens before it are computed",
        ),
        request=event.request,
    )
    tally.require(
        live.generated < live.request.max_new_tokens,
        rule,
        lambda: (
            f"{event.request} samples again with all its {live.request.max_new_tokens} new tokens",
            "it has finished",
        ),
        request=event.request,
    )
    parent = live.contexts[-1]
    live.contexts += state.contexts.continue_chain(parent, len(live.tokens), live.request.parts, (event.token,))
    live.tokens.append(event.token)
    state.last = "sample"
