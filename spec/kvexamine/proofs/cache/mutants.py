"""Mutants beside the dropped guards and effects: effects that are wrong, and drops that are inductive all the same.

What stands in `HARMLESS` is proved to keep everything, so the reason is never a guess: most are rules that forbid more
than the invariants need (a limit, an epoch), or forget something in the direction that only forbids more.
"""

from __future__ import annotations

from typing import Any

import z3

from kvexamine.proofs.cache.model import RUNNING, b, budget, none, o, r, size
from kvexamine.proofs.cache.relation import Within, of, q, s, t, target

_CAUTIOUS = "it forbids more than need be: nothing wrong is used"
_OWN_RULE = "a rule by itself; no invariant speaks of it"
_NEW_BLOCK = {"without effect on failed": f"the block stays unusable for others; {_CAUTIOUS}"}
_NOT_FRESH = {"without effect on fresh": "freshness bars hits; the block has no key before it is written anew"}

HARMLESS: dict[str, dict[str, str]] = {
    "add": {
        "without effect on tokens": "a shorter prompt is a prompt",
        "without effect on tokens_rest": "a shorter prompt is a prompt",
        "without effect on own": "the guard `history` says the same of the prompt",
    },
    "start": {
        "without guard hit-sound": "its content is compared and is right",
        "without guard hit-epoch": _OWN_RULE,
    },
    "reserve": {
        "without guard limit": _OWN_RULE,
        "without effect on due": f"what was due in a block that is taken stays so; {_CAUTIOUS}",
        **_NEW_BLOCK,
        **_NOT_FRESH,
    },
    "compute": {
        "without guard limit": _OWN_RULE,
        "without effect on allocated": "the computed positions ask for the same blocks",
        **_NEW_BLOCK,
    },
    "copy": {**_NEW_BLOCK, **_NOT_FRESH},
    "remap": {"without guard hit-epoch": _OWN_RULE},
    "fork": {
        "without effect on hit": "the child's blocks are then no hit of its own",
        **_NEW_BLOCK,
        **_NOT_FRESH,
    },
    "sample": {"without guard limit": _OWN_RULE},
    "reset": {"without effect on fresh": "without keys nothing is found; the epoch bars hits by other ways"},
    "fail-step": {"without effect on content": "blocks that failed count as failed and have no key"},
    "end-step": {
        "without effect on left": f"a smaller budget; {_CAUTIOUS}",
        "without effect on ran": _CAUTIOUS,
        "without effect on victim": _CAUTIOUS,
        "without effect on due": _CAUTIOUS,
    },
    "dispatch": {"without guard current": "nothing changes in the model; the guard is for steps that are long done"},
    "complete": {"without effect on due": _CAUTIOUS},
}

WRONG: dict[str, dict[str, dict[str, Any]]] = {
    "compute": {
        "publishes the block that is not full yet": {
            "key": z3.If(
                z3.And(t.holds(q, b), s.computed(q) <= t.place(q, b)), s.own(q, t.place(q, b), size - 1), s.key(b)
            )
        },
        "writes one position too many": {
            "content": z3.If(
                z3.And(t.holds(q, b), z3.Not(s.is_computed(q, t.place(q, b), o))),
                s.own(q, t.place(q, b), o),
                s.content(b, o),
            )
        },
    },
    "preempt": {
        "frees blocks that others hold": {"idle": z3.Or(s.idle(b), s.holds(q, b))},
        "forgets a token": {"tokens": of(q, s.tokens(q) - 1, "tokens")},
    },
    "leave": {"frees blocks that others hold": {"idle": z3.Or(s.idle(b), s.holds(q, b))}},
    "release": {"frees twice": {"ref": s.ref(b) - z3.If(s.holds(q, b), 2, 0)}},
    "reset": {"forgets contents too": {"content": none}},
    "fail-step": {"computed falls": {"computed": of(q, 0, "computed"), "computed_rest": of(q, 0, "computed_rest")}},
    "end-step": {
        "adds to the budget": {"left": budget + 1},
        "calls computed what has not run, and the other way round": {"due": Within(z3.BoolVal(True))},
        "runs what waits": {"phase": z3.If(r == q, RUNNING, s.phase(r))},
    },
    "dispatch": {"takes a reference for the step": {"ref": s.ref(b) + z3.If(b == target, 1, 0)}},
    "complete": {"makes due what was computed": {"due": Within(z3.BoolVal(True))}},
    "told": {
        "a refusal that keeps a reference": {"ref": s.ref(b) + z3.If(b == target, 1, 0)},
        "a lookup that takes its block": {"idle": z3.And(s.idle(b), b != target)},
        "a refusal that loses tokens": {"tokens": of(q, s.tokens(q) - 1, "tokens")},
    },
}
