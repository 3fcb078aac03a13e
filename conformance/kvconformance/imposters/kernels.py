"""Imposters whose attention reads, masks, splits, merges or writes wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_attention import ReferenceAttention, StoredPages
from kvconformance.surfaces.attention import HEAD_MAJOR, Attended, AttentionCall, loaded, stored
from kvreference.arrays import AnyArray, Float, Int
from kvreference.paged_attention import Attention, Batch
from kvreference.paged_cache import PagedCache
from kvreference.pages import Layout
from kvspec import rules
from kvspec.vocabulary import World

# Offsets of large caches.


class _Wrapping(StoredPages):
    """Pages whose element offsets wrap at 32 bits where `wraps` says so."""

    wraps: ClassVar[str] = "always"

    def gather(self, table: Int, start: int, stop: int) -> AnyArray:
        stride = self.storage.strides[0] // self.storage.itemsize
        if self.wraps == "always" or stride > int(np.prod(self.storage.shape[1:])):
            table = (table * stride % (1 << 32)) // stride
        return super().gather(table, start, stop)


class _WrappingStride(_Wrapping):
    wraps: ClassVar[str] = "padded"


class GatherOffsetIn32Bits(ReferenceAttention):
    """Multiplies block id and stride in 32 bits (vLLM #50427)."""

    bug, broken_rule = "B149", rules.ADDRESS_RANGE
    pages: ClassVar[type[StoredPages]] = _Wrapping

    def cache(self, call: AttentionCall) -> PagedCache:
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        return PagedCache(self.pages(call.keys, layout, call.dtype), self.pages(call.values, layout, call.dtype))


class PaddedStrideWraps(GatherOffsetIn32Bits):
    """Bounds offsets for dense blocks, and wraps in a view with a larger stride (b12x #45)."""

    bug, broken_rule = "B153", rules.ADDRESS_RANGE
    pages = _WrappingStride


# Which block holds what.


class NeighbourBlocks(ReferenceAttention):
    """Takes the blocks after the first to be its neighbours (TGI #2711)."""

    bug, broken_rule = "B154", rules.RELABEL_INVARIANCE

    def batch(self, call: AttentionCall) -> Batch:
        steps = np.arange(call.tables.shape[1])
        return Batch((call.tables[:, :1] + steps) % len(call.keys), call.lengths, call.starts)


class PrefillWithoutTable(ReferenceAttention):
    """Reads the pool from its beginning where a prefill has cached context (ssd #22)."""

    bug, broken_rule = "B156", rules.RELABEL_INVARIANCE

    def batch(self, call: AttentionCall) -> Batch:
        tables = call.tables.astype(np.int64)
        queries = np.diff(call.starts)
        cached = (call.lengths > queries) & (queries > 1)
        tables[cached] = np.arange(tables.shape[1])
        return Batch(tables, call.lengths, call.starts)


class BlockRatioTwice(ReferenceAttention):
    """Converts block ids to kernel blocks and hands them to a function that converts them again (ATOM #234)."""

    bug, broken_rule = "B157", rules.RELABEL_INVARIANCE

    def batch(self, call: AttentionCall) -> Batch:
        return Batch(call.tables.astype(np.int64) * 2 % len(call.keys), call.lengths, call.starts)


class AxesGuessedFromShape(ReferenceAttention):
    """Takes the layout from the shape, which is ambiguous when blocks have as many tokens as heads (LMCache #4467)."""

    bug, broken_rule = "B161", rules.RELABEL_INVARIANCE

    def cache(self, call: AttentionCall) -> PagedCache:
        ambiguous = call.keys.shape[1] == call.keys.shape[2]
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR and not ambiguous else Layout.TOKEN_MAJOR
        return PagedCache(StoredPages(call.keys, layout, call.dtype), StoredPages(call.values, layout, call.dtype))


# Bytes that nobody may read.


class _ZeroTimesValue(ReferenceAttention):
    """Adds values that the request must not read, with weight 0."""

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        cache, output = self.cache(call), answer.output
        for request, tokens in enumerate(call.lengths.tolist()):
            start, stop = self.read(call, tokens, cache.block_size)
            if tokens:
                values = cache.gather(call.tables[request], start, stop)[1].sum(axis=0)
                rows = slice(*call.starts[request : request + 2].tolist())
                output[rows] += 0.0 * np.repeat(values, output.shape[1] // cache.kv_heads, axis=0)
        return Attended(output, answer.lse)

    def read(self, call: AttentionCall, tokens: int, size: int) -> tuple[int, int]:
        """The positions of which values are added."""
        raise NotImplementedError


class ValuesBehindWindowRead(_ZeroTimesValue):
    """Masks scores behind the window and multiplies their values by 0 (vLLM #30887)."""

    bug, broken_rule = "B162", rules.POISON_INDEPENDENCE

    def read(self, call: AttentionCall, tokens: int, size: int) -> tuple[int, int]:
        return 0, tokens


class TailOfLastBlockRead(_ZeroTimesValue):
    """Multiplies the unused rows of the last block by 0 (vLLM #936)."""

    bug, broken_rule = "B163", rules.POISON_INDEPENDENCE

    def read(self, call: AttentionCall, tokens: int, size: int) -> tuple[int, int]:
        return tokens, -(-tokens // size) * size


class RecycledBlockMultiplied(_ZeroTimesValue):
    """Loads the block behind the last and multiplies it by 0 (vLLM #35219)."""

    bug, broken_rule = "B164", rules.POISON_INDEPENDENCE

    def read(self, call: AttentionCall, tokens: int, size: int) -> tuple[int, int]:
        end = -(-tokens // size) * size
        return end, end + size


class OtherSequencesSeen(ReferenceAttention):
    """Takes every cell at a position that is not empty, whoever owns it (llama.cpp #27752)."""

    bug, broken_rule = "B166", rules.POISON_INDEPENDENCE

    def attend(self, call: AttentionCall) -> Attended:
        mine = super().attend(call)
        order = np.roll(np.arange(len(call.lengths)), 1)
        lengths = np.minimum(call.lengths, call.lengths[order])
        lengths = np.where(order == np.arange(len(order)), 0, lengths)
        theirs = super().attend(replace(call, tables=call.tables[order], lengths=lengths, causal=False, window=None))
        a, b = (Attended(stored(x.output, call.dtype), x.lse) for x in (mine, theirs))
        return self.merge(a, b, call.dtype)


# Padding.


class PadSlotWraps(ReferenceAttention):
    """Uses slot -1 as an index (vLLM #43810)."""

    bug, broken_rule = "B167", rules.PADDING_WRITES_NOTHING

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        size, heads = self.world.block_size, call.layout == HEAD_MAJOR
        for pages, rows in ((call.keys, keys), (call.values, values)):
            tokens = pages.transpose(0, 2, 1, 3) if heads else pages
            tokens[slots // size, slots % size] = rows[: len(slots)]


class RowCountFromKeys(ReferenceAttention):
    """Writes as many rows as there are keys, though there are fewer slots (vLLM #13922)."""

    bug, broken_rule = "B168", rules.PADDING_WRITES_NOTHING

    def write(self, call: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        last = self.world.num_blocks * self.world.block_size - 1
        more = [slot for slot in range(last, -1, -1) if slot not in slots][: len(keys) - len(slots)]
        slots = np.append(slots, np.array(more, np.int64))
        super().write(call, slots, keys[: len(slots)], values[: len(slots)])


class MetadataOfRealRowsOnly(ReferenceAttention):
    """Looks up the request of every row, padding included, in metadata of the real rows (xllm #1939)."""

    bug, broken_rule = "B169", rules.PADDING_WRITES_NOTHING

    def batch(self, call: AttentionCall) -> Batch:
        request_of_row = np.repeat(np.arange(len(call.lengths)), np.diff(call.starts))
        if len(request_of_row) < len(call.query):
            raise IndexError(f"row {len(request_of_row)} has no request")
        return super().batch(call)


# Nothing to attend to.


class EmptyRowsNotSet(ReferenceAttention):
    """Leaves the output of a request without keys as it was (FlashInfer #440)."""

    bug, broken_rule = "B171", rules.EMPTY_IS_IDENTITY

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        for request in self.empty(call):
            rows = slice(*call.starts[request : request + 2].tolist())
            answer.output[rows] = loaded(call.out[rows], call.dtype)
        return answer

    def empty(self, call: AttentionCall) -> list[int]:
        """Requests of which the output is not set."""
        return np.flatnonzero(call.lengths == 0).tolist()


class EmptyRowsNotSetInBatch(EmptyRowsNotSet):
    """The same, only where another request has keys (SGLang #22688)."""

    bug, broken_rule = "B176", rules.EMPTY_IS_IDENTITY

    def empty(self, call: AttentionCall) -> list[int]:
        return super().empty(call) if call.lengths.any() else []


class MaskedRowsHaveFiniteLse(ReferenceAttention):
    """A row that sees no key has a large negative LSE (FlashInfer #4452)."""

    bug, broken_rule = "B172", rules.EMPTY_IS_IDENTITY

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        return Attended(answer.output, np.where(np.isneginf(_lse(answer)), -5e4, _lse(answer)))


class EmptyLseIsPositive(ReferenceAttention):
    """The LSE of an empty context is plus infinity (vLLM #15492)."""

    bug, broken_rule = "B174", rules.EMPTY_IS_IDENTITY

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        return Attended(answer.output, np.where(np.isneginf(_lse(answer)), np.inf, _lse(answer)))


class TwoEmptyStatesGiveNan(ReferenceAttention):
    """Subtracts minus infinity from minus infinity (FlashInfer #4051)."""

    bug, broken_rule = "B173", rules.EMPTY_IS_IDENTITY

    def merge(self, a: Attended, b: Attended, dtype: str) -> Attended:
        both = super().merge(a, b, dtype)
        empty = np.isneginf(_lse(a)) & np.isneginf(_lse(b))
        return Attended(np.where(empty[..., None], np.nan, both.output), np.where(empty, np.nan, _lse(both)))


class EarlyExitWritesElsewhere(ReferenceAttention):
    """The exit for an empty request writes its LSE at the offset of a dense batch (flash-attention #2842)."""

    bug, broken_rule = "B177", rules.EMPTY_IS_IDENTITY

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        longest = int(np.diff(call.starts).max(initial=0))
        dense = [r * longest for r in np.flatnonzero(call.lengths == 0) if r * longest < len(call.query)]
        lse = _lse(answer).copy()
        lse[dense] = -np.inf
        return Attended(answer.output, lse)


# A context in parts.


class LseLostInSplits(ReferenceAttention):
    """Stores no LSE when the context is computed in parts (FlashInfer #50)."""

    bug, broken_rule = "B178", rules.SPLIT_EQUALS_WHOLE

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        return answer if call.splits == 1 else Attended(answer.output, np.zeros_like(_lse(answer)))


class SuffixReadWithPrefixStrides(ReferenceAttention):
    """Merges each row with the suffix of the row before (local-inference-lab/vllm #17)."""

    bug, broken_rule = "B179", rules.SPLIT_EQUALS_WHOLE

    def merge(self, a: Attended, b: Attended, dtype: str) -> Attended:
        return super().merge(a, replace(b, output=np.roll(b.output, 1, axis=1)), dtype)


class FirstPrefixForAll(ReferenceAttention):
    """Takes all requests to share the first block where as many ids repeat as if they did (vLLM #55227)."""

    bug, broken_rule = "B181", rules.SPLIT_EQUALS_WHOLE

    def batch(self, call: AttentionCall) -> Batch:
        tables = call.tables.astype(np.int64)
        if len(tables) > 2 and call.lengths.all() and (tables[:-1, 0] == tables[0, 0]).all():
            tables[:, 0] = tables[0, 0]
        return Batch(tables, call.lengths, call.starts)


class ChunkIgnoresContext(ReferenceAttention):
    """A chunk of a prefill sees only its own keys (SGLang #22020)."""

    bug, broken_rule = "B193", rules.SPLIT_EQUALS_WHOLE

    def attend(self, call: AttentionCall) -> Attended:
        queries = int(np.diff(call.starts).max(initial=0))
        window = queries if queries > 1 and (call.lengths > queries).any() else call.window
        return super().attend(replace(call, window=window))


class CachedPositionsNotWritten(ReferenceAttention):
    """Leaves the first row of a chunk with cached context as it was (vLLM #42245)."""

    bug, broken_rule = "B224", rules.SPLIT_EQUALS_WHOLE

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        queries = np.diff(call.starts)
        rows = call.starts[:-1][(call.lengths > queries) & (queries > 1)]
        answer.output[rows] = loaded(call.out[rows], call.dtype)
        return answer


# Masks.


class WindowRelativeToChunk(ReferenceAttention):
    """Counts the window from positions within the chunk (vLLM #47332)."""

    bug, broken_rule = "B182", rules.EXACT_MASK

    def layer(self, call: AttentionCall) -> Attention:
        given = super().layer(call)
        context = int((call.lengths - np.diff(call.starts)).max(initial=0))
        return given if given.window is None else replace(given, window=given.window + context)


class PrefixKernelWithoutWindow(ReferenceAttention):
    """Ignores the window where a chunk has cached context (vLLM #4405)."""

    bug, broken_rule = "B183", rules.EXACT_MASK

    def layer(self, call: AttentionCall) -> Attention:
        cached = (call.lengths > np.diff(call.starts)).any()
        return replace(super().layer(call), window=None) if cached else super().layer(call)


class WindowOneWider(ReferenceAttention):
    """Lets in the key at the lower bound of the window (transformers #41184)."""

    bug, broken_rule = "B184", rules.EXACT_MASK

    def layer(self, call: AttentionCall) -> Attention:
        given = super().layer(call)
        return given if given.window is None else replace(given, window=given.window + 1)


class WindowAtEquality(ReferenceAttention):
    """Drops a token where the length equals the window (transformers #38046)."""

    bug, broken_rule = "B186", rules.EXACT_MASK

    def layer(self, call: AttentionCall) -> Attention:
        given = super().layer(call)
        equal = given.window is not None and given.window > 1 and (call.lengths == given.window).any()
        return replace(given, window=(given.window or 0) - 1) if equal else given


# Plans of an earlier step.


class StaleLengths(ReferenceAttention):
    """Replays with the lengths of the first batch of this shape (vLLM #39773)."""

    bug, broken_rule = "B191", rules.FRESH_METADATA

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.lengths: dict[tuple[int, ...], Int] = {}

    def batch(self, call: AttentionCall) -> Batch:
        shape = (*call.tables.shape, len(call.query))
        lengths = self.lengths.setdefault(shape, call.lengths.astype(np.int64))
        return Batch(call.tables, np.minimum(lengths, call.tables.shape[1] * self.world.block_size), call.starts)


class CachedMaskChanged(ReferenceAttention):
    """A chunk narrows the cached mask of a window in place (vllm-ascend #1678)."""

    bug, broken_rule = "B192", rules.FRESH_METADATA

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.masks: dict[int, int] = {}

    def layer(self, call: AttentionCall) -> Attention:
        given = super().layer(call)
        if given.window is None:
            return given
        window = self.masks.setdefault(given.window, given.window)
        if len(call.query) > len(call.lengths):
            self.masks[given.window] = max(1, window - 1)
        return replace(given, window=window)


def _lse(answer: Attended) -> Float:
    return np.asarray(answer.lse, np.float64)
