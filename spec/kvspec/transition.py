"""The transition `step(state, event) -> state`: one short function per event, in the order guards, effect, publication.

A guard that fails raises `Violation` with the rule it stands for and changes nothing. The specification is a
relation: it judges what an engine chose (order, chunk, victim, evicted block) and never chooses itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec import events as ev
from kvspec import rules
from kvspec.claims import observe
from kvspec.hits import check_hit, check_hit_block, narrow
from kvspec.rules import Rule
from kvspec.state import Block, Live, State
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import BlockId, Phase, RequestId, TransferId


def step(state: State, event: ev.Event, tally: Tally | None = None) -> State:
    """The state after `event`. Raises `Violation` where the event is not allowed; `state` is never changed."""
    after = state.copy()
    advance(after, event, tally or Tally())
    return after


def advance(state: State, event: ev.Event, tally: Tally) -> None:
    """Apply `event` to `state` in place: `step` without the copy, for a checker that keeps only the newest state."""
    _TRANSITIONS[type(event)](state, event, tally)


def _add(state: State, event: ev.Add, tally: Tally) -> None:
    request = event.request
    if request.id in state.requests:
        raise HarnessFault(f"request {request.id} is added twice")
    contexts = state.contexts.chain(request.parts, request.prompt)
    state.requests[request.id] = Live(
        request, len(state.requests), list(request.prompt), contexts, waits_since=state.step
    )
    first = tuple(request.prompt[: state.world.block_size])
    state.variants.setdefault(narrow(first), set()).add((first, request.parts))
    state.last = "add"


def _reject(state: State, event: ev.Reject, tally: Tally) -> None:
    live = _request(state, event.request)
    tally.require(
        not state.feasible(live.request),
        rules.PROGRESS_OR_REJECT,
        lambda: (
            f"{event.request} is rejected although its {live.request.limit} tokens fit into {state.usable} blocks",
            "only what can never fit is rejected",
        ),
        request=event.request,
    )
    _give_back(state, live)
    live.phase = Phase.DONE
    state.progressed, state.last = True, "exit"


def _refuse(state: State, event: ev.Refuse, tally: Tally) -> None:
    idle_hits = sum(1 for block in event.hit if block in state.evictable)
    spare = state.capabilities.watermark_blocks + state.capabilities.lookahead_blocks
    tally.require(
        event.need + idle_hits + spare > state.available,
        rules.FIT_AGREES_WITH_ALLOCATE,
        lambda: (
            f"{event.request} is refused {event.need} blocks while {state.available - idle_hits} are free",
            "what fits is given",
        ),
        request=event.request,
    )
    state.last = "refusal"


def _lookup(state: State, event: ev.Lookup, tally: Tally) -> None:
    live = _request(state, event.request)
    check_hit(state, tally, live, event.hit, event.blocks)
    live.looked_up = event.blocks
    state.last = "lookup"


def _start(state: State, event: ev.Start, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_phase(tally, live, Phase.WAITING, "starts")
    tally.require(
        live.preempted_in != state.step,
        rules.ONE_QUEUE,
        lambda: (f"{event.request} starts in the step that preempts it", "a victim waits for the next step"),
        request=event.request,
    )
    check_hit(state, tally, live, event.hit, event.blocks)
    _check_order(state, tally, live)
    _share(state, event.blocks)
    live.phase, live.started = Phase.RUNNING, True
    live.table, live.computed = list(event.blocks), event.hit
    live.hit = live.homes = event.hit
    live.looked_up = ()
    if live.resumed:
        state.resumed_hit_tokens += event.hit
    else:
        state.hit_tokens += event.hit
    state.last = "start"


def _reserve(state: State, event: ev.Reserve, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_phase(tally, live, Phase.RUNNING, "grows")
    _grow(state, tally, live, event.table, event.end)
    state.progressed, state.last = True, "reserve"


def _compute(state: State, event: ev.Compute, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_scheduled_once(state, tally, live)
    _require_budget(state, tally, live, event.count)
    _require_continues(tally, live, event)
    _grow(state, tally, live, event.table, event.start + event.count)
    _write(state, tally, live, event)
    _read(state, tally, live, event.start + event.count)
    live.computed = event.start + event.count
    live.ran = True
    state.left -= event.count
    state.progressed = True
    state.planned |= {event.request}
    _publish(state, live, event.start)
    state.last = "compute"


def _copy(state: State, event: ev.Copy, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_entry(tally, live, event.index, event.source)
    _take(state, tally, event.target, live)
    valid = min(live.computed - event.index * state.world.block_size, state.world.block_size)
    _copy_content(state, event.source, event.target, valid if event.extent is None else event.extent)
    live.table[event.index] = event.target
    live.copied |= {event.index}
    tally.require(
        event.extent is None or event.extent >= valid,
        rules.SHARED_BYTES_NEVER_CHANGE,
        lambda: (
            f"{event.extent} of {valid} tokens are copied from block {event.source} to {event.target}",
            "exactly the valid extent is copied",
        ),
        request=event.request,
        block=event.target,
    )
    _release(state, (event.source,))
    state.last = "copy"


def _remap(state: State, event: ev.Remap, tally: Tally) -> None:
    live = _request(state, event.request)
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
    _share(state, (event.target,))
    live.table[event.index] = event.target
    _release(state, (old,))
    state.last = "remap"


def _fork(state: State, event: ev.Fork, tally: Tally) -> None:
    parent = _request(state, event.parent)
    if event.child.id in state.requests:
        raise HarnessFault(f"request {event.child.id} is added twice")
    child = parent.copy()
    child.request, child.arrival = event.child, len(state.requests)
    child.table, child.copied, child.ran, child.forked = [], frozenset(), False, child.arrival
    tally.require(
        len(event.table) == len(parent.table),
        rules.COVERAGE_AND_LIMIT,
        lambda: (
            f"the fork {event.child.id} has {len(event.table)} blocks, its parent {len(parent.table)}",
            "a fork has a home for every computed position",
        ),
        request=event.child.id,
    )
    for index, (ours, theirs) in enumerate(zip(event.table, parent.table, strict=False)):
        if ours == theirs:
            _share(state, (ours,))
        else:
            _take(state, tally, ours, child)
            _copy_content(state, theirs, ours, state.world.block_size)
            child.copied |= {index}
        child.table.append(ours)
    state.requests[event.child.id] = child
    state.last = "fork"


def _sample(state: State, event: ev.Sample, tally: Tally) -> None:
    live = _request(state, event.request)
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


def _preempt(state: State, event: ev.Preempt, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_victim(state, tally, live)
    if state.capabilities.hides_lost_takes:
        _forget_release_order(state)
    _give_back(state, live)
    live.phase, live.computed, live.resumed, live.preempted_in = Phase.WAITING, 0, True, state.step
    live.waits_since = state.step
    state.progressed, state.last = True, "exit"


def _swap_out(state: State, event: ev.SwapOut, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_victim(state, tally, live)
    live.swapped = [context for block in live.table for context in state.blocks[block].contexts][: live.computed]
    blocks = frozenset(live.table)
    _give_back(state, live)
    _begin_transfer(state, live, event.transfer, blocks)
    live.phase, live.resumed, live.preempted_in = Phase.WAITING, True, state.step
    state.progressed, state.last = True, "exit"


def _swap_in(state: State, event: ev.SwapIn, tally: Tally) -> None:
    live = _request(state, event.request)
    _require_phase(tally, live, Phase.WAITING, "is swapped in")
    if live.swapped is None:
        raise HarnessFault(f"{event.request} is swapped in but was never swapped out")
    tally.require(
        live.transfer is None,
        rules.IN_FLIGHT_FENCE,
        lambda: (f"{event.request} is swapped in while it is still being swapped out", "the earlier transfer is done"),
        request=event.request,
    )
    _require_table(state, tally, live, event.table, live.computed)
    for block in event.table:
        _take(state, tally, block, live)
    live.table, live.homes = list(event.table), live.computed
    size = state.world.block_size
    for position, context in enumerate(live.swapped):
        home = state.blocks[live.table[position // size]]
        home.contexts[position % size] = context
        home.writers[position % size] = (event.request, live.preempted_in)
    _begin_transfer(state, live, event.transfer, frozenset(event.table))
    live.phase, live.swapped = Phase.RUNNING, None
    _publish(state, live, 0)
    state.progressed, state.last = True, "start"


def _transfer_done(state: State, event: ev.TransferDone, tally: Tally) -> None:
    blocks = state.transfers.pop(event.transfer)
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
    state.last = "transfer"


def _finish(state: State, event: ev.Finish, tally: Tally) -> None:
    live = _request(state, event.request)
    rule = rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE
    tally.require(
        live.generated >= live.request.max_new_tokens,
        rule,
        lambda: (
            f"{event.request} finishes with {live.generated} of {live.request.max_new_tokens} new tokens",
            "no token is lost",
        ),
        request=event.request,
    )
    _leave(state, live, event.deferred)


def _abort(state: State, event: ev.Abort, tally: Tally) -> None:
    _leave(state, _request(state, event.request), event.deferred)


def _release_event(state: State, event: ev.Release, tally: Tally) -> None:
    _give_back(state, state.requests[event.request])
    state.progressed, state.last = True, "exit"


def _release_again(state: State, event: ev.ReleaseAgain, tally: Tally) -> None:
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    state.last = "stray release"


def _reset(state: State, event: ev.Reset, tally: Tally) -> None:
    tally.met(rules.INVALIDATE)
    if event.accepted:
        state.epoch += 1
        for block in state.blocks:
            block.key = None
    state.last = "reset"


def _fail_step(state: State, event: ev.FailStep, tally: Tally) -> None:
    for block in state.blocks:
        for offset, writer in enumerate(block.writers):
            if writer is not None and writer[1] == event.step:
                block.contexts[offset] = None
                block.failed, block.key = True, None
    state.last = "failure"


def _end_step(state: State, event: ev.EndStep, tally: Tally) -> None:
    pending = state.live()
    if pending and not state.transfers and not state.in_flight:
        state.idle_steps = 0 if state.progressed else state.idle_steps + 1
        tally.require(
            state.idle_steps <= state.capabilities.idle_steps,
            rules.PROGRESS_OR_REJECT,
            lambda: (
                f"nothing is computed, freed or rejected while {', '.join(live.request.id for live in pending)} wait",
                "a step computes a token, frees a block or rejects a request",
            ),
        )
    _check_decode_gap(state, tally)
    state.step += 1
    state.left = state.world.token_budget
    state.progressed, state.planned = False, frozenset()
    for live in state.requests.values():
        live.ran = False
    state.last = "end"


def _dispatch(state: State, event: ev.Dispatch, tally: Tally) -> None:
    touched: set[BlockId] = set()
    for id in state.planned:
        touched.update(state.requests[id].table)
    state.in_flight[event.step] = frozenset(touched)


def _complete(state: State, event: ev.Complete, tally: Tally) -> None:
    if event.step not in state.in_flight:
        raise HarnessFault(f"step {event.step} completes but was not dispatched")
    del state.in_flight[event.step]


# Guards.


def _request(state: State, id: RequestId) -> Live:
    live = state.requests.get(id)
    if live is None:
        raise HarnessFault(f"an event names request {id}, which was never added")
    return live


def _require_phase(tally: Tally, live: Live, phase: Phase, does: str) -> None:
    tally.require(
        live.phase is phase,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} {does} while it is {live.phase.value}", f"it is {phase.value}"),
        request=live.request.id,
    )


def _require_scheduled_once(state: State, tally: Tally, live: Live) -> None:
    _require_phase(tally, live, Phase.RUNNING, "is scheduled")
    tally.require(
        not live.ran,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} is scheduled twice in one step", "once"),
        request=live.request.id,
    )
    if live.transfer is not None:
        tally.broken(
            rules.IN_FLIGHT_FENCE,
            f"{live.request.id} computes while transfer {live.transfer} still brings its blocks back",
            "the transfer is done first",
            request=live.request.id,
        )
    running = len(state.planned) + 1
    tally.require(
        running <= state.world.max_running,
        rules.STEP_BUDGET,
        lambda: (f"{running} requests run in one step", f"at most {state.world.max_running}"),
        request=live.request.id,
    )


def _require_budget(state: State, tally: Tally, live: Live, count: int) -> None:
    tally.require(
        count >= 1,
        rules.STEP_BUDGET,
        lambda: (f"{live.request.id} is scheduled for {count} tokens", "at least 1"),
        request=live.request.id,
    )
    tally.require(
        count <= state.left,
        rules.STEP_BUDGET,
        lambda: (
            f"the step schedules {state.world.token_budget - state.left + count} tokens",
            f"at most the budget of {state.world.token_budget}",
        ),
        request=live.request.id,
    )


def _require_continues(tally: Tally, live: Live, event: ev.Compute) -> None:
    end, total = event.start + event.count, len(live.tokens)
    in_parts: Rule = rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE
    if live.hit:
        tally.require(
            end <= total,
            rules.FRESH_HIT,
            lambda: (
                f"{event.request} computes positions {event.start} to {end - 1} of {total} after a hit of {live.hit}",
                "the length scheduled is what the hit leaves",
            ),
            request=event.request,
        )
    tally.require(
        end <= total,
        in_parts,
        lambda: (f"{event.request} computes up to position {end - 1} of {total} tokens", "no position past its tokens"),
        request=event.request,
    )
    tally.require(
        event.start == live.computed,
        in_parts,
        lambda: (
            f"{event.request} computes from position {event.start} on with {live.computed} computed",
            f"it continues at position {live.computed}",
        ),
        request=event.request,
    )
    if event.tokens is not None:
        tally.require(
            list(event.tokens) == live.tokens[event.start : end],
            in_parts,
            lambda: (
                f"{event.request} feeds the tokens {list(event.tokens or ())} from position {event.start} on",
                f"{live.tokens[event.start : end]}",
            ),
            request=event.request,
        )


def _require_table(state: State, tally: Tally, live: Live, table: tuple[BlockId, ...], end: int) -> None:
    size, who = state.world.block_size, live.request.id
    lookahead = state.capabilities.lookahead_blocks
    tally.require(
        len(table) * size >= end,
        rules.COVERAGE_AND_LIMIT,
        lambda: (f"{who} has {len(table)} blocks of {size} for {end} tokens", "a home for each"),
        request=who,
    )
    widest = state.world.blocks_for(live.request.limit) + lookahead
    tally.require(
        len(table) <= widest,
        rules.COVERAGE_AND_LIMIT,
        lambda: (f"{who} owns {len(table)} blocks", f"at most {widest}, which its limit needs"),
        request=who,
    )
    exact = max(state.world.blocks_for(end) + lookahead, len(live.table))
    tally.require(
        len(table) <= exact,
        rules.ONE_PAGE_ROUNDING,
        lambda: (f"{who} owns {len(table)} blocks for {end} tokens", f"{exact}"),
        request=who,
    )
    tally.require(
        list(table[: len(live.table)]) == live.table,
        rules.NO_DANGLING_REFERENCE,
        lambda: (f"{who}'s table is {list(table)}", f"it begins with its blocks {live.table}"),
        request=who,
    )


def _require_entry(tally: Tally, live: Live, index: int, block: BlockId) -> None:
    tally.require(
        index < len(live.table) and live.table[index] == block,
        rules.NO_DANGLING_REFERENCE,
        lambda: (f"{live.request.id} copies from block {block} at entry {index}", f"its table is {live.table}"),
        request=live.request.id,
    )


def _require_victim(state: State, tally: Tally, live: Live) -> None:
    _require_phase(tally, live, Phase.RUNNING, "is preempted")
    tally.require(
        not live.ran,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} is scheduled and preempted in one step", "one of the two"),
        request=live.request.id,
    )


def _check_order(state: State, tally: Tally, live: Live) -> None:
    """Profile fcfs: a newcomer overtakes neither a newcomer nor a victim that comes first."""
    if "fcfs" not in state.capabilities.profiles or live.started:
        return
    by_priority = state.world.policy == "priority"

    def rank(other: Live) -> tuple[int, int]:
        return (other.request.priority if by_priority else 0, other.arrival)

    first = min((other for other in state.requests.values() if other.phase is Phase.WAITING), key=rank)
    tally.require(
        first is live,
        rules.ONE_QUEUE if first.resumed else rules.FCFS_ORDER,
        lambda: (f"{live.request.id} starts before {first.request.id}", f"{first.request.id} comes first"),
        request=live.request.id,
    )


def _check_decode_gap(state: State, tally: Tally) -> None:
    """Profile decode-first: a running request that fits into what is left was scheduled."""
    if "decode-first" not in state.capabilities.profiles:
        return
    size = state.world.block_size
    for live in state.requests.values():
        if live.phase is not Phase.RUNNING or live.transfer is not None or live.computed >= len(live.tokens):
            continue
        needs = 0 if live.computed < len(live.table) * size else 1
        could = state.left > 0 and needs <= state.available and len(state.planned) < state.world.max_running
        tally.require(
            live.ran or not could,
            rules.BOUNDED_DECODE_GAP,
            lambda live=live: (  # type: ignore[misc]
                f"{live.request.id} runs, fits, and is not scheduled with {state.left} tokens of budget left",
                "a running request that fits is scheduled",
            ),
            request=live.request.id,
        )


# Effects.


def _grow(state: State, tally: Tally, live: Live, table: tuple[BlockId, ...], end: int) -> None:
    """Give the request the blocks by which `table` is longer than its own."""
    _require_table(state, tally, live, table, end)
    new = table[len(live.table) :]
    for block in new:
        _take(state, tally, block, live)
    live.table.extend(new)
    live.homes = end


def _take(state: State, tally: Tally, id: BlockId, live: Live) -> None:
    """Hand block `id` to `live`: it must be idle, and its old content is gone."""
    who = live.request.id
    if not 0 <= id < len(state.blocks):
        tally.broken(rules.NO_DANGLING_REFERENCE, f"{who} receives block {id}", f"ids 0 to {len(state.blocks) - 1}")
    reserved = state.capabilities.reserved_blocks
    if reserved:
        tally.require(
            id not in reserved,
            rules.RESERVED_BLOCK,
            lambda: (f"{who} receives the reserved block {id}", "it is never handed out"),
            block=id,
        )
    block = state.blocks[id]
    if state.transfers or state.in_flight:
        pending = [f"transfer {transfer}" for transfer in block.fence]
        pending += [f"step {number}" for number, touched in state.in_flight.items() if id in touched]
        tally.require(
            not pending,
            rules.IN_FLIGHT_FENCE,
            lambda: (f"{who} receives block {id}, which {pending[0]} may still touch", "it waits until that is done"),
            block=id,
        )
    tally.require(
        block.ref == 0,
        rules.CONSERVATION,
        lambda: (f"{who} receives block {id}, which {_owners(state, id)} still holds", "a block without an owner"),
        block=id,
        request=who,
    )
    _check_eviction(state, tally, id, block)
    state.evictable.pop(id, None)
    block.poison(state.world.block_size, state.step)
    block.ref, block.epoch = 1, state.epoch


def _check_eviction(state: State, tally: Tally, id: BlockId, block: Block) -> None:
    profiles = state.capabilities.profiles
    if block.key is not None and ("lru" in profiles or "tail-first" in profiles):
        deeper = [
            other
            for other in state.evictable
            if other != id
            and state.blocks[other].key is not None
            and state.blocks[other].release == block.release
            and state.blocks[other].depth > block.depth
        ]
        tally.require(
            not deeper,
            rules.CONTIGUOUS_CHAIN,
            lambda: (f"block {id} is evicted before block {deeper[0]} behind it in its chain", "tails go first"),
            block=id,
        )
    if "lru" in profiles:
        head = next(iter(state.evictable), None)
        tally.require(
            head == id,
            rules.LRU_ORDER,
            lambda: (f"block {id} is taken", f"block {head}, released longest ago"),
            block=id,
        )


def _share(state: State, ids: tuple[BlockId, ...]) -> None:
    for id in ids:
        block = state.blocks[id]
        if block.ref == 0:
            state.evictable.pop(id, None)
        block.ref += 1


def _release(state: State, ids: tuple[BlockId, ...]) -> None:
    """Drop one reference to each block, the last of the chain first."""
    state.releases += 1
    for depth in range(len(ids) - 1, -1, -1):
        block = state.blocks[ids[depth]]
        block.ref -= 1
        if block.ref == 0:
            block.release, block.depth = state.releases, depth
            if not block.fence:
                state.evictable[ids[depth]] = None


def _forget_release_order(state: State) -> None:
    """Unseen, a victim may have taken any of the idle blocks and given them back: nothing follows from their order."""
    for id in state.evictable:
        state.releases += 1
        state.blocks[id].release = state.releases


def _give_back(state: State, live: Live) -> None:
    _release(state, tuple(live.table))
    live.table = []
    live.copied = frozenset()


def _leave(state: State, live: Live, deferred: bool) -> None:
    live.phase = Phase.DONE
    live.swapped = None
    if not deferred:
        _give_back(state, live)
    state.progressed, state.last = True, "exit"


def _begin_transfer(state: State, live: Live, transfer: TransferId, blocks: frozenset[BlockId]) -> None:
    state.transfers[transfer] = blocks
    live.transfer = transfer
    for block in blocks:
        state.blocks[block].fence |= {transfer}
        state.evictable.pop(block, None)


def _write(state: State, tally: Tally, live: Live, event: ev.Compute) -> None:
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
        0 <= id < len(state.blocks) and state.blocks[id].ref == 1 and id in live.table,
        rules.SHARED_BYTES_NEVER_CHANGE,
        lambda: (
            f"{who} writes position {position} into block {id}, held by {_owners(state, id) or 'nobody'}",
            f"a block that only {who} holds",
        ),
        block=id,
        request=who,
    )


def _read(state: State, tally: Tally, live: Live, end: int) -> None:
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
    if index in live.copied or block.writers[offset] is not None:
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


def _copy_content(state: State, source: BlockId, target: BlockId, extent: int) -> None:
    old, new = state.blocks[source], state.blocks[target]
    new.contexts[:extent] = old.contexts[:extent]
    new.writers[:extent] = old.writers[:extent]
    new.epoch = old.epoch


def _publish(state: State, live: Live, start: int) -> None:
    size = state.world.block_size
    for index in range(start // size, live.computed // size):
        state.blocks[live.table[index]].key = live.contexts[(index + 1) * size - 1]


def _owners(state: State, id: BlockId) -> str:
    return " and ".join(live.request.id for live in state.requests.values() if id in live.table)


_TRANSITIONS: dict[type, Callable[[State, Any, Tally], None]] = {
    ev.Add: _add,
    ev.Reject: _reject,
    ev.Refuse: _refuse,
    ev.Lookup: _lookup,
    ev.Start: _start,
    ev.Reserve: _reserve,
    ev.Compute: _compute,
    ev.Copy: _copy,
    ev.Remap: _remap,
    ev.Fork: _fork,
    ev.Sample: _sample,
    ev.Preempt: _preempt,
    ev.SwapOut: _swap_out,
    ev.SwapIn: _swap_in,
    ev.TransferDone: _transfer_done,
    ev.Finish: _finish,
    ev.Abort: _abort,
    ev.Release: _release_event,
    ev.ReleaseAgain: _release_again,
    ev.Reset: _reset,
    ev.FailStep: _fail_step,
    ev.EndStep: _end_step,
    ev.Dispatch: _dispatch,
    ev.Complete: _complete,
    ev.Observe: observe,
}
