"""Requests come: add, start on a hit, fork."""

from __future__ import annotations

import z3

from kvexamine.proofs.cache.hits import HITS, is_hit, trie
from kvexamine.proofs.cache.model import ABSENT, RUNNING, WAITING, b, i, j, none, o, precedes, r, salt, slot
from kvexamine.proofs.cache.relation import Action, end, end_rest, every, n, of, p, q, s, t, tab
from kvspec import events as ev


def add() -> Action:
    """A client's request waits, with a history of its own."""
    return Action(
        "add",
        (ev.Add,),
        {"new": s.phase(q) == ABSENT, "end": z3.And(end >= 0, slot(end_rest)), "history": trie(t, q)},
        {
            "phase": of(q, WAITING, "phase"),
            "tokens": of(q, end, "tokens"),
            "tokens_rest": of(q, end_rest, "tokens_rest"),
            "own": z3.If(r == q, t.own(r, i, o), s.own(r, i, o)),
        },
    )


def start() -> Action:
    """A waiting request runs on a hit of n blocks, which it shares."""
    hit = {f"hit-{name}": every([i], z3.And(i >= 0, i < n), g) for name, g in is_hit(tab(i), i).items()}
    held = t.holds(q, b)
    return Action(
        "start",
        (ev.Start,),
        {
            "waiting": s.phase(q) == WAITING,
            "not-a-victim": z3.Not(s.victim(q)),
            "one-left": z3.And(n >= 0, precedes(n, 0, s.tokens(q), s.tokens_rest(q))),
            **hit,
        },
        {
            "phase": of(q, RUNNING, "phase"),
            "table": z3.If(r == q, tab(i), s.table(r, i)),
            **{name: of(q, n, name) for name in ("length", "computed", "allocated", "hit")},
            "allocated_rest": of(q, 0, "allocated_rest"),
            "ref": s.ref(b) + z3.If(held, 1, 0),
            "idle": z3.And(s.idle(b), z3.Not(held)),
        },
        q,
        {"waiting": "sched/one-queue", "not-a-victim": "sched/one-queue", "one-left": "prefix/one-token-left"}
        | {f"hit-{name}": rule for name, rule in HITS.items()},
    )


def fork() -> Action:
    """P continues q's request: it shares blocks, or receives copies in private ones."""
    private = z3.And(i >= 0, i < n, tab(i) != s.table(q, i))
    at = t.place(p, b)
    source = s.table(q, at)
    copied = z3.And(t.holds(p, b), b != source)
    inherited = (
        *("computed", "computed_rest", "tokens", "tokens_rest"),
        *("allocated", "allocated_rest", "hit"),
    )
    return Action(
        "fork",
        (ev.Fork,),
        {
            "running": s.phase(q) == RUNNING,
            "new": s.phase(p) == ABSENT,
            "same-length": n == s.length(q),
            "free": every([i], private, s.free(tab(i))),
            "once-each": every([i, j], z3.And(private, j >= 0, j < n, tab(i) == tab(j)), i == j),
            "same-salt": salt(p) == salt(q),
            "sound": every([i], private, z3.Not(s.failed(s.table(q, i)))),
        },
        {
            "phase": of(p, RUNNING, "phase"),
            "table": z3.If(r == p, tab(i), s.table(r, i)),
            "length": of(p, n, "length"),
            **{name: of(p, getattr(s, name)(q), name) for name in inherited},
            "own": z3.If(r == p, s.own(q, i, o), s.own(r, i, o)),
            "ref": z3.If(copied, 1, s.ref(b) + z3.If(t.holds(p, b), 1, 0)),
            "idle": z3.And(s.idle(b), z3.Not(copied)),
            "key": z3.If(copied, none, s.key(b)),
            "content": z3.If(copied, s.content(source, o), s.content(b, o)),
            "by": z3.If(copied, s.by(source, o), s.by(b, o)),
            "due": z3.If(copied, s.due(source, o), s.due(b, o)),
            "failed": z3.And(s.failed(b), z3.Not(copied)),
            "fresh": z3.If(copied, s.fresh(source), s.fresh(b)),
        },
        p,
        {
            "running": "sched/one-queue",
            "same-length": "alloc/coverage-and-limit",
            "free": "alloc/conservation alloc/reserved-block",
            "once-each": "alloc/conservation",
        },
    )
