"""The numbers of an operation, from a recipe of a few words, so that a finding can be read and run again.

Patterns aim where quantizers break: the largest magnitude at a chosen channel, every code's midpoint and its
neighbours, both extremes, data far from zero, one channel a thousand times larger, constant and zero rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kvconformance.surfaces.quantizer.operations import Values
from kvconformance.surfaces.quantizer.protocol import QuantizerError, Single
from kvreference.float_codes import E4M3FN, E5M2, decode_float
from kvspec.numbers.schemes import IntegerCodes, Scheme, Zero

Pattern = Callable[[np.random.Generator, tuple[int, int, int], Scheme], NDArray[np.float64]]


def values(recipe: Values, kv_heads: int, head_dim: int, scheme: Scheme) -> Single:
    """The array `[tokens, kv_heads, head_dim]` of a recipe. Raises `QuantizerError` for an unknown pattern."""
    if recipe.pattern not in PATTERNS:
        raise QuantizerError(f"no pattern is called {recipe.pattern!r}; there are {', '.join(PATTERNS)}")
    shape = (recipe.tokens, kv_heads, head_dim)
    # The order in which a recipe puts things is moved by `at`, so that any channel can hold the largest magnitude.
    x = PATTERNS[recipe.pattern](np.random.default_rng(recipe.seed), shape, scheme)
    x = np.roll(x, recipe.at % head_dim, axis=-1)
    limit = 65504.0 if scheme.arithmetic.name == "fp16" else float(np.finfo(np.float32).max)
    x = np.where(np.isfinite(x), np.clip(np.ldexp(x, recipe.exponent), -limit, limit), x)
    return x.astype(np.float16 if scheme.arithmetic.name == "fp16" else np.float32).astype(np.float32)


def garbage(count: int, kv_heads: int, head_dim: int) -> Single:
    """Rows of padding: huge numbers, infinity and NaN in turn."""
    kinds = np.array([3.0e38, np.inf, np.nan], np.float32)
    return np.broadcast_to(kinds[np.arange(count) % 3, None, None], (count, kv_heads, head_dim)).copy()


def _noise(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    return random.standard_normal(shape)


def _zeros(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    return np.zeros(shape)


def _constant(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    return np.full(shape, 1.2345)


def _edges(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    return np.where(random.random(shape) < 0.5, -1.0, 1.0)


def _far(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    return random.uniform(5, 6, shape)


def _outlier(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    x = random.standard_normal(shape)
    x[..., 0] *= 1000
    return x


def _rising(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    """Each token is larger than the one before."""
    return random.standard_normal(shape) * np.ldexp(1.0, 2 * np.arange(shape[0]))[:, None, None]


def _midpoints(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    """Ties between codes under a scale of exactly 1, whose anchor stands in channel 0."""
    if not isinstance(scheme.codes, IntegerCodes):
        return _float_midpoints(random, shape, scheme)
    top = abs(float(scheme.divisor))
    low = 0 if scheme.zero is Zero.MINIMUM else -int(top)
    x: NDArray[np.float64] = random.integers(low, int(top), shape) + np.float64(0.5)
    if scheme.zero is Zero.ZERO_POINT:
        x = random.integers(0, int(top), shape) + np.float64(0.5) - np.float64(random.integers(0, int(top)))
    x[..., 0] = top if scheme.divisor > 0 else -top
    if shape[2] > 1 and scheme.zero is Zero.MINIMUM:
        x[..., 1] = 0
    return x


def _float_midpoints(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    kind = E4M3FN if getattr(scheme.codes, "name", "") == "e4m3fn" else E5M2
    numbers = decode_float(np.arange(kind.largest + 1, dtype=np.uint8), kind)
    code = random.integers(0, kind.largest, shape)
    x = (numbers[code] + numbers[code + 1]) / 2 * random.choice([-1, 1], shape)
    x[..., 0] = numbers[kind.largest]
    return np.asarray(x, np.float64)


def _near(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    """Midpoints under a scale that is no power of two, the nearest fp32 number and its neighbours."""
    scale = np.float32(random.uniform(1, 2))
    x = (_midpoints(random, shape, scheme) * scale).astype(np.float32)
    away = np.nextafter(x, np.where(random.random(shape) < 0.5, np.float32(-1e9), np.float32(1e9)), dtype=np.float32)
    return np.where(random.random(shape) < 0.6, away, x).astype(np.float64)


def _special(random: np.random.Generator, shape: tuple[int, int, int], scheme: Scheme) -> NDArray[np.float64]:
    """NaN, infinities and negative zero among ordinary numbers."""
    x = random.standard_normal(shape)
    kinds = np.array([np.nan, np.inf, -np.inf, -0.0])
    return np.where(random.random(shape) < 0.4, kinds[random.integers(0, 4, shape)], x)


SPECIAL = "special"
PATTERNS: dict[str, Pattern] = {
    "noise": _noise,
    "zeros": _zeros,
    "constant": _constant,
    "edges": _edges,
    "far": _far,
    "outlier": _outlier,
    "rising": _rising,
    "midpoints": _midpoints,
    "near": _near,
    SPECIAL: _special,
}
