"""The numbers of an operation: queries, keys and values per request, wherever they may lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from kvconformance.surfaces.attention.formats import CacheFormat
from kvconformance.surfaces.attention.operations import Attend
from kvconformance.surfaces.attention.problems.sides import Cache, cache_of
from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.paged_attention import Attention
from kvreference.roundings import format_named, round_to

NO_CACHES: Mapping[str, CacheFormat] = MappingProxyType({})
PATTERNS = ("normal", "outlier", "repeated", "peaked", "large")


@dataclass(frozen=True)
class Problem:
    """`lengths` per request (tokens in the cache, query rows); `query` `[rows, heads, head_dim]`, padding rows last.

    `keys` and `values` hold `[tokens, kv_heads, head_dim]` per request, all float64 and exact in `dtype`. The first
    `shared` tokens of the first `sharers` requests are the same and lie in the same blocks. In a quantized `cache` lie
    the codes of keys and values.
    """

    lengths: tuple[tuple[int, int], ...]
    query: Float
    keys: tuple[Float, ...]
    values: tuple[Float, ...]
    layer: Attention
    dtype: str
    layout: str
    splits: int = 1
    shared: int = 0
    sharers: int = 0
    cache: Cache | None = None

    @property
    def rows(self) -> int:
        """Query rows without padding."""
        return sum(queries for _, queries in self.lengths)

    def blocks(self, block_size: int) -> int:
        """Blocks that the requests hold together."""
        own = sum(-(-tokens // block_size) - self.prefix(r) // block_size for r, (tokens, _) in enumerate(self.lengths))
        return self.shared // block_size + own

    def prefix(self, request: int) -> int:
        """Tokens that a request has in common with others."""
        return self.shared if request < self.sharers else 0

    def seen(self, request: int, index: int) -> range:
        """The positions that query row `index` of a request sees."""
        tokens, queries = self.lengths[request]
        return self.layer.visible(tokens - queries + index, tokens)

    @property
    def cache_name(self) -> str | None:
        """The name of a quantized cache, None for a plain one."""
        return None if self.cache is None else self.cache.name

    @cached_property
    def read(self) -> tuple[tuple[Float, ...], tuple[Float, ...]]:
        """Keys and values as the cache holds them: of a quantized one, what codes mean."""
        if self.cache is None:
            return self.keys, self.values
        both = zip(self.cache.sides, (self.keys, self.values), strict=True)
        keys, values = (tuple(side.decoded(rows) for rows in arrays) for side, arrays in both)
        return keys, values

    def row_list(self) -> list[list[Row]]:
        """Every row and head, as the reference sees them."""
        found, first = [], 0
        for request, (_, queries) in enumerate(self.lengths):
            found += [self._heads(request, first + index, self.seen(request, index)) for index in range(queries)]
            first += queries
        return found

    def _heads(self, request: int, row: int, seen: range) -> list[Row]:
        keys, values = (x[request][seen.start : seen.stop] for x in self.read)
        heads, layer = self.query.shape[1], self.layer
        group, sinks = heads // keys.shape[1], layer.sinks or (None,) * heads
        return [
            Row(q, keys[:, h // group], values[:, h // group], layer.scale, layer.softcap, sinks[h], seen.start)
            for h, q in enumerate(self.query[row])
        ]

    def only(self, requests: list[int], padding: bool = False) -> Problem:
        """The problem with some of the requests, in the order given."""
        first = np.cumsum([0, *(queries for _, queries in self.lengths)])
        rows = [row for r in requests for row in range(first[r], first[r + 1])]
        rows += range(self.rows, len(self.query)) if padding else ()
        return replace(
            self,
            lengths=tuple(self.lengths[r] for r in requests),
            query=self.query[rows],
            keys=tuple(self.keys[r] for r in requests),
            values=tuple(self.values[r] for r in requests),
            sharers=sum(r < self.sharers for r in requests),
        )

    def chunk(self, start: int, stop: int) -> Problem:
        """Query rows `start:stop` of a causal problem of one request, with only the tokens up to them."""
        tokens, queries = self.lengths[0]
        kept = max(tokens - queries + stop, 0)
        return replace(
            self,
            lengths=((kept, stop - start),),
            query=self.query[start:stop],
            keys=(self.keys[0][:kept],),
            values=(self.values[0][:kept],),
        )


def problem_of(operation: Attend, block_size: int, caches: Mapping[str, CacheFormat] = NO_CACHES) -> Problem:
    """The numbers of an operation, the same for the same operation; `caches` has that of the operation."""
    rng = np.random.default_rng([operation.seed, len(operation.lengths)])
    heads, kv_heads, dim = operation.heads
    rows = sum(queries for _, queries in operation.lengths) + operation.padding
    query = rng.standard_normal((rows, heads, dim)) * (3.0 if operation.pattern == "peaked" else 1.0)
    # Of three requests or more the last shares nothing: who shares is not to be inferred.
    sharers = len(operation.lengths) - (len(operation.lengths) > 2)
    shared = min([operation.shared * block_size, *(tokens for tokens, _ in operation.lengths[:sharers])])
    shared = shared // block_size * block_size if sharers > 1 else 0
    common = _tokens(rng, shared, kv_heads, dim, operation.pattern)
    keys, values = [], []
    for request, (tokens, _) in enumerate(operation.lengths):
        prefix = shared if request < sharers else 0
        key, value = _tokens(rng, tokens - prefix, kv_heads, dim, operation.pattern)
        if operation.cache is not None:
            key, value = _uneven(key, rng), _uneven(value, rng)
        keys.append(_exact(np.concatenate([common[0][:prefix], key]), operation.dtype))
        values.append(_exact(np.concatenate([common[1][:prefix], value]), operation.dtype))
    # Sinks and scale are float32 in every kernel.
    sinks = tuple(float(np.float32(s)) for s in rng.standard_normal(heads)) if operation.sinks else None
    scale = float(np.float32(dim**-0.5))
    layer = Attention(scale, operation.causal, operation.window, operation.softcap, sinks)
    return Problem(
        operation.lengths,
        _exact(query, operation.dtype),
        tuple(keys),
        tuple(values),
        layer,
        operation.dtype,
        operation.layout,
        operation.splits,
        shared,
        sharers,
        None
        if (name := operation.cache) is None
        else cache_of(name, caches[name].saturating(), kv_heads, operation.seed),
    )


def _tokens(rng: np.random.Generator, count: int, heads: int, dim: int, pattern: str) -> tuple[Float, Float]:
    keys, values = rng.standard_normal((2, count, heads, dim))
    if pattern == "outlier":
        keys[..., 0] += 8
    if pattern == "repeated" and count:
        keys[:] = keys[:1]
    if pattern == "large":
        values *= 100
    return keys, values


def _uneven(rows: Float, rng: np.random.Generator) -> Float:
    """Tokens and heads of different size, so that no scale will do for another."""
    return rows * 2.0 ** rng.integers(-2, 2, (*rows.shape[:2], 1))


def _exact(x: Float, dtype: str) -> Float:
    return round_to(x, format_named(dtype))
