"""vLLM 0.32.0, `sched/bounded-decode-gap`: a running request of higher priority is left out of a step in which it fits.

Policy priority. L (priority 1) needs a block and there is none; the victim is L itself, and with it the loop over the
running requests ends. H (priority 0) stands behind L in that list: it is not scheduled in this step, although L's
blocks are free now and the whole budget is left.
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

BLOCK, BLOCKS = 2, 5
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


add("L", [0] * 3, max_tokens=4, priority=1)
step()
add("H", [1] * 3, max_tokens=3, priority=0)
skipped = False
for number in range(2, 5):
    before = [request.request_id for request in scheduler.running]
    ran = step()
    free = scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
    print(f"step {number}: running {before}, scheduled {[id for id, _, _ in ran]}, {free} blocks free after it")
    if "H" in before and "H" not in [id for id, _, _ in ran] and "H" in scheduler.requests:
        print("        H runs, fits, and was not scheduled")
        skipped = True
sys.exit(skipped)
