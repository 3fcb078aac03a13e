"""mini-infer 0.2.5, `prefix/shared-bytes-never-change`: after a prefix hit, new tokens overwrite the shared block.

The engine computes what follows the hit as if it were the beginning of the prompt, and writes it from position 0 on.
"""

from __future__ import annotations

import sys

import torch
from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

torch.manual_seed(1)
config = Qwen2Config(32, 8, 16, 2, 1, 1, 8, tie_word_embeddings=False)
model, prefix = Qwen2ForCausalLM(config), list(range(16))


def serve(engine: InferenceEngine, prompt: list[int]) -> list[int]:
    """Eight greedy tokens."""
    request = engine.add_request(prompt, max_tokens=8)
    while engine.scheduler.has_unfinished_sequences():
        engine.step()
    return list(request.output_token_ids)


plain, cached = InferenceEngine(model, config, enable_prefix_caching=False), InferenceEngine(model, config)
serve(cached, prefix)
((block,), _) = cached.prefix_cache.match_prefix(prefix, cached.block_pool)
before = cached.block_pool.key_caches[0][block].clone()
cold, warm = serve(plain, [*prefix, 20, 21, 22]), serve(cached, [*prefix, 20, 21, 22])
changed = (cached.block_pool.key_caches[0][block] != before).any(dim=(0, 2)).nonzero().flatten().tolist()

print(f"the cached block {block} of the prefix changed at positions {changed}")
print(f"cold: {cold}\nwarm: {warm}")
sys.exit(bool(changed) or cold != warm)
