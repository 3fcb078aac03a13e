"""The Triton kernels as an attention engine: a context by chunked prefill, one in parts by split-KV decode.

Caches are plain. The surface gives keys and values as numbers and judges an output by them; it has no word for how far
a quantized cache is from them, so quantized attention is judged where its codes are known (`optimized/benchmarks`).
One declaration serves both kernels, so decode runs with the tile of prefill.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from math import ceil
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch

from kvconformance.attention.surface import (
    HEAD_MAJOR,
    TOKEN_MAJOR,
    Attended,
    AttentionCall,
    AttentionCapabilities,
)
from kvoptimized.cache import PagedKVCache
from kvoptimized.decoding import Plan, decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import arithmetic, prefill
from kvoptimized.writing import write
from kvreference.arrays import AnyArray, Int
from kvreference.paged_attention import Attention
from kvreference.tolerance.declaration import Declaration
from kvspec.vocabulary import World

DTYPES = MappingProxyType({"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16})
WIDEST = 128
TILE = arithmetic(torch.bfloat16, WIDEST).kv_tile
"""Keys between two updates of the running maximum, in both kernels and for all of these head dims."""


def declared(dtype: str) -> Declaration:
    """What the kernels say of their arithmetic over a plain cache, as the reference knows it."""
    said = arithmetic(DTYPES[dtype], WIDEST)
    known = {field.name for field in fields(Declaration)}
    return Declaration(**{f.name: getattr(said, f.name) for f in fields(said) if f.name in known})


class KernelAttention:
    """Attention by the kernels on arrays that stay where they are."""

    capabilities: ClassVar[AttentionCapabilities] = AttentionCapabilities(
        block_sizes=(1, 2, 3, 4, 5, 8, 16, 32, 64),
        arithmetic=MappingProxyType({dtype: declared(dtype) for dtype in DTYPES}),
        layouts=(TOKEN_MAJOR, HEAD_MAJOR),
        heads=((1, 1), (2, 1), (2, 2), (4, 2), (6, 2), (8, 1)),
        head_dims=(8, 16, 64) * 3 + (WIDEST,),  # interpreted, wide heads take time: one in ten
        splits=(1, 2, 3),
        windows=True,
        softcaps=True,
        sinks=True,
        lse=True,
        in_place=True,
        batch_invariant=True,
    )

    def __init__(self, world: World) -> None:
        self.world = world

    def attend(self, call: AttentionCall) -> Attended:
        """Attention of every row: by prefill in one part, by decode in several."""
        output, lse = in_one_part(call) if call.splits == 1 else in_parts(call)
        return Attended(output.float().numpy(), lse.numpy())

    def merge(self, a: Attended, b: Attended, dtype: str) -> Attended:
        """Two partial results."""
        states = [part for x in (a, b) for part in (tensor(x.output, dtype), torch.from_numpy(np.asarray(x.lse)))]
        output, lse = merge(*states)
        return Attended(output.float().numpy(), lse.numpy())

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        """Store the rows that have a slot."""
        rows = [tensor(x[: len(slots)], call.dtype) for x in (keys, values)]
        write(cache_of(call), torch.from_numpy(slots), *rows)


def in_one_part(call: AttentionCall) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch as it is, by chunked prefill."""
    return prefill(
        tensor(call.query, call.dtype),
        cache_of(call),
        torch.from_numpy(call.tables),
        torch.from_numpy(call.lengths),
        torch.from_numpy(call.starts),
        scale=call.scale,
        causal=call.causal,
        window=call.window,
        softcap=call.softcap,
        sinks=sinks_of(call),
    )


def in_parts(call: AttentionCall) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row by decode, as a request that ends with the last key that the row sees.

    The parts are `splits` of the row's own context; rows whose parts or windows differ in length are different calls.
    """
    query, cache = tensor(call.query, call.dtype), cache_of(call)
    output, lse = torch.zeros_like(query), torch.full(query.shape[:2], -torch.inf)
    groups: dict[tuple[int, int | None], list[tuple[int, int, int]]] = defaultdict(list)
    for row, request, seen in rows_of(call):
        part = ceil(ceil(seen.stop / call.splits) / TILE) * TILE
        groups[part, None if call.window is None else len(seen)].append((row, request, seen.stop))
    for (part, window), members in groups.items():
        rows, requests, lengths = map(list, zip(*members, strict=True))
        blocks = ceil(max(lengths) / cache.block_size)
        output[rows], lse[rows] = decode(
            query[rows],
            cache,
            torch.from_numpy(call.tables)[requests, :blocks],
            torch.tensor(lengths, dtype=torch.int32),
            scale=call.scale,
            window=window,
            softcap=call.softcap,
            sinks=sinks_of(call),
            plan=Plan(TILE, part),
        )
    return output, lse


def rows_of(call: AttentionCall) -> Iterator[tuple[int, int, range]]:
    """Every row that sees any key: the row, its request, and the positions of the keys."""
    layer = Attention(call.scale, call.causal, call.window)
    for request, tokens in enumerate(call.lengths.tolist()):
        start, stop = call.starts[request : request + 2].tolist()
        for row in range(start, stop):
            seen = layer.visible(tokens - stop + row, tokens)
            if seen:
                yield row, request, seen


def sinks_of(call: AttentionCall) -> torch.Tensor | None:
    """The sinks as a tensor."""
    return None if call.sinks is None else torch.from_numpy(call.sinks)


def cache_of(call: AttentionCall) -> PagedKVCache:
    """The cache around the arrays of a call, without a copy where their blocks are dense, as those of a cache are."""
    pages = [tensor(x, call.dtype) for x in (call.keys, call.values)]
    if not pages[0][0].is_contiguous():
        pages = [page.contiguous() for page in pages]
    return PagedKVCache.around(*pages, format=call.dtype, layout=call.layout)


def tensor(array: AnyArray, dtype: str) -> torch.Tensor:
    """The same memory as a tensor of `dtype`; NumPy holds bf16 as bit patterns."""
    return torch.from_numpy(array).view(DTYPES[dtype])
