"""Copying blocks: all bytes in 128-bit loads."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.copying import CHUNK_BYTES, copy_blocks
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import Specialisation


def specialisations() -> Iterator[Specialisation]:
    """Plain blocks, and codes with their scales."""
    for format in ("bf16", "int8"):
        cache, pairs = PagedKVCache.empty(8, 16, 8, 128, format=format), torch.zeros(2, 2, dtype=torch.int64)
        [launch] = recorded(lambda cache=cache, pairs=pairs: copy_blocks(cache, pairs, checked=False))  # type: ignore[misc]
        yield launch.specialised(f"copy {format}", wide_bytes=2 * CHUNK_BYTES)
