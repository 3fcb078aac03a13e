"""The keys or the values of a quantized cache: real numbers, their codes and scales, and what those mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kvconformance.surfaces.attention.formats import CacheFormat, dynamic, signed
from kvconformance.surfaces.attention.protocol import stored
from kvreference.arrays import AnyArray, Float
from kvreference.nibbles import pack
from kvreference.quantizers import Encoded, Scales, decode, encode, encode_with, scale_shape
from kvreference.roundings import format_named, round_to
from kvspec.numbers.schemes import Division, IntegerCodes, Scheme, Zero


@dataclass(frozen=True, eq=False)
class Side:
    """Keys or values under a scheme. `fixed` (scale, zero) replaces what rows would say; one number for each KV head.

    A row's codes depend on the row alone, so that any part of a request has the codes that it has in the whole.
    """

    scheme: Scheme
    fixed: tuple[Float, Float] | None = None

    @property
    def one_code(self) -> bool:
        """Whether every value has one code, which can be asked for."""
        inexact = self.scheme.division is Division.INVERSE_FIRST and self.fixed is not None
        return not inexact and self.scheme.division is not Division.WITHIN_2_ULP

    @cached_property
    def exactly(self) -> Scheme:
        """The scheme with a division that has one code for each value: most codes are handed over, not asked for."""
        return self.scheme if self.one_code else replace(self.scheme, division=Division.DIVIDE)

    def encode(self, rows: Float) -> Encoded:
        """Codes and scales of `rows` `[tokens, kv_heads, head_dim]`, at least one token, all finite."""
        single = rows.astype(np.float32)
        if self.fixed is None:
            return encode(single, self.exactly)
        scales = self.scales(rows.shape)
        return Encoded(encode_with(single, scales, self.exactly), scales)

    def scales(self, shape: tuple[int, ...]) -> Scales:
        """The fixed scales of an array of `shape`."""
        if self.fixed is None:
            raise TypeError(f"{self.scheme.name}: scales come from rows")
        wanted = scale_shape(shape, self.scheme)
        scale, zero = (
            np.broadcast_to(x[:, None] if wanted[1] > 1 else x[:1, None], wanted).astype(np.float32) for x in self.fixed
        )
        return Scales(scale, None if self.scheme.zero is Zero.SYMMETRIC else zero)

    def decoded(self, rows: Float) -> Float:
        """What the codes of `rows` mean, exact in float64; rows that hold NaN mean NaN."""
        if not len(rows):
            return rows
        lost = _lost(rows)
        found = decode(self.encode(np.where(lost[:, None, None], 0.0, rows)), self.scheme)
        found[lost] = np.nan
        return found

    def sizes(self, rows: Float) -> Float:
        """The sum of the magnitudes that a decoded element is the sum of: code times scale, and what is added to it."""
        return self._sizes(rows, 0.0)

    def units(self, rows: Float) -> Float:
        """What an absolute error of a weight is multiplied by, whether or not a scale was a factor of the weight.

        `sizes` with scales of 1 in place of smaller ones, but for scales of 0: 0 times a weight has no error.
        """
        return self._sizes(rows, 1.0)

    def _sizes(self, rows: Float, least: float) -> Float:
        """`sizes` with `least` in place of smaller scales other than 0."""
        if not len(rows):
            return rows
        lost = _lost(rows)
        encoded = self.encode(np.where(lost[:, None, None], 0.0, rows))
        scale, zero = np.abs(encoded.scales.scale), encoded.scales.zero
        scale = np.where(scale == 0, scale, np.maximum(scale, np.float32(least)))
        nothing = None if zero is None else np.zeros_like(zero)
        product = decode(Encoded(encoded.codes, Scales(scale, nothing)), self.scheme)
        found = np.abs(product)
        if zero is not None:
            found = found + np.abs(decode(Encoded(encoded.codes, Scales(scale, zero)), self.scheme) - product)
        found[lost] = np.nan
        return found

    def token_scales(self, rows: Float) -> Float:
        """The magnitudes of the scales that each token and head has of its own, `[tokens, kv_heads]`."""
        if not len(rows):
            return np.ones(rows.shape[:2])
        return np.abs(self.encode(rows).scales.scale[..., 0]).astype(np.float64)

    # As bytes.

    def stored(self, rows: Float) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Codes, scales and zeros of `rows` in their storage, `[tokens, kv_heads, width]`; rows with NaN are spoilt.

        Scales and zeros have width 0 where tokens have none of their own.
        """
        lost = _lost(rows)
        some = np.where(lost[:, None, None], 0.0, rows) if len(rows) else np.zeros((1, *rows.shape[1:]))
        encoded = self.encode(some)
        own = dynamic(self.scheme)
        nothing = np.zeros((*encoded.codes.shape[:2], 0), np.float32)
        scale, zero = encoded.scales.scale, encoded.scales.zero
        parts = (
            self._bytes(encoded.codes),
            self._narrow(scale, "scale") if own else nothing,
            self._narrow(zero, "zero") if own and zero is not None else nothing,
        )
        codes, scales, zeros = (part[: len(rows)] for part in parts)
        codes[lost] = 0x7F if signed(self.scheme) or not isinstance(self.scheme.codes, IntegerCodes) else 0xFF
        scales[lost], zeros[lost] = _worst(scales), _worst(zeros)
        return codes, scales, zeros

    def shared(self) -> tuple[AnyArray | None, AnyArray | None]:
        """Scales and zeros that all tokens share, `[kv_heads]` or `[1]`; None where tokens have their own."""
        if dynamic(self.scheme) or self.fixed is None:
            return None, None
        scales = self.scales((1, len(self.fixed[0]), 1))
        scale = self._narrow(scales.scale.reshape(-1), "scale")
        return scale, None if scales.zero is None else self._narrow(scales.zero.reshape(-1), "zero")

    def _bytes(self, codes: AnyArray) -> AnyArray:
        if self.scheme.code_bits == 4:
            return pack(codes, self.scheme)
        return codes.astype(np.int8 if signed(self.scheme) else np.uint8)

    def _narrow(self, numbers: AnyArray, which: str) -> AnyArray:
        if which == "zero" and self.scheme.zero is Zero.ZERO_POINT:
            return numbers.astype(np.uint8)
        narrow = (self.scheme.zero_format if which == "zero" else None) or self.scheme.scale_format
        return stored(numbers.astype(np.float64), narrow.name)


