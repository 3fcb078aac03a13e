"""The reference's own attention as an engine: P rounded per tile as declared, all else in float64."""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kvconformance.surfaces.attention import (
    HEAD_MAJOR,
    TOKEN_MAJOR,
    Attended,
    AttentionCall,
    AttentionCapabilities,
    loaded,
)
from kvreference.arrays import AnyArray, Int
from kvreference.attention import Row, State, emulated_attention
from kvreference.attention import merge as merge_states
from kvreference.paged_attention import Attention, Batch, rows_of
from kvreference.paged_cache import PagedCache
from kvreference.pages import Layout, Pages
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.declaration import Declaration
from kvspec.vocabulary import World

TILE = 16
ARITHMETIC = MappingProxyType(
    {
        "fp32": Declaration("fp32", None, exact_products=False, kv_tile=TILE),
        "bf16": Declaration("bf16", "bf16", kv_tile=TILE),
        "fp16": Declaration("fp16", "fp16", kv_tile=TILE),
    }
)


class ReferenceAttention:
    """Paged attention of the reference, one row at a time, rounded only where its declaration says so."""

    capabilities: ClassVar[AttentionCapabilities] = AttentionCapabilities(
        block_sizes=(1, 2, 3, 4, 16),
        arithmetic=ARITHMETIC,
        layouts=(TOKEN_MAJOR, HEAD_MAJOR),
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
        """Attention of every row."""
        cache = self.cache(call)
        batch = self.batch(call)
        rows = rows_of(loaded(call.query, call.dtype), cache, batch, self.layer(call))
        shape = call.query.shape[:2]
        output, lse = np.zeros((*shape, cache.value_dim)), np.full(shape, -np.inf)
        for index in np.ndindex(shape):
            state = self.row(rows[index[0]][index[1]], call)
            output[index], lse[index] = state.output, state.lse
        return Attended(round_to(output, format_named(call.dtype)), lse.astype(np.float32))

    def cache(self, call: AttentionCall) -> PagedCache:
        """The cache as the reference knows it, read where it lies."""
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        return PagedCache(StoredPages(call.keys, layout, call.dtype), StoredPages(call.values, layout, call.dtype))

    def batch(self, call: AttentionCall) -> Batch:
        """The block tables and row ranges."""
        return Batch(call.tables, call.lengths, call.starts)

    def layer(self, call: AttentionCall) -> Attention:
        """Scale, masks and sinks."""
        sinks = None if call.sinks is None else tuple(call.sinks.tolist())
        return Attention(call.scale, call.causal, call.window, call.softcap, sinks)

    def row(self, row: Row, call: AttentionCall) -> State:
        """One row of one head, in the parts that the call wants."""
        declaration = ARITHMETIC[call.dtype]
        parts = Declaration(call.dtype, declaration.p, kv_tile=TILE, splits=call.splits)
        return emulated_attention(row, parts)

    def merge(self, a: Attended, b: Attended, dtype: str) -> Attended:
        """Two partial results."""
        states = [State(loaded(x.output, dtype), np.asarray(x.lse, np.float64)) for x in (a, b)]
        both = merge_states(*states)
        return Attended(round_to(both.output, format_named(dtype)), both.lse.astype(np.float32))

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        """Store the rows that have a slot."""
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        for storage, rows in ((call.keys, keys), (call.values, values)):
            Pages(storage, layout).write(slots, rows[: len(slots)])


class StoredPages(Pages):
    """Pages of which the elements are storage of a dtype; what is gathered is float64."""

    def __init__(self, array: AnyArray, layout: Layout, dtype: str) -> None:
        super().__init__(array, layout)
        self.dtype = dtype

    def gather(self, table: Int, start: int, stop: int) -> AnyArray:
        """Rows as real numbers. Raises as `Pages.gather`."""
        return loaded(super().gather(table, start, stop), self.dtype)
