"""Guards that several events share: each requires one thing and names the rule that it stands for."""

from __future__ import annotations

from collections.abc import Iterable

from kvspec import events as ev
from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import BlockId, Phase, RequestId


def live_of(state: State, id: RequestId) -> Live:
    """The request of this id, which must have been added."""
    live = state.requests.get(id)
    if live is None:
        raise HarnessFault(f"an event names request {id}, which was never added")
    return live


def require_phase(tally: Tally, live: Live, phase: Phase, does: str) -> None:
    """The request is in the queue that the event speaks of."""
    tally.require(
        live.phase is phase,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} {does} while it is {live.phase.value}", f"it is {phase.value}"),
        request=live.request.id,
    )


def require_present(tally: Tally, live: Live, does: str) -> None:
    """The request has not left."""
    tally.require(
        live.phase is not Phase.DONE,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} {does} after it has left", "it is waiting or running"),
        request=live.request.id,
    )


def require_scheduled_once(state: State, tally: Tally, live: Live) -> None:
    """The request runs, is not scheduled yet, has its blocks, and the batch is not full."""
    require_phase(tally, live, Phase.RUNNING, "is scheduled")
    tally.require(
        not live.ran,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} is scheduled twice in one step", "once"),
        request=live.request.id,
    )
    if live.transfer in state.arriving:
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


def require_budget(state: State, tally: Tally, live: Live, count: int) -> None:
    """At least one token, and no more than the step has left."""
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


def require_continues(tally: Tally, live: Live, event: ev.Compute) -> None:
    """The positions follow on those computed, are its own tokens, and go no further."""
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


def require_table(state: State, tally: Tally, live: Live, table: tuple[BlockId, ...], end: int) -> None:
    """The table extends the request's own, and has a home for `end` tokens and none to spare."""
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


def require_entry(tally: Tally, live: Live, index: int, block: BlockId) -> None:
    """The table entry names the block."""
    tally.require(
        0 <= index < len(live.table) and live.table[index] == block,
        rules.NO_DANGLING_REFERENCE,
        lambda: (f"{live.request.id} copies from block {block} at entry {index}", f"its table is {live.table}"),
        request=live.request.id,
    )


def require_whole_block(state: State, tally: Tally, live: Live, index: int) -> None:
    """The table has this entry, and every position of its block is computed."""
    whole = min(len(live.table), live.computed // state.world.block_size)
    tally.require(
        0 <= index < whole,
        rules.NO_DANGLING_REFERENCE,
        lambda: (f"entry {index} of {live.request.id}'s table {live.table} moves", f"one of its {whole} whole blocks"),
        request=live.request.id,
    )


def require_arrived(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What is read from these blocks is there: no transfer still brings it."""
    if not state.arriving:
        return
    for id in ids:
        coming = state.blocks[id].fence & state.arriving
        tally.require(
            not coming,
            rules.IN_FLIGHT_FENCE,
            lambda id=id, coming=coming: (  # type: ignore[misc]
                f"{live.request.id} reads block {id}, which transfer {min(coming)} still brings",
                "the transfer is done first",
            ),
            request=live.request.id,
            block=id,
        )


def require_settled(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What a transfer reads from these blocks is there: no step that is in flight still writes it."""
    if not state.in_flight or state.capabilities.orders_transfers:
        return
    for id in ids:
        writing = [w[1] for w in state.blocks[id].writers if w is not None and w[1] in state.in_flight]
        tally.require(
            not writing,
            rules.IN_FLIGHT_FENCE,
            lambda id=id, writing=writing: (  # type: ignore[misc]
                f"a transfer for {live.request.id} reads block {id}, which step {writing[0]} still writes",
                "the step is complete first (the engine does not declare that transfers wait for it)",
            ),
            request=live.request.id,
            block=id,
        )


def require_sound(state: State, tally: Tally, live: Live, ids: Iterable[BlockId]) -> None:
    """What is copied from these blocks was not written by a failed step."""
    for id in ids:
        tally.require(
            not state.blocks[id].failed,
            rules.INVALIDATE,
            lambda id=id: (  # type: ignore[misc]
                f"{live.request.id} copies block {id}, written by a failed step",
                "what a failed step wrote is used no more",
            ),
            request=live.request.id,
            block=id,
        )


def require_victim(state: State, tally: Tally, live: Live) -> None:
    """A victim runs and is not scheduled in this step."""
    require_phase(tally, live, Phase.RUNNING, "is preempted")
    tally.require(
        not live.ran,
        rules.ONE_QUEUE,
        lambda: (f"{live.request.id} is scheduled and preempted in one step", "one of the two"),
        request=live.request.id,
    )


def check_order(state: State, tally: Tally, live: Live) -> None:
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
