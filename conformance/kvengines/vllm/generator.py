"""vLLM as a whole engine: `LLM` with scheduler, worker and CPU kernels, serving a tiny Llama in float32.

Each world is an `LLM` of its own, built from public arguments. Building one takes a fraction of a second, so they are
kept and used again with an empty prefix cache; the memory behind it is not cleared.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

import torch
from vllm import LLM, SamplingParams

from kvengines.tiny_llama import TinyLlama
from kvengines.vllm.setup import max_model_len
from kvspec.vocabulary import BlockId, Capabilities, World

BLOCK_SIZE = 32
"""The attention kernel for CPUs takes multiples of 32."""

MOST_BLOCKS = 12
LLAMA = TinyLlama(layers=2, width=64, heads=2, longest=(MOST_BLOCKS - 1) * BLOCK_SIZE)

MOST_ENGINES = 400
"""Engines that are alive at a time: a megabyte or two each."""


@cache
def model_folder() -> tempfile.TemporaryDirectory[str]:
    """Where the weights lie while this process lives."""
    folder = tempfile.TemporaryDirectory(prefix="kvspec-vllm-")
    LLAMA.model.save_pretrained(folder.name)
    return folder


class Engines:
    """One `LLM` for each configuration; one that was left in the middle of something is not used again."""

    def __init__(self) -> None:
        self.alive: dict[str, Any] = {}

    def get(self, world: World) -> Any:
        """The engine of a world."""
        wanted = arguments(world)
        key = repr(wanted)
        if key not in self.alive:
            if len(self.alive) >= MOST_ENGINES:
                self.forget(list(self.alive)[: MOST_ENGINES // 2])
            self.alive[key] = LLM(model=model_folder().name, **wanted)
            # When one is shut down, the state of torch.distributed goes, which all of them share.
            self.alive[key].llm_engine.engine_core._finalizer.detach()
        return self.alive[key]

    def spoil(self, world: World) -> None:
        """The engine of this world has failed."""
        self.forget([repr(arguments(world))])

    def forget(self, keys: Sequence[str]) -> None:
        """Let the garbage collector have these engines, which it does not look at while they are frozen."""
        for key in keys:
            self.alive.pop(key, None)
        gc.unfreeze()


def arguments(world: World) -> dict[str, Any]:
    """What `LLM` is told of a world. Without chunks it wants a budget for a whole prompt; other worlds are chunked."""
    options, longest = world.options, min(max_model_len(world), LLAMA.longest)
    chunked = bool(options.get("chunked_prefill", True)) or world.token_budget < longest
    return {
        "skip_tokenizer_init": True,
        "enforce_eager": True,
        "dtype": "float32",
        "seed": 0,
        "block_size": world.block_size,
        "num_gpu_blocks_override": world.num_blocks,
        "max_model_len": longest,
        "max_num_seqs": world.max_running,
        "max_num_batched_tokens": world.token_budget,
        "enable_chunked_prefill": chunked,
        "enable_prefix_caching": world.caching,
        "long_prefill_token_threshold": min(int(str(options.get("long_prefill_token_threshold", 0))), longest),
        "scheduling_policy": world.policy,
        "gpu_memory_utilization": 0.05,
    }


ENGINES = Engines()


class VllmGenerator:
    """Prompts that are served together, once or again on a warm prefix cache, added all at once or one each step."""

    capabilities = Capabilities(
        block_sizes=(BLOCK_SIZE,),
        num_blocks=(3, MOST_BLOCKS),
        token_budgets=(8, 128),
        max_running=(1, 6),
        policies=("fcfs", "priority"),
        options={
            "rounds": (1, 2),
            "arrivals": ("together", "one each step"),
            "priorities": ("falling", "rising"),
            "long_prefill_token_threshold": (0, 0, 48),
            "chunked_prefill": (True, True, False),
        },
        reserved_blocks=frozenset({BlockId(0)}),
        rejects_infeasible=False,
        not_claimed={
            "num/declared-tolerance": "a Generator gives tokens; those that rounding could decide are not judged"
        },
    )

    _numbers = count()

    def __init__(self, world: World) -> None:
        self.world = world

    @staticmethod
    def prepare() -> None:
        """Build the first engine, which takes seconds; the others take a fraction of one.

        One thread: for so small a model more only wait for each other, on a busy machine for ten seconds a batch.
        """
        torch.set_num_threads(1)
        ENGINES.get(World(8, BLOCK_SIZE, 128))

    def generate(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> Sequence[Sequence[int]]:
        """The new tokens of each prompt, in the last round. Raises `RuntimeError` where the engine gives none."""
        engine = ENGINES.get(self.world).llm_engine
        outputs: list[Sequence[int]] = []
        try:
            if not engine.reset_prefix_cache():
                raise RuntimeError("an engine at rest refuses to reset its prefix cache")
            for _ in range(int(str(self.world.options.get("rounds", 1)))):
                outputs = self.serve(engine, prompts, max_new_tokens)
        except BaseException:  # a time limit too
            ENGINES.spoil(self.world)
            raise
        return outputs

    def serve(self, engine: Any, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> list[Sequence[int]]:
        """One round: add the prompts, step until nothing is left, and sort the outputs."""
        sampling = SamplingParams(max_tokens=max_new_tokens, temperature=0, ignore_eos=True, detokenize=False)
        outputs: dict[str, Sequence[int]] = {}
        ids = [f"request {next(self._numbers)}" for _ in prompts]
        for id, prompt, priority in zip(ids, prompts, self.priorities(len(prompts)), strict=True):
            engine.add_request(id, {"prompt_token_ids": list(prompt)}, sampling, priority=priority)
            if self.world.options.get("arrivals") == "one each step":
                outputs |= finished(engine)
        while engine.has_unfinished_requests():
            outputs |= finished(engine)
        if missing := [number for number, id in enumerate(ids) if id not in outputs]:
            raise RuntimeError(f"prompt {missing[0]} gets no answer")
        return [outputs[id] for id in ids]

    def priorities(self, number: int) -> Sequence[int]:
        """Priorities of as many prompts, a smaller one first: each yields to those before it, or overtakes them."""
        if self.world.policy != "priority":
            return [0] * number
        return range(number) if self.world.options.get("priorities") == "falling" else range(number, 0, -1)

    def expected(self, prompt: Sequence[int], max_new_tokens: int) -> Sequence[int]:
        """The new tokens by plain decoding with transformers, up to the first that rounding could decide."""
        return LLAMA.expected(tuple(prompt), max_new_tokens)


def finished(engine: Any) -> dict[str, Sequence[int]]:
    """The tokens of the requests that finish in one step."""
    return {done.request_id: done.outputs[0].token_ids for done in engine.step() if done.finished}
