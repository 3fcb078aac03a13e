"""The ghost contents: writing the positions of a step into their slots, and reading what the request attends to."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def write(state: State, tally: Tally, live: Live, event: ev.Compute) -> None:
    """Write the positions of this step, each into its slot; the block of each slot must be the writer's alone.

    Raises alloc/coverage-and-limit, and what `_require_slot` and `_require_sole_owner` raise.
    """
    size = state.world.block_size
    if event.slots is not None and len(event.slots) != event.count:
        count, slots = event.count, len(event.slots)
        tally.fail(rules.COVERAGE_AND_LIMIT, "slots", request=event.request, count=count, slots=slots)
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
    """The slot to which a position is written exists.

    Raises alloc/coverage-and-limit.
    """
    tally.met(rules.COVERAGE_AND_LIMIT)
    size = state.world.block_size
    if not (0 <= id < len(state.blocks) and 0 <= offset < size):
        facts = {"home": id, "slot": offset, "position": position, "size": size}
        tally.fail(rules.COVERAGE_AND_LIMIT, "slot", request=live.request.id, **facts)


def _require_sole_owner(state: State, tally: Tally, live: Live, id: BlockId, position: int) -> None:
    """The block to which a position is written is in no other table.

    Raises prefix/shared-bytes-never-change.
    """
    tally.met(rules.SHARED_BYTES_NEVER_CHANGE)
    if state.blocks[id].ref != 1 or id not in live.table:
        tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "written", request=live.request.id, block=id, position=position)


def read(state: State, tally: Tally, live: Live, end: int) -> None:
    """Read positions 0 to `end` through the table: every slot must hold the request's own context.

    Raises prefix/shared-bytes-never-change.
    """
    size = state.world.block_size
    for index, start in enumerate(range(0, end, size)):
        stop = min(start + size, end)
        id, own = live.table[index], live.contexts[start:stop]
        held = state.blocks[id].contexts[: stop - start]
        if held != own:
            slot = next(k for k, context in enumerate(held) if context != own[k])
            who, position = live.request.id, start + slot
            tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "read", request=who, block=id, slot=slot, position=position)
