"""mini-infer 0.2.5, `sched/step-budget`: `max_num_batched_tokens` is stored and never read."""

from __future__ import annotations

import sys

from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM
from mini_infer.scheduler import ContinuousScheduler

config = Qwen2Config(32, 8, 16, 1, 1, 1, 8, tie_word_embeddings=False)
model, seen = Qwen2ForCausalLM(config), []
model.register_forward_pre_hook(lambda module, given: seen.append(given[0].numel()))
engine = InferenceEngine(model, config, num_blocks=64)
engine.scheduler = ContinuousScheduler(engine.block_pool, max_num_batched_tokens=64)
for prompt in range(5):
    engine.add_request([prompt] * 60, max_tokens=1)
engine.step()

print(f"one step computes {sum(seen)} tokens; max_num_batched_tokens is {engine.scheduler.max_num_batched_tokens}")
sys.exit(sum(seen) > 64)
