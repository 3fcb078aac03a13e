"""mini-infer 0.2.5, `alloc/count-equals-holders`: a block freed twice is free twice, and two requests receive it."""

from __future__ import annotations

import sys

from mini_infer.cache import BlockPool

pool = BlockPool(num_blocks=4, block_size=16, num_layers=1, num_kv_heads=1, head_dim=1)
blocks = pool.allocate_blocks(1)
pool.free_blocks(blocks)
pool.free_blocks(blocks)

free, first, second = pool.num_free, pool.allocate_block(), pool.allocate_block()
print(f"{free} of {pool.num_blocks} blocks are free; the next two allocations are block {first} and block {second}")
sys.exit(first == second)
