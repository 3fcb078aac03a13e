"""Physical blocks: who holds them, which are idle, and in which order the idle ones are handed out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kvspec.vocabulary import BlockId


class OutOfBlocks(Exception):
    """Fewer blocks are idle than were asked for; nothing has changed."""


class Blocks:
    """Reference counts and the queue of idle blocks, least recently released first.

    A block is held (count > 0), idle (in the queue, perhaps still cached) or fenced (a transfer still touches it).
    """

    def __init__(self, num_blocks: int, reserved: Iterable[BlockId] = ()) -> None:
        self.reserved = frozenset(reserved)
        self.count = [0] * num_blocks
        self.idle: dict[BlockId, None] = {BlockId(b): None for b in range(num_blocks) if b not in self.reserved}
        self.fenced: Counter[BlockId] = Counter()

    @property
    def num_idle(self) -> int:
        """How many blocks could be handed out now."""
        return len(self.idle)

    def take(self, number: int) -> list[BlockId]:
        """Hand out the `number` blocks idle for longest, all or none. Raises `OutOfBlocks`."""
        if number > len(self.idle):
            raise OutOfBlocks(f"{number} blocks are needed, {len(self.idle)} are idle")
        taken = [self._pop() for _ in range(number)]
        for block in taken:
            self.count[block] = 1
        return taken

    def share(self, block: BlockId) -> None:
        """One more holder of a block that is held or idle."""
        if self.count[block] == 0:
            self.idle.pop(block, None)
        self.count[block] += 1

    def release(self, table: Sequence[BlockId]) -> None:
        """One holder fewer of every block of a table, the end of the chain first, so that tails are evicted first."""
        for block in reversed(table):
            self.count[block] -= 1
            if self.count[block] == 0 and not self.fenced[block]:
                self.idle[block] = None

    def fence(self, blocks: Iterable[BlockId]) -> None:
        """Keep these blocks from being handed out until as many calls of `unfence`."""
        for block in blocks:
            self.fenced[block] += 1
            self.idle.pop(block, None)

    def unfence(self, table: Sequence[BlockId]) -> None:
        """A transfer that touched these blocks is done; those nobody holds are idle, the end of the chain first."""
        for block in reversed(table):
            self.fenced[block] -= 1
            if self.count[block] == 0 and not self.fenced[block]:
                self.idle[block] = None

    def _pop(self) -> BlockId:
        block = next(iter(self.idle))
        del self.idle[block]
        return block
