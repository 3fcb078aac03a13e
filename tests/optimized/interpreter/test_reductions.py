"""Reductions and scans against exact rationals: every step rounds once, in the order of the lanes of one warp."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from fractions import Fraction

import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.runtime.errors import InterpreterError

from kvoptimized.interpreter import NotOnHardware
from kvoptimized.launch import kernel
from kvspec.numbers.floats import BF16, FP16, FP32, FloatFormat, Number, Special, round_to
from tests.optimized.interpreter import tiny
from tests.optimized.interpreter.test_arithmetic import alike, greatest

SCAN_FORMAT = FP32 if hasattr(tl.core, "_promote_bfloat16_to_float32") else BF16
"""Triton 3.6.0 adds up bf16 in fp32 in `tl.cumsum` and `tl.cumprod`, though not in `tl.sum`; 3.9.0 in bf16."""
FORMATS = pytest.mark.parametrize("format", (BF16, FP16), ids=lambda format: format.name)
few = settings(max_examples=40)


@kernel
def times(a, b):
    return a * b


@kernel
def larger_by_branch(a, b):
    c = b
    if a > b:
        c = a
    return c


@kernel
def larger_by_choice(a, b):
    return a if a > b else b


@kernel
def larger_by_logic(a, b):
    return tl.where(not a <= b or a > b, a, b)


@kernel
def total_and_count(a, n, b, m):
    return a + b, n + m


@kernel
def growing(a, b):
    return a.to(tl.float32) + b


@kernel
def reduce_rows(X, Y, OPERATION: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, ROWS)
    lanes = tl.arange(0, N)
    x = tl.load(X + rows[:, None] * N + lanes[None, :])
    if OPERATION == "sum":
        y = tl.sum(x, 1)
    elif OPERATION == "max":
        y = tl.max(x, 1)
    elif OPERATION == "min":
        y = tl.min(x, 1)
    elif OPERATION == "argmax":
        y = tl.argmax(x, 1)
    elif OPERATION == "argmin":
        y = tl.argmin(x, 1)
    elif OPERATION == "any argmax":
        y = tl.argmax(x, 1, tie_break_left=False)
    elif OPERATION == "max of two":
        y, _ = tl.max(x, 1, return_indices=True)
    elif OPERATION == "xor":
        y = tl.xor_sum(x, 1)
    else:
        y = tl.sum(tl.sum(x, 0, keep_dims=True))
    tl.store(Y + rows, y)


@kernel
def combine_rows(X, Y, OPERATION: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, ROWS)
    lanes = tl.arange(0, N)
    x = tl.load(X + rows[:, None] * N + lanes[None, :])
    if OPERATION == "product":
        y = tl.reduce(x, 1, times)
    elif OPERATION == "branch":
        y = tl.reduce(x, -1, larger_by_branch)
    elif OPERATION == "choice":
        y = tl.reduce(x, -1, larger_by_choice)
    elif OPERATION == "logic":
        y = tl.reduce(x, -1, larger_by_logic)
    elif OPERATION == "count":
        _, y = tl.reduce((x, (x != 0).to(tl.int32)), 1, total_and_count)
    else:
        y = tl.reduce(x, 1, growing)
    tl.store(Y + rows, y)


OWN = {"product", "branch", "choice", "logic", "count", "growing"}
"""Reductions with a combine function of this file."""


@kernel
def scan_rows(X, Y, OPERATION: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    place = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(X + place)
    if OPERATION == "cumsum":
        y = tl.cumsum(x, 1, REVERSE)
    elif OPERATION == "cumprod":
        y = tl.cumprod(x, 1, REVERSE)
    elif OPERATION == "product":
        y = tl.associative_scan(x, 1, times, REVERSE)
    elif OPERATION == "branch":
        y = tl.associative_scan(x, 1, larger_by_branch, REVERSE)
    else:
        y = tl.sort(x)
    tl.store(Y + place, y)


def reduced(operation: str, rows: torch.Tensor, result: torch.dtype | None = None) -> torch.Tensor:
    """One reduction of each row of `[rows, lanes]`."""
    out = torch.zeros(len(rows), dtype=result or rows.dtype)
    (combine_rows if operation in OWN else reduce_rows)[(1,)](rows, out, operation, *rows.shape)
    return out


def scanned(operation: str, rows: torch.Tensor, reverse: bool = False, result: torch.dtype | None = None):
    out = torch.zeros(rows.shape, dtype=result or rows.dtype)
    scan_rows[(1,)](rows, out, operation, *rows.shape, reverse)
    return out


def butterfly(row, combine):
    """What lane 0 holds after `shfl.sync.bfly` with the offsets n/2, n/4, ..., 1, a lane's own value standing first."""
    offset = len(row) // 2
    while offset:
        row = [combine(x, row[lane ^ offset]) for lane, x in enumerate(row)]
        offset //= 2
    return row[0]


