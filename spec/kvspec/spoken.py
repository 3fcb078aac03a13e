"""Judging what an engine says of requests: their block tables, and the queues in which they stand."""

from __future__ import annotations

from collections import Counter

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.violation import Tally


def tables(state: State, event: ev.Observe, tally: Tally) -> None:
    """Every request has the table that it was given, and nobody else has one.

    Raises alloc/no-dangling-reference, alloc/failure-is-atomic.
    """
    told, number = event.tables or {}, event.group
    tally.met(rules.NO_DANGLING_REFERENCE)
    for id in {**state.present, **told}:
        table, live = told.get(id, ()), state.requests.get(id)
        if live is not None:
            if (table or live.tables[number]) and list(table) != live.tables[number]:
                facts = {"table": list(table), "own": live.tables[number]}
                tally.fail(rules.NO_DANGLING_REFERENCE, "table", request=id, group=number, **facts)
        elif not all(state.reserved(block) for block in table if block is not None):
            tally.fail(rules.FAILURE_IS_ATOMIC, "stranger's table", request=id, table=list(table))


def queues(state: State, event: ev.Observe, tally: Tally) -> None:
    """A live request stands in one queue, and who has left in none.

    Raises sched/one-queue, alloc/failure-is-atomic.
    """
    names = Counter((*(event.waiting or ()), *(event.running or ())))
    tally.met(rules.ONE_QUEUE)
    for id, times in names.items():
        if times > 1:
            tally.fail(rules.ONE_QUEUE, "queues", request=id, times=times)
        if id not in state.requests:
            tally.fail(rules.FAILURE_IS_ATOMIC, "stranger", request=id)
        elif _is_gone(state, state.requests[id]):
            tally.fail(rules.ONE_QUEUE, "gone", request=id)
    missing = [live.request.id for live in state.live() if live.request.id not in names]
    if missing:
        tally.fail(rules.ONE_QUEUE, "no queue", request=missing[0])


def _is_gone(state: State, live: Live) -> bool:
    """Whether nothing is left of a request, not even a step that could still tidy up behind it.

    Queues may be cleaned lazily: in the step that is planned after the request has left, or when that step completes.
    Where a step was never dispatched it is not told when it completes: at the latest when the next one ends.
    """
    return live.gone and live.left_in < state.oldest
