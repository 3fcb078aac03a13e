"""smol-vllm 0.1.2, `sched/resume-equals-uninterrupted`: a request that was swapped out comes back on empty blocks.

Its blocks are freed and not copied; when it returns it is given other ones, and only its last token is computed.
"""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any

from smol_vllm.engine import LLMEngine


class Noting:
    """A model that notes how many positions of whom it computes."""

    def __init__(self) -> None:
        self.computed: list[tuple[int, int]] = []

    def prefill(self, groups: list[Any]) -> list[int]:
        """One token for each prompt, of which every position is computed."""
        self.computed += [(group.group_id, len(group.sequences[0].prompt_tokens)) for group in groups]
        return [7] * len(groups)

    def decode(self, groups: list[Any], block_tables: list[list[int]]) -> list[int]:
        """One token for each running request, of which one position is computed."""
        self.computed += [(group.group_id, 1) for group in groups]
        return [7] * len(groups)


engine = LLMEngine(num_gpu_blocks=5, block_size=2, enable_metrics=False)
engine.model = model = Noting()
engine.add_request([1], max_tokens=2)
engine.add_request([2] * 4, max_tokens=2)
swapped = resumed = None
with contextlib.redirect_stdout(io.StringIO()):
    for _ in range(4):
        before = engine.block_manager.get_block_table(1) or swapped
        engine.step()
        if engine.scheduler.swapped:
            swapped = before
        elif swapped and resumed is None:
            resumed = [count for id, count in model.computed if id == 1][-1]

print(f"request 1 is swapped out of blocks {swapped}, which are freed; resumed, it computes {resumed} of 5 positions")
sys.exit(bool(swapped) and resumed == 1)
