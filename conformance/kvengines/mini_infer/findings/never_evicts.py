"""mini-infer 0.2.5, `alloc/fit-agrees-with-allocate`: nobody evicts cached blocks, so that the pool runs dry for good.

`PrefixCache.evict_lru` exists and nothing calls it. Each finished prompt keeps its full blocks for ever.
"""

from __future__ import annotations

import sys

from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

config = Qwen2Config(32, 8, 16, 1, 1, 1, 8, tie_word_embeddings=False)
engine = InferenceEngine(Qwen2ForCausalLM(config), config, num_blocks=4)
for number in range(4):
    engine.add_request([number] * 16, max_tokens=1)
    while engine.scheduler.has_unfinished_sequences():
        engine.step()

engine.add_request([9] * 16, max_tokens=1)
computed = sum(len(engine.step()) for _ in range(100))
print(f"nothing runs, {len(engine.prefix_cache.cache)} blocks are only cached, {engine.block_pool.num_free} are free")
print(f"100 steps compute {computed} tokens; waiting: {len(engine.scheduler.waiting)}")
sys.exit(computed == 0)
