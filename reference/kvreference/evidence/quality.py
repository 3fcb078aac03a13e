"""The published figures about quantized caches, reproduced: KIVI's layout, rotation, TurboQuant, and the footprint.

`python -m kvreference.evidence.quality` prints each figure beside the one in the literature with the relative error
within which it is claimed; the exit status is 1 where one is missed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import erf, exp, pi, sqrt

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.quantizers import decode, encode, scale_shape
from kvreference.tolerance.quality import Quality, quality
from kvspec.numbers.schemes import SCHEMES, Scheme, Zero

HEAD_DIM = 128
OUTLIERS = (3, 50, 90, 110)
HALF_PRECISION = 16


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number, the number it reproduces, and the relative error within which it is claimed."""

    name: str
    measured: float
    published: float
    within: float

    @property
    def holds(self) -> bool:
        """Whether the claim is met."""
        return abs(self.measured / self.published - 1) <= self.within

    def __str__(self) -> str:
        """One line of the report."""
        verdict = "holds" if self.holds else "MISSED"
        return f"{self.name:58} {self.measured:8.4f}  of {self.published:8.4f} ± {self.within:.0%}  {verdict}"


def outlier_keys(rng: np.random.Generator, tokens: int) -> Float:
    """Keys `[tokens, head_dim]`, standard normal but for four channels of mean ±20 and deviation 4."""
    keys = rng.standard_normal((tokens, HEAD_DIM))
    keys[:, OUTLIERS] = 20 * np.sign(rng.standard_normal(len(OUTLIERS))) + 4 * keys[:, OUTLIERS]
    return keys


def roundtrip(x: Float, scheme: Scheme) -> Float:
    """`x` `[tokens, head_dim]` after encoding and decoding as one head."""
    return decode(encode(x.astype(np.float32)[:, None], scheme), scheme)[:, 0]


def kivi(rng: np.random.Generator, queries: int = 100) -> list[Figure]:
    """Relative error of attention over 1,024 tokens, symmetric 4 bits: keys per channel against keys per token."""
    rows = [_outlier_row(rng) for _ in range(queries)]
    errors = {
        grain: np.mean([_relative(_judged(row, SCHEMES[f"int4/{grain}"])) for row in rows])
        for grain in ("channel", "token-head")
    }
    return [
        Figure("KIVI layout: attention error, keys per channel", float(errors["channel"]), 0.25, 0.2),
        Figure("                             keys per token", float(errors["token-head"]), 0.91, 0.2),
    ]


def _outlier_row(rng: np.random.Generator) -> Row:
    keys, values = outlier_keys(rng, 1024), rng.standard_normal((1024, HEAD_DIM))
    return Row(rng.standard_normal(HEAD_DIM), keys, values, HEAD_DIM**-0.5)


def _judged(row: Row, key_scheme: Scheme) -> Quality:
    value_scheme = SCHEMES["int4/token-head"]
    return quality(row, roundtrip(row.keys, key_scheme), roundtrip(row.values, value_scheme), np.ones(1), np.ones(1))


def _relative(judged: Quality) -> float:
    return float(np.linalg.norm(judged.error) / np.linalg.norm(judged.exact))


def rotation(rng: np.random.Generator, draws: int = 20) -> list[Figure]:
    """Mean square error of unit vectors in symmetric int4 per token, before and after a random rotation."""
    plain, rotated, scheme = [], [], SCHEMES["int4/token-head"]
    for _ in range(draws):
        units = _unit(outlier_keys(rng, 1000))
        turned = units @ _orthogonal(rng)
        plain.append(_distortion(roundtrip(units, scheme), units))
        rotated.append(_distortion(roundtrip(turned, scheme), turned))
    return [
        Figure("rotation: error of int4 on outlier keys", float(np.mean(plain)), 0.0545, 0.05),
        Figure("          the same after rotation", float(np.mean(rotated)), 0.0134, 0.05),
    ]


def turboquant(rng: np.random.Generator, vectors: int = 20_000) -> list[Figure]:
    """Mean square error of rotated unit vectors whose coordinates are quantized by the Lloyd-Max code of a normal."""
    units = _unit(rng.standard_normal((vectors, HEAD_DIM))) @ _orthogonal(rng)
    published = {1: 0.361, 2: 0.116, 3: 0.034, 4: 0.0093}
    figures = []
    for bits, figure in published.items():
        levels = lloyd_max(bits) / sqrt(HEAD_DIM)
        nearest = levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, units)]
        figures.append(Figure(f"TurboQuant: error at {bits} bits", _distortion(nearest, units), figure, 0.02))
    return figures


def lloyd_max(bits: int, passes: int = 2_000) -> Float:
    """The levels of the least-square-error code of a standard normal: each is the mean of its cell (Max, 1960)."""
    levels = np.linspace(-2, 2, 2**bits)
    for _ in range(passes):
        edges = [-np.inf, *((levels[1:] + levels[:-1]) / 2), np.inf]
        density = np.array([exp(-e * e / 2) / sqrt(2 * pi) for e in edges])
        below = np.array([(1 + erf(e / sqrt(2))) / 2 for e in edges])
        levels = (density[:-1] - density[1:]) / np.diff(below)
    return np.asarray(levels, np.float64)


def bits_per_element(scheme: Scheme, tokens: int = 32, heads: int = 8) -> float:
    """Stored bits per element of a `[tokens, heads, 128]` array, scales, zero points and minima included."""
    groups = int(np.prod(scale_shape((tokens, heads, HEAD_DIM), scheme)))
    beside = scheme.scale_format.bits
    if scheme.zero is Zero.MINIMUM:
        beside += (scheme.zero_format or scheme.scale_format).bits
    if scheme.zero is Zero.ZERO_POINT:
        beside += scheme.code_bits
    return scheme.code_bits + beside * groups / (tokens * heads * HEAD_DIM)


def footprint() -> list[Figure]:
    """How many times smaller than 16 bits."""
    eight, four = SCHEMES["int8/token-head"], SCHEMES["int4/group-32"]
    return [
        Figure("footprint: int8 per token and head, fp32 scale", HALF_PRECISION / bits_per_element(eight), 1.94, 0.01),
        Figure("           int4 in groups of 32, fp16 scale", HALF_PRECISION / bits_per_element(four), 3.56, 0.01),
    ]


def _unit(x: Float) -> Float:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), np.float64)


def _orthogonal(rng: np.random.Generator) -> Float:
    return np.asarray(np.linalg.qr(rng.standard_normal((HEAD_DIM, HEAD_DIM)))[0], np.float64)


def _distortion(x: Float, exact: Float) -> float:
    return float(np.square(x - exact).sum(axis=1).mean())


def main() -> int:
    """Print the table of footprints and the figures; the last line is the summary."""
    for name, scheme in SCHEMES.items():
        bits = bits_per_element(scheme)
        print(f"{name:20} {bits:7.4f} bits per element  {HALF_PRECISION / bits:5.2f} times smaller than 16 bits")
    rng = np.random.default_rng(1)
    figures = [*footprint(), *kivi(rng), *rotation(rng), *turboquant(rng)]
    for figure in figures:
        print(figure, flush=True)
    missed = sum(not figure.holds for figure in figures)
    print(f"quality: {len(figures) - missed} of {len(figures)} figures reproduced within their stated error")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
