"""What PTX says about rounding: contracted multiply-adds and approximate division in code that must be exact."""

from __future__ import annotations

import re

_CONTRACTED = re.compile(r"^\s*(?:@\S+\s+)?(?:fma|mad)\S*\.f(?:32|64)\b", re.MULTILINE)
_APPROXIMATE = re.compile(
    r"^\s*(?:@\S+\s+)?(?:div\.(?:full|approx)|rcp\.approx|sqrt\.approx|rsqrt)\S*\.f32\b", re.MULTILINE
)


def contracted(text: str) -> int:
    """Instructions that multiply and add fp32 or fp64 with one rounding."""
    return len(_CONTRACTED.findall(text))


def approximate(text: str) -> int:
    """Divisions, reciprocals and roots of fp32 that are not correctly rounded."""
    return len(_APPROXIMATE.findall(text))
