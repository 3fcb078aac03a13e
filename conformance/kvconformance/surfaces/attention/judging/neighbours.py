"""What a write may store where the scheme's division is no function: neighbours at midpoints, scales within 2 ulp."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kvconformance.surfaces.attention.formats import dynamic
from kvconformance.surfaces.attention.problems.sides import Side
from kvconformance.surfaces.attention.protocol import loaded
from kvreference.arrays import AnyArray, Float
from kvreference.codes import float_kind
from kvreference.float_codes import decode_float, encode_float
from kvreference.nibbles import pack, unpack
from kvreference.quantizers import encode
from kvreference.roundings import format_named, round_to
from kvreference.scheme_arithmetic import subtract
from kvspec.numbers.bounds import kappa_of
from kvspec.numbers.floats import power_of_two
from kvspec.numbers.schemes import Divides, Division, IntegerCodes, Scheme, Zero

Parts = tuple[AnyArray, AnyArray, AnyArray]
"""Codes, scales, zeros in their storage, `[tokens, kv_heads, width]`; width 0 where tokens have none of their own."""
Range = tuple[Float, Float]
ULPS = 2.5
"""Units in the last place between two scales: 2 of an undeclared division, and half a one of the reference's."""
ROUNDOFFS = 4
"""Unit roundoffs by which a quotient may be off: 2 ulp, or the three roundings of an inverse and its product."""
EXACT_ENOUGH = 2.0**-40
"""More than float64 adds to a quotient, in codes, and far less than any kappa."""


def admitted(side: Side, rows: Float, seen: Parts) -> Parts:
    """What the reference stores of `rows`, and in its place what is seen wherever the scheme allows that as well."""
    reference = side.stored(rows)
    if side.one_code or not len(rows):
        return reference
    if not dynamic(side.scheme):
        found = side.scales(rows.shape)
        zero = np.zeros_like(found.scale) if found.zero is None else found.zero
        scale = found.scale.astype(np.float64)
        codes = _codes(side, rows, (scale, scale), zero.astype(np.float64), (reference[0], seen[0]))
        return codes, reference[1], reference[2]
    divides, right = _scales(side, rows, seen[1])
    scales = np.where(right, seen[1], reference[1])
    zeros, subtracts = _zeros(side, rows, divides, (reference[2], seen[2]))
    return _codes(side, rows, divides, subtracts, (reference[0], seen[0])), scales, zeros


def _wide(side: Side) -> Scheme:
    """The scheme with scales and minima as they are computed."""
    arithmetic = side.exactly.arithmetic
    return replace(side.exactly, scale_format=arithmetic, zero_format=arithmetic)


def _grouped(rows: Float, groups: int) -> Float:
    """`[tokens, kv_heads, groups, channels]`."""
    return rows.reshape(*rows.shape[:2], groups, -1)


def _scales(side: Side, rows: Float, seen: AnyArray) -> tuple[Range, NDArray[np.bool_]]:
    """Between which scales the one lies that divides, and where the stored ones are right.

    One without a normal reciprocal may be anything, as may what it divides: a reciprocal that overflows makes a zero
    group. Its range is empty of numbers.
    """
    scheme, numbers = side.exactly, _numbers(seen)
    computed = encode(rows.astype(np.float32), _wide(side)).scales.scale.astype(np.float64)
    unit, smallest = 2 * float(scheme.arithmetic.unit_roundoff), float(scheme.arithmetic.smallest)
    slack = ULPS * np.maximum(np.ldexp(unit, np.frexp(computed)[1] - 1), smallest)
    low, high = computed - slack, computed + slack
    least, most = (round_to(x, format_named(scheme.scale_format.name)) for x in (low, high))
    normal = float(power_of_two(scheme.arithmetic.emin))
    ordinary = (np.abs(computed) >= 2 * normal) & (np.abs(computed) <= 1 / normal) & (least * most > 0)
    right = (least <= numbers) & (numbers <= most)
    if scheme.divides is Divides.STORED or scheme.scale_format is scheme.arithmetic:
        low = high = np.where(right, numbers, computed)
    return (np.where(ordinary, low, np.nan), np.where(ordinary, high, np.nan)), right | ~ordinary


