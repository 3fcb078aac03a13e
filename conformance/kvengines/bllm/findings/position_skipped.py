"""bllm-inference 0.1.0, `sched/chunk-independence`: the first generated token is computed one position too far.

After a prompt of n tokens `process_outputs` sets the cache position to n and then adds one for the token it appends, so
the decode of that token starts at n + 1. Position n is never written; the attention reads it all the same.
"""

from __future__ import annotations

import sys

from bllm.core.block_allocator import BlockAllocator
from bllm.core.config import InferenceConfig, PagedCacheConfig
from bllm.core.page_table import PageTable
from bllm.scheduler.request import InferenceRequest
from bllm.scheduler.scheduler import Scheduler

cache = PagedCacheConfig(num_layers=1, num_kv_heads=1, head_dim=8, num_blocks=8, device="cpu")
pages = PageTable(max_batch_size=2, max_blocks_per_seq=8, block_size=16, device="cpu")
scheduler = Scheduler(cache, InferenceConfig(max_batch_size=2), BlockAllocator(8, 16), pages)
scheduler.add_request(InferenceRequest("a", [5, 6, 7], max_new_tokens=4))
scheduler.schedule()
scheduler.process_outputs({"a": 9}, eos_token_id=-1)
(start,) = scheduler.schedule().decode_start_positions

print(f"the prompt fills positions 0 to 2; the first generated token is computed at position {start}")
sys.exit(start != 3)
