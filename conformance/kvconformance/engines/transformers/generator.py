"""`generate_batch` as a Generator: a tiny Llama with random weights, in float32, served by the whole engine."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
import transformers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation.configuration_utils import ContinuousBatchingConfig
from transformers.generation.continuous_batching.scheduler import SCHEDULER_MAPPING

from kvconformance.engines.transformers.cache import BLOCK_SIZES
from kvspec.vocabulary import Capabilities, World

LAYERS, WIDTH, VOCABULARY = 2, 32, 512
LONGEST = 64
"""Tokens that a request of a Generator has at most: what `TIE` counts on."""
TIE = 64 * 2**-24 * LAYERS * (4 * WIDTH + 2 * LONGEST)
"""Smallest gap between the two highest logits, as a share of the highest, that rounding cannot close.

Two orders of summation of n terms differ by at most 2 n u of the terms' magnitudes, u = 2**-24 (Higham, Accuracy and
Stability of Numerical Algorithms, 3.1); a layer adds WIDTH terms four times and LONGEST terms twice. The factor 64
stands for cancellation, which has no bound: a smaller gap is not judged, a larger one is no proof.
"""


@lru_cache(maxsize=1)
def model() -> Any:
    """The Llama. Weights so large that every token of the context matters for what comes next; seeded."""
    transformers.logging.set_verbosity_error()
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=WIDTH // 2,
        max_position_embeddings=256,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        llama = LlamaForCausalLM(config).eval()
    # The engine collects garbage after every batch; what is imported by now need not be looked at each time.
    gc.freeze()
    atexit.register(gc.unfreeze)
    return llama


def greedy(max_new_tokens: int, **more: Any) -> Any:
    """Generation without sampling and without an end token."""
    return GenerationConfig(max_new_tokens=max_new_tokens, do_sample=False, pad_token_id=0, **more)


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
        return _expected(tuple(prompt), max_new_tokens)


@lru_cache(maxsize=4096)
def _expected(prompt: tuple[int, ...], max_new_tokens: int) -> list[int]:
    inputs = torch.tensor([prompt])
    output = model().generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        generation_config=greedy(max_new_tokens, return_dict_in_generate=True, output_logits=True),
    )
    tokens: list[int] = output.sequences[0, len(prompt) :].tolist()
    for number, logits in enumerate(output.logits):
        first, second = logits[0].topk(2).values.tolist()
        if first - second < TIE * logits.abs().max().item():
            return tokens[:number]
    return tokens
