"""The events of a cache with several groups, as immutable records. Tables hold one block table for each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvspec.groups.vocabulary import Free, Held, Tables
from kvspec.vocabulary import Request, RequestId, TokenId


@dataclass(frozen=True, slots=True)
class Admit:
    """A request begins on a hit of `hit` tokens, with `tables` that have homes for its first `end` tokens."""

    request: Request
    hit: int
    end: int
    tables: Tables


@dataclass(frozen=True, slots=True)
class Refuse:
    """The engine declines to give homes for the first `end` tokens, of a new request or of one that runs."""

    request: Request
    end: int


@dataclass(frozen=True, slots=True)
class Grow:
    """A running request's tables grow to `tables`, with homes for its first `end` tokens."""

    request: RequestId
    end: int
    tables: Tables


@dataclass(frozen=True, slots=True)
class Release:
    """A running request gives back entry `index` of its table in group `group`."""

    request: RequestId
    group: int
    index: int


@dataclass(frozen=True, slots=True)
class Compute:
    """A step that computes the next `count` positions is dispatched; it may read and write until `Complete`."""

    request: RequestId
    count: int


@dataclass(frozen=True, slots=True)
class Complete:
    """The oldest step of the request has finished on the device."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Sample:
    """A token is sampled for a request whose tokens are all computed."""

    request: RequestId
    token: TokenId


@dataclass(frozen=True, slots=True)
class End:
    """A request ends, no step of it being in flight, and gives everything back."""

    request: RequestId


@dataclass(frozen=True, slots=True)
class Observe:
    """What the engine says of itself: free blocks per pool, the tables of live requests, counts per pool."""

    free: Free | None = None
    tables: Mapping[RequestId, Tables] | None = None
    refs: tuple[Held, ...] | None = None


Event = Admit | Refuse | Grow | Release | Compute | Complete | Sample | End | Observe
