"""The prefix cache: from the key of a whole chain of tokens to the block holding its last keys and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvspec import keys
from kvspec.vocabulary import BlockId, KeyParts, TokenId


class PrefixCache:
    """An index from chain key to block, and back. At most one block per key; a duplicate stays unpublished."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.index: dict[bytes, BlockId] = {}
        self.key_of: dict[BlockId, bytes] = {}

    def root(self, parts: KeyParts) -> bytes:
        """The key before the first block."""
        return keys.root_key(parts)

    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        """The key of the block of `tokens` at position `start` behind `parent`."""
        return keys.block_key(parent, tokens, parts, start)

    def chain(self, tokens: Sequence[TokenId], parts: KeyParts) -> Iterator[bytes]:
        """The keys of the full blocks of `tokens`, computed as they are asked for."""
        parent = self.root(parts)
        for start in range(0, len(tokens) - self.block_size + 1, self.block_size):
            parent = self.extend(parent, tokens[start : start + self.block_size], parts, start)
            yield parent

    def longest_hit(self, tokens: Sequence[TokenId], parts: KeyParts) -> list[BlockId]:
        """The blocks of the longest cached chain that leaves at least one of `tokens` to compute."""
        blocks: list[BlockId] = []
        for key in self.chain(tokens[: len(tokens) - 1], parts):
            block = self.index.get(key)
            if block is None:
                break
            blocks.append(block)
        return blocks

    def publish(self, key: bytes, block: BlockId) -> None:
        """Make a full, computed block findable, unless its chain is already."""
        if key not in self.index and block not in self.key_of:
            self.index[key] = block
            self.key_of[block] = key

    def withdraw(self, block: BlockId) -> None:
        """The block is about to hold something else, or holds garbage: forget its key."""
        key = self.key_of.pop(block, None)
        if key is not None and self.index.get(key) == block:
            del self.index[key]

    def clear(self) -> None:
        """Forget every key."""
        self.index.clear()
        self.key_of.clear()
