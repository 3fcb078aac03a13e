"""Imposters that quantize wrongly: codes, scales, where scales lie, and what is done to quantized data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from kvconformance.engines.reference_quantizer import ReferenceQuantizer, shown, turned
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Single
from kvconformance.surfaces.quantizer.expected import group_of
from kvreference.float_codes import E4M3FN, encode_float
from kvreference.quantizers import Encoded as Quantized
from kvreference.quantizers import Scales, decode, encode
from kvspec import rules
from kvspec.numbers.groups import Extent
from kvspec.numbers.schemes import SCHEMES, Anchor
from kvspec.vocabulary import World


def only(*names: str) -> QuantizerCapabilities:
    """The capabilities of the reference with these schemes alone: the ones that the public bug was about."""
    schemes = {name: Declaration(SCHEMES[name]) for name in names}
    return replace(ReferenceQuantizer.capabilities, schemes=MappingProxyType(schemes))


INT8, FP8 = only("int8/token-head"), only("e4m3/token-head")


class _Faulty(ReferenceQuantizer):
    """Helpers for faults in codes."""

    def spread(self, scales: Array | None, x: Single) -> Array:
        """The scale of every element of `x`, 1 where it is 0."""
        wide = np.asarray(scales)[group_of(Extent(*x.shape), self.scheme)].reshape(x.shape)
        return np.where(wide == 0, np.float32(1), wide)


# Codes.


class TruncatesTowardZero(_Faulty):
    """The cast to int8 drops the fraction (vLLM #45361)."""

    bug, broken_rule, capabilities = "B196", rules.HALF_STEP, INT8

    def encode(self, x: Single) -> Encoded:
        right = super().encode(x)
        return replace(right, codes=np.trunc(x / self.spread(right.scales, x)).astype(np.int8))


class RoundsTwice(_Faulty):
    """fp8 codes come from a quotient that was rounded to fp16 before (FreeToken #103)."""

    bug, broken_rule, capabilities = "B197", rules.HALF_STEP, FP8

    def encode(self, x: Single) -> Encoded:
        right = super().encode(x)
        first = (x / self.spread(right.scales, x)).astype(np.float16).astype(np.float32)
        codes = encode_float(first, E4M3FN, saturate=True)
        return replace(right, codes=np.where(np.isfinite(x), codes, np.asarray(right.codes)))


class SaturatesEarly(_Faulty):
    """A software fp8 conversion takes the top exponent for infinity and ends at 240 (SGLang #40581)."""

    bug, broken_rule, capabilities = "B198", rules.HALF_STEP, FP8

    def encode(self, x: Single) -> Encoded:
        right = super().encode(x)
        most = 240 * self.spread(right.scales, x)
        return replace(right, codes=super().encode_with(np.clip(x, -most, most), np.asarray(right.scales), None).codes)


class WrapsBeyondTheLastCode(_Faulty):
    """Values beyond a given scale are not clamped before the cast (vllm-xpu-kernels #475)."""

    bug, broken_rule, capabilities = "B199", rules.HALF_STEP, INT8

    def encode_with(self, x: Single, scales: Single, zeros: Single | None) -> Encoded:
        right = super().encode_with(x, scales, zeros)
        return replace(right, codes=np.rint(x / self.spread(scales, x)).astype(np.int64).astype(np.int8))


# Which scale.


class ForgetsToDescale(ReferenceQuantizer):
    """An early return of the fp8 path skips the scale (vLLM #42580)."""

    bug, broken_rule, capabilities = "B201", rules.ONE_SCALE, FP8

    def decode(self, encoded: Encoded) -> Array:
        return super().decode(replace(encoded, scales=np.ones_like(np.asarray(encoded.scales))))


class OneWrapperIgnoresScales(ReferenceQuantizer):
    """The paged wrapper reads without scales, the other with them (FlashInfer #4979)."""

    bug, broken_rule, capabilities = "B202", rules.ONE_SCALE, INT8

    def read(self, slots: Array) -> Array:
        kept = self.blocks.scales.storage.copy()
        self.blocks.scales.storage[...] = 1
        found = super().read(slots)
        self.blocks.scales.storage[...] = kept
        return found


class GivenScaleNotUsedOnWrite(ReferenceQuantizer):
    """The scale from a file reaches the reader, and the writer keeps 1 (SGLang #20705)."""

    bug, broken_rule, capabilities = "B204", rules.ONE_SCALE, only("e4m3/tensor", "e4m3/token-head", "e5m2/head")

    def encode_with(self, x: Single, scales: Single, zeros: Single | None) -> Encoded:
        return replace(super().encode_with(x, np.ones_like(scales), zeros), scales=scales)


# Where scales lie.


class GroupsCrossHeads(ReferenceQuantizer):
    """Scales are found as if heads came before tokens (ik_llama.cpp #76)."""

    bug, broken_rule, capabilities = "B207", rules.SCALE_TRAVELS, INT8

    def read(self, slots: Array) -> Array:
        pages = self.blocks.scales
        kept = pages.storage.copy()
        pages.storage[...] = kept.transpose(0, 2, 1, 3).reshape(kept.shape)
        found = super().read(slots)
        pages.storage[...] = kept
        return found


class LateViewResetsScales(ReferenceQuantizer):
    """A second layer's view of the scales is made at its first use and filled with 1 (vLLM #51091)."""

    bug, broken_rule, capabilities = "B208", rules.SCALE_TRAVELS, INT8

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.viewed = False

    def copy(self, source: int, target: int) -> None:
        if not self.viewed:
            self.blocks.scales.storage[...] = 1
            self.viewed = True
        super().copy(source, target)


class StridesFromTheShape(ReferenceQuantizer):
    """Pages are padded, scales are looked for as if they were dense (vLLM #49716)."""

    bug, broken_rule, capabilities = "B209", rules.SCALE_TRAVELS, INT8

    def read(self, slots: Array) -> Array:
        pages = self.blocks.scales
        kept = pages.storage.copy()
        for block in range(1, len(kept)):
            pages.storage[block] = np.roll(kept.ravel(), block)[block * kept[0].size :][: kept[0].size].reshape(
                kept[0].shape
            )
        found = super().read(slots)
        pages.storage[...] = kept
        return found


class ScalesOfPartialBlockLost(ReferenceQuantizer):
    """Scales are stored when a block is full; those of the last, partly filled one are old (vLLM #50749)."""

    bug, broken_rule, capabilities = "B211", rules.SCALE_TRAVELS, INT8

    def write(self, slots: Array, x: Single) -> None:
        kept = self.blocks.scales.storage.copy()
        super().write(slots, x)
        last = int(slots.max(initial=-1))
        if last >= 0 and (last + 1) % self.world.block_size:
            self.blocks.scales.storage[last // self.world.block_size] = kept[last // self.world.block_size]


class ShapeForgetsInlineScales(ReferenceQuantizer):
    """The page is too short for its inline scales, which fall on the codes of the next page (kvcached #424)."""

    bug, broken_rule, capabilities = "B212", rules.SCALE_TRAVELS, INT8

    def write(self, slots: Array, x: Single) -> None:
        super().write(slots, x)
        for block in {int(slot) // self.world.block_size for slot in slots if slot >= 0}:
            if block + 1 < self.world.num_blocks:
                self.blocks.codes.storage[block + 1].reshape(-1)[0] = 1


# What scales are taken from.


class ScaleFlooredAtOne(ReferenceQuantizer):
    """The guard against zero is max(scale, 1) (mlxcel #717)."""

    bug, broken_rule, capabilities = "B213", rules.SCALE_FROM_VALID_DATA, INT8

    def encode(self, x: Single) -> Encoded:
        scales = np.maximum(np.asarray(super().encode(x).scales), np.float32(1))
        return super().encode_with(x, scales, None)


class DeadLanesJoinTheRange(ReferenceQuantizer):
    """Masked loads give 0, and 0 counts in the minimum and the maximum (lmdeploy #4849)."""

    bug, broken_rule, capabilities = "B214", rules.SCALE_FROM_VALID_DATA, only("q4_1", "kivi-value")

    def encode(self, x: Single) -> Encoded:
        return shown(encode(x, replace(self.scheme, anchor=Anchor.RANGE_WITH_ZERO)))


class CalibratesOverOldRows(ReferenceQuantizer):
    """The workspace of a long call still holds its rows when a shorter one is calibrated (imp #91)."""

    bug, broken_rule, capabilities = (
        "B216",
        rules.SCALE_FROM_VALID_DATA,
        only("int8/tensor", "int8/head", "e4m3/tensor"),
    )

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.workspace: Single | None = None

    def encode(self, x: Single) -> Encoded:
        old = self.workspace if self.workspace is not None else x[:0]
        self.workspace = np.concatenate([x, old[len(x) :]])
        found = super().encode(self.workspace)
        return replace(found, codes=np.asarray(found.codes)[: len(x)])


# What is done to quantized data.


class ShiftLeavesQuantizedKeys(ReferenceQuantizer):
    """A shift needs floats, so quantized keys keep their old rotation (llama.cpp #5652)."""

    bug, broken_rule, capabilities = "B217", rules.COMMUTES, only("q8_0", "int8/token-head")

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        return


class InverseSkippedOnOnePath(ReferenceQuantizer):
    """Rows are mirrored before they are quantized; the path of a shift does not mirror them back (llama.cpp #25382)."""

    bug, broken_rule, capabilities = "B218", rules.COMMUTES, INT8

    def write(self, slots: Array, x: Single) -> None:
        super().write(slots, np.ascontiguousarray(x[..., ::-1]))

    def read(self, slots: Array) -> Array:
        return super().read(slots)[..., ::-1]

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        self.write(slots, turned(super().read(slots).astype(np.float32), cosine, sine))


class OldCacheSurvivesARestart(ReferenceQuantizer):
    """A second generation begins on the cache of the first (LightCompress #350)."""

    bug, broken_rule, capabilities = "B221", rules.COMMUTES, INT8

    def restart(self) -> None:
        return


class CropRemovesNothing(ReferenceQuantizer):
    """The trim of a quantized cache is a stub, so rejected draft tokens stay (mlx-vlm #1453)."""

    bug, broken_rule, capabilities = "B245", rules.COMMUTES, INT8

    def crop(self, count: int) -> None:
        return


class CropLeavesScales(ReferenceQuantizer):
    """Codes are cut and scales are not, so later tokens are read with those of rejected ones (rMLX #382)."""

    bug, broken_rule, capabilities = "B246", rules.COMMUTES, INT8

    def crop(self, count: int) -> None:
        self.held = [Quantized(whole.codes[:-count], whole.scales) for whole in self.held]

    def contents(self) -> Array:
        whole = [Quantized(q.codes, Scales(q.scales.scale[: len(q.codes)])) for q in self.held]
        return np.array([decode(sequence, self.scheme) for sequence in whole])


class CropCountsHeadsAsTokens(ReferenceQuantizer):
    """Scales are counted in rows of a head and cut to a number of tokens (rMLX #289)."""

    bug, broken_rule, capabilities = "B247", rules.COMMUTES, INT8

    def crop(self, count: int) -> None:
        super().crop(count)
        for whole in self.held:
            whole.scales.scale.reshape(-1)[len(whole.codes) :] = 0
