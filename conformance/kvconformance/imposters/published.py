"""Imposters that tell subscribers something else than what their prefix cache does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvreference.pool import Holding
from kvreference.prefix_cache import PrefixCache
from kvreference.publishing import Publisher, PublishingPool, PublishingStepper
from kvspec import rules
from kvspec.keys import key_chain
from kvspec.plans import Extension
from kvspec.published import BlockStored
from kvspec.vocabulary import NO_PARTS, BlockId, Request, RequestId, TokenId

# What a message says.


class _WithoutNamespace(Publisher):
    def store(self, holding: Holding, chain: Sequence[bytes], first: int, end: int) -> None:
        plain = key_chain(holding.tokens[: end * self.block_size], self.block_size, NO_PARTS)
        super().store(holding, plain, first, end)
        last = self.messages[-1]
        if isinstance(last, BlockStored):
            self.messages[-1] = replace(last, parts=NO_PARTS)


class NamespaceLeftOutOfEvents(PublishingPool):
    """Publishes hashes of the tokens alone, without what separates the same tokens in the tree (SGLang #24568)."""

    bug, broken_rule = "B062", rules.MIRROR_EQUALS_INDEX
    publisher_type = _WithoutNamespace


class _OneTokenMore(Publisher):
    def store(self, holding: Holding, chain: Sequence[bytes], first: int, end: int) -> None:
        super().store(holding, chain, first, end)
        last, following = self.messages[-1], tuple(holding.tokens[end * self.block_size :][:1])
        if isinstance(last, BlockStored):
            self.messages[-1] = replace(last, tokens=last.tokens + following)


class EventHasOneTokenTooMany(PublishingPool):
    """Cuts the tokens of an event with a helper that includes the end (LMCache #4543)."""

    bug, broken_rule = "B066", rules.MIRROR_EQUALS_INDEX
    publisher_type = _OneTokenMore


class _LastBlockFirst(Publisher):
    def stored(self, holding: Holding, chain: Sequence[bytes], new: Sequence[int]) -> None:
        for index in reversed(new):
            self.store(holding, chain, index, index + 1)


class _LastBlockFirstPool(PublishingPool):
    publisher_type = _LastBlockFirst


class ChildToldBeforeItsParent(PublishingStepper):
    """Tells of a block behind a parent of which it has not told yet (vLLM #58119)."""

    bug, broken_rule = "B064", rules.MIRROR_EQUALS_INDEX
    pool_type = _LastBlockFirstPool


# When a message comes.


class Copies(PrefixCache):
    """A cache that keys every copy of a chain: a hit takes the oldest, and a key lasts as long as one of them."""

    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self.copies: dict[bytes, list[BlockId]] = {}

    def publish(self, key: bytes, block: BlockId) -> None:
        if block not in self.key_of:
            self.key_of[block] = key
            self.copies.setdefault(key, []).append(block)
            self.index[key] = self.copies[key][0]

    def withdraw(self, block: BlockId) -> None:
        key = self.key_of.pop(block, None)
        if key is None:
            return
        self.copies[key].remove(block)
        if self.copies[key]:
            self.index[key] = self.copies[key][0]
        else:
            del self.copies[key], self.index[key]

    def clear(self) -> None:
        super().clear()
        self.copies.clear()


class RemovedWithTheFirstCopy(PublishingPool):
    """Publishes a removal for each block that is evicted, though another still has the content (vLLM #55092)."""

    bug, broken_rule = "B063", rules.MIRROR_EQUALS_INDEX
    cache_type = Copies

    def recycle(self, block: BlockId) -> None:
        key = self.cache.key_of.get(block)
        super().recycle(block)
        if key is not None and key in self.cache.index:
            self.publisher.removed(key)

    def keyed_blocks(self) -> frozenset[BlockId]:
        return frozenset(self.cache.key_of)


class OnePathEvictsSilently(PublishingPool):
    """Publishes what an admission evicts, and nothing of what leaves by another path (SGLang #29750)."""

    bug, broken_rule = "B270", rules.MIRROR_EQUALS_INDEX

    def extend(self, id: RequestId, count: int) -> Extension | None:
        before = len(self.publisher.messages)
        extension = super().extend(id, count)
        del self.publisher.messages[before:]
        return extension


class ClearIsNoEvent(PublishingPool):
    """Forgets everything at once and has no message for that (Mooncake #3818)."""

    bug, broken_rule = "B271", rules.MIRROR_EQUALS_INDEX

    def reset(self) -> bool:
        before = len(self.publisher.messages)
        done = super().reset()
        del self.publisher.messages[before:]
        return done


class EveryLookupTellsOfAClear(PublishingPool):
    """Publishes that all blocks are cleared whenever a prefix is looked up (tokenspeed #166)."""

    bug, broken_rule = "B272", rules.MIRROR_EQUALS_INDEX

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        self.publisher.cleared()
        return super().find(tokens, request)
