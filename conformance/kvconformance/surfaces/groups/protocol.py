"""What a third party writes: a block manager that keeps one table per group for each request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kvspec.layout import Tables
from kvspec.plans import GroupAdmission
from kvspec.vocabulary import BlockId, GroupsCapabilities, Request, RequestId, TokenId


class GroupedPool(Protocol):
    """Built as `GroupedPool(world)`; `Layout.of(world)` says for which groups.

    Where `admit` or `extend` gives slots, the step that computes these tokens is on the device from then on, until
    `completed`. No request computes its last new token. `admit`, `extend` and `completed` may release, of any request,
    what no query in flight or to come reads. Else a refusal changes nothing; what fits after its releases is given.
    """

    capabilities: GroupsCapabilities

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        """Share a prefix hit that is valid for all groups, and give slots to at most `chunk` tokens after it.

        None if it does not fit now.
        """

    def extend(self, request: RequestId, count: int) -> bool:
        """Give slots to the next `count` tokens; False if they do not fit now."""

    def completed(self, request: RequestId, num_computed: int) -> None:
        """The oldest step of the request has finished: its first `num_computed` tokens are computed in all groups."""

    def append(self, request: RequestId, token: TokenId) -> None:
        """A token was sampled and joins the request's tokens; no step of it is in flight."""

    def free(self, request: RequestId) -> None:
        """The request is over, and no step of it is in flight: give back its blocks."""

    def tables(self, request: RequestId) -> Tables:
        """Per group, the block table of a request; None in it where nothing is held.

        Empty tables of a request that was refused or is over.
        """

    def free_blocks(self) -> tuple[int, ...]:
        """Per pool, how many blocks a new request could get: free, or idle and cached."""


class GroupedPoolExtras(Protocol):
    """Optional methods, used where present."""

    def ref_counts(self) -> tuple[Mapping[BlockId, int], ...]:
        """Per pool, the reference count of every held block."""
