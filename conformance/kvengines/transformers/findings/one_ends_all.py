"""transformers 5.24.0, `sched/progress-or-reject`: a prompt that can never fit is accepted and ends all requests."""

from __future__ import annotations

import sys

from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation.configuration_utils import ContinuousBatchingConfig

small = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
greedy = GenerationConfig(max_new_tokens=8, do_sample=False, eos_token_id=-1, pad_token_id=0)
# 4 blocks of 4 tokens: the short prompts need 3 each, the long one 10.
pool = ContinuousBatchingConfig(page_size=4, num_blocks=4, max_batch_tokens=8)
prompts = [[1, 2, 3], [4, 5, 6], [60] * 32]
answers = LlamaForCausalLM(small).eval().generate_batch(prompts, greedy, pool, warmup=False)

for name, answer in answers.items():
    print(f"{name}, {len(answer.prompt_ids)} prompt tokens: {answer.error or answer.generated_tokens}")
sys.exit(any(answer.error for answer in answers.values() if len(answer.prompt_ids) == 3))
