"""Guards that several events share: each requires one thing and names the rule that it stands for."""

from __future__ import annotations

from collections.abc import Iterable

from kvspec import events as ev
from kvspec import rules
from kvspec.layout import Group, Tables
from kvspec.state import Live, State
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import DONE, RUNNING, WAITING, BlockId, Phase, RequestId


def live_of(state: State, id: RequestId) -> Live:
    """The request of this id, which must have been added."""
    live = state.requests.get(id)
    if live is None:
        raise HarnessFault(f"an event names request {id}, which was never added")
    return live


def require_phase(tally: Tally, live: Live, phase: Phase) -> None:
    """The request is in the queue that the event speaks of.

    Raises sched/one-queue.
    """
    tally.met(rules.ONE_QUEUE)
    if live.phase is not phase:
        tally.fail(rules.ONE_QUEUE, "phase", request=live.request.id, phase=live.phase.value, wanted=phase.value)


def require_present(tally: Tally, live: Live) -> None:
    """The request has not left.

    Raises sched/one-queue.
    """
    tally.met(rules.ONE_QUEUE)
    if live.phase is DONE:
        tally.fail(rules.ONE_QUEUE, "left", request=live.request.id)


def require_scheduled_once(state: State, tally: Tally, live: Live) -> None:
    """The request runs, is not scheduled yet, has its blocks, and the batch is not full.

    Raises sched/one-queue, alloc/in-flight-fence, sched/step-budget, and what `require_phase` raises.
    """
    require_phase(tally, live, RUNNING)
    tally.met(rules.ONE_QUEUE, rules.STEP_BUDGET)
    if live.ran:
        tally.fail(rules.ONE_QUEUE, "twice", request=live.request.id)
    if live.transfer in state.arriving:
        tally.fail(rules.IN_FLIGHT_FENCE, "computes", request=live.request.id, transfer=live.transfer)
    if len(state.planned) >= state.world.max_running:
        running, most = len(state.planned) + 1, state.world.max_running
        tally.fail(rules.STEP_BUDGET, "requests", request=live.request.id, running=running, most=most)


def require_budget(state: State, tally: Tally, live: Live, count: int) -> None:
    """At least one token, and no more than the step has left.

    Raises sched/step-budget.
    """
    tally.met(rules.STEP_BUDGET, rules.STEP_BUDGET)
    if count < 1:
        tally.fail(rules.STEP_BUDGET, "none", request=live.request.id, count=count)
    if count > state.left:
        budget = state.world.token_budget
        tally.fail(rules.STEP_BUDGET, "tokens", request=live.request.id, total=budget - state.left + count, most=budget)


def require_goes_on(tally: Tally, live: Live) -> None:
    """No step was wasted on the request since it started: then it goes on from what is its own.

    Raises sched/chunk-independence.
    """
    if live.wasted:
        tally.fail(rules.CHUNK_INDEPENDENCE, "wasted", request=live.request.id, wasted=live.wasted)


def require_continues(tally: Tally, live: Live, event: ev.Compute) -> None:
    """The positions follow on those computed, are its own tokens, and go no further.

    Raises sched/chunk-independence, and what `require_goes_on` raises.
    """
    require_goes_on(tally, live)
    who, start, end, total = event.request, event.start, event.start + event.count, len(live.tokens)
    if end > total:
        tally.fail(rules.CHUNK_INDEPENDENCE, "past", request=who, start=start, last=end - 1, total=total)
    if start != live.computed:
        tally.fail(rules.CHUNK_INDEPENDENCE, "continues", request=who, start=start, computed=live.computed)
    if event.tokens is not None and list(event.tokens) != live.tokens[start:end]:
        fed, own = list(event.tokens), live.tokens[start:end]
        tally.fail(rules.CHUNK_INDEPENDENCE, "fed", request=who, start=start, fed=fed, own=own)


def require_tables(state: State, tally: Tally, live: Live, tables: Tables, end: int) -> None:
    """Each table extends the request's own, and has slots for what `end` tokens leave in its group, and none to spare.

    Raises alloc/coverage-and-limit, alloc/one-page-rounding, alloc/no-dangling-reference.
    """
    who, spare = live.request.id, state.capabilities.lookahead_blocks
    for number, (group, own, table) in enumerate(zip(state.layout.groups, live.tables, tables, strict=True)):
        tally.met(
            rules.COVERAGE_AND_LIMIT, rules.COVERAGE_AND_LIMIT, rules.ONE_PAGE_ROUNDING, rules.NO_DANGLING_REFERENCE
        )
        length, size, facts = len(table), group.block_size, {"request": who, "group": number}
        widest, exact = group.entries(live.request.limit) + spare, max(group.entries(end) + spare, len(own))
        if length * size < end - group.lag:
            tally.fail(rules.COVERAGE_AND_LIMIT, "short", length=length, size=size, end=end, **facts)
        if length > widest:
            tally.fail(rules.COVERAGE_AND_LIMIT, "limit", length=length, most=widest, **facts)
        if length > exact:
            tally.fail(rules.ONE_PAGE_ROUNDING, "spare", length=length, end=end, most=exact, **facts)
        if list(table[: len(own)]) != own:
            tally.fail(rules.NO_DANGLING_REFERENCE, "moved", table=list(table), own=own, **facts)


