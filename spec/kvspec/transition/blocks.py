"""Effects on blocks: taking, sharing, releasing, copying and publishing them."""

from __future__ import annotations

from collections.abc import Sequence

from kvspec import rules
from kvspec.hits import in_pool
from kvspec.layout import Table, Tables
from kvspec.state import Block, Live, State
from kvspec.transition.guards import require_tables
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def grow(state: State, tally: Tally, live: Live, tables: Tables, end: int) -> None:
    """Give the request the blocks by which `tables` are longer than its own.

    Raises what `require_tables` and `take` raise.
    """
    require_tables(state, tally, live, tables, end)
    for number, (own, table) in enumerate(zip(live.tables, tables, strict=True)):
        new = table[len(own) :]
        for block in new:
            if block is not None:
                take(state, tally, block, live, number)
        own.extend(new)
    live.allocated = max(live.allocated, end)


def take(state: State, tally: Tally, id: BlockId, live: Live, number: int) -> None:
    """Hand block `id` to group `number` of `live`: it must be idle, and its old content is gone.

    Raises alloc/no-dangling-reference, alloc/reserved-block, alloc/in-flight-fence, alloc/conservation, and what
    `_check_eviction` raises.
    """
    who = live.request.id
    if not in_pool(state, number, id):
        tally.fail(rules.NO_DANGLING_REFERENCE, "taken", request=who, id=id, group=number)
    if state.capabilities.reserved_blocks:
        tally.met(rules.RESERVED_BLOCK)
        if state.reserved(id):
            tally.fail(rules.RESERVED_BLOCK, "taken", request=who, block=id, group=number)
    block = state.blocks[id]
    if state.transfers or state.in_flight:
        tally.met(rules.IN_FLIGHT_FENCE)
        flying = () if state.capabilities.orders_steps else state.in_flight.values()
        if block.fence or any(id in touched for touched in flying):
            tally.fail(rules.IN_FLIGHT_FENCE, "taken", request=who, block=id, group=number)
    tally.met(rules.CONSERVATION)
    if block.ref:
        tally.fail(rules.CONSERVATION, "taken", request=who, block=id, group=number)
    _check_eviction(state, tally, id, block)
    state.free.pop(id, None)
    block = state.own(id)
    block.hand_over(number, state.layout.groups[number].slots)
    block.ref, block.epoch = 1, state.epoch


def _check_eviction(state: State, tally: Tally, id: BlockId, block: Block) -> None:
    """The order of eviction that the engine promises, if any.

    Where a group trims, what was trimmed is evicted before what lies behind it, and when that was may be told late: of
    such a group no chain is judged, and of several groups no common order.

    Raises prefix/contiguous-chain, evict/lru-order.
    """
    profiles, group = state.capabilities.profiles, state.layout.groups[block.owner]
    if not group.trims and block.key is not None and ("lru" in profiles or "tail-first" in profiles):
        tally.met(rules.CONTIGUOUS_CHAIN)
        if behind := deeper(state, id):
            tally.fail(rules.CONTIGUOUS_CHAIN, "evicted", block=id, behind=behind[0])
    if "lru" in profiles and not state.layout.several:
        tally.met(rules.LRU_ORDER)
        head = next(iter(state.free), None)
        if head != id:
            tally.fail(rules.LRU_ORDER, "taken", block=id, head=head)


def deeper(state: State, id: BlockId) -> list[BlockId]:
    """The idle cached blocks that were given back together with this one, behind it in its chain."""
    block = state.blocks[id]
    return [
        other
        for other in state.free
        if other != id
        and state.blocks[other].key is not None
        and state.blocks[other].owner == block.owner
        and state.blocks[other].release == block.release
        and state.blocks[other].depth > block.depth
    ]


def share(state: State, ids: Table) -> None:
    """One more reference to each block; an idle one is idle no longer."""
    for id in ids:
        if id is None:
            continue
        block = state.own(id)
        if block.ref == 0:
            state.free.pop(id, None)
        block.ref += 1


def release(state: State, *tables: Sequence[BlockId | None]) -> None:
    """Drop one reference to each block, the last of each chain first."""
    state.releases += 1
    for ids in tables:
        for depth in range(len(ids) - 1, -1, -1):
            id = ids[depth]
            if id is None:
                continue
            block = state.blocks[id]
            block.ref -= 1
            if block.ref == 0:
                block.release, block.depth = state.releases, depth
                if not block.fence:
                    state.free[id] = None


def forget_release_order(state: State) -> None:
    """Unseen, a victim may have taken any of the idle blocks and given them back: nothing follows from their order."""
    for id in state.free:
        if state.blocks[id].release >= 0:
            state.releases += 1
            state.blocks[id].release = state.releases


def forget_flights(state: State, live: Live) -> None:
    """What steps in flight read for a victim they read through the tables that it had; those blocks are fenced."""
    who = live.request.id
    state.starts = {
        step: {id: start for id, start in starts.items() if id != who} for step, starts in state.starts.items()
    }


def give_back(state: State, live: Live) -> None:
    """The request drops every block of its tables."""
    release(state, *live.tables)
    live.tables = [[] for _ in live.tables]


def copy_content(state: State, source: BlockId, target: BlockId, extent: int) -> None:
    """Copy the first `extent` slots of a block, with who wrote them and when."""
    old, new = state.blocks[source], state.blocks[target]
    new.contexts[:extent] = old.contexts[:extent]
    new.writers[:extent] = old.writers[:extent]
    new.epoch = old.epoch


def publish(state: State, live: Live, number: int, start: int) -> None:
    """Key every block that became full from slot `start` of a group on, unless it holds garbage.

    A recurrent state is full when it is that after all tokens of its entry; a step may pass over it. A block of a
    window is not where it is a slot for what was trimmed before a swap.
    """
    group, table = state.layout.groups[number], live.tables[number]
    size = group.block_size
    for index in range(start // size, live.filled[number] // size):
        id = table[index] if index < len(table) else None
        position = (index + 1) * size - 1 + group.lag
        if id is not None and position < len(live.contexts):  # a drafter may need a token that is still to come
            block, last = state.blocks[id], live.contexts[position]
            skipped = group.recurs and block.contexts[-1] != last
            partly = group.window > 0 and None in block.contexts
            block.key = None if block.failed or skipped or partly else last