def ladder(row, combine):
    """What the lanes hold after `shfl.sync.up` by 1, 2, 4, ..., the lane from before standing first."""
    distance = 1
    while distance < len(row):
        row = [combine(row[lane - distance], x) if lane >= distance else x for lane, x in enumerate(row)]
        distance *= 2
    return row


def plain(number: Number) -> float:
    return float(number.value) if isinstance(number, Special) else float(number)


def rounded(operation, format: FloatFormat):
    """The operation on finite numbers, exact and rounded once; a zero has the sign that it has in fp64."""

    def once(a: float, b: float) -> float:
        result = operation(Fraction(a), Fraction(b))
        return plain(round_to(result, format)) if result else operation(a, b)

    return once


def pairs(format: FloatFormat) -> torch.Tensor:
    """Every pattern first and every pattern second, beside shuffled ones."""
    everything = tiny.bits(tiny.every(format)).to(torch.int32)
    others = everything[torch.from_numpy(np.random.default_rng(8).permutation(1 << 16))]
    special = torch.tensor([[0, 0x8000], [0x8000, 0], [0x8000, 0x8000], [0x7FFF, 0x3C00], [0x3C00, 0x7FFF]])
    rows = torch.stack([torch.cat([everything, special[:, 0]]), torch.cat([others, special[:, 1]])], 1)
    padding = rows[:1].expand((1 << 17) - len(rows), 2)
    return torch.cat([rows, padding]).to(torch.int32).to(torch.uint16).view(tiny.TORCH[format])


def numbers(rows: torch.Tensor) -> list[list[float]]:
    return [list(row) for row in rows[: (1 << 16) + 5].double().tolist()]


def applied(operation, row: list[float], format: FloatFormat) -> float:
    """What IEEE 754 says of two numbers, infinities and NaN among them."""
    return rounded(operation, format)(*row) if all(map(math.isfinite, row)) else operation(*row)


@pytest.mark.exhaustive
@FORMATS
@pytest.mark.parametrize("operation", ("sum", "product", "branch"))
def test_every_pattern_alone_is_its_own_result(format: FloatFormat, operation: str):
    everything = tiny.every(format)
    assert torch.equal(tiny.bits(reduced(operation, everything[:, None])), tiny.bits(everything))


@pytest.mark.exhaustive
@FORMATS
def test_the_sum_of_two_is_rounded_once_for_every_pattern(format: FloatFormat):
    rows = pairs(format)
    results = reduced("sum", rows).double().tolist()
    wrong = [
        (row, y)
        for row, y in zip(numbers(rows), results, strict=False)
        if not alike(y, applied(operator.add, row, format))
    ]
    assert wrong == []


@pytest.mark.exhaustive
@FORMATS
def test_the_larger_of_two_for_every_pattern(format: FloatFormat):
    rows = pairs(format)
    largest, smallest = (reduced(name, rows, torch.float32).tolist() for name in ("max", "min"))
    first, last = (reduced(name, rows, torch.int32).tolist() for name in ("argmax", "argmin"))
    for (a, b), high, low, i, j in zip(numbers(rows), largest, smallest, first, last, strict=False):
        assert alike(high, greatest(a, b)) and alike(low, -greatest(-a, -b)), (a, b)
        assert i == (0 if a >= b else 1) and j == (0 if a <= b else 1), (a, b)


@pytest.mark.exhaustive
@pytest.mark.parametrize("operation", ("cumsum", "cumprod"))
def test_scans_of_two_for_every_pattern_of_bf16(operation: str):
    rows = pairs(BF16)
    results = scanned(operation, rows, result=torch.float32).tolist()
    combine = operator.add if operation == "cumsum" else operator.mul
    for row, (first, second) in zip(numbers(rows), results, strict=False):
        assert alike(first, row[0])
        assert alike(second, applied(combine, row, SCAN_FORMAT)), row


