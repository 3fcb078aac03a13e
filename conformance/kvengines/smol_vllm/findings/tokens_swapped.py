"""smol-vllm 0.1.2, `sched/chunk-independence`: beside a new prompt, a running request is given the other's token.

The engine asks its model for the prompts of a step first and for the decodes after them, and then hands the tokens out
in the order of arrival.
"""

from __future__ import annotations

import sys
from typing import Any

from smol_vllm.engine import LLMEngine


class Loyal:
    """A model that says 100 to the first request and 200 to the second, whatever the step."""

    def prefill(self, groups: list[Any]) -> list[int]:
        """One token for each prompt."""
        return [100 * (group.group_id + 1) for group in groups]

    def decode(self, groups: list[Any], block_tables: list[list[int]]) -> list[int]:
        """One token for each running request."""
        return self.prefill(groups)


engine = LLMEngine(num_gpu_blocks=16, block_size=4, enable_metrics=False)
engine.model = Loyal()
engine.add_request([1, 2, 3], max_tokens=3)
outputs = engine.step()
engine.add_request([4, 5], max_tokens=3)
outputs = {output.group_id: output.output_tokens for _ in range(2) for output in engine.step()}

print(f"the first request, to whom the model says 100 only, gets {outputs[0]}; the second, 200 only, {outputs[1]}")
sys.exit(set(outputs[0]) != {100})
