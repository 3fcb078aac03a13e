"""Swapping between device and host: blocks are fenced while a transfer may touch them."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.transition.blocks import give_back, publish, take
from kvspec.transition.guards import (
    live_of,
    require_arrived,
    require_phase,
    require_settled,
    require_table,
    require_victim,
)
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import BlockId, Phase, TransferId

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
    require_arrived(state, tally, live, live.table)
    require_settled(state, tally, live, live.table)
    _copy_out(state, live)
    blocks = frozenset(live.table)
    give_back(state, live)
    _begin_transfer(state, live, event.transfer, blocks)
    live.phase, live.resumed, live.preempted_in = Phase.WAITING, True, state.step
    state.progressed = True


def swap_in(state: State, event: ev.SwapIn, tally: Tally) -> None:
    """A victim receives blocks into which a transfer brings its keys and values, garbage as garbage.

    Raises alloc/in-flight-fence, and what `require_phase`, `require_table` and `take` raise.
    """
    live = live_of(state, event.request)
    require_phase(tally, live, Phase.WAITING)
    if live.swapped is None:
        raise HarnessFault(f"{event.request} is swapped in but was never swapped out")
    tally.met(rules.IN_FLIGHT_FENCE)
    if live.transfer is not None:
        tally.fail(rules.IN_FLIGHT_FENCE, "both ways", request=event.request)
    require_table(state, tally, live, event.table, live.computed)
    for block in event.table:
        take(state, tally, block, live)
    live.table, live.homes = list(event.table), live.computed
    size = state.world.block_size
    for position, context in enumerate(live.swapped):
        home = state.blocks[live.table[position // size]]
        home.contexts[position % size] = context
        home.writers[position % size] = (event.request, FROM_HOST)
        home.failed = home.failed or position in live.garbage
    _begin_transfer(state, live, event.transfer, frozenset(event.table))
    state.arriving |= {event.transfer}
    live.phase, live.swapped = Phase.RUNNING, None
    publish(state, live, 0)
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
            state.evictable[id] = None
    for live in state.requests.values():
        if live.transfer == event.transfer:
            live.transfer = None
            if live.phase is Phase.DONE:
                live.left_in = state.step


def _copy_out(state: State, live: Live) -> None:
    """What the computed positions hold, with the steps that wrote them, and which of it is garbage."""
    slots = [(state.blocks[id], offset) for id in live.table for offset in range(state.world.block_size)]
    slots = slots[: live.computed]
    live.swapped = [block.contexts[offset] for block, offset in slots]
    live.swapped_by = tuple(writer and writer[1] for writer in (block.writers[offset] for block, offset in slots))
    spoiled = (block.failed and block.contexts[offset] is None for block, offset in slots)
    live.garbage = frozenset(position for position, bad in enumerate(spoiled) if bad)


def _begin_transfer(state: State, live: Live, transfer: TransferId, blocks: frozenset[BlockId]) -> None:
    if transfer in state.transfers:
        raise HarnessFault(f"transfer {transfer} begins twice")
    state.transfers[transfer] = blocks
    live.transfer = transfer
    for block in blocks:
        state.blocks[block].fence |= {transfer}
        state.evictable.pop(block, None)
