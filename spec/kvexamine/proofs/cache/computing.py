"""What running requests do with their blocks: compute, copy on write, merge duplicates, sample."""

from __future__ import annotations

import z3

from kvexamine.proofs.cache.hits import HITS, is_hit
from kvexamine.proofs.cache.model import (
    RUNNING,
    ancestor,
    b,
    blocks_for,
    depth,
    i,
    limit,
    limit_rest,
    nobody,
    none,
    o,
    precedes,
    r,
    salt,
    size,
    slot,
)
from kvexamine.proofs.cache.relation import (
    Action,
    count,
    end,
    end_rest,
    every,
    extent,
    of,
    q,
    s,
    sampled,
    t,
    target,
    x,
)
from kvexamine.proofs.cache.reserving import GROWS, grown
from kvspec import events as ev


def compute() -> Action:
    """A step computes positions up to (end, end_rest): slots, writes, reads, and keys, which are published at once.

    What is written is `due` until its step has run on the device.
    """
    guards, effects, took = grown()
    is_new = z3.And(z3.Not(s.is_computed(q, i, o)), precedes(i, o, end, end_rest), slot(o), i >= 0)
    at = t.place(q, b)
    writes = z3.And(t.holds(q, b), z3.Not(s.is_computed(q, at, o)), precedes(at, o, end, end_rest))
    writes_block = z3.And(t.holds(q, b), s.computed(q) <= at, at < blocks_for(end, end_rest))
    publishes = z3.And(t.holds(q, b), s.computed(q) <= at, at < end)
    return Action(
        "compute",
        (ev.Compute,),
        {
            "running": s.phase(q) == RUNNING,
            "once": z3.Not(s.ran(q)),
            "budget": z3.And(count >= 1, count <= s.left),
            "forward": precedes(s.computed(q), s.computed_rest(q), end, end_rest),
            "within": z3.Not(precedes(s.tokens(q), s.tokens_rest(q), end, end_rest)),
            **guards,
            "sole-owner": every([i, o], z3.And(is_new, i < s.length(q)), s.ref(s.table(q, i)) == 1),
            "reads": every(
                [i, o],
                z3.And(i >= 0, slot(o), s.is_computed(q, i, o)),
                s.content(s.table(q, i), o) == s.own(q, i, o),
            ),
        },
        {
            **effects,
            "computed": of(q, end, "computed"),
            "computed_rest": of(q, end_rest, "computed_rest"),
            "ran": z3.Or(s.ran(r), r == q),
            "key": z3.If(publishes, s.own(q, at, size - 1), effects["key"]),
            "content": z3.If(writes, s.own(q, at, o), effects["content"]),
            "by": z3.If(writes, salt(q), effects["by"]),
            "due": z3.Or(writes, z3.And(s.due(b, o), z3.Not(took))),
            "fresh": z3.Or(s.fresh(b), took, writes_block),
            "left": s.left - count,
        },
        q,
        {
            "running": "sched/one-queue",
            "once": "sched/one-queue",
            "budget": "sched/step-budget",
            "within": "sched/chunk-independence sched/resume-equals-uninterrupted prefix/fresh-hit",
            **GROWS,
            "sole-owner": "prefix/shared-bytes-never-change",
            "reads": "prefix/shared-bytes-never-change sched/chunk-independence sched/resume-equals-uninterrupted",
        },
    )


def copy() -> Action:
    """Copy-on-write: entry x moves to a private block with its first `extent` slots."""
    source = s.table(q, x)
    copied = z3.And(b == target, o < extent)
    return Action(
        "copy",
        (ev.Copy,),
        {
            "entry": s.live(q, x),
            "free": s.free(target),
            "extent": z3.And(
                extent >= 0,
                extent <= size,
                every([o], z3.And(slot(o), s.is_computed(q, x, o)), o < extent),
            ),
            "sound": z3.Not(s.failed(source)),
        },
        {
            "table": z3.If(z3.And(r == q, i == x), target, s.table(r, i)),
            "ref": z3.If(b == target, 1, s.ref(b) - z3.If(b == source, 1, 0)),
            "idle": z3.And(b != target, z3.Or(s.idle(b), z3.And(b == source, s.ref(b) == 1, z3.Not(s.fenced(b))))),
            "key": z3.If(b == target, none, s.key(b)),
            "content": z3.If(copied, s.content(source, o), z3.If(b == target, none, s.content(b, o))),
            "by": z3.If(copied, s.by(source, o), z3.If(b == target, nobody, s.by(b, o))),
            "due": z3.If(copied, s.due(source, o), z3.And(b != target, s.due(b, o))),
            "failed": z3.And(s.failed(b), b != target),
            "fresh": z3.If(b == target, s.fresh(source), s.fresh(b)),
        },
        q,
        {"free": "alloc/conservation alloc/reserved-block", "extent": "prefix/shared-bytes-never-change"},
    )


def remap() -> Action:
    """Duplicates merge: entry x moves to a block of the same content, shared."""
    old = s.table(q, x)
    left = s.ref(b) + z3.If(b == target, 1, 0) - z3.If(b == old, 1, 0)
    return Action(
        "remap",
        (ev.Remap,),
        {
            "running": s.phase(q) == RUNNING,
            "computed-entry": z3.And(s.live(q, x), x < s.computed(q)),
            **{f"hit-{name}": guard for name, guard in is_hit(target, x).items()},
        },
        {
            "table": z3.If(z3.And(r == q, i == x), target, s.table(r, i)),
            "ref": left,
            "idle": z3.If(
                z3.Or(target == old, z3.And(b != target, b != old)),
                s.idle(b),
                z3.And(b == old, left == 0, z3.Not(s.fenced(b))),
            ),
        },
        q,
        {"running": "sched/one-queue", "computed-entry": "alloc/no-dangling-reference"}
        | {f"hit-{name}": rule for name, rule in HITS.items()},
    )


def sample() -> Action:
    """A token is appended once all before it are computed."""
    last = s.tokens_rest(q) == size - 1
    place = z3.And(r == q, i == s.tokens(q), o == s.tokens_rest(q))
    earlier = z3.If(o == size - 1, sampled, s.own(q, s.tokens(q), o))
    return Action(
        "sample",
        (ev.Sample,),
        {
            "running": s.phase(q) == RUNNING,
            "computed": z3.And(s.computed(q) == s.tokens(q), s.computed_rest(q) == s.tokens_rest(q)),
            "limit": precedes(s.tokens(q), s.tokens_rest(q), limit(q), limit_rest(q)),
            "history": z3.And(
                sampled != none,
                depth(sampled) == s.tokens(q),
                every([o], z3.And(last, slot(o)), ancestor(sampled, o) == earlier),
            ),
        },
        {
            "tokens": of(q, s.tokens(q) + z3.If(last, 1, 0), "tokens"),
            "tokens_rest": of(q, z3.If(last, 0, s.tokens_rest(q) + 1), "tokens_rest"),
            "own": z3.If(place, sampled, s.own(r, i, o)),
        },
        rules={
            "running": "sched/one-queue",
            "computed": "sched/chunk-independence sched/resume-equals-uninterrupted",
            "limit": "sched/chunk-independence sched/resume-equals-uninterrupted",
        },
    )
