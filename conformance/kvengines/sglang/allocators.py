"""The allocator that SGLang takes for a page size, over the slots of a world; no keys and values stand behind them."""

from __future__ import annotations

from typing import Any

import torch
from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator, TokenToKVPoolAllocator


def allocator(pages: int, page_size: int) -> Any:
    """So many usable pages; page 0 comes on top, it takes what padded tokens write."""
    common = {"dtype": torch.float32, "device": "cpu", "kvcache": None, "need_sort": False}
    if page_size == 1:
        return TokenToKVPoolAllocator(pages, **common)
    return PagedTokenToKVPoolAllocator(pages * page_size, page_size, **common)
