"""What vLLM's block pool says of itself: the same for the manager alone and under the scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kvengines.vllm.events import Subscriber
from kvspec.published import Published
from kvspec.vocabulary import BlockId, RequestId


class Observations:
    """Reads the public fields of a `KVCacheManager`."""

    manager: Any
    subscriber: Subscriber

    def known(self) -> Iterable[RequestId]:
        """The requests whose tables are asked for, those that are gone included: their tables must be empty."""
        raise NotImplementedError

    def free_blocks(self) -> int:
        """Blocks that a new request could get."""
        return int(self.manager.block_pool.get_num_free_blocks())

    def free_set(self) -> tuple[BlockId, ...]:
        """The ids in the free queue."""
        return tuple(BlockId(b.block_id) for b in self.manager.block_pool.free_block_queue.get_all_free_blocks())

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The counts of all blocks but the null block, whose count vLLM does not keep."""
        blocks = self.manager.block_pool.blocks
        return {BlockId(b.block_id): b.ref_cnt for b in blocks if b.ref_cnt and not b.is_null}

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that carry a hash, and are found by it."""
        return frozenset(BlockId(b.block_id) for b in self.manager.block_pool.blocks if b.block_hash is not None)

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The manager's own block tables."""
        return {id: self.table(id) for id in self.known()}

    def table(self, id: RequestId) -> tuple[BlockId, ...]:
        """The blocks of one request in the only group there is."""
        (ids,) = self.manager.get_block_ids(str(id))
        return tuple(BlockId(block) for block in ids)


class Publishing(Observations):
    """The same, with what is published of the only group there is: of which of several a block is, no event tells."""

    def take_events(self) -> tuple[Published, ...]:
        """What was published since the last call."""
        return self.subscriber.take(self.manager.take_events())
