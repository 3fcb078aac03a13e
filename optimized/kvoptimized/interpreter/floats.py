"""Bit patterns of small floating-point formats on NumPy arrays: widening is exact, narrowing rounds once.

Sources: PTX ISA, `cvt`: round to nearest even, `.satfinite` for the 8-bit formats (infinities and overflow give the
largest finite magnitude), the canonical NaN of each format, subnormals kept. The two formats without infinities and
negative zero ("fnuz") are those of AMD's CDNA3: `v_cvt_pk_fp8_f32` and `v_cvt_pk_bf8_f32`, which Triton runs with
MODE.FP16_OVFL set, so that overflow gives the largest finite magnitude. Infinities, which that mode leaves alone,
become NaN; that infinity does is our reading of AMD's conversions, not checked on a card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[Any]
"""Unsigned integers that hold bit patterns."""


_LONG_BYTES = 8


@dataclass(frozen=True, slots=True)
class Narrow:
    """A format below fp32: `fraction` stored significand bits, exponent `emin` of the smallest normal number.

    `largest` is the pattern of the largest finite magnitude, `nan` what conversions give for NaN; `saturates` says
    whether overflow gives `largest` or infinity; `unsigned_zero` that the pattern of negative zero is the only NaN.
    """

    storage: type[np.unsignedinteger[Any]]
    fraction: int
    emin: int
    largest: int
    nan: int
    saturates: bool
    unsigned_zero: bool = False

    @property
    def sign(self) -> int:
        """The pattern of negative zero."""
        return 1 << (8 * self.storage().itemsize - 1)


BF16 = Narrow(np.uint16, 7, -126, 0x7F7F, 0x7FFF, False)
FP16 = Narrow(np.uint16, 10, -14, 0x7BFF, 0x7FFF, False)
E4M3FN = Narrow(np.uint8, 3, -6, 0x7E, 0x7F, True)
E5M2 = Narrow(np.uint8, 2, -14, 0x7B, 0x7F, True)
E4M3FNUZ = Narrow(np.uint8, 3, -7, 0x7F, 0x80, True, unsigned_zero=True)
E5M2FNUZ = Narrow(np.uint8, 2, -15, 0x7F, 0x80, True, unsigned_zero=True)

EIGHT_BITS = {"fp8e4nv": E4M3FN, "fp8e5": E5M2, "fp8e4b8": E4M3FNUZ, "fp8e5b16": E5M2FNUZ}
NARROW = {"bf16": BF16, "fp16": FP16, **EIGHT_BITS}
"""Formats by the name of their Triton type."""


def narrow(values: NDArray[Any], format: Narrow, toward_zero: bool = False) -> Bits:
    """Patterns of fp32 or fp64 `values` in `format`, rounded to nearest even, or toward zero."""
    if format is BF16 and values.dtype == np.float32:
        return _narrow_bf16(values, toward_zero)
    magnitude = np.abs(values).astype(np.float64)
    ordinary = np.isfinite(magnitude)
    finite = np.where(ordinary, magnitude, 0.0)
    exponent = np.maximum(np.where(finite == 0, format.emin, np.frexp(finite)[1] - 1), format.emin)
    steps = np.ldexp(finite, format.fraction - exponent)
    whole = np.trunc(steps) if toward_zero else np.rint(steps)
    patterns = ((exponent - format.emin).astype(np.int64) << format.fraction) + whole.astype(np.int64)
    overflowed = format.largest if format.saturates or toward_zero else format.largest + 1
    patterns = np.where(patterns > format.largest, overflowed, patterns)
    infinite = format.largest if format.saturates else format.largest + 1
    patterns = np.where(ordinary, patterns, infinite)
    negative = np.signbit(values) & ((patterns != 0) | (not format.unsigned_zero))
    patterns = np.where(negative, patterns | format.sign, patterns)
    lost = ~ordinary if format.unsigned_zero else np.isnan(values)
    return np.where(lost, format.nan, patterns).astype(format.storage)


def _narrow_bf16(values: NDArray[np.float32], toward_zero: bool) -> Bits:
    """The top half of each fp32 pattern, after half of the last place kept has been added."""
    patterns = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    high = patterns >> np.uint32(16)
    if not toward_zero:
        high = (patterns + ((high & np.uint32(1)) + np.uint32(0x7FFF))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint16(BF16.nan), high.astype(np.uint16))


def widen(patterns: Bits, format: Narrow) -> NDArray[np.float32]:
    """The fp32 numbers that `patterns` of `format` stand for, exactly."""
    if format is BF16:
        return (patterns.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if format is FP16:
        return patterns.view(np.float16).astype(np.float32)
    values: NDArray[np.float32] = _table(format)[patterns]
    return values


@cache
def _table(format: Narrow) -> NDArray[np.float32]:
    """Value of every pattern of an 8-bit format."""
    patterns = np.arange(256)
    magnitude, fraction = patterns & 0x7F, patterns & ((1 << format.fraction) - 1)
    exponent = np.maximum((magnitude >> format.fraction) - 1, 0)
    hidden = np.where(magnitude >> format.fraction, 1 << format.fraction, 0)
    values = np.ldexp((hidden + fraction).astype(np.float64), exponent + format.emin - format.fraction)
    values[magnitude > format.largest] = np.nan
    if format is E5M2:
        values[magnitude == format.largest + 1] = np.inf
    signed: NDArray[np.float64] = np.where(patterns & format.sign, -values, values)
    if format.unsigned_zero:
        signed[format.sign] = np.nan
    return signed.astype(np.float32)


def to_integer(
    values: NDArray[Any], storage: np.dtype[Any], rounding: Callable[..., NDArray[Any]] = np.trunc
) -> NDArray[Any]:
    """`values` as integers of the type `storage`: the nearest bound out of range.

    NaN gives 0, but the highest bit alone where the source is fp64 or the target has 64 bits.
    """
    bounds = np.iinfo(storage)
    whole = rounding(values.astype(np.float64))
    above, below, lost = whole >= float(bounds.max), whole <= float(bounds.min), np.isnan(whole)
    inside = np.where(above | below | lost, 0, whole).astype(storage)
    result = np.where(above, storage.type(bounds.max), np.where(below, storage.type(bounds.min), inside))
    highest = np.array(1 << (8 * storage.itemsize - 1), f"u{storage.itemsize}").view(storage)
    wide = values.dtype == np.float64 or storage.itemsize == _LONG_BYTES
    return np.where(lost, highest if wide else storage.type(0), result)
