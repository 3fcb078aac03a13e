"""The affine quantization primitives of torchao: int8 symmetric, uint8 with a zero point, and fp8."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torchao.quantization.quant_primitives import (
    MappingType,
    _choose_scale_float8,
    _dequantize_affine_float8,
    _quantize_affine_float8,
    choose_qparams_affine,
    dequantize_affine,
    quantize_affine,
)

from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvspec.numbers.floats import FP32, power_of_two
from kvspec.numbers.schemes import E4M3, INT8, UINT8, Division, Granularity, IntegerCodes
from kvspec.vocabulary import Surface, World

EPS = power_of_two(FP32.emin)
"""torchao never stores a smaller integer scale: the smallest normal number of the input's type."""
SYMMETRIC = replace(
    INT8,
    name="int8-symmetric",
    codes=IntegerCodes(8, -128, 127),
    divisor=Fraction(255, 2),
    division=Division.RECIPROCAL,
    floor=EPS,
)
ASYMMETRIC = replace(UINT8, name="uint8-asymmetric", division=Division.RECIPROCAL, floor=EPS)
SCHEMES = {
    scheme.name: scheme
    for base in (SYMMETRIC, ASYMMETRIC, E4M3)
    for scheme in (base.per(Granularity.TOKEN_HEAD), base.per(Granularity.TENSOR), base.per(Granularity.GROUP, 32))
}


class TorchaoQuantizer:
    """`choose_qparams_affine`, `quantize_affine`, `dequantize_affine`, and their fp8 counterparts."""

    capabilities = QuantizerCapabilities(
        schemes=MappingProxyType({name: Declaration(scheme) for name, scheme in SCHEMES.items()}),
        # With groups of one element torchao takes one scale for all: nobody has heads of one channel.
        head_dims=(32, 8, 3, 2),
    )

    def __init__(self, world: World) -> None:
        setting = Setting.of(world)
        self.scheme, self.setting = SCHEMES[setting.name], setting

    def block(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many elements along each axis share a scale."""
        if self.scheme.granularity is Granularity.TENSOR:
            return shape
        return (1, 1, self.scheme.group_size or shape[2])

    def encode(self, x: Single) -> Encoded:
        """Scales by torchao, codes by torchao."""
        data, block = torch.from_numpy(x), self.block(x.shape)
        if not isinstance(self.scheme.codes, IntegerCodes):
            scale = _choose_scale_float8(data, list(block))
            codes = _quantize_affine_float8(data, scale)
            return Encoded(codes.view(torch.uint8).numpy(), scale.numpy().ravel(), None, (codes, scale))
        symmetric = self.scheme.name.startswith("int8")
        mapping = MappingType.SYMMETRIC if symmetric else MappingType.ASYMMETRIC
        dtype = torch.int8 if symmetric else torch.uint8
        scale, zero = choose_qparams_affine(data, mapping, block, dtype)
        codes = quantize_affine(data, block, scale, zero, dtype)
        zeros = None if symmetric else zero.numpy().ravel().astype(np.float32)
        return Encoded(codes.numpy(), scale.numpy().ravel(), zeros, (codes, scale, zero, block, dtype))

    def decode(self, encoded: Encoded) -> Array:
        """Dequantization by torchao."""
        if not isinstance(self.scheme.codes, IntegerCodes):
            return np.asarray(_dequantize_affine_float8(*encoded.handle))
        codes, scale, zero, block, dtype = encoded.handle
        found: Any = dequantize_affine(codes, block, scale, zero, dtype)
        return np.asarray(found)


def engine() -> Engine:
    """The package as it is installed."""
    return Engine("torchao", version("torchao"), {Surface.QUANTIZER: TorchaoQuantizer})