small = st.integers(-99, 99).map(lambda n: n / 8)
lengths = st.sampled_from((1, 2, 4, 8, 16, 32))
rows_of = lengths.flatmap(lambda n: st.lists(small, min_size=n, max_size=n))


@few
@given(rows_of, st.sampled_from((BF16, FP16)))
def test_sums_round_at_every_step_of_the_butterfly(row: list[float], format: FloatFormat):
    x = torch.tensor([row]).to(tiny.TORCH[format])
    expected = butterfly(x[0].tolist(), rounded(operator.add, format))
    assert reduced("sum", x).tolist() == [expected]


@few
@given(rows_of, st.booleans())
def test_cumulative_sums_round_at_every_step_of_the_ladder(row: list[float], reverse: bool):
    x = torch.tensor([row]).bfloat16()
    own = x[0].tolist()[:: -1 if reverse else 1]
    expected = ladder(own, rounded(operator.add, SCAN_FORMAT))[:: -1 if reverse else 1]
    assert scanned("cumsum", x, reverse, torch.float32).tolist() == [expected]


@few
@given(st.sampled_from((4, 8, 32, 64)), st.integers(0, 9999))
def test_sums_that_no_order_rounds_are_exact(lanes: int, seed: int):
    whole = np.random.default_rng(seed).integers(-2, 3, (4, lanes))
    for type_ in (torch.bfloat16, torch.float16, torch.float32, torch.int8, torch.int32):
        x = torch.from_numpy(whole).to(type_)
        result = torch.int32 if type_ is torch.int8 else None
        assert reduced("sum", x, result).tolist() == whole.sum(1).tolist()
        assert reduced("all", x, result).tolist() == [whole.sum()] * 4
        assert scanned("cumsum", x, result=result).tolist() == whole.cumsum(1).tolist()
        assert scanned("cumsum", x, True, result).tolist() == whole[:, ::-1].cumsum(1)[:, ::-1].tolist()


with_nan = lengths.flatmap(
    lambda n: st.lists(st.sampled_from([math.nan, -math.inf, -2.0, -0.0, 0.0, 1.0, 3.0]), min_size=n, max_size=n)
)


def better(left: bool):
    def combine(a, b):
        first = a[0] > b[0] or (left and a[0] == b[0] and a[1] < b[1])
        return a if first else b

    return combine


@few
@given(with_nan, st.sampled_from((torch.bfloat16, torch.float32)))
def test_argmax_takes_the_second_operand_beside_nan_as_the_butterfly_does(row: list[float], type_: torch.dtype):
    x = torch.tensor([row]).to(type_)
    places = list(zip(row, range(len(row)), strict=True))
    assert reduced("argmax", x, torch.int32).item() == butterfly(places, better(True))[1]
    assert reduced("any argmax", x, torch.int32).item() == butterfly(places, better(False))[1]
    assert alike(reduced("max of two", x, torch.float32).item(), butterfly(places, better(True))[0])


@few
@given(st.permutations([-8.0, -1.0, -0.5, 0.25, 2.0, 2.0, 7.0, 64.0]), st.sampled_from((torch.bfloat16, torch.float16)))
def test_argmax_without_nan_is_the_leftmost_largest_in_any_order(row: list[float], type_: torch.dtype):
    x = torch.tensor([row]).to(type_)
    assert reduced("argmax", x, torch.int32).item() == row.index(64.0)
    assert reduced("argmin", x, torch.int32).item() == row.index(-8.0)
    ties = torch.tensor([row]).clamp(-9.0, 2.0).to(type_)
    assert reduced("argmax", ties, torch.int32).item() == ties[0].tolist().index(2.0)


@pytest.mark.parametrize("operation", ("branch", "choice", "logic"))
@pytest.mark.parametrize("type_", (torch.bfloat16, torch.float32, torch.int32), ids=str)
def test_combine_functions_may_branch_and_axes_may_be_negative(operation: str, type_: torch.dtype):
    x = torch.from_numpy(np.random.default_rng(9).integers(-99, 99, (8, 16))).to(type_)
    assert reduced(operation, x).tolist() == x.max(1).values.tolist()


