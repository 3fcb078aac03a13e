"""transformers 5.24.0, `sched/step-budget`: parallel sampling schedules 0 tokens where one is left, and dies."""

from __future__ import annotations

import sys

from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation.configuration_utils import ContinuousBatchingConfig

small = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
two = GenerationConfig(max_new_tokens=4, do_sample=True, num_return_sequences=2, eos_token_id=-1, pad_token_id=0)
pool = ContinuousBatchingConfig(page_size=4, num_blocks=16, max_batch_tokens=8, max_requests_per_batch=1)
failed = 0
# A prompt of one token; then a prompt of which the prefix hit leaves one token.
for prompts in ([[1]], [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]):
    answers = LlamaForCausalLM(small).eval().generate_batch(prompts, two, pool, warmup=False)
    good = sum(answer.error is None for answer in answers.values())
    print(f"{prompts}: {good} of {2 * len(prompts)} answers; {[a.error for a in answers.values() if a.error]}")
    failed += good < 2 * len(prompts)
sys.exit(failed > 0)
