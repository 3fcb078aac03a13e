"""What decode, prefill and cascade ask of their input alike, so that they refuse it alike, before any launch."""

from __future__ import annotations

import math

import torch

from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.refusals import (
    StrideError,
    address_of,
    require_device,
    require_dtype,
    require_rows,
    require_scales,
    require_shape,
)
from kvspec.refusals import Refused, ScaleError, ShapeError

WIDEST = 256
"""The largest head dim: a wider row of fp32 sums does not fit the registers of a program."""
DECODE_GROUP, PREFILL_GROUP = 64, 128
"""The most query heads per KV head, for the same reason: a tile holds whole groups."""
_LARGEST, _SMALLEST = torch.finfo(torch.float32).max, torch.finfo(torch.float32).smallest_normal


class ParameterError(Refused):
    """A scale, window, softcap or shared length that no attention has."""


def require_heads(query: torch.Tensor, cache: PagedKVCache, largest: int) -> None:
    """Raise `ShapeError` unless `query` is `[rows, heads, head_dim]`, with whole groups of at most `largest` heads."""
    require_shape("query", query, (None, None, cache.head_dim))
    heads = query.shape[1]
    if heads < 1 or heads % cache.kv_heads:
        raise ShapeError(f"query has {heads} heads, expected a positive multiple of the {cache.kv_heads} KV heads")
    if heads > largest * cache.kv_heads:
        raise ShapeError(f"query has {heads} heads for {cache.kv_heads} KV heads; up to {largest} for each can be held")
    if cache.head_dim > WIDEST:
        raise ShapeError(f"the head dim is {cache.head_dim}, attention takes up to {WIDEST}")


def require_query(query: torch.Tensor, cache: PagedKVCache, sinks: torch.Tensor | None, largest: int) -> None:
    """Raise unless queries, and sinks `[heads]`, fit the cache."""
    require_device(cache.device, query=query, sinks=sinks)
    require_heads(query, cache, largest)
    require_rows("query", query)
    stored = FORMATS[cache.format]
    require_dtype("query", query, *((stored.storage,) if stored.scheme is None else (torch.bfloat16, torch.float16)))
    if sinks is not None:
        require_shape("sinks", sinks, (query.shape[1],))
        require_dtype("sinks", sinks, torch.float32)
        require_rows("sinks", sinks)


def require_plan(cache: PagedKVCache, requests: int, **plan: torch.Tensor) -> None:
    """Raise unless `block_tables` `[requests, max_blocks]` and the vectors of a plan are int32 on the right device.

    A vector called `starts` has an element more than there are requests.
    """
    require_device(cache.device, **plan)
    for name, tensor in plan.items():
        shape = {"block_tables": (requests, None), "starts": (requests + 1,)}.get(name, (requests,))
        require_shape(name, tensor, shape)
        require_dtype(name, tensor, torch.int32)
        require_rows(name, tensor)


def per_word(format: str) -> int:
    """Elements of a word as attention loads it: 16 bits of a quantized format, one element of another."""
    stored = FORMATS[format]
    return 1 if stored.scheme is None else 2 * stored.per_byte


def require_words(cache: PagedKVCache) -> None:
    """Raise unless every row of codes is a whole number of aligned 16-bit words.

    Raises `ShapeError` for a head dim that is none, `StrideError` for rows or a buffer at odd addresses.
    """
    if cache.head_dim % per_word(cache.format):
        raise ShapeError(
            f"the head dim is {cache.head_dim}, {cache.format} is read in words of {per_word(cache.format)} elements; "
            "pad the head dim"
        )
    if FORMATS[cache.format].scheme is None:
        return
    for name, tensor in (("keys", cache.keys), ("values", cache.values)):
        if address_of(tensor) % 2:
            raise StrideError(f"{name} begin at an odd address, and two bytes are read at a time; align them to 2")
        if any(stride % 2 for stride in cache.strides):
            raise StrideError(f"{name} have strides {cache.strides}, and two bytes are read at a time; align rows to 2")


def require_parameters(scale: float, window: int | None, softcap: float | None, first_key: int) -> None:
    """Raise `ParameterError` for numbers that no attention has, or that fp32 does not hold."""
    if not math.isfinite(scale):
        raise ParameterError(f"scale is {scale}, expected a finite number")
    if window is not None and window < 1:
        raise ParameterError(f"window is {window}; it counts the query's own position, so it is at least 1")
    if softcap is not None and not 0 < softcap < math.inf:
        raise ParameterError(f"softcap is {softcap}, expected a positive finite number, or None for no cap")
    if first_key < 0:
        raise ParameterError(f"first_key is {first_key}, positions begin at 0")
    if softcap is not None and not _SMALLEST <= softcap <= _LARGEST / 2:
        raise ParameterError(f"softcap is {softcap}, which is not within the normal numbers of fp32")
    if abs(logit_factor(scale, softcap)) > _LARGEST:
        raise ParameterError(f"scale is {scale}" + (f" and softcap {softcap}" if softcap else "") + ": not within fp32")


def logit_factor(scale: float, softcap: float | None) -> float:
    """What kernels multiply `q·k` by: into logits of base 2, or into twice the argument of tanh in base 2."""
    return scale * math.log2(math.e) * (1.0 if softcap is None else 2.0 / softcap)


def require_numbers(cache: PagedKVCache, sinks: torch.Tensor | None) -> None:
    """Raise unless static scales are positive and finite, and sinks logits: minus infinity is no sink.

    Looks at values, and so waits for a GPU.
    """
    if cache.key_scales is not None and cache.value_scales is not None and cache.static:
        require_scales("key_scales", cache.key_scales)
        require_scales("value_scales", cache.value_scales)
    if sinks is not None:
        bad = torch.isnan(sinks) | torch.isposinf(sinks)
        if bool(bad.any()):
            head = int(bad.nonzero()[0, 0])
            raise ScaleError(f"sinks[{head}] is {float(sinks[head])}, expected a logit, or minus infinity for none")
