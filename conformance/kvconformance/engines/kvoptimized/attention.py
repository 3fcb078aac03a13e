"""The Triton kernels as an attention engine: a context by chunked prefill, one in parts by split-KV decode.

One declaration serves both kernels, so decode runs with the tile of prefill. Codes are read where they lie; scales per
token are copied into the order that the kernels have them in, and nibbles turned into theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from math import ceil
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch

from kvconformance.surfaces.attention import (
    HEAD_MAJOR,
    TOKEN_MAJOR,
    Attended,
    AttentionCall,
    AttentionCapabilities,
    CacheFormat,
    Reads,
)
from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.decoding import Plan, decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import arithmetic, prefill
from kvoptimized.writing import write
from kvreference.arrays import AnyArray, Int
from kvreference.paged_attention import Attention
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.schemes import Granularity, Scheme
from kvspec.vocabulary import World

DTYPES = MappingProxyType({"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16})
WIDEST = 128
TILE = arithmetic(torch.bfloat16, WIDEST).kv_tile
"""Keys between two updates of the running maximum, in both kernels and for all of these head dims."""


def declared(dtype: str, *, dynamic: bool = False) -> Declaration:
    """What the kernels say of their arithmetic over a cache, as the reference knows it."""
    said = arithmetic(DTYPES[dtype], WIDEST, dynamic=dynamic)
    known = {field.name for field in fields(Declaration)}
    return Declaration(**{f.name: getattr(said, f.name) for f in fields(said) if f.name in known})


def readable(scheme: Scheme) -> CacheFormat:
    """A quantized cache as the kernels read it: no element is ever decoded, scales are factors."""
    own = scheme.granularity is Granularity.TOKEN_HEAD
    arithmetics = {dtype: declared(dtype, dynamic=own) for dtype in ("bf16", "fp16")}
    return replace(
        CacheFormat.of(scheme, arithmetics, Reads.FACTORED), in_place=not own and scheme.code_bits == 8, writes=True
    )


GRANULARITIES = (Granularity.TOKEN_HEAD, Granularity.HEAD, Granularity.TENSOR)
QUANTIZED = {
    scheme.name: (stored.name, scheme)
    for stored in FORMATS.values()
    if stored.scheme is not None
    for scheme in map(stored.scheme_per, GRANULARITIES)
}
"""Formats and schemes by the name of the scheme."""
TWOS_COMPLEMENT = np.uint8(0x88)
"""What turns two nibbles with a bias of 8 into those that the kernels store."""


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
        caches=MappingProxyType({name: readable(scheme) for name, (_, scheme) in QUANTIZED.items()}),
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
        cache = cache_of(call)
        write(cache, torch.from_numpy(slots), *rows)
        if call.cache is not None:
            give_back(call, cache)


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
    if call.cache is not None:
        return quantized(call, *QUANTIZED[call.cache])
    pages = dense(tensor(x, call.dtype) for x in (call.keys, call.values))
    return PagedKVCache.around(*pages, format=call.dtype, layout=call.layout)


def quantized(call: AttentionCall, format: str, scheme: Scheme) -> PagedKVCache:
    """The cache around codes and scales."""
    codes = [x ^ TWOS_COMPLEMENT if scheme.code_bits == 4 else x for x in (call.keys, call.values)]
    pages = dense(torch.from_numpy(x).view(FORMATS[format].storage) for x in codes)
    heads = pages[0].shape[1 if call.layout == HEAD_MAJOR else 2]
    scales = [scales_of(x, call.layout, heads) for x in (call.key_scales, call.value_scales)]
    return PagedKVCache.around(*pages, *scales, format=format, layout=call.layout)


def give_back(call: AttentionCall, cache: PagedKVCache) -> None:
    """What was converted for the kernels, to where the call has it."""
    for codes, pages in ((call.keys, cache.keys), (call.values, cache.values)):
        if cache.format == "int4":
            codes[...] = pages.numpy() ^ TWOS_COMPLEMENT
    for given, scales in ((call.key_scales, cache.key_scales), (call.value_scales, cache.value_scales)):
        if given is not None and scales is not None and cache.dynamic:
            given[..., 0] = (scales if call.layout == HEAD_MAJOR else scales.transpose(1, 2)).numpy()


def scales_of(array: AnyArray | None, layout: str, heads: int) -> torch.Tensor:
    """Scales `[num_blocks, kv_heads, block_size]`, or `[kv_heads]` where all tokens share them."""
    if array is None:
        raise TypeError("a quantized cache comes without scales")
    scales = torch.from_numpy(array)
    if scales.dim() == 1:
        return scales.expand(heads).contiguous()
    return (scales if layout == HEAD_MAJOR else scales.transpose(1, 2))[..., 0].contiguous()


def dense(pages: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The same pages, copied where blocks are not dense."""
    both = list(pages)
    return both if both[0][0].is_contiguous() else [page.contiguous() for page in both]


def tensor(array: AnyArray, dtype: str) -> torch.Tensor:
    """The same memory as a tensor of `dtype`; NumPy holds bf16 as bit patterns."""
    return torch.from_numpy(array).view(DTYPES[dtype])
