"""smol-vllm 0.1.2, `sched/progress-or-reject`: what can never fit waits for ever, with everybody behind it.

`generate` would not return; here the engine is stepped a thousand times. The second request fits three times over.
"""

from __future__ import annotations

import sys

from smol_vllm.engine import LLMEngine

engine = LLMEngine(num_gpu_blocks=4, block_size=4, enable_metrics=False)
engine.add_request([1] * 17, max_tokens=1)  # five blocks of four
engine.add_request([1], max_tokens=1)
answers = sum(len(engine.step()) for _ in range(1000))

waiting, free = len(engine.scheduler.waiting), engine.block_manager.num_free_blocks()
print(f"{answers} answers in 1000 steps; {waiting} of 2 requests wait, {free} of 4 blocks are free")
sys.exit(not answers)
