"""The state of a cache as uninterpreted functions, for any number of blocks, requests and tokens.

A position is a pair (index of the block in the table, offset in the block): linear arithmetic for any block size.
Contexts are what slots hold: `none` is nothing, `ancestor(c, o)` is the context at offset `o` of the block that ends in
`c`, `depth(c)` the index of the block that it lies in. Numbers of holders are ghosts with the facts of counting.
"""

from __future__ import annotations

from typing import Any

import z3

Block, Request, Context, Salt = map(z3.DeclareSort, ("Block", "Request", "Context", "Salt"))
Int, Bool = z3.IntSort(), z3.BoolSort()
ABSENT, WAITING, RUNNING, DONE = range(4)

FIELDS: dict[str, tuple[Any, ...]] = {
    "table": (Request, Int, Block),
    "length": (Request, Int),
    "phase": (Request, Int),
    "ran": (Request, Bool),
    "victim": (Request, Bool),
    "computed": (Request, Int),
    "computed_rest": (Request, Int),
    "tokens": (Request, Int),
    "tokens_rest": (Request, Int),
    "allocated": (Request, Int),
    "allocated_rest": (Request, Int),
    "hit": (Request, Int),
    "own": (Request, Int, Int, Context),
    "ref": (Block, Int),
    "key": (Block, Context),
    "content": (Block, Int, Context),
    "by": (Block, Int, Salt),
    "due": (Block, Int, Bool),
    "failed": (Block, Bool),
    "fresh": (Block, Bool),
    "idle": (Block, Bool),
    "fenced": (Block, Bool),
    "left": (Int,),
}
"""Function by function: arguments, then the value. Positions come as a count of full blocks and a rest."""

GHOSTS: dict[str, tuple[Any, ...]] = {"place": (Request, Block, Int), "count": (Block, Int)}
"""Where a table names a block, and how many tables do: functions of the others, not changed by events."""

b, b2 = z3.Consts("b b2", Block)
r, r2 = z3.Consts("r r2", Request)
i, j, o, o2 = z3.Ints("i j o o2")

size, lookahead, budget = z3.Ints("size lookahead budget")
none, nobody = z3.Const("none", Context), z3.Const("nobody", Salt)
ancestor = z3.Function("ancestor", Context, Int, Context)
depth = z3.Function("depth", Context, Int)
salt = z3.Function("salt", Request, Salt)
widest = z3.Function("widest", Request, Int)
limit, limit_rest = z3.Function("limit", Request, Int), z3.Function("limit_rest", Request, Int)
reserved = z3.Function("reserved", Block, Bool)

CONSTANTS = z3.And(size >= 1, lookahead >= 0, budget >= 0, z3.ForAll([r], salt(r) != nobody))


class Cache:
    """One state: every field a z3 function whose name begins with `prefix`."""

    def __init__(self, prefix: str) -> None:
        for field, signature in (FIELDS | GHOSTS).items():
            name = f"{prefix}.{field}"
            value = z3.Const(name, signature[0]) if len(signature) == 1 else z3.Function(name, *signature)
            setattr(self, field, value)

    def __getattr__(self, field: str) -> Any:
        raise AttributeError(field)

    def live(self, r: Any, i: Any) -> Any:
        """Entry `i` of the table exists."""
        return z3.And(i >= 0, i < self.length(r))

    def holds(self, r: Any, b: Any) -> Any:
        """The table of `r` names block `b`."""
        return z3.And(self.live(r, self.place(r, b)), self.table(r, self.place(r, b)) == b)

    def is_computed(self, r: Any, i: Any, o: Any) -> Any:
        """Position (i, o) of the request has keys and values."""
        return precedes(i, o, self.computed(r), self.computed_rest(r))

    def is_token(self, r: Any, i: Any, o: Any) -> Any:
        """Position (i, o) of the request has a token."""
        return precedes(i, o, self.tokens(r), self.tokens_rest(r))

    def free(self, b: Any) -> Any:
        """The block may be taken."""
        return z3.And(self.ref(b) == 0, z3.Not(self.fenced(b)), z3.Not(reserved(b)))


def precedes(i: Any, o: Any, block: Any, rest: Any) -> Any:
    """Position (i, o) lies before position (block, rest)."""
    return z3.Or(i < block, z3.And(i == block, o < rest))


def blocks_for(block: Any, rest: Any) -> Any:
    """Number of blocks that hold `block` full ones and `rest` tokens more."""
    return block + z3.If(rest > 0, 1, 0)


def slot(o: Any) -> Any:
    """The offset exists."""
    return z3.And(o >= 0, o < size)


def facts(s: Cache) -> list[Any]:
    """What is true of any finite tables: `place` finds a block that is there, and holders are counted."""
    return [
        z3.ForAll([r, i], z3.Implies(s.live(r, i), s.holds(r, s.table(r, i)))),
        z3.ForAll([b], s.count(b) >= 0),
        z3.ForAll([r, b], z3.Implies(s.holds(r, b), s.count(b) >= 1)),
        z3.ForAll([r, r2, b], z3.Implies(z3.And(s.holds(r, b), s.holds(r2, b), r != r2), s.count(b) >= 2)),
    ]


def counted(s: Cache, t: Cache, changed: Any) -> Any:
    """Counting once more: where only the table of `changed` differs and no table repeats a block, so do the counts."""

    def one(state: Cache) -> Any:
        return z3.If(state.holds(changed, b), 1, 0)

    return z3.ForAll([b], t.count(b) == s.count(b) - one(s) + one(t))
