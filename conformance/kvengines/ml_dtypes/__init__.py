"""The 8-bit floats of ml_dtypes and of torch, with the scales that a cache puts around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray

from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvspec.numbers.schemes import E4M3, E4M3_NAN, E5M2_INF, Granularity, Scheme
from kvspec.vocabulary import Surface, World

Cast = Callable[[Single], NDArray[np.uint8]]


def _by_ml_dtypes(kind: Any) -> tuple[Cast, Callable[[NDArray[np.uint8]], Array]]:
    return lambda x: x.astype(kind).view(np.uint8), lambda codes: codes.view(kind).astype(np.float32)


def _by_torch(kind: torch.dtype) -> tuple[Cast, Callable[[NDArray[np.uint8]], Array]]:
    def read(codes: NDArray[np.uint8]) -> Array:
        return np.asarray(torch.from_numpy(codes).view(kind).float())

    return lambda x: np.asarray(torch.from_numpy(np.ascontiguousarray(x)).to(kind).view(torch.uint8)), read


CASTS = {
    "ml-dtypes-e4m3fn": (E4M3_NAN, _by_ml_dtypes(ml_dtypes.float8_e4m3fn)),
    "ml-dtypes-e5m2": (E5M2_INF, _by_ml_dtypes(ml_dtypes.float8_e5m2)),
    "torch-e4m3fn": (E4M3, _by_torch(torch.float8_e4m3fn)),
    "torch-e5m2": (E5M2_INF, _by_torch(torch.float8_e5m2)),
}
"""Overflow is part of each scheme: NaN beyond 464, infinity beyond 61440, or the largest number."""


class Fp8Quantizer:
    """The conversions of ml_dtypes and torch behind a scale per token and head, taken in NumPy."""

    capabilities = QuantizerCapabilities(
        schemes=MappingProxyType(
            {
                name: Declaration(replace(scheme.per(Granularity.TOKEN_HEAD), name=name))
                for name, (scheme, _) in CASTS.items()
            }
        ),
        specials=True,
        given_scales=True,
    )

    def __init__(self, world: World) -> None:
        name = Setting.of(world).name
        self.scheme: Scheme = self.capabilities.schemes[name].scheme
        self.cast, self.read = CASTS[name][1]

    def encode(self, x: Single) -> Encoded:
        """The largest finite magnitude of a row over that of the format, then the conversion."""
        anchor = np.where(np.isfinite(x), np.abs(x), 0).max(-1)
        return self.encode_with(x, (anchor / np.float32(self.scheme.divisor)).ravel(), None)

    def encode_with(self, x: Single, scales: Single, zeros: Array | None) -> Encoded:
        """The conversion of `x / scale`; a scale of zero divides nothing."""
        wide = scales.reshape(*x.shape[:2], 1)
        codes = self.cast(
            np.where(wide == 0, np.where(np.isfinite(x), np.float32(0), x), x / np.where(wide == 0, 1, wide))
        )
        return Encoded(codes, scales)

    def decode(self, encoded: Encoded) -> Array:
        """The number of the code times the scale, in fp32."""
        codes, scales = np.asarray(encoded.codes), np.asarray(encoded.scales)
        return np.asarray(self.read(codes) * scales.reshape(*codes.shape[:2], 1))


def engine() -> Engine:
    """Both, as they are installed."""
    return Engine("ml-dtypes", f"{version('ml_dtypes')}, torch {version('torch')}", {Surface.QUANTIZER: Fp8Quantizer})
