"""Judging what an engine says of requests: their block tables, and the queues in which they stand."""

from __future__ import annotations

from collections import Counter

from kvspec import events as ev
from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import Live, State
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import Phase, RequestId


def tables(state: State, event: ev.Observe, tally: Tally) -> None:
    """Every request has the table that it was given, and nobody else has one."""
    told = event.tables or {}
    tally.met(rules.NO_DANGLING_REFERENCE)
    for id, live in state.requests.items():
        table = tuple(told.get(id, ()))
        if list(table) != live.table:
            rule = _wrong_table(state, live)
            tally.broken(rule, f"the table of {id} is {list(table)}", f"{live.table}", request=id)
    for id, blocks in told.items():
        if id not in state.requests and not state.capabilities.reserved_blocks.issuperset(blocks):
            _unknown(state, tally, id, f"{id}, which was never added, has the table {list(blocks)}")


def _wrong_table(state: State, live: Live) -> Rule:
    """Which rule a wrong table breaks, from what has just happened to its request."""
    if state.last == "refusal":
        return rules.FAILURE_IS_ATOMIC
    if not live.table:
        return rules.EVERY_EXIT_RELEASES
    if live.phase is Phase.DONE and any(set(live.table) & touched for touched in state.in_flight.values()):
        return rules.IN_FLIGHT_FENCE
    return rules.NO_DANGLING_REFERENCE


def queues(state: State, event: ev.Observe, tally: Tally) -> None:
    """A live request stands in one queue, and who has left in none."""
    names = (*(event.waiting or ()), *(event.running or ()))
    tally.met(rules.ONE_QUEUE)
    for id, times in Counter(names).items():
        if times > 1:
            tally.broken(rules.ONE_QUEUE, f"{id} stands {times} times in the queues", "once", request=id)
        if id not in state.requests:
            _unknown(state, tally, id, f"{id}, which was never added, stands in a queue")
        elif _is_gone(state, state.requests[id]):
            tally.broken(rules.ONE_QUEUE, f"{id} stands in a queue after it has left", "it is in none", request=id)
    missing = [live.request.id for live in state.live() if live.request.id not in names]
    if missing:
        tally.broken(rules.ONE_QUEUE, f"{missing[0]} is in no queue", "a live request is in one", request=missing[0])


def _is_gone(state: State, live: Live) -> bool:
    """Whether nothing is left of a request, not even a step that could still tidy up behind it.

    Queues may be cleaned lazily: in the step that is planned after the request has left, or when that step completes.
    Where a step was never dispatched it is not told when it completes: at the latest when the next one ends.
    """
    holds = live.phase is not Phase.DONE or live.table or live.transfer is not None
    return not holds and live.left_in < state.oldest


def _unknown(state: State, tally: Tally, id: RequestId, seen: str) -> None:
    """A name that nobody has added: what a refused operation left behind or, without one, a slip of the teller."""
    if state.last != "refusal":
        raise HarnessFault(f"an observation tells that {seen}")
    tally.broken(rules.FAILURE_IS_ATOMIC, seen, "a refused request leaves nothing", request=id)
