"""The quantizers of the PyPI package gguf, written in NumPy after those of llama.cpp."""

from __future__ import annotations

from importlib.metadata import version
from types import MappingProxyType

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvspec.numbers.schemes import Q4_0, Q4_1, Q5_0, Q8_0, Scheme, Zero
from kvspec.vocabulary import Surface, World

KINDS = {
    "q8_0": (Q8_0, GGMLQuantizationType.Q8_0),
    "q4_0": (Q4_0, GGMLQuantizationType.Q4_0),
    "q4_1": (Q4_1, GGMLQuantizationType.Q4_1),
    "q5_0": (Q5_0, GGMLQuantizationType.Q5_0),
}


class GgufQuantizer:
    """Blocks of 32 channels: bytes from `gguf.quants.quantize`, taken apart here to show codes and scales."""

    capabilities = QuantizerCapabilities(
        schemes=MappingProxyType({name: Declaration(scheme) for name, (scheme, _) in KINDS.items()}),
        head_dims=(32, 64),
    )

    def __init__(self, world: World) -> None:
        self.scheme, self.kind = KINDS[Setting.of(world).name]

    def encode(self, x: Single) -> Encoded:
        """Codes and scales from the bytes of every block."""
        data = quantize(x, self.kind)
        return taken_apart(data.reshape(-1, data.shape[-1] // (x.shape[-1] // 32)), x.shape, self.scheme, data)

    def decode(self, encoded: Encoded) -> Array:
        """What gguf reads in the bytes."""
        return np.asarray(dequantize(encoded.handle, self.kind))


def taken_apart(blocks: Array, shape: tuple[int, ...], scheme: Scheme, data: Array) -> Encoded:
    """Codes and scales of blocks `[groups, bytes]`: fp16 scale, fp16 minimum, fifth bits, then codes."""
    scales, rest = blocks[:, :2].copy().view(np.float16).astype(np.float32), blocks[:, 2:]
    zeros = None
    if scheme.zero is Zero.MINIMUM:
        zeros, rest = rest[:, :2].copy().view(np.float16).astype(np.float32).ravel(), rest[:, 2:]
    return Encoded(codes_of(rest, scheme).reshape(shape), scales.ravel(), zeros, data)


def codes_of(rest: Array, scheme: Scheme) -> Array:
    """Codes `[groups, 32]`, bias removed."""
    if scheme.code_bits == 8:
        return rest.copy().view(np.int8)
    fifth = np.zeros((len(rest), 32), np.int64)
    if scheme.code_bits == 5:
        fifth = np.unpackbits(rest[:, :4], axis=1, bitorder="little").astype(np.int64)
        rest = rest[:, 4:]
    nibbles = np.concatenate([rest & 15, rest >> 4], axis=1).astype(np.int64)
    return nibbles + 16 * fifth - getattr(scheme.codes, "bias", 0)


def engine() -> Engine:
    """The package as it is installed."""
    return Engine("gguf", version("gguf"), {Surface.QUANTIZER: GgufQuantizer})
