"""Imposters whose keys name another stretch of tokens than the block holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvreference.pool import ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvspec import rules
from kvspec.vocabulary import BlockId, KeyParts, TokenId


class _FinerUnit(PrefixCache):
    """Hashes half blocks, and gives block i the hash number i."""

    def chain(self, tokens: Sequence[TokenId], parts: KeyParts) -> Iterator[bytes]:
        unit, parent = max(1, self.block_size // 2), self.root(parts)
        for start in range(0, len(tokens) // self.block_size * unit, unit):
            parent = self.extend(parent, tokens[start : start + unit], parts, start)
            yield parent


class HashUnitIsNotTheBlock(ReferencePool):
    """Counts hashes of half blocks as if they were hashes of blocks (kvcached #451)."""

    bug, broken_rule = "B056", rules.CONTENT_MATCHES_KEY
    cache_type = _FinerUnit


class _Anywhere(PrefixCache):
    """Knows the tokens of every key, and goes on behind a hit with any block of the right tokens."""

    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self.tokens_of: dict[bytes, tuple[TokenId, ...]] = {}

    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        key = super().extend(parent, tokens, parts, start)
        self.tokens_of[key] = tuple(tokens)
        return key

    def longest_hit(self, tokens: Sequence[TokenId], parts: KeyParts) -> list[BlockId]:
        blocks = super().longest_hit(tokens, parts)
        start = len(blocks) * self.block_size
        wanted = tuple(tokens[start : start + self.block_size])
        if start + self.block_size < len(tokens):
            blocks += [block for key, block in self.index.items() if self.tokens_of[key] == wanted][:1]
        return blocks


class MovedChunkReusedUnshifted(ReferencePool):
    """Reuses a chunk that stood elsewhere, and reads it at the place that it had there (llama.cpp #12161)."""

    bug, broken_rule = "B057", rules.CONTENT_MATCHES_KEY
    cache_type = _Anywhere


class _OneTokenShort(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, tokens[:-1], parts, start)


class KeyEndsBeforeTheEntry(ReferencePool):
    """Keys a block by the tokens up to its last, on which its content depends as well (vLLM #50438)."""

    bug, broken_rule = "B086", rules.COMPLETE_KEY
    cache_type = _OneTokenShort
