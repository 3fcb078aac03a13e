"""Judging what an engine says of requests: their block tables, and the queues in which they stand."""

from __future__ import annotations

from collections import Counter

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import DONE


def tables(state: State, event: ev.Observe, tally: Tally) -> None:
    """Every request has the table that it was given, and nobody else has one.

    Raises alloc/no-dangling-reference, alloc/failure-is-atomic.
    """
    told, number = event.tables or {}, event.group
    tally.met(rules.NO_DANGLING_REFERENCE)
    own = {id: tuple(live.tables[number]) for id, live in state.present.items() if live.tables[number]}
    for id in () if told == own else {**own, **told}:
        table = told.get(id, ())
        if id in state.requests:
            if tuple(table) != own.get(id, ()):
                facts = {"table": list(table), "own": list(own.get(id, ()))}
                tally.fail(rules.NO_DANGLING_REFERENCE, "table", request=id, group=number, **facts)
        elif not all(state.reserved(block) for block in table if block is not None):
            tally.fail(rules.FAILURE_IS_ATOMIC, "stranger's table", request=id, table=list(table))


def queues(state: State, event: ev.Observe, tally: Tally) -> None:
    """A live request stands in one queue, and who has left in none.

    Raises sched/one-queue, alloc/failure-is-atomic.
    """
    names = (*(event.waiting or ()), *(event.running or ()))
    standing = set(names)
    tally.met(rules.ONE_QUEUE)
    if len(standing) < len(names):
        id, times = Counter(names).most_common(1)[0]
        tally.fail(rules.ONE_QUEUE, "queues", request=id, times=times)
    for id in names:
        live = state.requests.get(id)
        if live is None:
            tally.fail(rules.FAILURE_IS_ATOMIC, "stranger", request=id)
        elif live.phase is DONE and _is_gone(state, live):
            tally.fail(rules.ONE_QUEUE, "gone", request=id)
    for id, live in state.present.items():
        if live.phase is not DONE and id not in standing:
            tally.fail(rules.ONE_QUEUE, "no queue", request=id)


def _is_gone(state: State, live: Live) -> bool:
    """Whether nothing is left of a request, not even a step that could still tidy up behind it.

    Queues may be cleaned lazily: in the step that is planned after the request has left, or when that step completes.
    Where a step was never dispatched it is not told when it completes: at the latest when the next one ends.
    """
    return live.gone and live.left_in < state.oldest
