"""The one event algebra: what an engine can do to its cache, as immutable records.

The checker, the explorer, the trace file and the driver all speak these. Writes of a step happen before its reads.
Token counts and positions count from 0; `table` is the whole block table after the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvspec.published import Published
from kvspec.vocabulary import BlockId, Request, RequestId, StepId, TokenId, TransferId

Slot = tuple[BlockId, int]
"""A physical place for one token: block and offset in the block."""


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

    `hit` are the blocks that a prefix hit would have shared; nothing may have changed.
    """

    request: RequestId
    need: int
    hit: tuple[BlockId, ...] = ()


@dataclass(frozen=True, slots=True)
class Decline:
    """The engine does not do what a request was to do, as a fork, whatever its reason; nothing may have changed."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Lookup:
    """The engine reports a prefix hit of `hit` tokens in `blocks`, without taking them."""

    request: RequestId
    hit: int
    blocks: tuple[BlockId, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """A waiting request begins to run on a prefix hit of `hit` tokens, held in `blocks`."""

    request: RequestId
    hit: int = 0
    blocks: tuple[BlockId, ...] = ()


@dataclass(frozen=True, slots=True)
class Reserve:
    """A running request's table grows to `table`, with homes for its first `end` tokens; nothing is written yet."""

    request: RequestId
    end: int
    table: tuple[BlockId, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """A step computes positions `start <= p < start + count` through `table`.

    `slots` are the places the engine writes, where it tells them; otherwise they follow from the table. `tokens` are
    the input tokens the engine feeds to the model, where it tells them.
    """

    request: RequestId
    start: int
    count: int
    table: tuple[BlockId, ...]
    slots: tuple[Slot, ...] | None = None
    tokens: tuple[TokenId, ...] | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy-on-write: entry `index` of the table moves from `source` to the private block `target`.

    The first `extent` tokens of the block are copied (None: the whole block).
    """

    request: RequestId
    index: int
    source: BlockId
    target: BlockId
    extent: int | None = None


@dataclass(frozen=True, slots=True)
class Remap:
    """Duplicates merge: entry `index` of the table moves to `target`, which holds the same context."""

    request: RequestId
    index: int
    target: BlockId


@dataclass(frozen=True, slots=True)
class Fork:
    """`child` begins with the tokens, table and computed positions of `parent`.

    Entries of `table` equal to the parent's are shared; others are new private blocks that received a copy.
    """

    parent: RequestId
    child: Request
    table: tuple[BlockId, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A token is sampled for a request whose tokens are all computed."""

    request: RequestId
    token: TokenId


@dataclass(frozen=True, slots=True)
class Preempt:
    """A running request gives its blocks back and waits again; its tokens are kept."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class SwapOut:
    """A running request is preempted and its blocks are copied to the host by `transfer`."""

    request: RequestId
    transfer: TransferId


@dataclass(frozen=True, slots=True)
class SwapIn:
    """A swapped-out request takes `table`, and `transfer` brings its keys and values back."""

    request: RequestId
    table: tuple[BlockId, ...]
    transfer: TransferId


@dataclass(frozen=True, slots=True)
class TransferDone:
    """A transfer has read its source and written its target."""

    transfer: TransferId


@dataclass(frozen=True, slots=True)
class Finish:
    """A request has all its tokens. With `deferred`, its blocks follow in a `Release`."""

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

    `free` counts blocks that a new request could get (free or idle cached). `refs` are reference counts of held
    blocks, `tables` the live block tables, `free_set` the ids in the free set with repetitions, `keyed` the ids that
    the prefix index names, `counters` the engine's tokens queried and hit, `published` what it has told subscribers
    since it was last asked.
    """

    free: int | None = None
    refs: Mapping[BlockId, int] | None = None
    tables: Mapping[RequestId, tuple[BlockId, ...]] | None = None
    free_set: tuple[BlockId, ...] | None = None
    keyed: frozenset[BlockId] | None = None
    waiting: tuple[RequestId, ...] | None = None
    running: tuple[RequestId, ...] | None = None
    counters: tuple[int, int] | None = None
    published: tuple[Published, ...] | None = None


Event = (
    Add
    | Reject
    | Refuse
    | Decline
    | Lookup
    | Start
    | Reserve
    | Compute
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
