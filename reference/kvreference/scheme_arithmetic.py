"""The arithmetic of a quantization scheme: every operation is rounded once, to float32 or to what the scheme says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvreference.roundings import FORMATS, round_to
from kvspec.numbers.schemes import Scheme

Single = NDArray[np.float32]


def operate(a: Any, b: Any, operation: np.ufunc, scheme: Scheme) -> Single:
    """`operation` rounded once to the scheme's arithmetic."""
    name = scheme.arithmetic.name
    if name == "fp32":
        return np.asarray(operation(a, b), np.float32)
    exact = operation(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return round_to(exact, FORMATS[name]).astype(np.float32)


def divide(a: Any, b: Any, scheme: Scheme) -> Single:
    """fl(a / b)."""
    return operate(a, b, np.divide, scheme)


def subtract(a: Single, b: Single, scheme: Scheme) -> Single:
    """fl(a - b)."""
    return operate(a, b, np.subtract, scheme)


def narrow(x: Single, name: str) -> Single:
    """`x` rounded to the format called `name`, still as float32."""
    return x if name == "fp32" else round_to(x.astype(np.float64), FORMATS[name]).astype(np.float32)
