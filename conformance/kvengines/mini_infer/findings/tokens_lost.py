"""mini-infer 0.2.5, `sched/resume-equals-uninterrupted`: preemption throws away tokens that were already handed out.

`ContinuousScheduler.preempt` clears `output_token_ids`. A client that was sent the first tokens is sent the beginning
again or, by the streaming server, which counts tokens, a splice of two different samples.
"""

from __future__ import annotations

import sys

import torch
from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

torch.manual_seed(0)
config = Qwen2Config(32, 8, 16, 1, 1, 1, 8, tie_word_embeddings=False)
model = Qwen2ForCausalLM(config)
engine = InferenceEngine(model, config, num_blocks=3, enable_prefix_caching=False)
engine.add_request([1] * 15, max_tokens=8, temperature=1.0, request_id="A")
b = engine.add_request([2] * 15, max_tokens=8, temperature=1.0, request_id="B")
sent: list[int] = []
while engine.scheduler.has_unfinished_sequences() and len(sent) < 100:
    sent += [token for sequence, token in engine.step() if sequence is b]

print(f"B asked for 8 tokens, was preempted {engine.scheduler.preempted_count} times and was sent {len(sent)}: {sent}")
print(f"its output is {b.output_token_ids}")
sys.exit(sent != b.output_token_ids)
