"""SGLang 0.5.23, `sched/progress-or-reject`: over sliding windows, a request waits for ever behind its own prefix hit.

While the scheduler asks whether a request fits, the window of its hit is locked. What the request still needs is
compared with what is left besides; but whether it can ever fit, and else may take a smaller chunk, with the whole pool.
In between it is refused in every step, with the whole pool idle. Without the hit it is admitted.
"""

# ruff: noqa: E402 # the stand-in comes before what imports torchvision
from __future__ import annotations

import sys
from array import array
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch
import transformers  # noqa: F401 # asks for torchvision before the stand-in is there


class Nothing(ModuleType):
    """A stand-in for torchvision, whose wheels need a GPU: SGLang imports it for images."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


if find_spec("torchvision") is None:
    for name in ("torchvision", "torchvision.transforms", "torchvision.transforms.functional", "torchvision.io"):
        sys.modules[name] = Nothing(name)

from sglang.srt.managers.schedule_batch import Req, ScheduleBatch
from sglang.srt.managers.schedule_policy import PrefillAdder
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.base_prefix_cache import InsertParams
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.radix_cache import RadixKey
from sglang.srt.mem_cache.swa_memory_pool import SWAKVPool
from sglang.srt.mem_cache.unified_radix_cache import ComponentType, UnifiedRadixCache
from sglang.srt.runtime_context import publish
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import ServerArgs

# The window of Gemma 2, as SGLang counts it; the second pool is 0.8 times the first, as it is by default.
FULL, WINDOWS, WINDOW, CHUNK = 10000, 8000, 4095, 4096
CACHED, MORE = 4096, 4000
publish(ServerArgs(model_path="none", device="cpu"), role="scheduler")


def admitted(cached: int) -> bool:
    """Whether a request is admitted when nothing runs, and so many tokens of its prompt are in the tree."""
    size = {"size": FULL, "size_swa": WINDOWS, "page_size": 1, "dtype": torch.float32, "device": "cpu"}
    layers = {"swa_attention_layer_ids": [0], "full_attention_layer_ids": [1]}
    kv = SWAKVPool(**size, **layers, head_num=1, head_dim=1)
    pool = SWATokenToKVPoolAllocator(**size, kvcache=kv, need_sort=False)
    rows = ReqToTokenPool(1, FULL, "cpu", False)
    parts = {"tree_components": (ComponentType.FULL, ComponentType.SWA), "tree_core_backend": "python"}
    tree = UnifiedRadixCache(CacheInitParams(False, rows, pool, 1, sliding_window_size=WINDOW, **parts))
    prompt = array("q", range(CACHED + MORE))
    if cached:
        tree.insert(InsertParams(key=RadixKey(prompt[:cached]), value=pool.alloc(cached)))
    idle = pool.swa_available_size() + tree.swa_evictable_size()
    request = Req("A", "", prompt, SamplingParams(max_new_tokens=100))
    request.init_next_round_input(tree)
    adder = PrefillAdder(1, tree, pool, ScheduleBatch(reqs=[], batch_is_full=False), 0.7, 16384, CHUNK)
    result = adder.add_one_req(request, has_chunked_req=False, truncation_align_size=None)
    there = request in adder.can_run_list
    outcome = f"admitted with a first chunk of {request.extend_len}" if there else f"not admitted: {result.name}"
    print(f"{idle} of {WINDOWS} window slots idle, {request.prefix_len} of {len(prompt)} tokens cached: {outcome}")
    return there


cold, warm = admitted(0), admitted(CACHED)
sys.exit(cold and not warm)
