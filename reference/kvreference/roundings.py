"""Binary floating-point formats as numbers, and correctly rounded conversion into them (nearest, ties to even).

Everything is computed in float64, whose powers of two are exact, so no result is ever rounded twice. Values stay
float64 arrays that happen to be representable in the narrow format: NumPy has no bfloat16 and no 8-bit floats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kvreference.arrays import DeclarationError, Float


@dataclass(frozen=True, slots=True)
class Format:
    """`precision` significant bits (the hidden one included), smallest normal `2**emin`, largest finite `largest`."""

    name: str
    precision: int
    emin: int
    largest: float

    @property
    def unit(self) -> float:
        """Unit roundoff: the largest relative error of a conversion into the normal range."""
        return 2.0**-self.precision

    @property
    def smallest(self) -> float:
        """Smallest positive subnormal number; half of it bounds the absolute error below the normal range."""
        return 2.0 ** (self.emin - self.precision + 1)


FP32 = Format("fp32", 24, -126, (2 - 2.0**-23) * 2.0**127)
BF16 = Format("bf16", 8, -126, (2 - 2.0**-7) * 2.0**127)
FP16 = Format("fp16", 11, -14, 65504.0)
E4M3 = Format("e4m3fn", 4, -6, 448.0)
E5M2 = Format("e5m2", 3, -14, 57344.0)
FORMATS = {f.name: f for f in (FP32, BF16, FP16, E4M3, E5M2)}


def format_named(name: str) -> Format:
    """The format called `name`. Raises `DeclarationError` for an unknown name."""
    if name not in FORMATS:
        raise DeclarationError(f"unknown floating-point format {name!r}, expected one of {sorted(FORMATS)}")
    return FORMATS[name]


def round_to(x: Float, target: Format) -> Float:
    """`x` (float64, any shape) correctly rounded to `target`; beyond its largest number to infinity, NaN stays NaN."""
    if target is FP32:
        with np.errstate(over="ignore", under="ignore"):
            return x.astype(np.float32).astype(np.float64)
    exponent = np.maximum(np.frexp(x)[1] - 1, target.emin) - (target.precision - 1)
    rounded = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
    return np.where(np.abs(rounded) > target.largest, np.copysign(np.inf, x), rounded)
