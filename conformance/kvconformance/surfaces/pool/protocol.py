"""What a block manager alone looks like to us."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kvspec.plans import Admission, Extension, Hit
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId


class Pool(Protocol):
    """A block manager alone. Each operation happens whole or, refused, changes nothing."""

    capabilities: Capabilities

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Share the longest prefix hit and give slots to the next tokens, at most `chunk`; None if it does not fit now.

        Raises `Rejected` if the request can never fit.
        """

    def extend(self, request: RequestId, count: int) -> Extension | None:
        """Give slots to the next `count` tokens; None if they do not fit now."""

    def computed(self, request: RequestId, num_computed: int) -> None:
        """The first `num_computed` tokens now have keys and values; full blocks may be published."""

    def append(self, request: RequestId, token: TokenId) -> None:
        """A token was sampled and joins the request's tokens."""

    def free(self, request: RequestId) -> None:
        """The request is over: give back its blocks."""

    def free_blocks(self) -> int:
        """How many blocks a new request could get: free, or idle and cached."""


class PoolExtras(Protocol):
    """Optional methods of a Pool, used where present (and where the capabilities say so)."""

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now, without taking it."""

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        """`child` continues with the parent's tokens and blocks; its table, or None if it does not fit."""

    def free_again(self, request: RequestId) -> None:
        """Release the blocks of a request that has already ended (default: `free`); may raise."""

    def failed(self, request: RequestId) -> None:
        """The step that computed the request failed; `free` follows."""

    def reset(self) -> bool:
        """Forget every cached prefix; False if refused."""

    def block_keys(self, request: Request) -> Sequence[object]:
        """The keys of the full blocks of a prompt, if they are meant to be shared between processes."""
