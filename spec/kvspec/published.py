"""What an engine publishes about its prefix cache, so that others can follow which content it has.

The three messages that routers and external indexes subscribe to, in the vocabulary of this specification. An adapter
translates its engine's own into these; `kvspec.mirror` replays them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from kvspec.vocabulary import NO_PARTS, KeyParts, TokenId

PublishedKey = Hashable
"""The name under which an engine publishes a block: its hash, whatever type that has."""

DEVICE = "device"
"""The medium of the blocks that a request computes through."""


@dataclass(frozen=True, slots=True)
class BlockStored:
    """Consecutive full blocks entered the index: `keys[i]` is the block of `tokens[i * block_size:][:block_size]`.

    `parent` is the key of the block before the first (None: they begin the chain). `parts` are those of the whole
    chain; positions of media count from its first token, not from that of this message.
    """

    keys: tuple[PublishedKey, ...]
    parent: PublishedKey | None
    tokens: tuple[TokenId, ...]
    block_size: int
    parts: KeyParts = NO_PARTS
    medium: str = DEVICE


@dataclass(frozen=True, slots=True)
class BlockRemoved:
    """The blocks of these keys left the index of a medium."""

    keys: tuple[PublishedKey, ...]
    medium: str = DEVICE


@dataclass(frozen=True, slots=True)
class AllBlocksCleared:
    """The index is empty, in every medium."""


Published = BlockStored | BlockRemoved | AllBlocksCleared
