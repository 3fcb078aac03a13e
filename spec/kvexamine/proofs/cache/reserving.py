"""How a table grows: blocks are taken all or none, each free and only once, and no more than is needed."""

from __future__ import annotations

from typing import Any

import z3

from kvexamine.proofs.cache.model import (
    RUNNING,
    b,
    blocks_for,
    i,
    j,
    lookahead,
    nobody,
    none,
    o,
    precedes,
    r,
    slot,
    widest,
)
from kvexamine.proofs.cache.relation import (
    Action,
    end,
    end_rest,
    every,
    n,
    of,
    q,
    s,
    t,
    tab,
)
from kvspec import events as ev


def taken_table(old: Any) -> dict[str, Any]:
    """Guards of a table that grows from `old` entries to `n` entries of `tab`."""
    new = z3.And(old <= i, i < n)
    return {
        "extends": z3.And(old <= n, every([i], z3.And(i >= 0, i < old), tab(i) == s.table(q, i))),
        "free": every([i], new, s.free(tab(i))),
        "once-each": every([i, j], z3.And(new, old <= j, j < n, tab(i) == tab(j)), i == j),
    }


def grown() -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What reserving and computing share: guards, effects, and whether block b is new in q's table."""
    old = s.length(q)
    needed = blocks_for(end, end_rest)
    most = z3.If(needed + lookahead >= old, needed + lookahead, old)
    guards = taken_table(old) | {
        "end": z3.And(end >= 0, slot(end_rest)),
        "coverage": needed <= n,
        "limit": n <= widest(q),
        "spare": n <= most,
    }
    took = z3.And(t.holds(q, b), t.place(q, b) >= old)
    further = precedes(s.allocated(q), s.allocated_rest(q), end, end_rest)
    effects = {
        "table": z3.If(r == q, tab(i), s.table(r, i)),
        "length": of(q, n, "length"),
        "allocated": of(q, z3.If(further, end, s.allocated(q)), "allocated"),
        "allocated_rest": of(q, z3.If(further, end_rest, s.allocated_rest(q)), "allocated_rest"),
        "ref": z3.If(took, 1, s.ref(b)),
        "idle": z3.And(s.idle(b), z3.Not(took)),
        "key": z3.If(took, none, s.key(b)),
        "content": z3.If(took, none, s.content(b, o)),
        "by": z3.If(took, nobody, s.by(b, o)),
        "due": z3.And(s.due(b, o), z3.Not(took)),
        "failed": z3.And(s.failed(b), z3.Not(took)),
        "fresh": z3.Or(s.fresh(b), took),
    }
    return guards, effects, took


GROWS = {
    "extends": "alloc/no-dangling-reference",
    "free": "alloc/conservation alloc/reserved-block",
    "once-each": "alloc/conservation",
    "coverage": "alloc/coverage-and-limit",
    "limit": "alloc/coverage-and-limit",
    "spare": "alloc/one-page-rounding",
}


def reserve() -> Action:
    """A running request is given slots."""
    guards, effects, _ = grown()
    return Action(
        "reserve",
        (ev.Reserve,),
        {"running": s.phase(q) == RUNNING, **guards},
        effects,
        q,
        {"running": "sched/one-queue", **GROWS},
    )
