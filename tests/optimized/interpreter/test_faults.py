"""Assertions, overflow and hints: what the hardware would pass over in silence stops the kernel and says where."""

from __future__ import annotations

import inspect

import pytest
import torch
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime.errors import InterpreterError

from kvoptimized.interpreter import (
    AmbiguousTruth,
    BrokenHint,
    DeviceAssertFailed,
    IntegerOverflow,
    UnknownFunction,
    UnknownInstruction,
)
from kvoptimized.launch import kernel


@kernel
def checked_half(x):
    tl.device_assert(x % 2 == 0, "an even number")  # this line
    return x // 2


@kernel
def halve(X, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + tl.program_id(1) * BLOCK + lanes)
    tl.store(X + tl.program_id(1) * BLOCK + lanes, checked_half(x))


def line_of(function, text: str) -> int:
    lines, first = inspect.getsourcelines(function.fn)
    return first + next(index for index, line in enumerate(lines) if text in line)


def test_a_device_assert_names_kernel_function_line_program_and_element():
    numbers = torch.tensor([0, 2, 4, 6, 8, 10, 11, 13], dtype=torch.int32)
    with pytest.raises(DeviceAssertFailed, match="an even number") as caught:
        halve[(1, 2)](numbers, 4)
    place = caught.value.place
    assert (place.kernel, place.function, place.program) == ("halve", "checked_half", (0, 1, 0))
    assert (place.file, place.line) == (__file__, line_of(checked_half, "this line"))
    assert caught.value.index == (2,)
    assert isinstance(caught.value, AssertionError)


@kernel
def assume(n, Y):
    tl.assume(n > 3)
    tl.store(Y, n)


def test_an_assumption_that_does_not_hold_is_an_assertion():
    assume[(1,)](4, torch.zeros(1, dtype=torch.int32))
    with pytest.raises(DeviceAssertFailed, match="assume"):
        assume[(1,)](3, torch.zeros(1, dtype=torch.int32))


