"""Imposters of kernels that read a quantized cache wrongly: without its scales, with those of another, or too much."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_cached_attention import ReferenceCachedAttention
from kvconformance.imposters.kernels import TailOfLastBlockRead
from kvconformance.surfaces.attention import HEAD_MAJOR, Attended, AttentionCall, AttentionCapabilities, loaded
from kvreference.arrays import AnyArray
from kvspec import rules


def only(*names: str) -> AttentionCapabilities:
    """The capabilities of the reference with these quantized caches alone: the ones that the public bug was about."""
    able = ReferenceCachedAttention.capabilities
    return replace(able, caches=MappingProxyType({name: able.caches[name] for name in names}))


FP8, PER_HEAD = only("e4m3/tensor", "e4m3/head"), only("e4m3/head", "int8/head")
PER_TOKEN = only("int8/token-head", "e4m3/token-head")


def near(call: AttentionCall) -> AttentionCall:
    """The call with the blocks of its tables alone: those of a far cache are the only ones that have memory."""
    named, places = np.unique(call.tables, return_inverse=True)
    arrays = {
        name: array[named]
        for name, array in call.inputs().items()
        if name.startswith(("key", "value")) and array.ndim == 4
    }
    return replace(call, **arrays, tables=places.reshape(call.tables.shape).astype(np.int32))


class _Rescaled(ReferenceCachedAttention):
    """Reads other scales than those of the call."""

    capabilities: ClassVar[AttentionCapabilities] = FP8

    def attend(self, call: AttentionCall) -> Attended:
        if call.key_scales is None or call.value_scales is None:
            return super().attend(call)
        return super().attend(self.rescaled(call, call.key_scales, call.value_scales))

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        """The call with the scales that are read."""
        raise NotImplementedError


# Whether there is a scale.


class ScalesLostBehindAHit(_Rescaled):
    """Does not hand over the scales where a prompt has cached context (SGLang #18904)."""

    bug, broken_rule = "B301", rules.ONE_SCALE

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        queries = np.diff(call.starts)
        behind = bool(((call.lengths > queries) & (queries > 1)).any())
        return replace(call, key_scales=np.ones_like(keys), value_scales=np.ones_like(values)) if behind else call


class ScalesLostOnOneOfTwoPaths(_Rescaled):
    """Passes the scales on by position to where only names are read, and only in prefill (FlashInfer #1023)."""

    bug, broken_rule = "B302", rules.ONE_SCALE

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        prefill = bool((np.diff(call.starts) > 1).any())
        return replace(call, key_scales=np.ones_like(keys), value_scales=np.ones_like(values)) if prefill else call


class KeyScaleForValues(_Rescaled):
    """Falls back to the scale of keys where that of values belongs (SGLang #26852)."""

    bug, broken_rule = "B303", rules.ONE_SCALE

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        return replace(call, value_scales=keys)


class ZerosReadInAnotherFormat(ReferenceCachedAttention):
    """Reads what is added to a code in another 16-bit format than it was stored in (InfiniLM #553)."""

    bug, broken_rule, capabilities = "B304", rules.ONE_SCALE, only("q4_1")

    def attend(self, call: AttentionCall) -> Attended:
        if call.cache is None:
            return super().attend(call)
        call = near(call)
        keys, values = (loaded(np.asarray(x).view(np.uint16), "bf16") for x in (call.key_zeros, call.value_zeros))
        return super().attend(replace(call, key_zeros=keys, value_zeros=values))


# Whose scale it is.


class ScaleAtAnotherFlatIndex(_Rescaled):
    """Finds the scales of head-major blocks as if the heads of a token lay together (aiter #3894)."""

    bug, broken_rule, capabilities = "B305", rules.SCALE_TRAVELS, PER_TOKEN

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        if call.layout != HEAD_MAJOR:
            return call
        call = near(call)
        found = [_as_token_major(np.asarray(x)) for x in (call.key_scales, call.value_scales)]
        return replace(call, key_scales=found[0], value_scales=found[1])


def _as_token_major(scales: AnyArray) -> AnyArray:
    """What is read at the offsets of `[block_size, kv_heads]` within blocks `[kv_heads, block_size]`."""
    blocks, heads, size, width = scales.shape
    return np.ascontiguousarray(scales).reshape(blocks, size, heads, width).transpose(0, 2, 1, 3)


class FirstScaleForAllHeads(_Rescaled):
    """Takes one number from where there is one for each KV head (sgl-kernel-xpu #252)."""

    bug, broken_rule, capabilities = "B306", rules.SCALE_TRAVELS, PER_HEAD

    def rescaled(self, call: AttentionCall, keys: AnyArray, values: AnyArray) -> AttentionCall:
        return replace(call, key_scales=keys[:1].repeat(len(keys)), value_scales=values[:1].repeat(len(values)))


# What else the path of a quantized cache lacks, or reads.


class SinksOnlyOverPlainCaches(ReferenceCachedAttention):
    """Has no argument for sinks in the kernels of quantized caches (imp #1345)."""

    bug, broken_rule, capabilities = "B307", rules.DECLARED_TOLERANCE, only("e4m3/tensor", "int8/head", "int4/group-32")

    def attend(self, call: AttentionCall) -> Attended:
        return super().attend(call if call.cache is None else replace(call, sinks=None))


class TailDecodedWithItsScale(TailOfLastBlockRead, ReferenceCachedAttention):
    """Decodes whole blocks and multiplies what lies behind the last token by 0 (OpenVINO #30619)."""

    bug, broken_rule, capabilities = "B308", rules.POISON_INDEPENDENCE, only("int8/token-head", "uint8/token-head")

    def attend(self, call: AttentionCall) -> Attended:
        return ReferenceCachedAttention.attend(self, call) if call.cache is None else super().attend(call)
