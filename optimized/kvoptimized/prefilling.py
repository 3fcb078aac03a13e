"""Chunked prefill: attention of a mixed batch of chunks and decodes over the paged cache, quantized or not.

The tile of query rows and of keys depends on the device and the head dim alone, never on the batch. A row's bits are
therefore the same alone and in a batch, in one chunk and in many, and under any block ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
import triton.language as tl

from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.kernels.prefill import attend_chunks
from kvoptimized.operators import has_data, operator
from kvoptimized.refusals import LengthError, require_shape, require_tables
from kvoptimized.requirements import (
    PREFILL_GROUP,
    WIDEST,
    logit_factor,
    per_word,
    require_numbers,
    require_parameters,
    require_plan,
    require_query,
    require_words,
)
from kvspec.refusals import DtypeError

_NAMES: Mapping[torch.dtype, str] = MappingProxyType(
    {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
)
_TRITON = MappingProxyType({"fp32": tl.float32, "bf16": tl.bfloat16, "fp16": tl.float16})
DATACENTRE = range(90, 120)
"""Architectures of NVIDIA whose matrix units read operands from shared memory: a program holds twice the rows."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What the kernel does to numbers, in the terms of `spec/attention-tolerance.md`.

    `p` is the format to which weights are rounded, None where they are not; where `scaled`, a weight is first
    multiplied by the scale of its value, and their product is rounded. Tiles of `kv_tile` keys begin at absolute
    multiples; there are no splits. `accumulation` is that of matrix units that truncate.
    """

    output: str
    p: str | None
    kv_tile: int
    scaled: bool = False
    exact_products: bool = True
    accumulation: float = 2.0**-23
    exp_error: float = 2.0**-22
    tanh_error: float = 2.0**-20


@dataclass(frozen=True, slots=True)
class Tiling:
    """`rows` of queries times heads and `keys` of a program, which decide roundings, and `options` of its launch."""

    rows: int
    keys: int
    options: Mapping[str, int]


def arithmetic(dtype: torch.dtype, head_dim: int, *, dynamic: bool = False) -> Arithmetic:
    """The arithmetic for queries of `dtype` over a cache with `dynamic` scales (one per token and head) or others.

    Under dynamic scales weights are rounded to bf16 whatever the dtype: scaled ones may leave the range of fp16.
    Raises `DtypeError`.
    """
    if dtype not in _NAMES:
        raise DtypeError(f"query has dtype {dtype}, expected one of {', '.join(map(str, _NAMES))}")
    exact = dtype != torch.float32
    p = "bf16" if dynamic else _NAMES[dtype]
    return Arithmetic(_NAMES[dtype], p if exact else None, _keys(head_dim), scaled=dynamic, exact_products=exact)


def tiling(head_dim: int, group: int, architecture: str, format: str) -> Tiling:
    """The tile for `group` query heads per KV head that fits the registers of an `architecture`, such as `sm_90`."""
    keys, largest = _keys(head_dim), 1 << (group - 1).bit_length()
    if architecture.startswith("gfx"):
        return Tiling(max(64, largest), keys, {"num_warps": 4, "num_stages": 2})
    wide = head_dim > WIDEST // 2
    asynchronous = int(architecture.removeprefix("sm_")) in DATACENTRE
    # Nibbles are widened in registers, where two tiles of wide rows do not fit. Told of a limit, the assembler of
    # NVIDIA does not spill for the sake of a second program per processor.
    stages = 1 if wide and format == "int4" and not asynchronous else 2
    options = {"num_warps": 8, "num_stages": stages, "maxnreg": 255}
    return Tiling(max(128 if asynchronous and not wide else 64, largest), keys, options)


def architecture_of(device: torch.device) -> str:
    """The architecture of a device; the interpreter imitates the oldest one of NVIDIA that the kernels support."""
    if device.type != "cuda":
        return "sm_80"
    if torch.version.hip is not None:
        return str(torch.cuda.get_device_properties(device).gcnArchName).partition(":")[0]
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}"


def _keys(head_dim: int) -> int:
    return 64 if head_dim <= WIDEST // 2 else 32


def prefill(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    *,
    scale: float,
    causal: bool = True,
    window: int | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
    checked: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output `[rows, heads, head_dim]` in the dtype of `query` and natural-log LSE `[rows, heads]` in fp32.

    `query` is `[rows, heads, head_dim]`: rows `starts[r] : starts[r + 1]` are the last positions of request `r`, whose
    `lengths[r]` tokens lie in the cache already; rows from `starts[-1]` on are padding. `block_tables` is int32
    `[requests, max_blocks]`, `lengths` int32 `[requests]`, `starts` int32 `[requests + 1]`. A query sees positions up
    to its own, or all of its request where not `causal`, and the last `window` of those that end with its own. Logits
    are `scale` times products, capped to `softcap * tanh(logit / softcap)`; `sinks`, fp32 `[heads]`, are logits that
    join the sum of weights and carry no value. Rows that see no key, and padding, have output 0 and LSE minus infinity.

    Queries have the dtype of a plain cache, and are bf16 or fp16 over a quantized one. Raises `ShapeError`,
    `DtypeError`, `DeviceError`, `StrideError` and `ParameterError`; and where `checked`, which waits for a GPU,
    `LengthError`, `ShortTableError` and `BlockRangeError`.
    """
    return attend(
        query,
        cache,
        block_tables,
        lengths,
        starts,
        scale=scale,
        causal=causal,
        window=window,
        softcap=softcap,
        sinks=sinks,
        checked=checked,
    )


