"""Decode: attention of one new token per request over its paged cache, in parts that run in parallel and are merged.

Parts and tiles begin at absolute positions and their sizes depend on the cache and the heads alone, never on the batch.
A row's bits are therefore the same alone and in a batch, under any block ids, and however wide the block table is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
import triton.language as tl

from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.kernels.decode import attend_parts
from kvoptimized.kernels.reduce import merge_parts
from kvoptimized.operators import has_data, operator
from kvoptimized.prefilling import Arithmetic
from kvoptimized.refusals import require_tables
from kvoptimized.requirements import (
    DECODE_GROUP,
    WIDEST,
    ParameterError,
    logit_factor,
    require_heads,
    require_numbers,
    require_parameters,
    require_plan,
    require_query,
    require_words,
)

CHUNK = 16
"""Parts that are merged at a time."""
OVERHEAD = 0.04
"""How much of its keys' and values' bytes a part may move on top of them: queries, partial results out and in."""
SHORTEST_SPLIT = 256
_NAMES: Mapping[torch.dtype, str] = MappingProxyType(
    {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
)
_TRITON = MappingProxyType({"fp32": tl.float32, "bf16": tl.bfloat16, "fp16": tl.float16})
_LOG2E = math.log2(math.e)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a decode is cut: parts of `split_tokens`, tiles of `tile` keys, both at absolute multiples.

    They decide roundings and the order of additions. `warps` and `stages` (of the software pipeline) do not decide
    roundings. Raises `ParameterError` for a tile that is no power of two from 16 on, parts that are no whole tiles,
    and warps or stages that no launch has.
    """

    tile: int
    split_tokens: int
    warps: int = 4
    stages: int = 3

    def __post_init__(self) -> None:
        if self.tile < 16 or self.tile & (self.tile - 1):
            raise ParameterError(f"tile is {self.tile}, expected a power of two of at least 16")
        if self.split_tokens < self.tile or self.split_tokens % self.tile:
            raise ParameterError(f"split_tokens is {self.split_tokens}, expected a multiple of the tile, {self.tile}")
        if self.warps not in (1, 2, 4, 8, 16, 32):
            raise ParameterError(f"warps is {self.warps}, expected a power of two up to 32")
        if self.stages < 1:
            raise ParameterError(f"stages is {self.stages}, expected at least 1")

    def parts(self, tokens: int, window: int | None) -> int:
        """The most parts that a request of up to `tokens` tokens can see, and at least 1."""
        parts = -(-tokens // self.split_tokens)
        if window is not None:
            parts = min(parts, -(-(window - 1) // self.split_tokens) + 1)
        return max(parts, 1)


def plan_for(cache: PagedKVCache, heads: int) -> Plan:
    """The plan for `heads` query heads over a cache.

    Parts are the shortest that keep to OVERHEAD: the fewer bytes a token has, the more tokens.
    """
    width = cache.width * int(cache.keys.element_size())
    token = 2 * width + (8 if cache.dynamic else 0)
    group = heads // cache.kv_heads
    extra = group * (2 * 4 * (cache.head_dim + 1) + 2 * cache.head_dim)
    split = SHORTEST_SPLIT
    while extra > OVERHEAD * token * split:
        split *= 2
    if cache.format == "fp32":
        return Plan(32, split, stages=1)
    tile = 128 if cache.head_dim <= WIDEST // 2 else 64
    if cache.device.type == "cuda" and torch.version.hip is not None:
        return Plan(64, split, stages=1)
    return Plan(tile, split, stages=3 if FORMATS[cache.format].scheme is None else 5)


@dataclass(frozen=True, slots=True)
class SplitArithmetic(Arithmetic):
    """`Arithmetic` of a kernel with parts that begin at absolute multiples of `split_tokens`, stored in `partial`."""

    split_tokens: int | None = None
    partial: str = "fp32"


def arithmetic(dtype: torch.dtype, cache: PagedKVCache, heads: int, plan: Plan | None = None) -> SplitArithmetic:
    """The arithmetic for queries `[batch, heads, head_dim]` of `dtype` over a cache.

    Codes become matrix operands exactly, so products are exact over every quantized format. Under dynamic scales
    weights are rounded to bf16 whatever the dtype: scaled ones may leave the range of fp16.
    """
    chosen = plan or plan_for(cache, heads)
    exact = dtype != torch.float32
    p = "bf16" if cache.dynamic else _NAMES[dtype]
    return SplitArithmetic(
        _NAMES[dtype],
        p if exact else None,
        chosen.tile,
        scaled=cache.dynamic,
        exact_products=exact,
        split_tokens=chosen.split_tokens,
    )


def decode(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    *,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
    plan: Plan | None = None,
    checked: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output `[batch, heads, head_dim]` in the dtype of `query` and natural-log LSE `[batch, heads]` in fp32.

    `query` is `[batch, heads, head_dim]`, one row per request: its last position, whose key is in the cache already.
    `block_tables` is int32 `[batch, max_blocks]`, `lengths` int32 `[batch]`; a request of length 0 has output 0 and
    LSE minus infinity. A query sees the last `window` positions, its own among them. Logits are `scale` times
    products, capped to `softcap * tanh(logit / softcap)`; `sinks`, fp32 `[heads]`, are logits that join the sum of
    weights and carry no value. Only bytes of tokens that are seen are read. NaN codes of e4m3 count as 480.

    Queries have the dtype of a plain cache, and are bf16 or fp16 over a quantized one. Raises `ShapeError`,
    `DtypeError`, `DeviceError`, `StrideError` and `ParameterError`; and where `checked`, which waits for a GPU,
    `LengthError`, `ShortTableError` and `BlockRangeError`.
    """
    require_heads(query, cache, DECODE_GROUP)
    chosen = plan or plan_for(cache, query.shape[1])
    output, lse = _decode(
        query,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        block_tables,
        lengths,
        sinks,
        cache.format,
        cache.layout,
        scale,
        window,
        softcap,
        chosen.tile,
        chosen.split_tokens,
        chosen.warps,
        chosen.stages,
        checked,
    )
    return output, lse


@operator()
def _decode(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    key_scales: torch.Tensor | None,
    value_scales: torch.Tensor | None,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    sinks: torch.Tensor | None,
    format: str,
    layout: str,
    scale: float,
    window: int | None,
    softcap: float | None,
    tile: int,
    split_tokens: int,
    warps: int,
    stages: int,
    checked: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    cache = PagedKVCache.around(keys, values, key_scales, value_scales, format=format, layout=layout)
    require_fit(query, cache, block_tables, lengths, sinks)
    require_parameters(scale, window, softcap, 0)
    chosen = Plan(tile, split_tokens, warps, stages)
    output, lse = _results(query)
    if not has_data(query):
        return output, lse
    if checked:
        require_tables(block_tables, lengths, cache.block_size, cache.num_blocks)
        require_numbers(cache, sinks)
    if len(query):
        _launch(query, cache, block_tables, lengths, scale, window, softcap, sinks, chosen, output, lse)
    return output, lse


def _results(query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.empty(query.shape, dtype=query.dtype, device=query.device),
        torch.empty(query.shape[:2], dtype=torch.float32, device=query.device),
    )


def _launch(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    window: int | None,
    softcap: float | None,
    sinks: torch.Tensor | None,
    chosen: Plan,
    output: torch.Tensor,
    lse: torch.Tensor,
) -> None:
    batch, heads, head_dim = query.shape
    parts = chosen.parts(block_tables.shape[1] * cache.block_size, window)
    partial, partial_lse = lse, lse
    if parts > 1:
        partial = torch.empty((batch, heads, parts, head_dim), dtype=torch.float32, device=query.device)
        partial_lse = torch.empty((batch, heads, parts), dtype=torch.float32, device=query.device)
    ptx = torch.version.hip is None
    attend_parts[batch, cache.kv_heads, parts](
        query,
        words(cache.keys, cache.format),
        words(cache.values, cache.format),
        cache.key_scales,
        cache.value_scales,
        sinks,
        block_tables,
        lengths,
        output,
        lse,
        partial,
        partial_lse,
        logit_factor(scale, softcap),
        0.0 if softcap is None else softcap * _LOG2E,
        window or 0,
        query.stride(0),
        query.stride(1),
        block_tables.stride(0),
        **constants(cache, heads, query.dtype, chosen),
        WINDOWED=window is not None,
        CAPPED=softcap is not None,
        PTX=ptx,
        num_warps=chosen.warps,
        num_stages=chosen.stages,
        enable_fp_fusion=False,
    )
    if parts > 1:
        merge_parts[batch, heads](
            partial,
            partial_lse,
            sinks,
            lengths,
            output,
            lse,
            window or 0,
            parts,
            HEADS=heads,
            HEAD_DIM=head_dim,
            LANES=_power_of_two(head_dim),
            SPLIT=chosen.split_tokens,
            CHUNK=CHUNK,
            WINDOWED=window is not None,
            PTX=ptx,
            num_warps=chosen.warps,
            enable_fp_fusion=False,
        )


def constants(cache: PagedKVCache, heads: int, dtype: torch.dtype, chosen: Plan) -> dict[str, object]:
    """The compile-time parameters of `attend_parts` that follow from the cache, the heads and the plan."""
    per_word = 1 if FORMATS[cache.format].scheme is None else 2
    block, head, token = (stride // per_word for stride in cache.strides)
    scale_block, scale_head, scale_token = cache.scale_strides
    width = cache.width // per_word
    return {
        "FORMAT": cache.format,
        "TENSORS": cache.head_dim // width,
        "STATIC": cache.static,
        "DYNAMIC": cache.dynamic,
        "P": _TRITON["bf16" if cache.dynamic else _NAMES[dtype]],
        "HEADS": heads,
        "KV_HEADS": cache.kv_heads,
        "HEAD_DIM": cache.head_dim,
        "BLOCK_SIZE": cache.block_size,
        "BLOCK_STRIDE": block,
        "HEAD_STRIDE": head,
        "TOKEN_STRIDE": token,
        "SCALE_BLOCK_STRIDE": scale_block,
        "SCALE_HEAD_STRIDE": scale_head,
        "SCALE_TOKEN_STRIDE": scale_token,
        "WIDTH": width,
        "LANES": max(16, _power_of_two(width)),
        "ROWS": max(16, _power_of_two(heads // cache.kv_heads)),
        "TILE": chosen.tile,
        "SPLIT": chosen.split_tokens,
    }


def words(storage: torch.Tensor, format: str) -> torch.Tensor:
    """Keys or values as the kernel reads them: 16-bit words of quantized formats, other elements as they are."""
    return storage if FORMATS[format].scheme is None else storage.view(torch.int16)


def require_fit(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    sinks: torch.Tensor | None,
) -> None:
    """What the host knows without looking at values."""
    require_query(query, cache, sinks, DECODE_GROUP)
    require_words(cache)
    require_plan(cache, len(query), block_tables=block_tables, lengths=lengths)


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