def _zeros(side: Side, rows: Float, divides: Range, both: tuple[AnyArray, AnyArray]) -> tuple[AnyArray, Float]:
    """Zeros as they are to be stored, of the reference's and those that are seen, and what is added or subtracted."""
    scheme, (reference, seen) = side.exactly, both
    if scheme.zero is Zero.SYMMETRIC or not isinstance(scheme.codes, IntegerCodes):
        return reference, np.zeros_like(divides[0])
    if scheme.zero is Zero.MINIMUM:
        wide = encode(rows.astype(np.float32), _wide(side)).scales.zero
        computed = scheme.divides is Divides.COMPUTED and wide is not None
        return reference, wide.astype(np.float64) if computed and wide is not None else _numbers(reference)
    below = np.maximum(-_grouped(rows, divides[0].shape[2]).min(axis=3), 0)
    low, high = _integers((below / divides[1], below / divides[0]), scheme, scheme.codes)
    right = ~((seen < low) | (seen > high))
    zeros = np.where(right, seen, reference)
    return zeros, zeros.astype(np.float64)


def _codes(side: Side, rows: Float, divides: Range, zero: Float, both: tuple[AnyArray, AnyArray]) -> AnyArray:
    """Codes of the reference, or those that are seen where they lie between the lowest and the highest allowed."""
    scheme = side.exactly
    packed = scheme.code_bits == 4
    reference, seen = (unpack(codes, scheme) if packed else codes for codes in both)
    values, zero = _grouped(rows, divides[0].shape[2]), zero[..., None]
    if scheme.zero is Zero.MINIMUM:
        values, zero = subtract(values.astype(np.float32), zero.astype(np.float32), scheme).astype(np.float64), zero * 0
    ends = [values / x[..., None] for x in divides]
    quotients = np.minimum(*ends), np.maximum(*ends)
    theirs = _grouped(seen, divides[0].shape[2])
    if isinstance(scheme.codes, IntegerCodes):
        low, high = _integers((quotients[0] + zero, quotients[1] + zero), scheme, scheme.codes)
    else:
        low, high = _floats(quotients, scheme)
        numbers = decode_float(theirs.astype(np.uint8), float_kind(scheme))
        theirs = np.where(np.isnan(numbers), np.inf, numbers)
    # Where nothing is known, NaN, nothing is required.
    found = np.where(~((theirs < low) | (theirs > high)).reshape(seen.shape), seen, reference).astype(seen.dtype)
    return pack(found, scheme) if packed else found


def _integers(quotients: Range, scheme: Scheme, codes: IntegerCodes) -> Range:
    """The lowest and the highest code: a neighbour where a quotient lies within kappa of a midpoint."""
    reach = _reach(scheme)
    low, high = np.ceil(quotients[0] - reach), np.floor(quotients[1] + reach)
    return np.clip(low, codes.lowest, codes.highest), np.clip(high, codes.lowest, codes.highest)


@cache
def _reach(scheme: Scheme) -> float:
    """Half a step and the largest kappa of any division, so that none is accused."""
    return float(max(kappa_of(replace(scheme, division=division)) for division in Division)) + 0.5 + EXACT_ENOUGH


def _floats(quotients: Range, scheme: Scheme) -> Range:
    """The lowest and the highest number whose code is allowed."""
    kind, saturate = float_kind(scheme), scheme.overflow.name == "SATURATE"
    off = ROUNDOFFS * float(scheme.arithmetic.unit_roundoff)
    moved = quotients[0] - off * np.abs(quotients[0]), quotients[1] + off * np.abs(quotients[1])
    low, high = (decode_float(encode_float(x.astype(np.float32), kind, saturate=saturate), kind) for x in moved)
    return low, high


def _numbers(array: AnyArray) -> Float:
    """Scales or zeros as numbers."""
    return loaded(array, "bf16") if array.dtype == np.uint16 else array.astype(np.float64)
