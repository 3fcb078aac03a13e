"""The quantizer of the PyPI package hqq, which transformers' QuantizedCache and others build on."""

from __future__ import annotations

from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from hqq.core.quantize import Quantizer

from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvspec.numbers.schemes import Anchor, Division, Granularity, IntegerCodes, Scheme, Zero
from kvspec.vocabulary import Surface, World

GROUP = 8


def _scheme(bits: int) -> Scheme:
    levels = 2**bits - 1
    return Scheme(
        f"hqq-int{bits}",
        IntegerCodes(bits, 0, levels),
        levels,
        Granularity.GROUP,
        GROUP,
        anchor=Anchor.RANGE,
        zero=Zero.MINIMUM,
        division=Division.WITHIN_2_ULP,
    )


class HqqQuantizer:
    """Groups of channels (axis 1), the zero moved by hqq's own optimisation: only scales have a rule to follow."""

    capabilities = QuantizerCapabilities(
        schemes=MappingProxyType({s.name: Declaration(s, bounded=False) for s in (_scheme(4), _scheme(8))}),
        head_dims=(2 * GROUP, 4 * GROUP),
        not_claimed=MappingProxyType(
            {
                "quant/half-step": "the zero is moved by an optimisation that promises no half step",
                "quant/one-scale": "codes are not shown",
            }
        ),
    )

    def __init__(self, world: World) -> None:
        self.bits = 4 if Setting.of(world).name.endswith("4") else 8

    def encode(self, x: Single) -> Encoded:
        """Packed codes, scales and zeros of hqq."""
        codes, meta = Quantizer.quantize(
            torch.from_numpy(x), nbits=self.bits, group_size=GROUP, axis=1, device="cpu", compute_dtype=torch.float32
        )
        meta["compute_dtype"] = torch.float32
        return Encoded(scales=meta["scale"].numpy().ravel(), handle=(codes, meta))

    def decode(self, encoded: Encoded) -> Array:
        """What hqq reads."""
        found: Any = Quantizer.dequantize(*encoded.handle)
        return np.asarray(found)


def engine() -> Engine:
    """The package as it is installed."""
    return Engine("hqq", version("hqq"), {Surface.QUANTIZER: HqqQuantizer})
