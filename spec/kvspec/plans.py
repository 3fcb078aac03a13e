"""What an engine answers when it is driven: the plan of a step, an admission, an extension.

These are the records that adapters fill in and the reference engine returns; the checker turns them into events.
Everything beyond the first group of fields is optional and sharpens the verdict. Where a cache has several groups of
layers, `table` is that of the first and `more` are those of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvspec.layout import Table, Tables
from kvspec.vocabulary import BlockId, RequestId, TokenId, TransferId

Slot = tuple[BlockId, int]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One request in a step: it computes positions `start <= p < start + count` through `table`.

    For a request that begins in this step, `start` is the length of its prefix hit. `slots` are the physical places
    the engine will write, `tokens` the input tokens it will feed, where it tells them.
    """

    request: RequestId
    start: int
    count: int
    table: Table
    slots: tuple[Slot, ...] | None = None
    tokens: tuple[TokenId, ...] | None = None
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request took the blocks of a prefix hit without computing anything in this step."""

    request: RequestId
    hit: int
    table: Table
    more: Tables = ()


@dataclass(frozen=True, slots=True)
class BlockCopy:
    """Copy-on-write for a request: the first `extent` slots of `source` (None: the whole block) go to `target`.

    Stands before the `Scheduled` whose table names `target`; copies happen before the step writes.
    """

    request: RequestId
    source: BlockId
    target: BlockId
    extent: int | None = None


@dataclass(frozen=True, slots=True)
class Preempted:
    """A running request gave its blocks back and waits; its tokens are kept."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A running request gave back one entry of a table while the step was planned, as what has passed behind a window.

    Needed only of a request that the same plan swaps out: of others the engine's `tables` show it.
    """

    request: RequestId
    group: int
    index: int


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A request that was queued will never run: it cannot fit."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Released:
    """The blocks of a request that finished or was aborted earlier are given back only now."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class SwappedOut:
    """A victim whose blocks `transfer` copies to the host; they stay untouched until it is done."""

    request: RequestId
    transfer: TransferId


@dataclass(frozen=True, slots=True)
class SwappedIn:
    """A request whose keys and values `transfer` brings back into `table`; it may compute once that is done."""

    request: RequestId
    table: Table
    transfer: TransferId
    more: Tables = ()


Action = Scheduled | Admitted | BlockCopy | Preempted | Trimmed | TurnedAway | Released | SwappedOut | SwappedIn


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step: what the engine decided, in the order in which it did."""

    actions: tuple[Action, ...] = ()

    @property
    def scheduled(self) -> tuple[Scheduled, ...]:
        """The requests that compute in this step."""
        return tuple(action for action in self.actions if isinstance(action, Scheduled))


@dataclass(frozen=True, slots=True)
class Hit:
    """A prefix hit of `tokens` tokens in `blocks`."""

    tokens: int
    blocks: tuple[BlockId, ...]


@dataclass(frozen=True, slots=True)
class Admission:
    """A request was given `table`: a hit of `hit` tokens and slots for the next `count`."""

    hit: int
    count: int
    table: tuple[BlockId, ...]


@dataclass(frozen=True, slots=True)
class Extension:
    """A request's table after it was given slots for more tokens, and the copies that made shared blocks private."""

    table: tuple[BlockId, ...]
    copies: tuple[BlockCopy, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupAdmission:
    """A request was admitted on a hit of `hit` tokens, valid for all groups, with slots for the next `count`."""

    hit: int
    count: int


Free = tuple[int, ...]
"""Per pool, how many blocks a new request could get."""

Held = Mapping[BlockId, int]
"""The reference counts of the held blocks of one pool."""


class Rejected(Exception):
    """The engine will never run this request: it cannot fit."""
