"""Honest float32 kernels over quantized caches, which differ in how codes and scales become numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from kvconformance.engines.reference_cached_attention import ReferenceCachedAttention, StoredQuantizedPages
from kvconformance.surfaces.attention import Attended, AttentionCall, CacheFormat, Reads, loaded
from kvreference.arrays import AnyArray, Float, Int
from kvreference.attention import Row, State, attend_row
from kvreference.codes import float_kind
from kvreference.evidence.kernels import nearest
from kvreference.float_codes import decode_float
from kvreference.nibbles import unpack
from kvreference.pages import Layout
from kvreference.quantized_pages import QuantizedPages
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.schemes import IntegerCodes, Scheme, Zero

TILE = 16
UNTILED = MappingProxyType(
    {
        "fp32": Declaration("fp32", None, exact_products=False),
        "bf16": Declaration("bf16", "bf16"),
        "fp16": Declaration("fp16", "fp16"),
    }
)
"""Nothing is said of tiles, so certificate T1 judges."""
HONEST = replace(ReferenceCachedAttention.capabilities, splits=(1,), lse=False, batch_invariant=False)


def caches(
    reads: Reads, rounded_to: str | None = None, arithmetic: Any = UNTILED
) -> MappingProxyType[str, CacheFormat]:
    """The caches of the reference, otherwise declared."""
    known = ReferenceCachedAttention.capabilities.caches
    return MappingProxyType(
        {name: replace(one, reads=reads, rounded_to=rounded_to, arithmetic=arithmetic) for name, one in known.items()}
    )


class _Elements(StoredQuantizedPages):
    """Decodes in float32, one rounding at a time, and then to a format."""

    target: str = "fp32"

    def gather(self, table: Int, start: int, stop: int) -> Float:
        numbers, scale, zero = parts(self, table, start, stop)
        single = (numbers - zero if self.scheme.zero is Zero.ZERO_POINT else numbers).astype(np.float32) * scale
        if self.scheme.zero is Zero.MINIMUM:
            single = single + zero
        return round_to(single.astype(np.float64), format_named(self.target))


def parts(pages: StoredQuantizedPages, table: Int, start: int, stop: int) -> tuple[Any, Any, Any]:
    """Codes as numbers, scales and zeros in float32, all `[tokens, kv_heads, head_dim]`; 0 for no zeros."""
    codes = pages.codes.gather(table, start, stop)
    if not len(codes):
        return (np.zeros((0, pages.kv_heads, pages.width), np.float32),) * 3
    if pages.scheme.code_bits == 4:
        codes = unpack(codes, pages.scheme)
    integers = isinstance(pages.scheme.codes, IntegerCodes)
    numbers = codes if integers else decode_float(codes, float_kind(pages.scheme))
    beside = [None if x is None else pages.beside(x, table, start, stop) for x in pages.given]
    scale, zero = (np.zeros((1, 1, 1), np.float32) if x is None else x for x in beside)
    wide = (np.broadcast_to(np.repeat(x, pages.width // x.shape[2], axis=2), numbers.shape) for x in (scale, zero))
    return (numbers.astype(np.float32), *wide)


class RoundsEveryElement(ReferenceCachedAttention):
    """Decodes an element, rounds it to the format of the query, and adds up in float32."""

    capabilities = replace(HONEST, caches=caches(Reads.ROUNDED))
    target: ClassVar[str | None] = None
    dtype = "fp32"

    def attend(self, call: AttentionCall) -> Attended:
        self.dtype = self.target or call.dtype
        return super().attend(call)

    def pages(
        self, codes: AnyArray, scales: AnyArray | None, zeros: AnyArray | None, scheme: Scheme, layout: Layout
    ) -> QuantizedPages:
        pages = _Elements(codes, scales, zeros, scheme, layout)
        pages.target = self.dtype
        return pages

    def row(self, row: Row, call: AttentionCall) -> State:
        if len(row.keys) == 0:
            return attend_row(row)
        if call.cache is None:
            return super().row(row, call)
        return State(nearest(row, replace(UNTILED[call.dtype], kv_tile=TILE)), np.asarray(0.0))


class RoundsToHalf(RoundsEveryElement):
    """The same in fp16, whatever the query."""

    capabilities = replace(HONEST, caches=caches(Reads.ROUNDED, "fp16"))
    target = "fp16"


class RoundsToSingle(RoundsEveryElement):
    """The same in fp32, whatever the query."""

    capabilities = replace(HONEST, caches=caches(Reads.ROUNDED, "fp32"))
    target = "fp32"


@dataclass(frozen=True)
class Head:
    """What a row of one head sees, `[keys, head_dim]` each: codes, scales and zeros of keys and of values."""

    query: Any
    keys: tuple[Any, Any, Any]
    values: tuple[Any, Any, Any]
    scale: float
    softcap: float | None = None
    sink: float | None = None


def multiplied(seen: Head, format: CacheFormat, p: str | None, *, on_output: bool = False) -> Any:
    """Codes multiplied as they are, in float32 and in tiles; the first scale of all multiplies the output if it may."""
    logits = _factored(seen.query, *seen.keys, format.keys) * np.float32(seen.scale)
    if seen.softcap is not None:
        logits = np.tanh(logits / np.float32(seen.softcap)) * np.float32(seen.softcap)
    top, mass, total = np.float32(-np.inf), np.float32(0), np.zeros(len(seen.query), np.float32)
    codes, scale, zero = seen.values
    factor = np.ones_like(scale) if on_output else scale
    for first in range(0, len(logits), TILE):
        tile = slice(first, first + TILE)
        new = np.maximum(top, logits[tile].max())
        weights, rescale = np.exp(logits[tile] - new), np.exp(top - new)
        mass, total, top = mass * rescale + weights.sum(), total * rescale, new
        scaled = weights[:, None] * factor[tile]
        rounded = scaled if p is None else round_to(scaled.astype(float), format_named(p)).astype(np.float32)
        total = total + (rounded * codes[tile]).sum(axis=0, dtype=np.float32)
        total = total + (_offset(format.values, scaled, zero[tile], weights)).sum(axis=0, dtype=np.float32)
    if seen.sink is not None:
        new = np.maximum(top, np.float32(seen.sink))
        mass, total = mass * np.exp(top - new) + np.exp(np.float32(seen.sink) - new), total * np.exp(top - new)
    return total / mass * scale[0] if on_output else total / mass


class MultipliesCodes(ReferenceCachedAttention):
    """Multiplies codes: the scale of a key joins its logit, that of a value the weight before it is rounded.

    What is subtracted from codes, or added to them, is taken out through the sums of queries and of weights.
    """

    capabilities = replace(HONEST, caches=caches(Reads.FACTORED))

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        if call.cache is None:
            return answer
        for row, head, seen in self.heads(call):
            answer.output[row, head] = self.output(seen, call)
        return answer

    def heads(self, call: AttentionCall) -> Iterator[tuple[int, int, Head]]:
        """Every row and head that sees a key."""
        cache, layer, query = self.cache(call), self.layer(call), loaded(call.query, call.dtype).astype(np.float32)
        group = call.query.shape[1] // cache.kv_heads
        for request, length in enumerate(call.lengths.tolist()):
            start, stop = call.starts[request : request + 2].tolist()
            for row in range(start, stop):
                seen = layer.visible(length - stop + row, length)
                if not seen:
                    continue
                table = call.tables[request].astype(np.int64)
                sides = [parts(pages, table, seen.start, seen.stop) for pages in (cache.keys, cache.values)]  # type: ignore[arg-type]
                for head in range(call.query.shape[1]):
                    keys, values = (tuple(x[:, head // group] for x in side) for side in sides)
                    sink = None if call.sinks is None else float(call.sinks[head])
                    yield row, head, Head(query[row, head], keys, values, call.scale, call.softcap, sink)  # type: ignore[arg-type]

    def output(self, seen: Head, call: AttentionCall) -> Any:
        """The output of one head, stored."""
        format = self.capabilities.caches[str(call.cache)]
        answer = multiplied(seen, format, format.arithmetic[call.dtype].p)
        return round_to(answer.astype(np.float64), format_named(call.dtype))


def _factored(query: Any, codes: Any, scale: Any, zero: Any, scheme: Scheme) -> Any:
    """Logits `[keys]`: per run of channels that share a scale, a product with codes and a product with that scale."""
    groups = max(1, codes.shape[1] // (scheme.group_size or codes.shape[1]))
    logits = np.zeros(len(codes), np.float32)
    for part in np.split(np.arange(codes.shape[1]), groups):
        products = (codes[:, part] * query[part]).sum(axis=1, dtype=np.float32) * scale[:, part[0]]
        size = query[part].sum(dtype=np.float32)
        logits = logits + products
        if scheme.zero is Zero.MINIMUM:
            logits = logits + size * zero[:, part[0]]
        if scheme.zero is Zero.ZERO_POINT:
            logits = logits - size * (zero[:, part[0]] * scale[:, part[0]])
    return logits


def _offset(scheme: Scheme, scaled: Any, zero: Any, weights: Any) -> Any:
    if scheme.zero is Zero.MINIMUM:
        return weights[:, None] * zero
    return -scaled * zero


HONEST_KERNELS: tuple[type[ReferenceCachedAttention], ...] = (
    RoundsEveryElement,
    RoundsToHalf,
    RoundsToSingle,
    MultipliesCodes,
)
