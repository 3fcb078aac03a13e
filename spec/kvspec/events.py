"""The one event algebra: what an engine can do to its cache, as immutable records.

The checker, the explorer, the trace file and the driver all speak these. Writes of a step happen before its reads.
Token counts and positions count from 0; `table` is the whole block table after the event. Where a cache has several
groups, that of the first; `more` are those of the others, and `tables` is all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvspec.layout import Table, Tables
from kvspec.published import Published
from kvspec.vocabulary import BlockId, Request, RequestId, StepId, TokenId, TransferId

Slot = tuple[BlockId, int]
"""A physical place for one token: block and offset in the block."""


class _Holds:
    """An event after which a request has a table per group."""

    __slots__ = ()
    table: Table
    more: Tables

    @property
    def tables(self) -> Tables:
        """The tables of all groups."""
        return (self.table, *self.more)


class _Hits:
    """An event that tells of a prefix hit in every group."""

    __slots__ = ()
    blocks: Table
    more: Tables

    @property
    def tables(self) -> Tables:
        """The blocks of the hit in all groups."""
        return (self.blocks, *self.more)


@dataclass(frozen=True, slots=True)
class Add:
    """A client's request enters the waiting queue."""

    request: Request


@dataclass(frozen=True, slots=True)
class Reject:
    """The engine turns a request away for good (it can never fit)."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Refuse:
    """The engine declines, for now, an operation that would have taken `need` blocks more than it has free.

    `hit` are the blocks that a prefix hit would have shared, in whatever group; nothing may have changed. Where each
    group has a pool, `more` is what is needed from those of the others.
    """

    request: RequestId
    need: int
    hit: tuple[BlockId, ...] = ()
    more: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decline:
    """The engine does not do what a request was to do, as a fork, whatever its reason; nothing may have changed."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Lookup(_Hits):
    """The engine reports a prefix hit of `hit` tokens in `blocks`, without taking them."""

    request: RequestId
    hit: int
    blocks: Table = ()
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Start(_Hits):
    """A waiting request begins to run on a prefix hit of `hit` tokens, held in `blocks`."""

    request: RequestId
    hit: int = 0
    blocks: Table = ()
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Reserve(_Holds):
    """A running request's table grows to `table`, with slots for its first `end` tokens; nothing is written yet."""

    request: RequestId
    end: int
    table: Table
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Trim:
    """A running request gives back entry `index` of its table in `group`: no query in flight or to come reads it."""

    request: RequestId
    group: int
    index: int


@dataclass(frozen=True, slots=True)
class Compute(_Holds):
    """A step computes positions `start <= p < start + count` through `table`.

    `slots` are the places the engine writes in the first group, where it tells them; otherwise they follow from the
    table. `tokens` are the input tokens the engine feeds to the model, where it tells them.
    """

    request: RequestId
    start: int
    count: int
    table: Table
    slots: tuple[Slot, ...] | None = None
    tokens: tuple[TokenId, ...] | None = None
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Waste(_Holds):
    """A step computes `count` positions through `table` for tokens that nobody will ever have.

    When it was planned its request had ended, or its token was dropped, and the planner did not know. What it writes is
    nobody's.
    """

    request: RequestId
    count: int
    table: Table
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy-on-write: entry `index` of the table in `group` moves from `source` to the private block `target`.

    The first `extent` slots of the block are copied (None: the whole block).
    """

    request: RequestId
    index: int
    source: BlockId
    target: BlockId
    extent: int | None = None
    group: int = 0


@dataclass(frozen=True, slots=True)
class Remap:
    """Duplicates merge: entry `index` of the table in `group` moves to `target`, which holds the same context."""

    request: RequestId
    index: int
    target: BlockId
    group: int = 0


@dataclass(frozen=True, slots=True)
class Fork(_Holds):
    """`child` begins with the tokens, table and computed positions of `parent`.

    Entries of `table` equal to the parent's are shared; others are new private blocks that received a copy.
    """

    parent: RequestId
    child: Request
    table: Table
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A token is sampled for a request whose tokens are all computed."""

    request: RequestId
    token: TokenId


@dataclass(frozen=True, slots=True)
class Preempt:
    """A running request gives its blocks back and waits again; its tokens are kept.

    With `between` nobody plans a step, as where the whole cache is told to begin anew: the next plan may start it.
    """

    request: RequestId
    between: bool = False


@dataclass(frozen=True, slots=True)
class SwapOut:
    """A running request is preempted and its blocks are copied to the host by `transfer`."""

    request: RequestId
    transfer: TransferId


@dataclass(frozen=True, slots=True)
class SwapIn(_Holds):
    """A swapped-out request takes `table`, and `transfer` brings its keys and values back."""

    request: RequestId
    table: Table
    transfer: TransferId
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class TransferDone:
    """A transfer has read its source and written its target."""

    transfer: TransferId


@dataclass(frozen=True, slots=True)
class Finish:
    """A request has all its tokens, or its last one stops it. With `deferred`, its blocks follow in a `Release`."""

    request: RequestId
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Abort:
    """A client's request is cancelled. With `deferred`, its blocks follow in a `Release`."""

    request: RequestId
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """The blocks of a finished or aborted request are given back now."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class ReleaseAgain:
    """A request that has already given its blocks back is released once more (a stray free)."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Reset:
    """The prefix cache is told to forget everything; `accepted` is what the engine answered."""

    accepted: bool


@dataclass(frozen=True, slots=True)
class FailStep:
    """A step failed on the device: what it wrote is garbage."""

    step: StepId


@dataclass(frozen=True, slots=True)
class EndStep:
    """The plan of a step is complete."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The planned step is handed to the device; it may read and write until `Complete`."""

    step: StepId


@dataclass(frozen=True, slots=True)
class Complete:
    """A dispatched step has finished on the device."""

    step: StepId


@dataclass(frozen=True, slots=True)
class Observe:
    """What the engine says of itself. Fields left None were not said.

    `free` counts blocks that a new request could get (free or idle cached) from the pool of `group`, `tables` are the
    live block tables in it. `refs` are reference counts of held blocks, `free_set` the ids in the free set with
    repetitions, `keyed` the ids that the prefix index names, `counters` the engine's tokens queried and hit,
    `published` what it has told subscribers since it was last asked.
    """

    free: int | None = None
    refs: Mapping[BlockId, int] | None = None
    tables: Mapping[RequestId, Table] | None = None
    free_set: tuple[BlockId, ...] | None = None
    keyed: frozenset[BlockId] | None = None
    waiting: tuple[RequestId, ...] | None = None
    running: tuple[RequestId, ...] | None = None
    counters: tuple[int, int] | None = None
    published: tuple[Published, ...] | None = None
    group: int = 0


Event = (
    Add
    | Reject
    | Refuse
    | Decline
    | Lookup
    | Start
    | Reserve
    | Trim
    | Compute
    | Waste
    | Copy
    | Remap
    | Fork
    | Sample
    | Preempt
    | SwapOut
    | SwapIn
    | TransferDone
    | Finish
    | Abort
    | Release
    | ReleaseAgain
    | Reset
    | FailStep
    | EndStep
    | Dispatch
    | Complete
    | Observe
)
