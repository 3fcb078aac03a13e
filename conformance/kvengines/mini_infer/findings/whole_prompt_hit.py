"""mini-infer 0.2.5, `prefix/one-token-left`: a prompt may hit all its tokens, and its last one goes astray.

The second of two equal requests takes its whole prompt from the cache. The engine then feeds the last token once more,
without the keys and values before it, writes what comes out over position 0 of the shared block, and counts 17 tokens.
"""

from __future__ import annotations

import sys

import torch
from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

torch.manual_seed(0)
config = Qwen2Config(32, 8, 16, 1, 1, 1, 8, tie_word_embeddings=False)
engine = InferenceEngine(Qwen2ForCausalLM(config), config, num_blocks=8)
prompt = list(range(16))

first = engine.add_request(prompt, max_tokens=1)
engine.step()
shared = engine.block_pool.key_caches[0][first.block_table.physical_block_ids[0]].clone()
second = engine.add_request(prompt, max_tokens=1)
engine.step()
block = second.block_table.physical_block_ids[0]
changed = (engine.block_pool.key_caches[0][block] != shared).any(dim=(0, 2)).nonzero().flatten().tolist()

hit = engine.prefix_cache.match_prefix(prompt, engine.block_pool)[1]
print(f"the prompt of {len(prompt)} tokens hits {hit}, and none is left to compute")
print(f"second: {second.prompt_tokens_processed} of {second.num_prompt_tokens} prompt tokens are processed")
print(f"the shared block {block} changed at positions {changed}; the token fed stands at position 15")
sys.exit(hit == len(prompt))
