"""Swapping between device and host: blocks are fenced while a transfer may touch them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvspec import events as ev
from kvspec import rules
from kvspec.needs import Run, reads, runs, writes
from kvspec.state import Live, State
from kvspec.transition.blocks import forget_flights, give_back, grow, publish
from kvspec.transition.guards import (
    live_of,
    per_group,
    require_arrived,
    require_phase,
    require_settled,
    require_victim,
)
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import DONE, RUNNING, WAITING, BlockId, TransferId

FROM_HOST = -1
"""In the place of a step, for what a transfer has written: no step that fails or is in flight has."""


def swap_out(state: State, event: ev.SwapOut, tally: Tally) -> None:
    """A victim gives its blocks back, which stay fenced until they are on the host.

    Raises what `require_victim`, `require_arrived` and `require_settled` raise.
    """
    live = live_of(state, event.request)
    if "swap" not in (state.world.preemption, *state.capabilities.preemptions):
        raise HarnessFault(f"{event.request} is swapped out, and no preemption by swap is declared or asked for")
    require_victim(tally, live)
    blocks = list(live.held())
    require_arrived(state, tally, live, blocks)
    require_settled(state, tally, live, blocks)
    _copy_out(state, live)
    give_back(state, live)
    forget_flights(state, live)
    _begin_transfer(state, live, event.transfer, frozenset(blocks))
    live.phase, live.resumed, live.preempted_in = WAITING, True, state.step
    state.progressed = True


def swap_in(state: State, event: ev.SwapIn, tally: Tally) -> None:
    """A victim receives blocks into which a transfer brings its keys and values, garbage as garbage.

    Raises alloc/in-flight-fence, and what `require_phase`, `grow` and `_require_homes` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, WAITING)
    if live.swapped is None:
        raise HarnessFault(f"{event.request} is swapped in but was never swapped out")
    tally.met(rules.IN_FLIGHT_FENCE)
    if live.transfer is not None:
        tally.fail(rules.IN_FLIGHT_FENCE, "both ways", request=event.request)
    grow(state, tally, live, per_group(state, event), live.computed)
    live.allocated = live.computed
    _require_homes(state, tally, live)
    for place, (number, entry, offset) in enumerate(_slots(state, live)):
        table = live.tables[number]
        if (id := table[entry] if entry < len(table) else None) is not None:
            block = state.blocks[id]
            block.contexts[offset] = live.swapped[place]
            block.writers[offset] = (event.request, FROM_HOST)
            block.failed = block.failed or place in live.garbage
    _begin_transfer(state, live, event.transfer, frozenset(live.held()))
    state.arriving |= {event.transfer}
    live.phase, live.swapped = RUNNING, None
    for number in range(len(live.tables)):
        publish(state, live, number, 0)
    state.progressed = True


def transfer_done(state: State, event: ev.TransferDone, tally: Tally) -> None:
    """The blocks that a transfer touched are no longer fenced; those without an owner are idle, tails first."""
    if event.transfer not in state.transfers:
        raise HarnessFault(f"transfer {event.transfer} is done but did not begin")
    blocks = state.transfers.pop(event.transfer)
    state.arriving -= {event.transfer}
    state.releases += 1
    for id in sorted(blocks, key=lambda id: -state.blocks[id].depth):
        block = state.blocks[id]
        block.fence -= {event.transfer}
        if block.ref == 0 and not block.fence:
            block.release = state.releases
            state.free[id] = None
    for live in state.present.values():
        if live.transfer == event.transfer:
            live.transfer = None
            if live.phase is DONE:
                live.left_in = state.step


def _copy_out(state: State, live: Live) -> None:
    """What the slots hold, with the steps that wrote them, and which of it is garbage; nothing of what was trimmed."""
    found: list[tuple[int | None, int | None, bool]] = []
    for number, entry, offset in _slots(state, live):
        table = live.tables[number]
        id = table[entry] if entry < len(table) else None
        if id is None:
            found.append((None, None, False))
        else:
            block = state.blocks[id]
            context, writer = block.contexts[offset], block.writers[offset]
            found.append((context, writer and writer[1], block.failed and context is None))
    live.swapped = [context for context, _, _ in found]
    live.swapped_by = tuple(step for _, step, _ in found)
    live.garbage = frozenset(place for place, (_, _, bad) in enumerate(found) if bad)


def _slots(state: State, live: Live) -> Iterator[tuple[int, int, int]]:
    """Of each group in turn, the slots that are written, one by one: their entries, and their places in the blocks."""
    for number, group in enumerate(state.layout.groups):
        for slot in writes(group, 0, live.filled[number]):
            entry, offset = divmod(slot, group.block_size)
            yield number, entry, 0 if group.recurs else offset


def _require_homes(state: State, tally: Tally, live: Live) -> None:
    """What the next query reads, if one is to come, has a block to which it comes back.

    Raises prefix/every-group-hit, prefix/draft-group-hit.
    """
    if live.generated >= live.request.max_new_tokens:
        return
    for number, (group, table) in enumerate(zip(state.layout.groups, live.tables, strict=True)):
        facts = {"request": live.request.id, "group": number}
        lacking = [run.entry for run in runs(group, reads(group, live.filled[number])) if _is_empty(table, run)]
        tally.met(rules.DRAFT_GROUP_HIT if group.drafts else rules.EVERY_GROUP_HIT)
        if lacking and group.drafts:
            tally.fail(rules.DRAFT_GROUP_HIT, "brought", index=lacking[0], **facts)
        elif lacking:
            tally.fail(rules.EVERY_GROUP_HIT, "brought", index=lacking[0], **facts)


def _is_empty(table: Sequence[BlockId | None], run: Run) -> bool:
    return run.entry >= len(table) or table[run.entry] is None


def _begin_transfer(state: State, live: Live, transfer: TransferId, blocks: frozenset[BlockId]) -> None:
    if transfer in state.transfers:
        raise HarnessFault(f"transfer {transfer} begins twice")
    state.transfers[transfer] = blocks
    live.transfer = transfer
    for block in blocks:
        state.blocks[block].fence |= {transfer}
        state.free.pop(block, None)
