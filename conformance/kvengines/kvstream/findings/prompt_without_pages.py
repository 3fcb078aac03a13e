"""kvstream 0.1.0, `alloc/coverage-and-limit`: after a prefix hit the rest of the prompt has no pages.

`generate` forks the cached prefix before it queues a request; the scheduler then takes the request for allocated and
starts it. The calls are those of `KVStreamEngine.generate`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from kvstream.memory.block_manager import BlockManager
from kvstream.memory.prefix_cache import PrefixKVCache
from kvstream.scheduler.continuous_batch import ContinuousBatchScheduler, SequenceGroup

manager = BlockManager(num_gpu_blocks=8, num_cpu_blocks=8, block_size=16)
cache, scheduler = PrefixKVCache(manager), ContinuousBatchScheduler(manager)
manager.allocate("first", 16)
cache.register("first", [7] * 16)
prompt = [7] * 16 + [8] * 40
entry = cache.match(prompt)
cache.fork_prefix(entry, "second")


async def run() -> Any:
    """Queue the second request, and schedule."""
    await scheduler.add_request(SequenceGroup("second", prompt, max_new_tokens=4))
    return await scheduler.schedule()


(running,) = asyncio.run(run()).prefill
pages = manager.get_block_table("second")
print(f"{running.seq_id} runs with a prompt of {len(prompt)} tokens and pages for {len(pages) * 16}")
sys.exit(len(pages) * 16 < len(prompt))
