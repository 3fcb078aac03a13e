"""The invariants of the model: of blocks, of tables, of requests; S numbers are those of `kvspec.invariants`."""

from __future__ import annotations

from typing import Any

import z3

from kvexamine.proofs.cache.model import (
    ABSENT,
    DONE,
    RUNNING,
    WAITING,
    Cache,
    ancestor,
    b,
    blocks_for,
    budget,
    depth,
    i,
    j,
    lookahead,
    nobody,
    none,
    o,
    o2,
    precedes,
    r,
    reserved,
    salt,
    size,
    slot,
)


def invariants(s: Cache) -> dict[str, Any]:
    """Every invariant by name; S numbers are those of `kvspec.invariants`."""
    return _of_blocks(s) | _of_tables(s) | _of_requests(s)


def _of_blocks(s: Cache) -> dict[str, Any]:
    published = s.key(b) != none
    written = s.by(b, o) != nobody
    return {
        "S1-count": z3.ForAll([b], s.ref(b) == s.count(b)),
        "S2-idle": z3.ForAll([b], s.idle(b) == s.free(b)),
        "S2-reserved": z3.ForAll([b], z3.Implies(reserved(b), s.ref(b) == 0)),
        "S2-reserved-empty": z3.ForAll([b, o], z3.Implies(z3.And(reserved(b), slot(o)), s.content(b, o) == none)),
        "S4-content": z3.ForAll(
            [b, o], z3.Implies(z3.And(published, slot(o)), s.content(b, o) == ancestor(s.key(b), o))
        ),
        "S4-last": z3.ForAll([b], z3.Implies(published, ancestor(s.key(b), size - 1) == s.key(b))),
        "S4-epoch": z3.ForAll([b], z3.Implies(published, s.fresh(b))),
        "S10-one-writer": z3.ForAll(
            [b, o, o2],
            z3.Implies(
                z3.And(slot(o), slot(o2), written, s.by(b, o2) != nobody),
                s.by(b, o) == s.by(b, o2),
            ),
        ),
        "written": z3.ForAll([b, o], z3.Implies(z3.And(slot(o), s.content(b, o) != none), written)),
    }


def _of_tables(s: Cache) -> dict[str, Any]:
    entry = s.table(r, i)
    running = z3.And(s.phase(r) == RUNNING, slot(o), i >= 0)
    by_hit = z3.And(running, i < s.hit(r), i < s.length(r))
    return {
        "S2-once": z3.ForAll(
            [r, i, j], z3.Implies(z3.And(s.live(r, i), s.live(r, j), s.table(r, i) == s.table(r, j)), i == j)
        ),
        "S5-view": z3.ForAll(
            [r, i, o],
            z3.Implies(
                z3.And(running, s.is_computed(r, i, o), z3.Not(s.failed(entry))), s.content(entry, o) == s.own(r, i, o)
            ),
        ),
        "S6-ahead": z3.ForAll(
            [r, i, o],
            z3.Implies(z3.And(running, i < s.length(r), z3.Not(s.is_computed(r, i, o))), s.content(entry, o) == none),
        ),
        "S10-salt": z3.ForAll(
            [r, i, o],
            z3.Implies(z3.And(s.live(r, i), slot(o)), z3.Or(s.by(entry, o) == nobody, s.by(entry, o) == salt(r))),
        ),
        "used-computed": z3.ForAll([r, i, o], z3.Implies(by_hit, z3.Not(s.due(entry, o)))),
    }


def _of_requests(s: Cache) -> dict[str, Any]:
    known, running = s.phase(r) != ABSENT, s.phase(r) == RUNNING
    computed = blocks_for(s.computed(r), s.computed_rest(r))
    allocated = blocks_for(s.allocated(r), s.allocated_rest(r))
    exact = z3.If(computed >= allocated, computed, allocated)
    own = s.own(r, i, o)
    is_token = z3.And(known, i >= 0, slot(o), s.is_token(r, i, o))
    is_full = z3.And(known, i >= 0, i < s.tokens(r), slot(o))
    pairs = [
        z3.And(full >= 0, slot(rest))
        for full, rest in (
            (s.computed(r), s.computed_rest(r)),
            (s.tokens(r), s.tokens_rest(r)),
            (s.allocated(r), s.allocated_rest(r)),
        )
    ]
    return {
        "positions": z3.ForAll([r], z3.And(*pairs, s.phase(r) >= 0, s.phase(r) <= DONE, s.length(r) >= 0)),
        "S7-allocated": z3.ForAll(
            [r], z3.Implies(running, z3.And(exact <= s.length(r), s.length(r) <= exact + lookahead))
        ),
        "absent": z3.ForAll([r], z3.Implies(s.phase(r) == ABSENT, _nothing(s))),
        "S7-waiting": z3.ForAll([r], z3.Implies(s.phase(r) <= WAITING, s.length(r) == 0)),
        "S7-hit": z3.ForAll([r], z3.Implies(running, z3.And(s.hit(r) >= 0, s.hit(r) <= s.computed(r)))),
        "S8-tokens": z3.ForAll(
            [r],
            z3.Implies(known, z3.Not(precedes(s.tokens(r), s.tokens_rest(r), s.computed(r), s.computed_rest(r)))),
        ),
        "S8-waiting": z3.ForAll(
            [r], z3.Implies(s.phase(r) == WAITING, z3.And(s.computed(r) == 0, s.computed_rest(r) == 0))
        ),
        "one-queue": z3.ForAll([r], z3.Implies(s.victim(r), s.phase(r) != RUNNING)),
        "S9-budget": z3.And(s.left >= 0, s.left <= budget),
        "history": z3.ForAll([r, i, o], z3.Implies(is_token, z3.And(own != none, depth(own) == i))),
        "history-chain": z3.ForAll([r, i, o], z3.Implies(is_full, ancestor(s.own(r, i, size - 1), o) == own)),
    }


def _nothing(s: Cache) -> Any:
    """The request has no tokens, no table and no past."""
    zero = ("length", "computed", "computed_rest", "tokens", "tokens_rest", "allocated", "allocated_rest", "hit")
    return z3.And(*(getattr(s, field)(r) == 0 for field in zero), z3.Not(s.ran(r)), z3.Not(s.victim(r)))


def initially(s: Cache) -> Any:
    """Nobody is there, nothing is written, every usable block is idle."""
    return z3.And(
        z3.ForAll([r], z3.And(s.phase(r) == ABSENT, _nothing(s))),
        z3.ForAll([b], z3.And(s.ref(b) == 0, s.count(b) == 0, s.key(b) == none, s.idle(b) == z3.Not(reserved(b)))),
        z3.ForAll([b], z3.And(z3.Not(s.failed(b)), s.fresh(b), z3.Not(s.fenced(b)))),
        z3.ForAll([b, o], z3.And(s.content(b, o) == none, s.by(b, o) == nobody, z3.Not(s.due(b, o)))),
        s.left == budget,
    )
