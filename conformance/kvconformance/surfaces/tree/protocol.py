"""What a third party writes to have its radix tree checked: a plain class with these methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kvspec.published import Published
from kvspec.tree.vocabulary import Found, Inserted, Node
from kvspec.vocabulary import Capabilities, KeyParts, TokenId


class Tree(Protocol):
    """A radix tree, built as `Tree(world)`: pages of `world.block_size` tokens, room for `world.num_blocks` of them."""

    capabilities: Capabilities

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        """The longest cached prefix, in whole pages. It is not locked."""

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        """Cache the whole pages of a prefix; what is known is kept. None if there is no room for what is new.

        Where there is too little room for what is new, it may evict as `evict` would: unlocked pages, leaves first,
        none of those that are known of this prefix. What fits evicts nothing.
        """

    def lock(self, handle: Any) -> None:
        """What `match` found stays until `unlock`."""

    def unlock(self, handle: Any) -> None:
        """The operation that used it is over."""

    def evict(self, count: int) -> int:
        """Make room for `count` tokens, as far as nothing is locked; the number of tokens evicted."""

    def nodes(self) -> Sequence[Node]:
        """Every node with its tokens and locks, the root left out."""

    def evictable_size(self) -> int:
        """Tokens that an eviction could free."""

    def protected_size(self) -> int:
        """Tokens that are locked."""


class TreeExtras(Protocol):
    """Optional methods of a Tree, used where present (and where the capabilities say so)."""

    def available_size(self) -> int:
        """Tokens for which there is room."""

    def reset(self) -> bool:
        """Forget everything; False if refused. It is called only while nothing is locked."""

    def take_events(self) -> Sequence[Published]:
        """What the engine has published since the last call, oldest first."""
