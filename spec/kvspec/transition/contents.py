"""The ghost contents: writing the positions of a step into their slots, and reading what the request attends to."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Block, Live, State
from kvspec.transition.blocks import owners
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def write(state: State, tally: Tally, live: Live, event: ev.Compute) -> None:
    """Write the positions of this step, each into its slot; the block of each slot must be the writer's alone."""
    size = state.world.block_size
    if event.slots is not None and len(event.slots) != event.count:
        tally.broken(
            rules.COVERAGE_AND_LIMIT,
            f"{event.request} computes {event.count} positions and writes {len(event.slots)} slots",
            "one slot for each position",
            request=event.request,
        )
    stamp = (event.request, state.step)
    end = event.start + event.count
    touched: set[BlockId] = set()
    for position in range(event.start, end):
        if event.slots is None:
            id, offset = live.table[position // size], position % size
        else:
            id, offset = event.slots[position - event.start]
            _require_slot(state, tally, live, id, offset, position)
        if id not in touched:
            touched.add(id)
            _require_sole_owner(state, tally, live, id, position)
        block = state.blocks[id]
        block.contexts[offset] = live.contexts[position]
        block.writers[offset] = stamp
        block.epoch = state.epoch


def _require_slot(state: State, tally: Tally, live: Live, id: BlockId, offset: int, position: int) -> None:
    who, size = live.request.id, state.world.block_size
    tally.require(
        0 <= id < len(state.blocks) and 0 <= offset < size,
        rules.COVERAGE_AND_LIMIT,
        lambda: (f"{who} writes position {position} to block {id} slot {offset}", f"a slot of blocks of {size}"),
        request=who,
    )


def _require_sole_owner(state: State, tally: Tally, live: Live, id: BlockId, position: int) -> None:
    who = live.request.id
    tally.require(
        state.blocks[id].ref == 1 and id in live.table,
        rules.SHARED_BYTES_NEVER_CHANGE,
        lambda: (
            f"{who} writes position {position} into block {id}, held by {owners(state, id) or 'nobody'}",
            f"a block that only {who} holds",
        ),
        block=id,
        request=who,
    )


def read(state: State, tally: Tally, live: Live, end: int) -> None:
    """Read positions 0 to `end` through the table: every slot must hold the request's own context."""
    size = state.world.block_size
    tally.met(rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE)
    for index, start in enumerate(range(0, end, size)):
        stop = min(start + size, end)
        block = state.blocks[live.table[index]]
        if block.contexts[: stop - start] != live.contexts[start:stop]:
            _bad_read(state, tally, live, index, start, stop)


def _bad_read(state: State, tally: Tally, live: Live, index: int, start: int, stop: int) -> None:
    """Name the first wrong slot and blame the way by which the request came to the block."""
    id = live.table[index]
    block = state.blocks[id]
    offset = next(k for k in range(stop - start) if block.contexts[k] != live.contexts[start + k])
    position = start + offset
    if block.writers[offset] is not None:
        rule = rules.SHARED_BYTES_NEVER_CHANGE
    elif live.resumed:
        rule = rules.RESUME_EQUALS_UNINTERRUPTED
    else:
        rule = rules.CHUNK_INDEPENDENCE
    tally.broken(
        rule,
        f"{live.request.id} reads position {position} from block {id} slot {offset}, which holds "
        + _spell(state, block, offset),
        f"its own position {position} (token {live.tokens[position]})",
        request=live.request.id,
        block=id,
        slot=offset,
        position=position,
    )


def _spell(state: State, block: Block, offset: int) -> str:
    """What one slot holds, in words."""
    context, writer = block.contexts[offset], block.writers[offset]
    if context is None:
        return "nothing that was computed"
    tokens = state.contexts.tokens(context)
    by = f"{writer[0]}'s " if writer else "nobody's "
    when = f", written in step {writer[1]}" if writer else ""
    return f"{by}position {len(tokens) - 1} (token {tokens[-1]}){when}"