def test_own_combine_functions_round_bf16_and_take_tuples():
    x = torch.tensor([[1.5, 3.0, 1.25, 7.0], [129.0, 129.0, 0.5, -0.0]]).bfloat16()
    expected = [butterfly(row, rounded(operator.mul, BF16)) for row in x.tolist()]
    assert reduced("product", x).tolist() == expected
    assert reduced("count", x, torch.int32).tolist() == [4, 3]
    for reverse in (False, True):
        step = -1 if reverse else 1
        ladders = [ladder(row[::step], rounded(operator.mul, BF16))[::step] for row in x.tolist()]
        assert scanned("product", x, reverse).tolist() == ladders
        maxima = [list(itertools.accumulate(row[::step], max))[::step] for row in x.tolist()]
        assert scanned("branch", x, reverse).tolist() == maxima


def test_a_combine_function_of_another_type_does_not_compile():
    with pytest.raises(NotOnHardware, match="makes fp32 of bf16 does not compile"):
        reduced("growing", torch.ones(1, 4).bfloat16(), torch.float32)


@pytest.mark.parametrize("operation", ("sum", "argmax", "argmin", "product", "branch"))
def test_8_bit_floats_are_reduced_only_where_nothing_is_combined(operation: str):
    x = torch.ones(1, 4).to(torch.float8_e4m3fn)
    with pytest.raises(NotOnHardware, match="fp8e4nv does not compile"):
        reduced(operation, x, torch.float32)
    alone = reduced(operation, x[:, :1].contiguous(), torch.float32)
    assert alone.item() == (0 if operation.startswith("arg") else 1)
    assert reduced("max", x, torch.float32).item() == 1


@pytest.mark.parametrize("operation", ("cumsum", "cumprod", "branch", "sort"))
def test_8_bit_floats_are_not_scanned(operation: str):
    with pytest.raises(NotOnHardware, match="fp8e4nv does not compile"):
        scanned(operation, torch.ones(1, 4).to(torch.float8_e4m3fn), result=torch.float32)


@few
@given(st.permutations([-300.0, -8.0, -0.5, 0.0, 0.25, 2.0, 2.0, 7.0]))
def test_bf16_is_sorted_as_numbers(row: list[float]):
    assert scanned("sort", torch.tensor([row]).bfloat16()).tolist() == [sorted(row)]


@kernel
def largest_four(X, Y, N: tl.constexpr):
    tl.store(Y + tl.arange(0, 4), tl.topk(tl.load(X + tl.arange(0, N)), 4))


@kernel
def counts(X, Y, N: tl.constexpr):
    tl.store(Y + tl.arange(0, N), tl.histogram(tl.load(X + tl.arange(0, N)), N))


def test_the_largest_of_bf16_and_no_histogram_of_floats():
    x, y = torch.tensor([1.0, -300.0, 5.0, -2.0, 8.0, 0.5, -0.25, 3.0]).bfloat16(), torch.zeros(4)
    largest_four[(1,)](x, y, 8)
    assert y.tolist() == [8.0, 5.0, 3.0, 1.0]
    with pytest.raises(InterpreterError, match="histogram only supports"):
        counts[(1,)](x, torch.zeros(8, dtype=torch.int32), 8)


def test_negative_zeros_stay_and_integers_wrap_where_they_are_unsigned():
    zeros = torch.full((2, 4), -0.0)
    for x in (zeros, zeros.bfloat16()):
        assert math.copysign(1, reduced("sum", x)[0].item()) == -1
        assert math.copysign(1, reduced("max", x, torch.float32)[0].item()) == -1
    mixed = torch.tensor([[-0.0, 0.0, -0.0, -0.0], [-1.0, -0.0, -0.0, -2.0]])
    assert [math.copysign(1, y) for y in reduced("max", mixed).tolist()] == [1, -1]
    assert [math.copysign(1, y) for y in reduced("min", -mixed).tolist()] == [-1, 1]
    large = torch.tensor([[2**31, 2**31, 5, 0]], dtype=torch.uint32)
    assert reduced("sum", large).tolist() == [5]
    words = torch.tensor([[12, 10, 7, 1], [1, 1, 1, 1]], dtype=torch.int32)
    assert reduced("xor", words).tolist() == [functools.reduce(operator.xor, row) for row in words.tolist()]
