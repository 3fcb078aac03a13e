"""Batches over caches that the kernels have written, and what those caches mean to the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.shapes import BLOCK_SIZE
from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.writing import write
from kvreference.arrays import Float
from kvreference.attention import Row

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is checked: `requests` (tokens, rows), and `rows` of keys and values that are quantized.

    `window` and `softcap` are those of dressed attention; `shared` tokens are the prefix of a cascade.
    """

    requests: tuple[tuple[int, int], ...]
    rows: int
    heads: int
    kv_heads: int
    head_dim: int
    window: int
    softcap: float
    shared: int


TINY = Size(((70, 3), (33, 1), (20, 20)), 24, 4, 2, 64, 18, 2.0, 16)
"""For the interpreter."""
FULL = Size(((1500, 40), (4100, 1), (300, 300), (17, 1), (2048, 3)), 4096, 32, 8, 128, 1000, 2.0, 1024)
"""For a GPU: several parts of a decode, several tiles of rows and keys, a window and a prefix across them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a cache holds, whether its scales are given (static), and the dtype of queries and of rows written."""

    format: str
    static: bool = False
    dtype: str = "bf16"

    def __str__(self) -> str:
        plain = FORMATS[self.format].scheme is None
        scales = "" if plain else ", static scales" if self.static else ", scales per token"
        return f"{self.format}{scales}" + ("" if plain else f", {self.dtype} rows")


KINDS = (
    Kind("bf16"),
    Kind("fp16", dtype="fp16"),
    Kind("e4m3", static=True),
    Kind("e4m3", dtype="fp16"),
    Kind("int8"),
    Kind("int8", static=True, dtype="fp16"),
    Kind("int4"),
    Kind("int4", static=True, dtype="fp16"),
)
"""Every format, with both granularities of scales, and both dtypes over each granularity."""
TIMED = tuple(kind for kind in KINDS if kind in (Kind("bf16"), Kind("e4m3", static=True), Kind("int8"), Kind("int4")))
"""Those that are timed."""


@dataclass(frozen=True)
class Options:
    """What attention is dressed with: a window, a softcap, and sinks `[heads]`, fp32; `plain` has none of them."""

    window: int | None = None
    softcap: float | None = None
    sinks: torch.Tensor | None = None


@dataclass(frozen=True)
class Sample:
    """A batch over a cache that the kernels have written, and what that cache means.

    `keys` and `values` `[tokens, kv_heads, head_dim]` of each request and `scales` `[tokens, kv_heads]` of its values
    (1 in a plain cache) are float64 and exact. `dressed` are options that attention over it can be given.
    """

    query: torch.Tensor
    cache: PagedKVCache
    tables: torch.Tensor
    lengths: torch.Tensor
    starts: torch.Tensor
    keys: list[Float]
    values: list[Float]
    scales: list[Float]
    scale: float
    dressed: Options
    shared: int

    def request_of(self, row: int) -> tuple[int, int]:
        """The request of a query row, and how many of its tokens stand up to that row."""
        request = int(torch.searchsorted(self.starts, row, right=True)) - 1
        return request, int(self.lengths[request]) - int(self.starts[request + 1]) + row + 1

    def row(
        self, row: int, head: int, request: int, seen: range, options: Options, first: int | None = None
    ) -> tuple[Row, Float]:
        """A query row over positions `seen` of a request, as the reference sees it, and the scales of its values.

        `first` is the position that the kernel takes the first of them for, if it is another.
        """
        kv_head = head // (self.query.shape[1] // self.cache.kv_heads)
        query = self.query[row, head].double().cpu().numpy()
        keys, values, scales = (
            x[request][seen.start : seen.stop, kv_head] for x in (self.keys, self.values, self.scales)
        )
        sink = None if options.sinks is None else float(options.sinks[head])
        at = seen.start if first is None else first
        return Row(query, keys, values, self.scale, options.softcap, sink, at), scales


def sample(device: torch.device, size: Size, kind: Kind) -> Sample:
    """Random rows, written by the kernel into blocks in no order, and read back for the reference."""
    dice = torch.Generator().manual_seed(len(kind.format) + size.head_dim)
    counts = [-(-tokens // BLOCK_SIZE) for tokens, _ in size.requests]
    cache = empty(sum(counts) + 4, device, size, kind)
    ids = torch.randperm(sum(counts) + 4, generator=dice).to(torch.int32)
    tables = torch.zeros(len(counts), max(counts), dtype=torch.int32)
    for table, own in zip(tables, ids[: sum(counts)].split(counts), strict=True):
        table[: len(own)] = own
    slots = torch.cat([_slots(table, tokens) for table, (tokens, _) in zip(tables, size.requests, strict=True)])
    wide = (2, len(slots), size.kv_heads, size.head_dim)
    keys, values = torch.randn(wide, generator=dice).to(DTYPES[kind.dtype]).to(device)
    write(cache, slots.to(device), keys, values)
    starts = torch.tensor([0, *(rows for _, rows in size.requests)]).cumsum(0).to(torch.int32)
    query = torch.randn(int(starts[-1]), size.heads, size.head_dim, generator=dice).to(DTYPES[kind.dtype])
    lengths = torch.tensor([tokens for tokens, _ in size.requests], dtype=torch.int32)
    meant = [_decoded(cache, own.to(device)) for own in slots.split(lengths.tolist())]
    parts = [list(part) for part in zip(*meant, strict=True)]
    tables, lengths, starts, query = (x.to(device) for x in (tables, lengths, starts, query))
    scale = float(np.float32(size.head_dim**-0.5))
    dressed = Options(size.window, size.softcap, torch.randn(size.heads, generator=dice).to(device))
    return Sample(query, cache, tables, lengths, starts, parts[0], parts[1], parts[2], scale, dressed, size.shared)


def empty(blocks: int, device: torch.device, size: Size, kind: Kind) -> PagedKVCache:
    """A cache of a kind; static scales differ between heads, and between keys and values."""
    given: list[torch.Tensor | None] = [None, None]
    if kind.static:
        least = 4.0 / (FORMATS[kind.format].divisor or 1.0)
        given = [torch.linspace(low * least, 2 * least, size.kv_heads).to(device) for low in (0.7, 1.3)]
    return PagedKVCache.empty(
        blocks,
        BLOCK_SIZE,
        size.kv_heads,
        size.head_dim,
        format=kind.format,
        device=device,
        key_scales=given[0],
        value_scales=given[1],
    )


def _slots(table: torch.Tensor, tokens: int) -> torch.Tensor:
    position = torch.arange(tokens)
    return table.long()[position // BLOCK_SIZE] * BLOCK_SIZE + position % BLOCK_SIZE


def _decoded(cache: PagedKVCache, slots: torch.Tensor) -> tuple[Float, Float, Float]:
    """Keys, values and the scales of values of some slots."""
    both = cache.codes(slots)
    if cache.format == "e4m3":
        both = both[0].view(torch.float8_e4m3fn), both[1].view(torch.float8_e4m3fn)
    keys, values = (codes.double() for codes in both)
    scales = torch.ones(keys.shape[:2])
    if FORMATS[cache.format].scheme is not None:
        key_scales, scales = cache.scales(slots)
        keys, values = keys * key_scales.double()[..., None], values * scales.double()[..., None]
    return keys.cpu().numpy(), values.cpu().numpy(), scales.double().cpu().numpy()