def attend(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    *,
    scale: float,
    causal: bool = True,
    window: int | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
    first_key: int = 0,
    partial: bool = False,
    checked: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """`prefill` over the keys from position `first_key` on, with an output in fp32 where `partial`, to be merged."""
    output, lse = _prefill(
        query,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        block_tables,
        lengths,
        starts,
        sinks,
        cache.format,
        cache.layout,
        scale,
        causal,
        window,
        softcap,
        first_key,
        partial,
        checked,
    )
    return output, lse


@operator()
def _prefill(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    key_scales: torch.Tensor | None,
    value_scales: torch.Tensor | None,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    sinks: torch.Tensor | None,
    format: str,
    layout: str,
    scale: float,
    causal: bool,
    window: int | None,
    softcap: float | None,
    first_key: int,
    partial: bool,
    checked: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    cache = PagedKVCache.around(keys, values, key_scales, value_scales, format=format, layout=layout)
    require_fit(query, cache, block_tables, lengths, starts, sinks)
    require_parameters(scale, window, softcap, first_key)
    output, lse = results(query, partial)
    if not has_data(query):
        return output, lse
    if checked:
        require_tables(block_tables, lengths, cache.block_size, cache.num_blocks)
        require_rising(starts, len(query))
        require_numbers(cache, sinks)
    if len(query):
        bounds = (causal, window, first_key)
        _launch(query, cache, block_tables, lengths, starts, sinks, scale, softcap, bounds, output, lse)
    return output, lse


def results(query: torch.Tensor, partial: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Where output, in fp32 if `partial`, and LSE will lie."""
    output = query.new_empty(query.shape, dtype=torch.float32 if partial else query.dtype)
    return output, query.new_empty(query.shape[:2], dtype=torch.float32)


def _launch(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    sinks: torch.Tensor | None,
    scale: float,
    softcap: float | None,
    bounds: tuple[bool, int | None, int],
    output: torch.Tensor,
    lse: torch.Tensor,
) -> None:
    (rows, heads, _), requests = query.shape, len(lengths)
    causal, window, first_key = bounds
    tile = tiling(cache.head_dim, heads // cache.kv_heads, architecture_of(query.device), cache.format)
    rule = arithmetic(query.dtype, cache.head_dim, dynamic=cache.dynamic)
    positions = tile.rows // (heads // cache.kv_heads)
    grid = (rows // positions + 2 * requests + 1, cache.kv_heads)
    quantized = FORMATS[cache.format].scheme is not None
    pages = [pages.view(torch.int16) if quantized else pages for pages in (cache.keys, cache.values)]
    strides = [stride // 2 if quantized else stride for stride in cache.strides]
    attend_chunks[grid](
        query,
        *pages,
        cache.key_scales,
        cache.value_scales,
        sinks,
        block_tables,
        lengths,
        starts,
        output,
        lse,
        rows,
        requests,
        first_key,
        window or 0,
        logit_factor(scale, softcap),
        0.0 if softcap is None else softcap * math.log2(math.e),
        *query.stride()[:2],
        *strides,
        *cache.scale_strides,
        block_tables.stride(0),
        HEADS=heads,
        KV_HEADS=cache.kv_heads,
        HEAD_DIM=cache.head_dim,
        CHANNELS=max(16, 1 << (cache.head_dim - 1).bit_length()),
        BLOCK_SIZE=cache.block_size,
        FORMAT=cache.format,
        PER_WORD=per_word(cache.format),
        STATIC=cache.static,
        DYNAMIC=cache.dynamic,
        P=_TRITON[rule.p or "fp32"],
        CAUSAL=causal,
        WINDOWED=window is not None,
        TRIMMED=window is not None or first_key > 0,
        CAPPED=softcap is not None,
        ROWS=tile.rows,
        TILE=tile.keys,
        HALVINGS=requests.bit_length(),
        PTX=torch.version.hip is None,
        **tile.options,
        enable_fp_fusion=False,
    )


def require_fit(
    query: torch.Tensor,
    cache: PagedKVCache,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    sinks: torch.Tensor | None,
) -> None:
    """What the host knows without looking at values."""
    require_query(query, cache, sinks, PREFILL_GROUP)
    require_words(cache)
    require_shape("block_tables", block_tables, (None, None))
    require_plan(cache, len(block_tables), block_tables=block_tables, lengths=lengths, starts=starts)


def require_rising(starts: torch.Tensor, rows: int) -> None:
    """Raise `LengthError` unless `starts` `[requests + 1]` begins at 0, never falls, and ends at most at `rows`.

    A request may have more rows than tokens: those before its first position see nothing.
    """
    if int(starts[0]) != 0 or bool((starts[1:] < starts[:-1]).any()) or int(starts[-1]) > rows:
        raise LengthError(f"starts {starts.tolist()} do not rise from 0 to at most {rows} rows")
