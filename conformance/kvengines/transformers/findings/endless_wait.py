"""transformers 5.24.0, `sched/progress-or-reject`: a victim waits for ever once the running request is cancelled."""

from __future__ import annotations

import sys
import time

from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation.configuration_utils import ContinuousBatchingConfig

small = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
greedy = GenerationConfig(do_sample=False, eos_token_id=-1, pad_token_id=0)
pool = ContinuousBatchingConfig(page_size=4, num_blocks=64, max_batch_tokens=64)
manager = LlamaForCausalLM(small).eval().init_continuous_batching(greedy, pool)
manager.start()
# Each fits alone (56 of 64 blocks), not both: one is preempted, and new ones are blocked until the other finishes.
for name in ("first", "second"):
    manager.add_request([1, 2, 3, 4, len(name)], request_id=name, max_new_tokens=220)
while manager.batch_processor is None or not manager.batch_processor.scheduler.block_new_requests:
    time.sleep(0.001)
scheduler = manager.batch_processor.scheduler
(runs,) = scheduler.active_requests
manager.cancel_request(runs)
answer = manager.get_result(timeout=20)

free = manager.batch_processor.cache.compute_free_capacity()
print(f"20 s after {runs!r} is cancelled: answer {answer}, waiting {list(scheduler.waiting_requests)}, {free:.0%} free")
manager.stop(hard_stop=True)
sys.exit(answer is None)