@kernel
def combine(X, Y, Z, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    y = tl.load(Y + lanes)
    if OPERATION == "add":
        z = x + y
    elif OPERATION == "sub":
        z = x - y
    elif OPERATION == "mul":
        z = x * y
    elif OPERATION == "wrap":
        z = tl.add(x, y, sanitize_overflow=False)
    elif OPERATION == "sum":
        z = x * 0 + tl.sum(x, 0)
    else:
        z = tl.cumsum(x, 0)
    tl.store(Z + lanes, z)


@pytest.mark.parametrize("operation", ("add", "sub", "mul"))
@pytest.mark.parametrize("type_", (torch.int32, torch.uint32, torch.int16, torch.int8), ids=str)
def test_integer_arithmetic_that_leaves_its_type_is_refused(operation: str, type_: torch.dtype):
    bounds = torch.iinfo(type_)
    low = bounds.min if operation == "sub" else bounds.max
    x, y = torch.tensor([1, low], dtype=type_), torch.tensor([1, 2], dtype=type_)
    with pytest.raises(IntegerOverflow) as caught:
        combine[(1,)](x, y, torch.zeros_like(x), operation, 2)
    assert caught.value.operands == (low, 2)
    assert caught.value.exact == {"add": low + 2, "sub": low - 2, "mul": low * 2}[operation]


def test_arithmetic_at_the_bounds_passes_and_wrapping_may_be_meant():
    top = 2**31 - 1
    x, y, z = (
        torch.tensor([top - 1, -(2**31)], dtype=torch.int32),
        torch.tensor([1, 0], dtype=torch.int32),
        torch.zeros(2, dtype=torch.int32),
    )
    combine[(1,)](x, y, z, "add", 2)
    assert z.tolist() == [top, -(2**31)]
    combine[(1,)](x, torch.tensor([2, -1], dtype=torch.int32), z, "wrap", 2)
    assert z.tolist() == [-(2**31), top]


@pytest.mark.parametrize("operation", ("sum", "cumsum"))
def test_totals_that_leave_int32_are_refused(operation: str):
    x = torch.tensor([2**30, 2**30], dtype=torch.int32)
    with pytest.raises(IntegerOverflow, match="does not fit int32"):
        combine[(1,)](x, x, torch.zeros_like(x), operation, 2)


@kernel
def offset(X, Y, stride, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if WIDE:
        lanes = lanes.to(tl.int64)
    tl.store(Y + lanes, tl.load(X + lanes * stride, mask=lanes * stride < 8, other=0))


def test_32_bit_offsets_that_wrap_are_refused_and_64_bit_ones_are_not():
    x, y = torch.arange(8), torch.zeros(4, dtype=torch.int64)
    with pytest.raises(IntegerOverflow) as caught:
        offset[(1,)](x, y, 2**30, 4, False)
    assert caught.value.place.line == line_of(offset, "lanes * stride")
    offset[(1,)](x, y, 2**30, 4, True)
    offset[(1,)](x, y, 2**33, 4, False)
    assert y.tolist() == [0, 0, 0, 0]


@kernel
def bit_tricks(X, Y, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    nibbles = (tl.load(X + lanes) << 28) >> 28
    offset = (n + lanes) << SCALE
    tl.store(Y + lanes, nibbles + 0 * (offset.to(tl.int64).to(tl.int32) ^ (offset >> 7)))


def test_shifts_and_narrowing_casts_are_bit_tricks_and_not_checked():
    x, y = torch.tensor([0x7, 0x8, 0xF, 0x1], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    bit_tricks[(1,)](x, y, 2**30, 2, 4)
    assert y.tolist() == [7, -8, -1, 1]


@kernel
def masks(X, Y, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    if OPERATION == "and":
        chosen = x > 1 and x < 5
    elif OPERATION == "or":
        chosen = x < 1 or x > 5 or x == 2
    elif OPERATION == "not":
        chosen = not x > 2
    elif OPERATION == "scalar":
        chosen = tl.load(X) > 2 and x > 1
    else:
        chosen = x > 1
        if chosen:
            x = x + 1
    tl.store(Y + lanes, x, mask=chosen)


@pytest.mark.parametrize(
    ("operation", "expected"),
    (("and", [3, 2, -1, -1]), ("or", [-1, 2, 7, 0]), ("not", [-1, 2, -1, 0]), ("scalar", [3, 2, 7, -1])),
)
def test_logical_words_act_on_every_lane_of_a_block(operation: str, expected: list[float]):
    y = torch.full((4,), -1.0)
    masks[(1,)](torch.tensor([3.0, 2.0, 7.0, 0.0]), y, operation, 4)
    assert y.tolist() == expected


def test_a_block_has_no_truth_value_to_branch_on():
    with pytest.raises(AmbiguousTruth, match="a block of 4 lanes is used as one value") as caught:
        masks[(1,)](torch.ones(4), torch.zeros(4), "if", 4)
    assert caught.value.place.line == line_of(masks, "if chosen:")


@kernel
def hinted(X, n, BLOCK: tl.constexpr, FACTOR: tl.constexpr, RUN: tl.constexpr):
    lanes = tl.max_contiguous(tl.arange(0, BLOCK) // FACTOR, RUN)
    n = tl.multiple_of(n, 16)
    tl.store(X + lanes, n)


def test_hints_that_do_not_hold_are_refused():
    x = torch.zeros(64, dtype=torch.int32)
    hinted[(1,)](x, 32, 32, 1, 32)
    with pytest.raises(BrokenHint, match="multiples of 16, and the first number is 8"):
        hinted[(1,)](x, 8, 32, 1, 32)
    with pytest.raises(BrokenHint, match="runs of 8, and a step is 0"):
        hinted[(1,)](x, 32, 32, 2, 8)


@kernel
def unknown(X, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    tl.store(X + lanes, tl.inline_asm_elementwise("warp.sync $0, $1;", "=r,r", [x], tl.int32, True, 1))


def test_unknown_inline_ptx_is_named():
    with pytest.raises(UnknownInstruction, match=r"warp\.sync") as caught:
        unknown[(1,)](torch.zeros(2, dtype=torch.int32), 2)
    assert caught.value.place.line == line_of(unknown, "warp.sync")


@kernel
def library(X, Y, Z, NAME: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    tl.store(Y + lanes, libdevice.round(x))
    tl.store(Z + lanes, getattr(libdevice, NAME)(x))


def test_libdevice_rounds_and_converts_and_names_what_it_does_not_know():
    x, y, z = torch.tensor([0.5, -1.5, 2.4, 3e9]), torch.zeros(4), torch.zeros(4, dtype=torch.int32)
    library[(1,)](x, y, z, "float2int_rn", 4)
    assert y.tolist() == [1.0, -2.0, 2.0, 3e9]
    assert z.tolist() == [0, -2, 2, 2**31 - 1]
    library[(1,)](x, y, z, "float2int_ru", 4)
    assert z.tolist() == [1, -1, 3, 2**31 - 1]
    with pytest.raises(UnknownFunction, match=r"libdevice\.cyl_bessel_i0 is not interpreted") as caught:
        library[(1,)](x, y, z, "cyl_bessel_i0", 4)
    assert caught.value.place.line == line_of(library, "getattr")


@kernel
def broken(X):
    tl.store(X, tl.load(X).nonsense)  # here


def test_other_errors_are_the_interpreters_and_say_where():
    with pytest.raises(InterpreterError, match=r"nonsense.* in kernel broken, ") as caught:
        broken[(1,)](torch.zeros(1))
    assert f"{__file__}:{line_of(broken, 'here')}, program (0, 0, 0)" in str(caught.value)


@kernel
def whole_numbers(X, Y, Z, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    tl.store(Y + lanes, tl.umulhi(x, x))
    tl.store(Z + lanes, tl.histogram(x, BLOCK))


def test_high_products_and_histograms_are_right():
    x = torch.tensor([-1, 2, 2**30, 9, 4, 2, 0, 3], dtype=torch.int32)
    high, counts = torch.zeros_like(x), torch.zeros_like(x)
    whole_numbers[(1,)](x, high, counts, 8)
    patterns = [n % 2**32 for n in x.tolist()]
    assert [n % 2**32 for n in high.tolist()] == [n * n >> 32 for n in patterns]
    assert counts.tolist() == [x.tolist().count(n) for n in range(8)]


@kernel
def add_atomically(X, Y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.atomic_add(Y + lanes // 2, tl.load(X + lanes), mask=lanes < BLOCK - 1)


@pytest.mark.parametrize("type_", (torch.bfloat16, torch.float16, torch.float32), ids=str)
def test_atomic_addition_of_every_float_type(type_: torch.dtype):
    total = torch.ones(4, dtype=type_)
    add_atomically[(2,)](torch.arange(8).to(type_), total, 8)
    assert total.tolist() == [3, 11, 19, 13]


@kernel
def choose(X, Y, n, flag, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    count = tl.load(X)
    mask = (lanes < n) & flag & (count > 2)
    for step in range(count):
        tl.store(Y + lanes, step + lanes, mask=mask)


def test_masks_combine_with_scalars_and_ranges_take_loaded_numbers():
    result = torch.zeros(4, dtype=torch.int32)
    choose[(1,)](torch.tensor([3], dtype=torch.int32), result, 3, True, 4)
    assert result.tolist() == [2, 3, 4, 0]
    result = torch.zeros(4, dtype=torch.int32)
    choose[(1,)](torch.tensor([3], dtype=torch.int32), result, 3, False, 4)
    assert result.tolist() == [0, 0, 0, 0]
