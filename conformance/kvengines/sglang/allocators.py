"""The allocators that SGLang takes for the groups of a world, over its slots; no keys and values stand behind them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator, TokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.memory_pool import HybridReqToTokenPool, ReqToTokenPool
from sglang.srt.mem_cache.swa_memory_pool import SWAKVPool

CPU = "cpu"


def allocator(pages: int, page_size: int) -> Any:
    """So many usable pages; page 0 comes on top, it takes what padded tokens write."""
    common = {"dtype": torch.float32, "device": CPU, "kvcache": None, "need_sort": False}
    if page_size == 1:
        return TokenToKVPoolAllocator(pages, **common)
    return PagedTokenToKVPoolAllocator(pages * page_size, page_size, **common)


def window_allocator(pages: int, window_pages: int, page_size: int) -> Any:
    """The same beside pages for layers with a sliding window, which it pairs with those of full attention."""
    sizes = {"size": pages * page_size, "size_swa": window_pages * page_size, "page_size": page_size}
    common = {"dtype": torch.float32, "device": CPU}
    layers = {"swa_attention_layer_ids": [0], "full_attention_layer_ids": [1]}
    pool = SWAKVPool(**sizes, **common, **layers, head_num=1, head_dim=1)
    return SWATokenToKVPoolAllocator(**sizes, **common, kvcache=pool, need_sort=False)


def rows(requests: int, length: int, *, states: bool) -> Any:
    """A row of slots for each request; of a model with recurrent states, a slot for one besides, and slot 0 on top."""
    common = {"size": requests, "max_context_len": length, "device": CPU, "enable_memory_saver": False}
    if not states:
        return ReqToTokenPool(**common)
    one, dtype = SimpleNamespace(conv=[(1, 1)], temporal=(1, 1, 1)), torch.float32
    state = SimpleNamespace(shape=one, dtype=SimpleNamespace(conv=dtype, temporal=dtype))
    return HybridReqToTokenPool(
        **common,
        mamba_size=requests,
        mamba_spec_state_size=requests,
        cache_params=state,
        mamba_layer_ids=[0],
        enable_mamba_extra_buffer=False,
        enable_overlap_schedule=False,
    )
