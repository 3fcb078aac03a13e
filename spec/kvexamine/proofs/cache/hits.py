"""What several actions share about contexts: when a block may serve as a hit, and what a history is."""

from __future__ import annotations

from typing import Any

import z3

from kvexamine.proofs.cache.model import Cache, ancestor, depth, i, nobody, none, o, salt, size, slot
from kvexamine.proofs.cache.relation import ANY, every, q, s

HITS = {
    "content": ANY,
    "sound": "prefix/invalidate",
    "epoch": "prefix/invalidate",
    "salt": "sec/isolation",
    "computed": "prefix/publish-only-computed",
}


def is_hit(block: Any, index: Any) -> dict[str, Any]:
    """The block may serve as entry `index` of q: its content, and that it may be used now."""
    return {
        "content": z3.ForAll([o], z3.Implies(slot(o), s.content(block, o) == s.own(q, index, o))),
        "sound": z3.Not(s.failed(block)),
        "epoch": s.fresh(block),
        "computed": z3.ForAll([o], z3.Implies(slot(o), z3.Not(s.due(block, o)))),
        "salt": z3.Or(s.by(block, size - 1) == nobody, s.by(block, size - 1) == salt(q)),
    }


def trie(state: Cache, request: Any) -> Any:
    """The contexts of a request are a history: the last of a full block knows those before it."""
    own = state.own(request, i, o)
    return z3.And(
        every([i, o], z3.And(i >= 0, slot(o), state.is_token(request, i, o)), z3.And(own != none, depth(own) == i)),
        every(
            [i, o],
            z3.And(i >= 0, i < state.tokens(request), slot(o)),
            ancestor(state.own(request, i, size - 1), o) == own,
        ),
    )
