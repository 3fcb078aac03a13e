"""vLLM 0.32.0, `prefix/publish-only-computed`, on the whole engine: greedy output depends on a preemption.

The history of `vllm_hit_on_uncomputed_block.py` with blocks of 32 tokens and a tiny random Llama in float32. V alone
and V beside H must give the same tokens; they do with `enable_prefix_caching=False` or `scheduling_policy="fcfs"`.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile

os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_CPU_KVCACHE_SPACE": "1"}
os.environ |= {"TORCHDYNAMO_DISABLE": "1", "HF_HUB_OFFLINE": "1"}

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from vllm import LLM, SamplingParams

torch.manual_seed(0)
sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
with tempfile.TemporaryDirectory() as folder:
    LlamaForCausalLM(LlamaConfig(vocab_size=128, initializer_range=0.3, **sizes)).save_pretrained(folder)
    llm = LLM(
        model=folder,
        skip_tokenizer_init=True,
        enforce_eager=True,
        dtype="float32",
        block_size=32,
        num_gpu_blocks_override=9,
        max_model_len=256,
        max_num_seqs=2,
        max_num_batched_tokens=128,
        long_prefill_token_threshold=48,
        scheduling_policy="priority",
        async_scheduling=False,
        enable_prefix_caching=True,
        gpu_memory_utilization=0.1,
    )
engine = llm.llm_engine
output: dict[str, list[int]] = {}


def add(id: str, prompt: list[int], max_tokens: int, priority: int = 0) -> None:
    """A client's request, decoded greedily."""
    sampling = SamplingParams(max_tokens=max_tokens, temperature=0, ignore_eos=True, detokenize=False)
    engine.add_request(id, {"prompt_token_ids": prompt}, sampling, priority=priority)


def step() -> None:
    """One step; keep what is finished."""
    output.update({o.request_id: list(o.outputs[0].token_ids) for o in engine.step() if o.finished})


def run() -> None:
    """Until nothing is left."""
    while engine.has_unfinished_requests():
        step()


draw = random.Random(1)  # noqa: S311 - tokens, not secrets
ours, theirs, other = ([draw.randrange(3, 128) for _ in range(n)] for n in (224, 32, 240))
add("V alone", ours, 8)
run()
llm.reset_prefix_cache()
add("before", other, 4)
run()
llm.reset_prefix_cache()
add("V", ours, 8, priority=1)
step()
add("H", theirs, 3, priority=0)
run()
print(f"alone     {output['V alone']}\nbeside H  {output['V']}")
sys.exit(output["V"] != output["V alone"])
