"""Chunked prefill: queries and outputs once, keys and values once for each tile of query rows that sees them.

The stated factor of a shape is what its tiles read over what is there. A tile holds `rows / group` positions: 16 of 64
rows in a group of four on this machine, 32 of 128 on an H200, where a chunk reads half as often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.evidence.traffic import Row
from kvoptimized.interpreter import counted
from kvoptimized.prefilling import architecture_of, prefill, tiling

BLOCK_SIZE = 16
HEADS, KV_HEADS, HEAD_DIM = 4, 1, 128
"""One of the eight KV heads of the standard shape: each moves the same bytes."""
OVERHEAD = 1.05
"""Tables, lengths and starts, over what the tiles read."""
BATCHES = {
    "a prompt of 192": ((192, 192),),
    "a chunk of 64 after 448": ((512, 64),),
    "a chunk of 64 after 192, 4 decodes of 256": ((256, 64), *((256, 1),) * 4),
}
"""Requests (tokens, rows)."""


def rows() -> Iterator[Row]:
    """Causal batches in every format."""
    for name, requests in BATCHES.items():
        for format in ("bf16", "e4m3", "int8", "int4"):
            yield _row(name, requests, format)


def _row(name: str, requests: Sequence[tuple[int, int]], format: str) -> Row:
    held = [-(-tokens // BLOCK_SIZE) for tokens, _ in requests]
    cache = PagedKVCache.empty(sum(held), BLOCK_SIZE, KV_HEADS, HEAD_DIM, format=format)
    tables = torch.zeros(len(requests), max(held), dtype=torch.int32)
    ids = torch.randperm(sum(held)).split(held)
    for table, own in zip(tables, ids, strict=True):
        table[: len(own)] = own
    lengths = torch.tensor([tokens for tokens, _ in requests], dtype=torch.int32)
    starts = torch.tensor([0, *(count for _, count in requests)]).cumsum(0).to(torch.int32)
    query = torch.randn(int(starts[-1]), HEADS, HEAD_DIM).to(torch.bfloat16)
    with counted() as traffic:
        output, lse = prefill(query, cache, tables, lengths, starts, scale=HEAD_DIM**-0.5)
    moved = traffic.loaded().issued + traffic.stored().issued
    states = sum(x.numel() * x.element_size() for x in (query, output, lse))
    integers = 4 * (sum(held) + len(lengths) + len(starts))
    least = states + integers + int(lengths.sum()) * cache.bytes_per_token
    stated = (states + integers + tokens_read(requests) * cache.bytes_per_token) / least
    return Row("prefill", f"{name}, {format}", moved, least, OVERHEAD * stated)


def tokens_read(requests: Sequence[tuple[int, int]]) -> int:
    """Tokens that the tiles of a causal batch read: of each the last position decides."""
    tile = tiling(HEAD_DIM, HEADS // KV_HEADS, architecture_of(torch.device("cpu")), "bf16")
    positions = tile.rows // (HEADS // KV_HEADS)
    return sum(
        min(last + positions, tokens)
        for tokens, count in requests
        for last in range((tokens - count) // positions * positions, tokens, positions)
    )
