"""The model that a Generator serves: a tiny Llama with random weights in float32, and what plain decoding gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import torch
import transformers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM


@dataclass(frozen=True)
class TinyLlama:
    """Its sizes: `width` channels in `heads` query heads over one KV head; requests of at most `longest` tokens.

    The weights are seeded, and so large that every token of the context matters for what comes next.
    """

    layers: int
    width: int
    heads: int
    longest: int
    vocabulary: int = 512

    @property
    def tie(self) -> float:
        """Smallest gap between the two highest logits, as a share of the highest, that rounding cannot close.

        Two orders of summation of n terms differ by at most 2 n u of the terms' magnitudes, u = 2**-24 (Higham,
        Accuracy and Stability of Numerical Algorithms, 3.1); a layer adds `width` terms four times and `longest` terms
        twice. The factor 64 stands for cancellation, which has no bound: a smaller gap is not judged, a larger one is
        no proof.
        """
        return 64 * 2**-24 * self.layers * (4 * self.width + 2 * self.longest)

    @cached_property
    def model(self) -> Any:
        """The `LlamaForCausalLM`."""
        transformers.logging.set_verbosity_error()
        config = LlamaConfig(
            vocab_size=self.vocabulary,
            hidden_size=self.width,
            intermediate_size=self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=1,
            head_dim=self.width // self.heads,
            max_position_embeddings=max(256, self.longest),
            initializer_range=0.5,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None,
            attn_implementation="sdpa",
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return LlamaForCausalLM(config).eval()

    def expected(self, prompt: tuple[int, ...], max_new_tokens: int) -> list[int]:
        """The new tokens by plain greedy decoding, up to the first that rounding could decide."""
        return _expected(self, prompt, max_new_tokens)


def greedy(max_new_tokens: int, **more: Any) -> Any:
    """Generation without sampling and without an end token."""
    return GenerationConfig(max_new_tokens=max_new_tokens, do_sample=False, pad_token_id=0, **more)


@lru_cache(maxsize=4096)
def _expected(llama: TinyLlama, prompt: tuple[int, ...], max_new_tokens: int) -> list[int]:
    inputs = torch.tensor([prompt])
    output = llama.model.generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        generation_config=greedy(max_new_tokens, return_dict_in_generate=True, output_logits=True),
    )
    tokens: list[int] = output.sequences[0, len(prompt) :].tolist()
    for number, logits in enumerate(output.logits):
        first, second = logits[0].topk(2).values.tolist()
        if first - second < llama.tie * logits.abs().max().item():
            return tokens[:number]
    return tokens
