"""What an element costs in bits, its share of scale and zero included."""

from __future__ import annotations

from fractions import Fraction

from kvspec.numbers.groups import Extent, num_groups
from kvspec.numbers.schemes import Scheme, Zero


def group_bits(scheme: Scheme) -> int:
    """Bits stored once for each group: its scale, and its minimum or its zero point (as wide as a code)."""
    bits = scheme.scale_format.bits
    if scheme.zero is Zero.ZERO_POINT:
        bits += scheme.code_bits
    elif scheme.zero is Zero.MINIMUM:
        bits += (scheme.zero_format or scheme.scale_format).bits
    return bits


def bits_per_element(scheme: Scheme, extent: Extent) -> Fraction:
    """Bits per element of keys or values of `extent`, without padding or alignment."""
    return scheme.code_bits + Fraction(group_bits(scheme) * num_groups(extent, scheme), extent.elements)
