"""kvstream 0.1.0, `alloc/fit-agrees-with-allocate`: cached prompts fill the pool, and nobody evicts them.

They leave after an hour (`ttl_seconds`), whatever waits. The calls are those of `KVStreamEngine.generate`.
"""

from __future__ import annotations

import asyncio
import sys

from kvstream.memory.block_manager import BlockManager
from kvstream.memory.prefix_cache import PrefixKVCache
from kvstream.scheduler.continuous_batch import ContinuousBatchScheduler, SeqStatus, SequenceGroup

manager = BlockManager(num_gpu_blocks=4, num_cpu_blocks=4, block_size=16)
cache, scheduler = PrefixKVCache(manager), ContinuousBatchScheduler(manager)


async def serve(number: int) -> bool:
    """Whether a request of 16 tokens is admitted within a hundred steps; if so, it is served and registered."""
    sequence = SequenceGroup(f"r{number}", [number] * 16, max_new_tokens=1)
    await scheduler.add_request(sequence)
    for _ in range(100):
        await scheduler.schedule()
        if sequence.admission.is_set():
            cache.register(sequence.seq_id, sequence.prompt_tokens)
            sequence.status = SeqStatus.FINISHED
            return True
    return False


async def run() -> list[bool]:
    """Five requests, one after the other."""
    return [await serve(number) for number in range(5)]


served = asyncio.run(run())
print(f"served one after the other: {served}; {len(scheduler.running)} run, {len(scheduler.waiting)} wait, of 4 pages")
sys.exit(not all(served))