def _lost(rows: Float) -> NDArray[np.bool_]:
    """The tokens of which some element is NaN."""
    return np.asarray(np.isnan(rows).any(axis=(1, 2)))


def _worst(numbers: AnyArray) -> float:
    """NaN in the storage of `numbers`, or the largest integer: all bits of bf16 are a NaN too."""
    return np.nan if numbers.dtype.kind == "f" else float(np.iinfo(numbers.dtype).max)


@dataclass(frozen=True, eq=False)
class Cache:
    """A quantized cache of one problem: how it is declared, and its two sides."""

    name: str
    format: CacheFormat
    keys: Side
    values: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        """Keys, values."""
        return self.keys, self.values

    def alike(self, kv_heads: int) -> Cache:
        """The same cache with one scale for all keys, and one for all values."""
        sides = (
            replace(side, fixed=_fixed(side.scheme, np.full(kv_heads, scale), np.full(kv_heads, _middle(side.scheme))))
            for side, scale in zip(self.sides, (2.0**-4, 2.0**-6), strict=True)
        )
        return Cache(self.name, self.format, *sides)

    def unscaled(self, kv_heads: int) -> Cache:
        """The same cache with scales of 1 and zeros of 0."""
        ones, zeros = np.ones(kv_heads), np.zeros(kv_heads)
        return Cache(self.name, self.format, *(replace(side, fixed=(ones, zeros)) for side in self.sides))


def _middle(scheme: Scheme) -> float:
    return float(round(scheme.divisor / 2)) if scheme.zero is Zero.ZERO_POINT else -3.0


def cache_of(name: str, format: CacheFormat, kv_heads: int, seed: int) -> Cache:
    """A cache whose shared scales, where there are any, are of the size of calibrated ones, and all different."""
    rng = np.random.default_rng([seed, 5])
    return Cache(name, format, *(_side(scheme, kv_heads, rng) for scheme in (format.keys, format.values)))


def _side(scheme: Scheme, kv_heads: int, rng: np.random.Generator) -> Side:
    reach, middle = rng.uniform(2, 6, kv_heads), rng.uniform(0.3, 0.7, kv_heads)
    if dynamic(scheme):
        return Side(scheme)
    top = abs(float(scheme.divisor))
    zero = np.rint(middle * top) if scheme.zero is Zero.ZERO_POINT else -reach / 2
    return Side(scheme, _fixed(scheme, reach / top, zero))


def _fixed(scheme: Scheme, scale: Float, zero: Float) -> tuple[Float, Float]:
    """Scales and zeros as their formats hold them."""
    narrow = (scheme.scale_format, scheme.zero_format or scheme.scale_format)
    first, second = (round_to(x, format_named(to.name)) for x, to in zip((scale, zero), narrow, strict=True))
    return first, zero if scheme.zero is Zero.ZERO_POINT else second