def per_group(
    state: State, event: ev.Start | ev.Lookup | ev.Reserve | ev.Compute | ev.Waste | ev.Fork | ev.SwapIn
) -> Tables:
    """The tables of the event, one for each group."""
    tables = event.tables
    if len(tables) != len(state.layout.groups):
        raise HarnessFault(f"{len(tables)} tables are told of a cache with {len(state.layout.groups)} groups: {event}")
    return tables


def group_of(state: State, number: int) -> Group:
    """The group with this number, which must be one."""
    if not 0 <= number < len(state.layout.groups):
        raise HarnessFault(f"an event names group {number} of {len(state.layout.groups)}")
    return state.layout.groups[number]


def require_entry(tally: Tally, table: list[BlockId | None], live: Live, index: int, block: BlockId) -> None:
    """The table entry names the block.

    Raises alloc/no-dangling-reference.
    """
    tally.met(rules.NO_DANGLING_REFERENCE)
    if not (0 <= index < len(table) and table[index] == block):
        tally.fail(rules.NO_DANGLING_REFERENCE, "source", request=live.request.id, source=block, index=index, own=table)


def require_whole_block(state: State, tally: Tally, live: Live, number: int, index: int) -> BlockId:
    """The block of an entry that the table of a group has, and of which every slot is computed.

    Raises alloc/no-dangling-reference.
    """
    tally.met(rules.NO_DANGLING_REFERENCE)
    size, table = group_of(state, number).block_size, live.tables[number]
    whole = min(len(table), live.filled[number] // size)
    id = table[index] if 0 <= index < whole else None
    if id is None:
        who = live.request.id
        tally.fail(rules.NO_DANGLING_REFERENCE, "entry", request=who, index=index, own=table, whole=whole)
        raise AssertionError("a table entry that is not there")
    return id


def require_arrived(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What is read from these blocks is there: no transfer still brings it.

    Raises alloc/in-flight-fence.
    """
    for id in ids if state.arriving else ():
        tally.met(rules.IN_FLIGHT_FENCE)
        if coming := state.blocks[id].fence & state.arriving:
            tally.fail(rules.IN_FLIGHT_FENCE, "arriving", request=live.request.id, block=id, transfer=min(coming))


def require_settled(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What a transfer reads from these blocks is there: no step that is in flight still writes it.

    Raises alloc/in-flight-fence.
    """
    if not state.in_flight or state.capabilities.orders_transfers:
        return
    for id in ids:
        tally.met(rules.IN_FLIGHT_FENCE)
        writing = [w[1] for w in state.blocks[id].writers if w is not None and w[1] in state.in_flight]
        if writing:
            tally.fail(rules.IN_FLIGHT_FENCE, "written", request=live.request.id, block=id, step=writing[0])


def require_sound(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What is copied from these blocks was not written by a failed step.

    Raises prefix/invalidate.
    """
    for id in ids:
        tally.met(rules.INVALIDATE)
        if state.blocks[id].failed:
            tally.fail(rules.INVALIDATE, "copied", request=live.request.id, block=id)


def require_victim(tally: Tally, live: Live) -> None:
    """A victim runs and is not scheduled in this step.

    Raises sched/one-queue, and what `require_phase` raises.
    """
    require_phase(tally, live, RUNNING)
    tally.met(rules.ONE_QUEUE)
    if live.ran:
        tally.fail(rules.ONE_QUEUE, "victim", request=live.request.id)


def check_order(state: State, tally: Tally, live: Live) -> None:
    """Profile fcfs: a newcomer overtakes neither a newcomer nor a victim that comes first.

    Raises sched/fcfs-order.
    """
    if "fcfs" not in state.capabilities.profiles or live.started:
        return
    by_priority = state.world.policy == "priority"

    def rank(other: Live) -> tuple[int, int]:
        return (other.request.priority if by_priority else 0, other.arrival)

    tally.met(rules.FCFS_ORDER)
    first = min((other for other in state.present.values() if other.phase is WAITING), key=rank)
    if first is not live:
        tally.fail(rules.FCFS_ORDER, "overtakes", request=live.request.id, first=first.request.id)
