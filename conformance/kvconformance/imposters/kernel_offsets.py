"""Imposters of kernels that look in the wrong place: wrapped offsets, unaligned lists, tables and plans of before."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_attention import ReferenceAttention, StoredPages
from kvconformance.surfaces.attention import HEAD_MAJOR, AttentionCall
from kvreference.arrays import AnyArray, Int
from kvreference.paged_attention import Attention, Batch
from kvreference.paged_cache import PagedCache
from kvreference.pages import Layout
from kvspec import rules
from kvspec.vocabulary import World

# Offsets of large caches.


class _InElements(StoredPages):
    """Pages whose offsets, counted in elements, wrap at 32 bits."""

    def gather(self, table: Int, start: int, stop: int) -> AnyArray:
        stride = self.storage.strides[0] // self.unit_size
        return super().gather(table * stride % (1 << 32) // stride, start, stop)

    @property
    def unit_size(self) -> int:
        """Bytes of what an offset counts."""
        return self.storage.itemsize


class _InBytes(_InElements):
    """Pages whose offsets, counted in bytes, wrap at 32 bits."""

    @property
    def unit_size(self) -> int:
        return 1


class _ZerosBeyond(StoredPages):
    """Pages that read as zeros beyond the size that 32 bits can say."""

    def gather(self, table: Int, start: int, stop: int) -> AnyArray:
        rows = super().gather(table, start, stop)
        blocks = table[np.arange(start, stop) // self.block_size]
        far = blocks * self.storage.strides[0] >= 1 << 32
        return np.where(far[:, None, None], 0.0, rows)


class _Offsets(ReferenceAttention):
    """Keys and values are read through pages of these kinds."""

    of_keys: ClassVar[type[StoredPages]] = StoredPages
    of_values: ClassVar[type[StoredPages]] = StoredPages

    def cache(self, call: AttentionCall) -> PagedCache:
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        return PagedCache(self.of_keys(call.keys, layout, call.dtype), self.of_values(call.values, layout, call.dtype))


class KeySlotIn32Bits(_Offsets):
    """Multiplies slot and stride of keys, which are stored in their own order, in 32 bits (vLLM #1486)."""

    bug, broken_rule = "B148", rules.ADDRESS_RANGE
    of_keys = _InElements


class PageProductWraps(_Offsets):
    """Multiplies the page index before it is widened (FlashInfer #3136)."""

    bug, broken_rule = "B151", rules.ADDRESS_RANGE
    of_keys = of_values = _InBytes


class DescriptorTooSmall(_Offsets):
    """Describes the cache by a 32-bit size, beyond which everything reads as 0 (aiter #2517)."""

    bug, broken_rule = "B152", rules.ADDRESS_RANGE
    of_keys = of_values = _ZerosBeyond


# Lists, tables and plans.


class SecondListStartsUnaligned(ReferenceAttention):
    """Joins the lists of all requests by tokens, though each begins at a whole block (sglang-jax #20)."""

    bug, broken_rule = "B158", rules.POISON_INDEPENDENCE

    def batch(self, call: AttentionCall) -> Batch:
        size, width = self.world.block_size, call.tables.shape[1]
        held = [table[: -(-tokens // size)] for table, tokens in zip(call.tables, call.lengths, strict=True)]
        joined = np.concatenate([*held, call.tables[-1:, -1].repeat(width)]).astype(np.int64)
        first = np.cumsum([0, *call.lengths.tolist()[:-1]]) // size
        return Batch(np.array([joined[at : at + width] for at in first]), call.lengths, call.starts)


class StagedTableOfTheCallBefore(ReferenceAttention):
    """Refills one staging buffer for tables before its last copy has run (TensorRT-LLM #15546)."""

    bug, broken_rule = "B146", rules.FRESH_METADATA

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.staged: Int | None = None

    def batch(self, call: AttentionCall) -> Batch:
        late = self.staged if self.staged is not None and self.staged.shape == call.tables.shape else call.tables
        self.staged = call.tables.copy()
        return Batch(late, call.lengths, call.starts)


class MaskBuiltOnlyForSplits(ReferenceAttention):
    """Builds the mask of a call anew only where its context is split (FlashInfer #5176)."""

    bug, broken_rule = "B189", rules.FRESH_METADATA

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.plan: Attention | None = None

    def layer(self, call: AttentionCall) -> Attention:
        if self.plan is None or call.splits > 1:
            self.plan = super().layer(call)
        return self.plan
