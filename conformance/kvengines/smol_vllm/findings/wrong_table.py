"""smol-vllm 0.1.2, `alloc/coverage-and-limit`, `alloc/no-dangling-reference`, `alloc/one-page-rounding`: wrong tables.

Beside a new prompt, decodes are handed another request's: `block_tables[len(prefill_groups):]` counts on prompts
standing first; the scheduler appends them.
"""

from __future__ import annotations

import sys
from typing import Any

from smol_vllm.engine import LLMEngine


class Watching:
    """A model that remembers which block table it was handed for whom."""

    def __init__(self) -> None:
        self.handed: dict[int, list[int]] = {}

    def prefill(self, groups: list[Any]) -> list[int]:
        """One token for each prompt."""
        return [7] * len(groups)

    def decode(self, groups: list[Any], block_tables: list[list[int]]) -> list[int]:
        """One token for each running request."""
        self.handed |= {group.group_id: table for group, table in zip(groups, block_tables, strict=True)}
        return [7] * len(groups)


engine = LLMEngine(num_gpu_blocks=16, block_size=4, enable_metrics=False)
engine.model = model = Watching()
engine.add_request([1, 2, 3], max_tokens=3)
engine.step()
own = engine.block_manager.get_block_table(0)
engine.add_request([4, 5], max_tokens=3)
engine.step()

print(f"the first request holds blocks {own}; its decode is handed {model.handed[0]}")
sys.exit(model.handed[0] != own)
