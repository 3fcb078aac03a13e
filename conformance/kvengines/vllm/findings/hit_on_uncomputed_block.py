"""vLLM 0.32.0, `prefix/publish-only-computed`: a request resumes on a cached block that no step has computed.

Policy priority, `long_prefill_token_threshold=3`. V (priority 1) is given positions 11 to 13, which fills its sixth
block and publishes the hash; then H (priority 0) needs a block in the same step, and V is the victim. V leaves the
step, its hashes stay in the prefix cache, and V resumes on a hit of 12 tokens of which 11 were ever computed.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path

import torch
from vllm.config import CacheConfig, DeviceConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

logging.getLogger("vllm").setLevel(logging.ERROR)

BLOCK, BLOCKS = 2, 9
init_none_hash(sha256)
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "config.json").write_bytes(
        json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}).encode()
    )
    model = ModelConfig(model=folder, dtype="float32", skip_tokenizer_init=True, max_model_len=(BLOCKS - 1) * BLOCK)
scheduling = SchedulerConfig(
    max_model_len=model.max_model_len,
    is_encoder_decoder=False,
    policy="priority",
    max_num_seqs=2,
    max_num_batched_tokens=8,
    long_prefill_token_threshold=3,
)
cache = CacheConfig(block_size=BLOCK, enable_prefix_caching=True)
cache.num_gpu_blocks = BLOCKS  # one of them is the null block
config = VllmConfig(
    model_config=model, scheduler_config=scheduling, cache_config=cache, device_config=DeviceConfig(device="cpu")
)
layers = KVCacheGroupSpec(
    ["layer"], FullAttentionSpec(block_size=BLOCK, num_kv_heads=1, head_size=8, dtype=torch.float32)
)
scheduler = Scheduler(config, KVCacheConfig(BLOCKS, [], [layers]), StructuredOutputManager(config), BLOCK)


def add(id: str, prompt: list[int], max_tokens: int, priority: int) -> None:
    """A client's request."""
    hasher = get_request_block_hasher(BLOCK, sha256)
    sampling = SamplingParams(max_tokens=max_tokens, ignore_eos=True)
    scheduler.add_request(Request(id, prompt, sampling, None, priority=priority, block_hasher=hasher))


def step() -> list[tuple[str, int, int]]:
    """Schedule a step and run it: (request, first position, one past the last) of each request in it."""
    output = scheduler.schedule()
    starts = {new.req_id: new.num_computed_tokens for new in output.scheduled_new_reqs}
    cached = output.scheduled_cached_reqs
    starts.update(zip(cached.req_ids, cached.num_computed_tokens, strict=True))
    ids = list(output.num_scheduled_tokens)
    ran = [(id, starts[id], starts[id] + output.num_scheduled_tokens[id]) for id in ids]
    sampled = [[1] if end == scheduler.requests[id].num_tokens else [] for id, _, end in ran]
    scheduler.update_from_output(output, ModelRunnerOutput(ids, {id: n for n, id in enumerate(ids)}, sampled))
    return ran


add("V", [0] * 14, max_tokens=2, priority=1)
computed, wrong = {"V": 0, "H": 0}, False
for number in range(1, 6):
    for id, start, end in step():
        print(f"step {number}: {id} computes positions {start} to {end - 1}")
        if start > computed[id]:
            print(f"        but no step has computed positions {computed[id]} to {start - 1} of {id}: a hit on garbage")
            wrong = True
        computed[id] = end
    if number == 1:
        add("H", [1] * 2, max_tokens=3, priority=0)
sys.exit(wrong)
