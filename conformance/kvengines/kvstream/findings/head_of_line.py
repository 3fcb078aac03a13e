"""kvstream 0.1.0, `sched/progress-or-reject`: what can never fit is queued, and nobody behind it starts.

`KVStreamEngine.generate` gives up on its own request after two minutes (`admission_timeout_seconds`); the scheduler
never does.
"""

from __future__ import annotations

import asyncio
import sys

from kvstream.memory.block_manager import BlockManager
from kvstream.scheduler.continuous_batch import ContinuousBatchScheduler, SequenceGroup

manager = BlockManager(num_gpu_blocks=4, num_cpu_blocks=4, block_size=16)
scheduler = ContinuousBatchScheduler(manager)


async def run() -> int:
    """Queue five pages' worth of prompt, then one token; how many are admitted in a thousand steps."""
    await scheduler.add_request(SequenceGroup("large", [1] * 80, max_new_tokens=1))
    await scheduler.add_request(SequenceGroup("small", [1], max_new_tokens=1))
    for _ in range(1000):
        await scheduler.schedule()
    return len(scheduler.running)


admitted = asyncio.run(run())
print(f"{admitted} of 2 requests admitted in 1000 steps, with {manager.num_free_gpu_blocks()} of 4 pages free")
sys.exit(not admitted)
