"""Casts of the 8-bit floats without infinities and negative zero, and of those that no target compiles.

What a pattern stands for is written down here as a rational; torch and ml_dtypes are witnesses. They give NaN where
MODE.FP16_OVFL, which Triton sets, saturates.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from kvoptimized.interpreter import NotOnHardware
from kvoptimized.launch import kernel
from kvspec.numbers.floats import BF16, FP16
from tests.optimized.interpreter import tiny

NAN = 0x80


@dataclass(frozen=True)
class Format:
    """Sign, exponent with its bias, `fraction` bits; 0x80 is NaN and everything else a number."""

    torch: torch.dtype
    numpy: type
    fraction: int
    bias: int

    def number(self, pattern: int) -> Fraction:
        magnitude, scale = pattern & 0x7F, Fraction(2) ** (1 - self.bias - self.fraction)
        exponent, fraction = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        steps = (fraction + (1 << self.fraction)) << exponent - 1 if exponent else fraction
        return scale * steps * (-1 if pattern & 0x80 else 1)

    def magnitudes(self) -> list[Fraction]:
        return [self.number(pattern) for pattern in range(0x80)]

    def ties(self) -> list[Fraction]:
        """The middle above every number, and the one above the largest that its rounding would have."""
        numbers = self.magnitudes()
        return [(a + b) / 2 for a, b in pairwise([*numbers, 2 * numbers[-1] - numbers[-2]])]

    def nearest(self, x: float, ties: list[Fraction]) -> int:
        """The pattern of the nearest number, ties to the even pattern, the largest beyond the largest."""
        if not math.isfinite(x):
            return NAN
        exact = Fraction(abs(x))
        pattern = bisect_left(ties, exact)
        if pattern < len(ties) and ties[pattern] == exact:
            pattern += pattern % 2
        pattern = min(pattern, 0x7F)
        return pattern | (0x80 if x < 0 and pattern else 0)


E4M3 = Format(torch.float8_e4m3fnuz, ml_dtypes.float8_e4m3fnuz, 3, 8)
E5M2 = Format(torch.float8_e5m2fnuz, ml_dtypes.float8_e5m2fnuz, 2, 16)
FORMATS = pytest.mark.parametrize("format", (E4M3, E5M2), ids=lambda format: str(format.torch))
EVERY = torch.arange(256, dtype=torch.int32).to(torch.uint8)


def test_the_definition_here_is_that_of_torch_and_ml_dtypes():
    for format in (E4M3, E5M2):
        numbers = [math.nan if pattern == NAN else float(format.number(pattern)) for pattern in range(256)]
        np.testing.assert_array_equal(EVERY.view(format.torch).float().numpy(), numbers)
        np.testing.assert_array_equal(EVERY.numpy().view(format.numpy).astype(np.float64), numbers)


@FORMATS
@pytest.mark.parametrize("target", (torch.float32, torch.float16, torch.bfloat16), ids=str)
def test_every_pattern_widens_exactly(format: Format, target: torch.dtype):
    results = tiny.cast(EVERY.view(format.torch), target).double().tolist()
    for pattern, result in enumerate(results):
        assert math.isnan(result) if pattern == NAN else Fraction(result) == format.number(pattern), hex(pattern)


@pytest.mark.exhaustive
@FORMATS
@pytest.mark.parametrize("source", (FP16, BF16), ids=lambda source: source.name)
def test_every_16_bit_pattern_is_rounded_to_nearest_even(format: Format, source):
    require_nearest(format, tiny.every(source))


def hard(format: Format) -> torch.Tensor:
    """fp32 numbers at and around every number, every tie, the overflow and zero."""
    exact = [*format.magnitudes(), *format.ties()]
    near = np.array([float(x) for x in (*exact, 2 * exact[-1])], np.float32).view(np.uint32)
    special = np.array([1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000], np.uint32)
    patterns = np.unique(np.concatenate([near, near + 1, near[near > 0] - 1, special]))
    return torch.from_numpy(np.concatenate([patterns, patterns | 0x80000000])).view(torch.float32)


def require_nearest(format: Format, values: torch.Tensor) -> None:
    results = tiny.patterns(tiny.cast(values, format.torch))
    numbers = values.double().tolist()
    ties = format.ties()
    assert [(x, hex(y)) for x, y in zip(numbers, results, strict=True) if y != format.nearest(x, ties)] == []
    witnesses = {
        "torch": tiny.patterns(values.float().to(format.torch)),
        "ml_dtypes": values.float().nan_to_num(math.inf).numpy().astype(format.numpy).view(np.uint8).tolist(),
    }
    for name, seen in witnesses.items():
        three = zip(numbers, results, seen, strict=True)
        wrong = [x for x, y, z in three if y != z and not ties[-1] <= abs(x) < math.inf]
        assert wrong == [], name


@FORMATS
def test_hard_fp32_numbers_are_rounded_to_nearest_even(format: Format):
    require_nearest(format, hard(format))


@FORMATS
@settings(max_examples=40)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=64))
def test_any_fp32_pattern_is_rounded_to_nearest_even(format: Format, patterns: list[int]):
    require_nearest(format, torch.from_numpy(np.array(patterns, np.uint32)).view(torch.float32))


@FORMATS
def test_beyond_the_largest_is_the_largest_and_infinity_is_nan(format: Format):
    x = torch.tensor([1e9, -1e9, math.inf, -math.inf, math.nan, -0.0, -1e-30])
    assert tiny.patterns(tiny.cast(x, format.torch)) == [0x7F, 0xFF, NAN, NAN, NAN, 0, 0]


EIGHT = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


@pytest.mark.parametrize("eight", EIGHT, ids=str)
def test_8_bit_floats_are_not_cast_to_each_other_nor_from_or_to_fp64(eight: torch.dtype):
    x = torch.ones(4).to(eight)
    for other in EIGHT:
        if other is not eight:
            with pytest.raises(NotOnHardware, match="does not compile; go by way of fp32"):
                tiny.cast(x, other)
    for source, target in ((x, torch.float64), (torch.ones(4, dtype=torch.float64), eight)):
        with pytest.raises(NotOnHardware, match="does not compile; go by way of fp32"):
            tiny.cast(source, target)


@FORMATS
def test_toward_zero_does_not_compile(format: Format):
    with pytest.raises(NotOnHardware, match="toward zero"):
        tiny.cast(torch.ones(4), format.torch, "rtz")


@kernel
def through_e4b15(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes).to(tl.float8e4b15).to(tl.float32))


@kernel
def dot_of_e4b15(X, Y, N: tl.constexpr):
    place = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(X + place).to(tl.float8e4b15, bitcast=True)
    tl.store(Y + place, tl.dot(x, x))


def test_fp8e4b15_is_refused_by_name():
    with pytest.raises(NotOnHardware, match="numbers of fp8e4b15 are not interpreted"):
        through_e4b15[(1,)](torch.ones(4), torch.zeros(4), 4)
    with pytest.raises(NotOnHardware, match="numbers of fp8e4b15 are not interpreted"):
        dot_of_e4b15[(1,)](torch.zeros(16, 16, dtype=torch.uint8), torch.zeros(16, 16), 16)


def test_the_numbers_of_a_dot_are_those_of_the_patterns():
    for format in (E4M3, E5M2):
        finite = EVERY.clone()
        finite[NAN] = 0
        rows = finite.reshape(16, 16).view(format.torch)
        product = tiny.dot(rows, torch.eye(16).to(format.torch), torch.zeros(16, 16))
        assert product.flatten().tolist() == [float(format.number(pattern)) for pattern in finite.tolist()]
