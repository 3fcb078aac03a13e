"""Attention of a batch of requests through their block tables, in float64.

A query row sees a range of absolute positions, so nothing outside of it is read: no mask can let a byte through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kvreference.arrays import DeclarationError, Float, Int, as_float, as_index, check_shape
from kvreference.attention import Row, State, attend_row, empty_state
from kvreference.paged_cache import PagedCache
from kvspec.refusals import ShapeError, ShortTableError


@dataclass(frozen=True, slots=True)
class Attention:
    """What a layer computes. `scale` multiplies logits; `window` counts the query's own position; natural-log units.

    `sinks` holds one logit per query head.
    """

    scale: float
    causal: bool = True
    window: int | None = None
    softcap: float | None = None
    sinks: tuple[float, ...] | None = None

    def visible(self, position: int, length: int) -> range:
        """The key positions that the query at absolute `position` sees among the first `length`."""
        stop = min(length, position + 1) if self.causal else length
        start = 0 if self.window is None else position - self.window + 1
        return range(min(max(start, 0), max(stop, 0)), max(stop, 0))


@dataclass(frozen=True, slots=True)
class Batch:
    """Which rows belong to which request, in the form that kernels take. Integers of any width.

    `tables` `[requests, max_blocks]` block ids, `lengths` `[requests]` tokens in the cache, `starts` `[requests + 1]`
    first query row of each request. The queries of a request are its last positions. Rows from `starts[-1]` on are
    padding, and so are requests of length 0.
    """

    tables: Int
    lengths: Int
    starts: Int

    def __post_init__(self) -> None:
        for name in ("tables", "lengths", "starts"):
            object.__setattr__(self, name, as_index(name, getattr(self, name)))
        check_shape("lengths", self.lengths, (None,))
        check_shape("tables", self.tables, (len(self.lengths), None))
        check_shape("starts", self.starts, (len(self.lengths) + 1,))
        if (self.lengths < 0).any() or self.starts[0] != 0 or (np.diff(self.starts) < 0).any():
            raise ShapeError("lengths must not be negative, and starts must rise from 0")


def rows_of(query: ArrayLike, cache: PagedCache, batch: Batch, layer: Attention) -> list[list[Row]]:
    """Every row of the batch, `[rows][heads]`, read through the block tables; padding rows have no keys.

    `query` is `[rows, heads, head_dim]`; query head `h` reads KV head `h // (heads // kv_heads)`. Only positions
    that a row sees are read. Raises the errors of `Batch`, `PagedCache.gather`, and `ShapeError`.
    """
    rows = as_float("query", query)
    check_shape("query", rows, (None, None, cache.head_dim))
    if rows.shape[1] % cache.kv_heads or len(rows) < batch.starts[-1]:
        raise ShapeError(
            f"query has shape {list(rows.shape)}, for {cache.kv_heads} KV heads and {batch.starts[-1]} rows"
        )
    if layer.sinks is not None and len(layer.sinks) != rows.shape[1]:
        raise DeclarationError(f"{len(layer.sinks)} sinks for {rows.shape[1]} heads")
    found = [_padding(row, cache, layer) for row in rows]
    for request, length in enumerate(batch.lengths.tolist()):
        start, stop = batch.starts[request : request + 2].tolist()
        for index in range(start, stop):
            seen = layer.visible(length - stop + index, length)
            found[index] = _row(rows[index], cache, batch.tables[request], seen, layer)
    return found


def _row(query: Float, cache: PagedCache, table: Int, seen: range, layer: Attention) -> list[Row]:
    if len(table) * cache.block_size < seen.stop:
        raise ShortTableError(f"table of {len(table)} blocks of {cache.block_size} is read up to token {seen.stop}")
    keys, values = cache.gather(table, seen.start, seen.stop)
    group = len(query) // cache.kv_heads
    sinks = layer.sinks or (None,) * len(query)
    return [
        Row(q, keys[:, h // group], values[:, h // group], layer.scale, layer.softcap, sinks[h], seen.start)
        for h, q in enumerate(query)
    ]


def _padding(query: Float, cache: PagedCache, layer: Attention) -> list[Row]:
    return _row(query, cache, np.zeros(0, np.int64), range(0), layer)


def paged_attention(query: ArrayLike, cache: PagedCache, batch: Batch, layer: Attention) -> State:
    """Attention of a batch: `output` `[rows, heads, value_dim]`, `lse` `[rows, heads]`. Raises as `rows_of`."""
    rows = rows_of(query, cache, batch, layer)
    shape = (len(rows), len(rows[0]) if rows else 0)
    state = empty_state(shape, cache.value_dim)
    for index in np.ndindex(shape):
        one = attend_row(rows[index[0]][index[1]])
        state.output[index], state.lse[index] = one.output, one.lse
    return state
