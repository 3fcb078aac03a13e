"""kvstream 0.1.0, `sched/one-queue`, `sched/chunk-independence`: a victim comes back at once, its pages in disorder.

The one for whom it was preempted goes on waiting, and every schedule does the same again. `swap_out` tells which page
went where, but the scheduler drops that, and `PagedKVCache.copy_blocks` has no caller: nothing is copied.
"""

from __future__ import annotations

import asyncio
import sys

import torch
from kvstream.memory.block_manager import BlockManager
from kvstream.memory.kv_cache import PagedKVCache
from kvstream.scheduler.continuous_batch import ContinuousBatchScheduler, SequenceGroup

manager = BlockManager(5, 8, block_size=4)
pages = PagedKVCache(1, 1, 1, num_gpu_blocks=5, num_cpu_blocks=8, block_size=4, dtype="float32")
scheduler = ContinuousBatchScheduler(manager)


async def run() -> tuple[float, float, int]:
    """The first key of A before and after B asks for more than is free, and how often A was swapped for it."""
    await scheduler.add_request(SequenceGroup("A", [1] * 7, max_new_tokens=9))
    await scheduler.schedule()
    page, _ = manager.get_block_table("A")
    pages.write_kv(0, page, 0, torch.full((1, 1), 5.0), torch.full((1, 1), 5.0))
    await scheduler.add_request(SequenceGroup("B", [2] * 16, max_new_tokens=1))
    swaps, keys = 0, [5.0]
    for _ in range(20):
        output = await scheduler.schedule()
        swaps += len(output.swapped_out) == len(output.swapped_in) == 1
        keys.append(pages.gather(0, manager.get_block_table("A"))[0][0].item())
    return keys[0], keys[1], swaps


before, after, swaps = asyncio.run(run())
waiting = [sequence.seq_id for sequence in scheduler.waiting]
print(f"A is swapped out and in {swaps} times in 20 steps, {waiting} wait; A's first key was {before}, then {after}")
sys.exit(swaps > 1 and after != before)
