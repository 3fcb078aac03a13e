"""Imposters that say least recently used and evict in another order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kvreference.blocks import Blocks
from kvreference.pool import ReferencePool
from kvspec import rules
from kvspec.vocabulary import BlockId


class _FirstInFirstOut(Blocks):
    """Idle blocks in the order in which they were first released with what they hold."""

    def __init__(self, num_blocks: int, reserved: Iterable[BlockId] = ()) -> None:
        super().__init__(num_blocks, reserved)
        self.entered = dict.fromkeys(self.idle, 0)
        self.entries = 0

    def take(self, number: int) -> list[BlockId]:
        taken = super().take(number)
        for block in taken:
            self.entered.pop(block, None)
        return taken

    def release(self, table: Sequence[BlockId]) -> None:
        super().release(table)
        self.entries += 1
        for block in table:
            self.entered.setdefault(block, self.entries)
        self.idle = dict.fromkeys(sorted(self.idle, key=lambda block: self.entered[block]))


class HitsDoNotRenew(ReferencePool):
    """Evicts what was cached first, however lately it was hit (ferrox #14)."""

    bug, broken_rule = "B249", rules.LRU_ORDER
    blocks_type = _FirstInFirstOut


class _UnreadFirst(Blocks):
    """Idle blocks with those in front that nobody has shared yet."""

    def __init__(self, num_blocks: int, reserved: Iterable[BlockId] = ()) -> None:
        super().__init__(num_blocks, reserved)
        self.read: set[BlockId] = set()

    def share(self, block: BlockId) -> None:
        super().share(block)
        self.read.add(block)

    def release(self, table: Sequence[BlockId]) -> None:
        super().release(table)
        unread = [block for block in reversed(table) if block in self.idle and block not in self.read]
        self.idle = dict.fromkeys([*unread, *self.idle])


class NewEntriesGoFirst(ReferencePool):
    """Gives an entry a time of use at its first hit, so that a new one is older than all others (Mooncake #2976)."""

    bug, broken_rule = "B250", rules.LRU_ORDER
    blocks_type = _UnreadFirst
