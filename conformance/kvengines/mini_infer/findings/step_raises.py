"""mini-infer 0.2.5, `sched/progress-or-reject`: what does not fit is admitted, and every step raises for ever.

Admission asks for two free blocks whatever the prompt needs or others were promised, and nothing is rejected. A step
that raises keeps the slots it took and takes them again the next time: what would fit alone never runs.
"""

from __future__ import annotations

import sys

from mini_infer.engine import InferenceEngine
from mini_infer.models.config import Qwen2Config
from mini_infer.models.qwen2 import Qwen2ForCausalLM

config = Qwen2Config(32, 8, 16, 1, 1, 1, 8, tie_word_embeddings=False)
engine = InferenceEngine(Qwen2ForCausalLM(config), config, num_blocks=3)
requests = [engine.add_request([number] * 17, max_tokens=1) for number in range(2)]  # each alone fits: 2 of 3 blocks

errors = []
for _ in range(20):
    try:
        engine.step()
    except MemoryError as error:
        errors.append(str(error))
print(f"{len(errors)} of 20 steps raise {errors[-1] if errors else 'nothing'}")
tokens = [request.block_table.num_tokens for request in requests]
print(f"{[request.status.value for request in requests]} hold slots for {tokens} tokens; each prompt has 17")
sys.exit(bool(errors))
