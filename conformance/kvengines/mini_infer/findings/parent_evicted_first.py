"""mini-infer 0.2.5, `prefix/contiguous-chain`: eviction takes the head of a chain and strands its tail.

`match_prefix` and `insert_prefix_block` stamp a chain from its head on, so that the head is always the oldest.
"""

from __future__ import annotations

import sys

from mini_infer.cache import BlockPool, PrefixCache

pool, cache = BlockPool(4, 16, num_layers=0, num_kv_heads=1, head_dim=1), PrefixCache()
prompt = list(range(32))
head, tail = pool.allocate_blocks(2)
cache.insert_prefix_block(tuple(prompt[:16]), head, pool)
cache.insert_prefix_block(tuple(prompt), tail, pool)
pool.free_blocks([head, tail])  # the request has finished: only the cache holds the blocks
cache.evict_lru(pool, count=1)

left, hit = list(cache.cache.values()), cache.match_prefix(prompt, pool)[1]
print(f"head {head}, tail {tail}: once one block is evicted the cache keeps {left} and the prompt hits {hit} tokens")
sys.exit(hit == 0)
