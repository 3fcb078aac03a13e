"""Effects on blocks: taking, sharing, releasing, copying and publishing them."""

from __future__ import annotations

from kvspec import rules
from kvspec.state import Block, Live, State
from kvspec.transition.guards import require_table
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def grow(state: State, tally: Tally, live: Live, table: tuple[BlockId, ...], end: int) -> None:
    """Give the request the blocks by which `table` is longer than its own.

    Raises what `require_table` and `take` raise.
    """
    require_table(state, tally, live, table, end)
    new = table[len(live.table) :]
    for block in new:
        take(state, tally, block, live)
    live.table.extend(new)
    live.homes = max(live.homes, end)


def take(state: State, tally: Tally, id: BlockId, live: Live) -> None:
    """Hand block `id` to `live`: it must be idle, and its old content is gone.

    Raises alloc/no-dangling-reference, alloc/reserved-block, alloc/in-flight-fence, alloc/conservation, and what
    `_check_eviction` raises.
    """
    who, reserved = live.request.id, state.capabilities.reserved_blocks
    if not 0 <= id < len(state.blocks):
        tally.fail(rules.NO_DANGLING_REFERENCE, "taken", request=who, id=id)
    if reserved:
        tally.met(rules.RESERVED_BLOCK)
        if id in reserved:
            tally.fail(rules.RESERVED_BLOCK, "taken", request=who, block=id)
    block = state.blocks[id]
    if state.transfers or state.in_flight:
        tally.met(rules.IN_FLIGHT_FENCE)
        if block.fence or any(id in touched for touched in state.in_flight.values()):
            tally.fail(rules.IN_FLIGHT_FENCE, "taken", request=who, block=id)
    tally.met(rules.CONSERVATION)
    if block.ref:
        tally.fail(rules.CONSERVATION, "taken", request=who, block=id)
    _check_eviction(state, tally, id, block)
    state.evictable.pop(id, None)
    block = state.own(id)
    block.poison(state.world.block_size)
    block.ref, block.epoch = 1, state.epoch


def _check_eviction(state: State, tally: Tally, id: BlockId, block: Block) -> None:
    """The order of eviction that the engine promises, if any.

    Raises prefix/contiguous-chain, evict/lru-order.
    """
    profiles = state.capabilities.profiles
    if block.key is not None and ("lru" in profiles or "tail-first" in profiles):
        tally.met(rules.CONTIGUOUS_CHAIN)
        if behind := deeper(state, id):
            tally.fail(rules.CONTIGUOUS_CHAIN, "evicted", block=id, behind=behind[0])
    if "lru" in profiles:
        tally.met(rules.LRU_ORDER)
        head = next(iter(state.evictable), None)
        if head != id:
            tally.fail(rules.LRU_ORDER, "taken", block=id, head=head)


def deeper(state: State, id: BlockId) -> list[BlockId]:
    """The idle cached blocks that were given back together with this one, behind it in its chain."""
    block = state.blocks[id]
    return [
        other
        for other in state.evictable
        if other != id
        and state.blocks[other].key is not None
        and state.blocks[other].release == block.release
        and state.blocks[other].depth > block.depth
    ]


def share(state: State, ids: tuple[BlockId, ...]) -> None:
    """One more reference to each block; an idle one is idle no longer."""
    for id in ids:
        block = state.own(id)
        if block.ref == 0:
            state.evictable.pop(id, None)
        block.ref += 1


def release(state: State, ids: tuple[BlockId, ...]) -> None:
    """Drop one reference to each block, the last of the chain first."""
    state.releases += 1
    for depth in range(len(ids) - 1, -1, -1):
        block = state.blocks[ids[depth]]
        block.ref -= 1
        if block.ref == 0:
            block.release, block.depth = state.releases, depth
            if not block.fence:
                state.evictable[ids[depth]] = None


def forget_release_order(state: State) -> None:
    """Unseen, a victim may have taken any of the idle blocks and given them back: nothing follows from their order."""
    for id in state.evictable:
        if state.blocks[id].release >= 0:
            state.releases += 1
            state.blocks[id].release = state.releases


def give_back(state: State, live: Live) -> None:
    """The request drops every block of its table."""
    release(state, tuple(live.table))
    live.table = []


def copy_content(state: State, source: BlockId, target: BlockId, extent: int) -> None:
    """Copy the first `extent` slots of a block, with who wrote them and when."""
    old, new = state.blocks[source], state.blocks[target]
    new.contexts[:extent] = old.contexts[:extent]
    new.writers[:extent] = old.writers[:extent]
    new.epoch = old.epoch


def publish(state: State, live: Live, start: int) -> None:
    """Key every block that became full between position `start` and what is computed, unless it holds garbage."""
    size = state.world.block_size
    for index in range(start // size, live.computed // size):
        block = state.blocks[live.table[index]]
        block.key = None if block.failed else live.contexts[(index + 1) * size - 1]
