"""Floating-point operators and dots against exact rationals: one rounding for each operation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.language.extra import libdevice

from kvoptimized.interpreter import NotOnHardware
from kvoptimized.launch import kernel
from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16, FP32, FloatFormat, Special, round_to, to_bits
from tests.optimized.interpreter import tiny

EXACT = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "fma": lambda a, b: a * b + b}


def sampled(format: FloatFormat, count: int, seed: int) -> torch.Tensor:
    """Patterns of a narrow format: random ones, and all kinds of edges."""
    rng = np.random.default_rng(seed)
    top = format.infinity_bits
    edges = [0, 1, 2, (1 << format.precision - 1) - 1, 1 << format.precision - 1, top - 1, top - 2, top // 2]
    chosen = (
        np.concatenate([rng.integers(0, top, count), edges]) | rng.integers(0, 2, count + len(edges)) * format.sign_bit
    )
    chosen = rng.permutation(chosen)
    return torch.from_numpy(chosen.astype(np.uint16)).view(tiny.TORCH[format])


@pytest.mark.parametrize("operation", EXACT)
@pytest.mark.parametrize("format", (BF16, FP16), ids=lambda format: format.name)
def test_one_operation_on_16_bits_rounds_once(format: FloatFormat, operation: str):
    x, y = sampled(format, 2000, 1), sampled(format, 2000, 2)
    results = tiny.patterns(tiny.binary(operation, x, y))
    for a, b, pattern in zip(tiny.patterns(x), tiny.patterns(y), results, strict=True):
        left, right = (tiny.value(p, format) for p in (a, b))
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            exact = EXACT[operation](left, right)
            if exact:
                assert pattern == to_bits(exact, format), f"{a:#x} {operation} {b:#x} gave {pattern:#x}"
            else:
                assert not pattern & (format.sign_bit - 1)


@given(st.lists(st.tuples(*[st.floats(width=32, allow_nan=False, allow_infinity=False)] * 2), min_size=1, max_size=32))
@settings(max_examples=60)
def test_fma_of_fp32_rounds_once(pairs: list[tuple[float, float]]):
    pairs = [*pairs, (1 + 2.0**-12, -1.0 - 2.0**-12), (1 + 2.0**-23, 1 - 2.0**-24), (2.0**-126, 2.0**-24)]
    x, y = (torch.tensor(column, dtype=torch.float32) for column in zip(*pairs, strict=True))
    results = tiny.patterns(tiny.binary("fma", x, y))
    for (a, b), pattern in zip(pairs, results, strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(b)
        if exact:
            assert tiny.same(pattern, round_to(exact, FP32), FP32), (a, b)


ORDER = {
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("operation", ORDER)
def test_every_bf16_pattern_is_compared_as_a_number(operation: str):
    everything = tiny.every(BF16)
    others = everything[torch.from_numpy(np.random.default_rng(3).permutation(1 << 16))]
    results = tiny.binary(operation, everything, others, torch.int8).bool().tolist()
    pairs = zip(everything.tolist(), others.tolist(), strict=True)
    assert results == [ORDER[operation](a, b) for a, b in pairs]


def greatest(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return max((a, b), key=lambda x: (x, math.copysign(1, x)))


def alike(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.exhaustive
@pytest.mark.parametrize("type_", (torch.bfloat16, torch.float32), ids=str)
def test_maximum_and_minimum_drop_nan_and_order_zeros(type_: torch.dtype):
    everything = tiny.every(BF16)
    others = everything[torch.from_numpy(np.random.default_rng(4).permutation(1 << 16))]
    special = torch.tensor([0.0, -0.0, 0.0, -0.0, math.nan, 1.0, math.nan, -0.0], dtype=torch.bfloat16)
    x = torch.cat([everything, special]).to(type_)
    y = torch.cat([others, special[torch.tensor([1, 0, 0, 1, 5, 4, 6, 4])]]).to(type_)
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    largest, smallest = tiny.binary("maximum", x, y).tolist(), tiny.binary("minimum", x, y).tolist()
    assert all(map(alike, largest, (greatest(a, b) for a, b in pairs)))
    assert all(map(alike, smallest, (-greatest(-a, -b) for a, b in pairs)))


def test_maximum_with_nan_propagation_keeps_nan():
    x = torch.tensor([math.nan, 1.0, 2.0, -0.0])
    y = torch.tensor([1.0, math.nan, 1.0, 0.0])
    assert list(map(str, tiny.binary("maximum_nan", x, y).tolist())) == ["nan", "nan", "2.0", "0.0"]


@pytest.mark.parametrize("operation", (*EXACT, *ORDER, "maximum"))
def test_arithmetic_that_does_not_compile_is_refused(operation: str):
    x = torch.ones(4).to(torch.float8_e4m3fn)
    with pytest.raises(NotOnHardware, match="fp8e4nv does not compile"):
        result = torch.int8 if operation in ORDER else None
        tiny.binary_kernel[(1,)](x, x, torch.zeros(4, dtype=result or x.dtype), operation, 4)


@kernel
def unary(X, Y, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    if OPERATION == "rint":
        y = libdevice.rint(x)
    elif OPERATION == "magic":
        y = (x + 12582912.0) - 12582912.0
    elif OPERATION == "negate":
        y = -x
    elif OPERATION == "absolute":
        y = tl.abs(x)
    else:
        y = tl.clamp(x, -1.0, 1.0)
    tl.store(Y + lanes, y)


def apply(operation: str, x: torch.Tensor) -> torch.Tensor:
    padded = tiny.padded(x)
    result = torch.zeros_like(padded)
    unary[(1,)](padded, result, operation, padded.numel())
    return result[: x.numel()]


@given(st.lists(st.floats(-(2.0**21), 2.0**21, width=32) | st.integers(-999, 999).map(lambda k: k / 2), min_size=1))
@settings(max_examples=40)
def test_rint_by_library_and_by_magic_number_is_nearest_even(numbers: list[float]):
    x = torch.tensor(numbers, dtype=torch.float32)
    nearest = [float(round(Fraction(number))) for number in x.tolist()]
    assert apply("rint", x).tolist() == nearest
    assert apply("magic", x).tolist() == nearest


@pytest.mark.exhaustive
def test_every_bf16_pattern_changes_its_sign_or_loses_it():
    everything = tiny.every(BF16)
    finite = everything[~everything.isnan() & (everything != 0)]
    assert tiny.patterns(apply("negate", finite)) == [pattern ^ 0x8000 for pattern in tiny.patterns(finite)]
    assert tiny.patterns(apply("absolute", everything)) == [pattern & 0x7FFF for pattern in tiny.patterns(everything)]


def test_clamp_gives_the_lower_bound_for_nan():
    assert apply("clamp", torch.tensor([math.nan, 5.0, -3.0, 0.5])).tolist() == [-1.0, 1.0, -1.0, 0.5]


def number(pattern: int, format: FloatFormat) -> float:
    value = tiny.value(pattern, format)
    return 0.0 if isinstance(value, Special) else float(value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", (BF16, FP16, E4M3FN, E5M2), ids=lambda format: format.name)
def test_every_finite_pattern_passes_a_dot_with_the_identity(format: FloatFormat):
    everything = tiny.every(format)
    finite = torch.where(everything.float().isfinite(), everything.float(), 0).to(everything.dtype)
    side = 1 << format.bits // 2
    rows = tiny.bits(finite).reshape(side, side).view(everything.dtype)
    identity = torch.eye(side).to(everything.dtype)
    product = tiny.dot(rows, identity, torch.zeros(side, side))
    assert product.flatten().tolist() == [number(pattern, format) for pattern in tiny.patterns(finite)]


@pytest.mark.parametrize("type_", (torch.bfloat16, torch.float16, torch.float32, torch.float8_e4m3fn), ids=str)
def test_dots_of_small_integers_are_exact(type_: torch.dtype):
    rng = np.random.default_rng(5)
    a, b, c = rng.integers(-8, 9, (16, 64)), rng.integers(-8, 9, (64, 32)), rng.integers(-99, 100, (16, 32))
    left, right = (torch.from_numpy(m).float().to(type_) for m in (a, b))
    assert tiny.dot(left, right, torch.from_numpy(c).float()).tolist() == (a @ b + c).tolist()


def test_integer_dots_are_exact_and_wrap():
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (16, 256)), rng.integers(-128, 128, (256, 32))
    c = rng.integers(-(2**31), 2**31, (16, 32))
    result = tiny.dot(
        torch.from_numpy(a.astype(np.int8)), torch.from_numpy(b.astype(np.int8)), torch.from_numpy(c.astype(np.int32))
    )
    assert result.tolist() == (a @ b + c).astype(np.int32).tolist()


def test_tf32_ignores_the_lowest_13_bits_and_ieee_does_not():
    a = torch.full((16, 16), 1 + 2.0**-11)
    identity, zero = torch.eye(16), torch.zeros(16, 16)
    assert tiny.dot(a, identity, zero, "tf32").unique().tolist() == [1.0]
    assert tiny.dot(a, identity, zero, "ieee").unique().tolist() == [1 + 2.0**-11]
