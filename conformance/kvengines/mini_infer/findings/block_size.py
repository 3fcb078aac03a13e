"""mini-infer 0.2.5, `alloc/one-page-rounding`: the engine's `block_size` does not reach the block tables.

`Sequence` makes a `BlockTable` of 16 whatever the pool and the prefix cache are told. With blocks of 32 the second
half of each block is skipped on write and not on read; with blocks of 8 the table is too short.
"""

from __future__ import annotations

import sys

import torch
from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

torch.manual_seed(0)
config = Qwen2Config(32, 8, 16, 2, 1, 1, 8, tie_word_embeddings=False)
model = Qwen2ForCausalLM(config)


def serve(block_size: int) -> str:
    """Twelve greedy tokens of one request, or the error."""
    engine = InferenceEngine(model, config, block_size=block_size, enable_prefix_caching=False)
    request = engine.add_request(list(range(16)), max_tokens=12)
    try:
        while engine.scheduler.has_unfinished_sequences():
            engine.step()
    except IndexError as error:
        return f"IndexError: {error}"
    return str(request.output_token_ids)


outputs = {size: serve(size) for size in (16, 32, 8)}
for size, output in outputs.items():
    print(f"block_size {size:2}: {output}")
sys.exit(len(set(outputs.values())) > 1)
