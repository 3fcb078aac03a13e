"""What must hold in every state, in every move, and among the moves of a state."""

from __future__ import annotations

from collections.abc import Sequence

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.paged.moves import Move
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.sampling import could_be_alone
from kvspec import events as ev
from kvspec import rules
from kvspec.invariants import broken_invariants
from kvspec.state import Live, State
from kvspec.vocabulary import Phase


def broken_state(scope: Scope, state: State) -> Broken | None:
    """The first of all invariants that does not hold."""
    for rule, what in broken_invariants(state):
        return Broken(rule, what)
    for live in state.requests.values():
        if (broken := broken_tokens(scope, live)) is not None:
            return broken
    return None


def broken_tokens(scope: Scope, live: Live) -> Broken | None:
    """S8 where sampling follows at once: a token is left to compute. S15: the tokens are those of the request alone."""
    name, tokens = live.request.id, live.tokens
    if live.phase is Phase.RUNNING and live.computed >= len(tokens) and not scope.has("dispatch"):
        return Broken(rules.ONE_TOKEN_LEFT, f"S8: {name} has computed all of its {len(tokens)} tokens and samples none")
    if not could_be_alone(live):
        return Broken(rules.CHUNK_INDEPENDENCE, f"S15: {name} has the tokens {tokens}, which it would not have alone")
    return None


def broken_move(scope: Scope, before: State, after: State, move: Move) -> Broken | None:
    """What must hold between two states: S13, S14, exits that are deserved, reads that stay, and L3."""
    for name, old in before.requests.items():
        new = after.requests[name]
        if (broken := _broken_change(old, new, move)) is not None:
            return broken
    for event in move:
        match event:
            case ev.Reset() if any(block.key is not None for block in after.blocks):
                return Broken(rules.INVALIDATE, "a block is still keyed after the reset")
            case ev.Reject() if scope.world.blocks_for(before.requests[event.request].request.limit) <= before.usable:
                return Broken(rules.PROGRESS_OR_REJECT, f"L2: {event.request}, which fits, is rejected")
            case ev.Preempt() if scope.fcfs and before.live()[0].request.id == event.request:
                return Broken(rules.PROGRESS_OR_REJECT, f"L3: {event.request}, the oldest, is preempted")
            case ev.Start() if scope.fcfs and (first := _overtaken(before, event)) is not None:
                return Broken(rules.FCFS_ORDER, f"L5: {event.request} starts before {first}, which came first")
            case ev.FailStep():
                return _broken_failure(after)
    return _broken_flight(before, after)


def _overtaken(before: State, event: ev.Start) -> str | None:
    """An older request that has never started, where a newcomer starts."""
    newcomer = before.requests[event.request]
    for live in before.live():
        older = live.arrival < newcomer.arrival and live.phase is Phase.WAITING
        if older and not live.started and not newcomer.started:
            return live.request.id
    return None


def _broken_change(old: Live, new: Live, move: Move) -> Broken | None:
    name, rule = old.request.id, rules.RESUME_EQUALS_UNINTERRUPTED
    about = [event for event in move if getattr(event, "request", None) == name]
    leaves = any(isinstance(event, ev.Preempt | ev.SwapOut | ev.Finish | ev.Abort | ev.Reject) for event in about)
    if new.tokens[: len(old.tokens)] != old.tokens:
        return Broken(rule, f"S14: {name} had the tokens {old.tokens} and has {new.tokens}")
    if not leaves and (new.computed < old.computed or (new.phase is not old.phase and new.phase is not Phase.RUNNING)):
        return Broken(rule, f"S13: {name} had {old.computed} tokens computed and has {new.computed}")
    if any(isinstance(event, ev.Finish) for event in about) and len(new.tokens) < new.request.limit:
        return Broken(rule, f"S14: {name} finishes with {len(new.tokens)} of {new.request.limit} tokens")
    return None


def _broken_failure(after: State) -> Broken | None:
    """Nobody outside of a failed step had taken what it computed."""
    for live in after.live():
        for id in live.table:
            if after.blocks[id].failed:
                return Broken(rules.PUBLISH_ONLY_COMPUTED, f"S4: {live.request.id} holds block {id} of a failed step")
    return None


def _broken_flight(before: State, after: State) -> Broken | None:
    """What a dispatched step may read stays as it is until the step is complete."""
    for number, ids in before.in_flight.items():
        for id in ids if number in after.in_flight else ():
            now = after.blocks[id].contexts
            if any(old is not None and old != new for old, new in zip(before.blocks[id].contexts, now, strict=True)):
                return Broken(rules.IN_FLIGHT_FENCE, f"block {id} changes while step {number} may read it")
    return None


def broken_choice(scope: Scope, moves: Sequence[Move]) -> Broken | None:
    """What is refused does not fit: no other move of the request takes as many blocks."""
    if not scope.has("refuse"):
        return None
    refused = {(move[0].request, move[0].need) for move in moves if isinstance(move[0], ev.Refuse)}
    for move in moves:
        event = move[0]
        if isinstance(event, ev.Compute) and (event.request, taken(scope, event)) in refused:
            return Broken(rules.FIT_AGREES_WITH_ALLOCATE, f"{event.request} is refused blocks that it can take")
    return None


def taken(scope: Scope, event: ev.Compute) -> int:
    """Number of blocks by which the event extends a table that had none to spare."""
    return len(event.table) - scope.world.blocks_for(event.start)


NOTHING = Broken(rules.PROGRESS_OR_REJECT, "L1: a step ends in which nothing has happened")


def idles(before: State, move: Move, after: State) -> bool:
    """Whether the move ends a step in which little has happened, with no device or transfer to wait for."""
    if not isinstance(move[-1], ev.EndStep) or any(before.in_flight.values()) or before.transfers:
        return False
    return (before.left, before.progressed) == (after.left, after.progressed)


def finished(state: State) -> bool:
    """Whether nothing is left to do."""
    return not state.live() and not state.transfers and not state.in_flight
