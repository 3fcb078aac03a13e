"""`generate_batch` as a Generator: a tiny Llama with random weights, in float32, served by the whole engine."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from transformers.generation.configuration_utils import ContinuousBatchingConfig
from transformers.generation.continuous_batching.scheduler import SCHEDULER_MAPPING

from kvengines.tiny_llama import TinyLlama, greedy
from kvengines.transformers.cache import BLOCK_SIZES
from kvspec.vocabulary import Capabilities, World

LLAMA = TinyLlama(layers=2, width=32, heads=2, longest=64)


@lru_cache(maxsize=1)
def model() -> Any:
    """The Llama. The engine collects garbage after every batch; what is imported by now need not be looked at then."""
    llama = LLAMA.model
    gc.freeze()
    atexit.register(gc.unfreeze)
    return llama


class TransformersGenerator:
    """Every call is a fresh engine: manager, thread, cache and scheduler, on the same model."""

    capabilities = Capabilities(
        block_sizes=BLOCK_SIZES,
        num_blocks=(4, 24),
        token_budgets=(1, 24),
        max_running=(1, 6),
        policies=tuple(SCHEDULER_MAPPING),
        options={"safety_margin": (0.0, None, 0.5)},
        # A prompt that can never fit ends the whole batch with an error: found and told on the Stepper.
        rejects_infeasible=False,
        not_claimed={
            "num/declared-tolerance": "a Generator gives tokens; those that rounding could decide are not judged"
        },
    )

    def __init__(self, world: World) -> None:
        self.world = world

    def generate(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> Sequence[Sequence[int]]:
        """The new tokens of each prompt. Raises `RuntimeError` where the engine gives an error instead."""
        served = model().generate_batch(
            [list(prompt) for prompt in prompts],
            generation_config=greedy(max_new_tokens, eos_token_id=-1),
            continuous_batching_config=self.configuration(),
            warmup=False,
        )
        outputs = [served.get(f"req_{number}") for number in range(len(prompts))]
        for number, output in enumerate(outputs):
            if output is None or output.error is not None:
                raise RuntimeError(f"prompt {number} gets {'no answer' if output is None else output.error!r}")
        return [output.generated_tokens for output in outputs]

    def configuration(self) -> Any:
        """The continuous batching configuration of the world."""
        return ContinuousBatchingConfig(
            page_size=self.world.block_size,
            num_blocks=self.world.num_blocks,
            max_batch_tokens=self.world.token_budget,
            max_requests_per_batch=self.world.max_running,
            allow_block_sharing=self.world.caching,
            scheduler_type=self.world.policy,
            safety_margin=self.world.options.get("safety_margin"),
            use_cuda_graph=False,
            use_async_batching=False,
            auto_switch_to_flash=False,
        )

    def expected(self, prompt: Sequence[int], max_new_tokens: int) -> Sequence[int]:
        """The new tokens by plain greedy decoding, up to the first that rounding could decide."""
        return LLAMA.expected(tuple(prompt), max_new_tokens)
