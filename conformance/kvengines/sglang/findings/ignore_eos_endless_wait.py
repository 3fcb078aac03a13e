"""SGLang 0.5.23, `sched/progress-or-reject`: with `ignore_eos` and no radix cache, a request waits for ever.

The scheduler cuts the new tokens of a request to what an empty pool admits. Where the cache is disabled, the admission
of a request that ignores the end of text wants one token more: it stays first in line, with the whole pool free.
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
from sglang.srt.mem_cache.allocator import TokenToKVPoolAllocator
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.unified_radix_cache import ComponentType, UnifiedRadixCache
from sglang.srt.runtime_context import publish
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import ServerArgs

CAPACITY, PROMPT, ASKED = 1000, 400, 5000
publish(ServerArgs(model_path="none", device="cpu", disable_radix_cache=True), role="scheduler")


def admitted(new: int, *, ignore_eos: bool) -> bool:
    """Whether a request is admitted into an empty pool."""
    pool = TokenToKVPoolAllocator(CAPACITY, dtype=torch.float32, device="cpu", kvcache=None, need_sort=False)
    rows = ReqToTokenPool(1, CAPACITY, "cpu", False)
    parts = {"tree_components": (ComponentType.FULL,), "tree_core_backend": "python"}
    tree = UnifiedRadixCache(CacheInitParams(True, rows, pool, 1, **parts))
    request = Req("A", "", array("q", range(PROMPT)), SamplingParams(max_new_tokens=new, ignore_eos=ignore_eos))
    request.init_next_round_input(tree)
    adder = PrefillAdder(1, tree, pool, ScheduleBatch(reqs=[], batch_is_full=False), 0.7, 16384, 2048)
    adder.add_one_req(request, has_chunked_req=False, truncation_align_size=None)
    return request in adder.can_run_list


pool = TokenToKVPoolAllocator(CAPACITY, dtype=torch.float32, device="cpu", kvcache=None, need_sort=False)
# As `Scheduler.init_req_max_new_tokens` does.
cut = pool.max_new_tokens_for_memory(PROMPT, ASKED, token_capacity=CAPACITY, sliding_window_size=None, chunk_size=2048)
print(f"a pool of {CAPACITY} tokens, a prompt of {PROMPT}: {ASKED} new tokens are cut to {cut}")
results = {(new, ignore): admitted(new, ignore_eos=ignore) for new in (cut, cut - 1) for ignore in (False, True)}
for (new, ignore), result in results.items():
    print(f"{new} new tokens, ignore_eos={ignore}: {'admitted' if result else 'not admitted'} to the empty pool")
sys.exit(not results[cut, True])
