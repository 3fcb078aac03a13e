"""Requests leave, the cache forgets, steps end: nothing here takes a block."""

from __future__ import annotations

from typing import Any

import z3

from kvexamine.proofs.cache.model import DONE, RUNNING, WAITING, b, budget, none, o, r, slot
from kvexamine.proofs.cache.relation import Action, Within, accepted, bad, current, deferred, every, hurt, of, q, s
from kvspec import events as ev


def released() -> dict[str, Any]:
    """Q drops every block of its table."""
    held = s.holds(q, b)
    return {
        "length": of(q, 0, "length"),
        "ref": s.ref(b) - z3.If(held, 1, 0),
        "idle": z3.Or(s.idle(b), z3.And(held, s.ref(b) == 1, z3.Not(s.fenced(b)))),
    }


def preempt() -> Action:
    """A running request that the step has not scheduled gives everything back and waits."""
    return Action(
        "preempt",
        (ev.Preempt,),
        {"running": s.phase(q) == RUNNING, "not-scheduled": z3.Not(s.ran(q))},
        {
            **released(),
            "phase": of(q, WAITING, "phase"),
            **{name: of(q, 0, name) for name in ("computed", "computed_rest")},
            "victim": z3.Or(s.victim(r), r == q),
        },
        q,
        {"running": "sched/one-queue", "not-scheduled": "sched/one-queue"},
    )


def leave() -> Action:
    """A request finishes, is aborted or rejected; its blocks go now, or later."""
    now = released()
    return Action(
        "leave",
        (ev.Finish, ev.Abort, ev.Reject),
        {"present": z3.And(s.phase(q) >= WAITING, s.phase(q) <= RUNNING)},
        {
            "phase": of(q, DONE, "phase"),
            "length": z3.If(deferred, s.length(r), now["length"]),
            "ref": z3.If(deferred, s.ref(b), now["ref"]),
            "idle": z3.If(deferred, s.idle(b), now["idle"]),
        },
        q,
        {"present": "sched/one-queue"},
    )


def release() -> Action:
    """The blocks of a request that has left are given back."""
    return Action(
        "release",
        (ev.Release,),
        {"done": s.phase(q) == DONE},
        released(),
        q,
        {"done": "alloc/no-dangling-reference"},
    )


def reset() -> Action:
    """The prefix cache forgets every key, or refuses."""
    return Action(
        "reset",
        (ev.Reset,),
        {},
        {"key": z3.If(accepted, none, s.key(b)), "fresh": z3.And(s.fresh(b), z3.Not(accepted))},
    )


def fail_step() -> Action:
    """What a failed step wrote (`bad`, in the blocks `hurt`) is garbage."""
    return Action(
        "fail-step",
        (ev.FailStep,),
        {"blocks": every([b, o], z3.And(slot(o), bad(b, o)), hurt(b))},
        {
            "content": z3.If(bad(b, o), none, s.content(b, o)),
            "key": z3.If(hurt(b), none, s.key(b)),
            "failed": z3.Or(s.failed(b), hurt(b)),
        },
    )


def end_step() -> Action:
    """A step is planned; one that was not dispatched has nothing left to run."""
    return Action(
        "end-step",
        (ev.EndStep,),
        {},
        {
            "left": budget,
            "ran": z3.BoolVal(False),
            "victim": z3.BoolVal(False),
            "due": Within(s.due(b, o)),
        },
    )


def dispatch() -> Action:
    """The planned step goes to the device: nothing that the model speaks of changes."""
    return Action("dispatch", (ev.Dispatch,), {"current": current}, {})


def complete() -> Action:
    """A dispatched step has run: what it wrote is there."""
    return Action("complete", (ev.Complete,), {}, {"due": Within(s.due(b, o))})


def told() -> Action:
    """The engine says something, or declines: nothing changes."""
    return Action("told", (ev.Refuse, ev.Decline, ev.Lookup, ev.Observe, ev.ReleaseAgain), {}, {})
