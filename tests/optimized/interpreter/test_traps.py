"""The traps of the stock interpreter, one by one: it fails where ours does as documented for the hardware.

Every trap runs one tiny kernel twice, and knows the documented outcome: numbers, or the fault that must be raised. The
page `optimized/TRAPS.md` says for each version of Triton what the stock interpreter makes of it; it must be so.
"""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from kvoptimized.interpreter import (
    AmbiguousTruth,
    BrokenHint,
    DeviceAssertFailed,
    DuplicateStore,
    IntegerOverflow,
    NotOnHardware,
    OutOfBounds,
    Race,
    UninitialisedRead,
    faithful,
    memory_checked,
)

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "optimized" / "TRAPS.md"
VERDICTS = {"wrong", "silent", "refuses", "right"}
VERSION = triton.__version__
TRAPS: dict[str, Callable[[Callable[..., Any]], tuple[Any, Any]]] = {}
F32, BF16, F16, E4M3, E5M2 = torch.float32, torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2
I8, I32, U32 = torch.int8, torch.int32, torch.uint32
NAN, INF = math.nan, math.inf


def trap(name: str):
    """Register a trap: from a launcher to the documented outcome and the one that was seen."""

    def register(function):
        TRAPS[name] = function
        return function

    return register


class Outcome:
    """What a launch did: the values of its last tensor, or the exception."""

    def __init__(self, values: list[float] | None, error: Exception | None) -> None:
        self.values, self.error = values, error

    def verdict(self, documented: list[float] | type[Exception]) -> str:
        if isinstance(documented, type):
            if isinstance(self.error, documented):
                return "right"
            return "silent" if self.error is None else "refuses"
        if self.error is not None:
            return "refuses"
        return "right" if alike(self.values, documented) else "wrong"


def alike(values: Any, documented: list[float]) -> bool:
    """Equal, with NaN equal to NaN and zeros told apart by their sign."""
    return len(values) == len(documented) and all(
        (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
        for a, b in zip(map(float, values), map(float, documented), strict=True)
    )


def launch(function: Callable[..., Any], *args: Any, grid: tuple[int, ...] = (1,), within: Any = None) -> Outcome:
    """Run a kernel, interpreted, on copies of the arguments."""
    copies = [arg.clone() if isinstance(arg, torch.Tensor) and arg.is_contiguous() else arg for arg in args]
    result = next(arg for arg in reversed(copies) if isinstance(arg, torch.Tensor))
    try:
        with within(*copies) if within else nullcontext():
            InterpretedFunction(function)[grid](*copies)
    except Exception as error:
        return Outcome(None, error)
    return Outcome(result.double().flatten().tolist(), None)


def stock(function: Callable[..., Any], *args: Any, grid: tuple[int, ...] = (1,), within: Any = None) -> Outcome:
    """Under the interpreter as it comes; with TRITON_INTERPRET=1, `tl.sum` and its like are interpreted functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JITFunction, "__call__", device_function)
        return launch(function, *args, grid=grid)


def device_function(function: JITFunction, *args: Any, **named: Any) -> Any:
    """A device function as the stock interpreter runs it, but that Triton is put back afterwards."""
    scope = interpreter._patch_lang(function.fn)
    try:
        return InterpretedFunction(function.fn).rewrite()(*args, **named)
    finally:
        scope.restore()


def ours(function: Callable[..., Any], *args: Any, grid: tuple[int, ...] = (1,), within: Any = None) -> Outcome:
    """Under the faithful interpreter, with the memory checker where the trap is one of memory."""
    with faithful():
        return launch(function, *args, grid=grid, within=within)


def page() -> dict[str, dict[str, str]]:
    """The table of the page: verdict by trap and version."""
    lines = [line.strip("| ").split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines]
    versions = [(index, cell) for index, cell in enumerate(rows[0]) if re.fullmatch(r"\d+\.\d+\.\d+", cell)]
    return {row[0].strip("`"): {version: row[i] for i, version in versions} for row in rows[2:]}


def test_the_page_and_the_tests_name_the_same_traps():
    assert list(page()) == list(TRAPS)


def test_every_trap_is_one_in_some_version():
    for name, verdicts in page().items():
        assert set(verdicts) == {"3.6.0", "3.9.0"}, name
        assert set(verdicts.values()) <= VERDICTS, name
        assert set(verdicts.values()) != {"right"}, name


@pytest.mark.parametrize("name", TRAPS)
def test_ours_does_as_documented(name: str):
    documented, outcome = TRAPS[name](ours)
    assert outcome.verdict(documented) == "right", outcome.error or outcome.values


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("name", TRAPS)
def test_the_stock_interpreter_does_as_the_page_says(name: str):
    documented, outcome = TRAPS[name](stock)
    if VERSION not in page()[name]:
        pytest.skip(f"the page does not speak of Triton {VERSION}")
    assert outcome.verdict(documented) == page()[name][VERSION], outcome.error or outcome.values


def convert(X, Y, N: tl.constexpr, TYPE: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes).to(TYPE))


def add(X, Y, Z, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Z + lanes, tl.load(X + lanes) + tl.load(Y + lanes))


def multiply(A, B, C, N: tl.constexpr):
    rows = tl.arange(0, N)[:, None]
    columns = tl.arange(0, N)[None, :]
    a = tl.load(A + rows * N + columns)
    b = tl.load(B + rows * N + columns)
    tl.store(C + rows * N + columns, tl.dot(a, b))


def bits(patterns: list[int], integer: torch.dtype, type_: torch.dtype) -> torch.Tensor:
    return torch.tensor(patterns, dtype=integer).view(type_)


def zeros(count: int, type_: torch.dtype = F32) -> torch.Tensor:
    return torch.zeros(count, dtype=F32).to(type_)


@trap("bf16-dot")
def bf16_dot(run):
    a = torch.arange(16 * 16).reshape(16, 16) % 7 - 3
    b = torch.arange(16 * 16).reshape(16, 16) % 5 - 2
    exact = (a @ b).double().flatten().tolist()
    return exact, run(multiply, a.to(BF16), b.to(BF16), torch.zeros(16, 16), 16)


@trap("tf32-dot")
def tf32_dot(run):
    a = torch.full((16, 16), 1 + 2.0**-11)
    return [1.0] * 256, run(multiply, a, torch.eye(16), torch.zeros(16, 16), 16)


@trap("bf16-rounding")
def bf16_rounding(run):
    numbers = torch.tensor([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-7 * 0.75, 3.3895314e38])
    rounded = [1.0, 1 + 2.0**-6, 1 + 2.0**-7, float(2**128 - 2**120)]
    return rounded, run(convert, numbers, zeros(4, BF16), 4, tl.bfloat16)


@trap("bf16-subnormals")
def bf16_subnormals(run):
    patterns = bits([1, 0x40, 0x7F, -0x7FFF], torch.int16, BF16)
    return [2.0**-133, 2.0**-127, 127 * 2.0**-133, -(2.0**-133)], run(convert, patterns, zeros(4), 4, tl.float32)


@trap("bf16-arithmetic")
def bf16_arithmetic(run):
    x, y = torch.tensor([1.0, -2.0, 256.0, 0.5]).to(BF16), torch.tensor([1.0, 3.0, 1.0, -0.5]).to(BF16)
    return [2.0, 1.0, 256.0, 0.0], run(add, x, y, zeros(4, BF16), 4)


def negate(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, -tl.load(X + lanes))


@trap("bf16-negation")
def bf16_negation(run):
    return [-1.0, 2.0, -3.0, 0.5], run(negate, torch.tensor([1.0, -2.0, 3.0, -0.5]).to(BF16), zeros(4, BF16), 4)


def compare(X, Y, Z, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Z + lanes, (tl.load(X + lanes) < tl.load(Y + lanes)).to(tl.int32))


@trap("bf16-comparison")
def bf16_comparison(run):
    x, y = torch.tensor([-1.0, -2.0, 1.0, -0.0]).to(BF16), torch.tensor([1.0, -1.0, -1.0, 0.0]).to(BF16)
    return [1, 1, 0, 0], run(compare, x, y, zeros(4, I32), 4)


def larger(X, Y, Z, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Z + lanes, tl.maximum(tl.load(X + lanes), tl.load(Y + lanes)))


@trap("bf16-maximum")
def bf16_maximum(run):
    x, y = torch.tensor([-1.0, -2.0, 1.0, 0.5]).to(BF16), torch.tensor([1.0, -1.0, -1.0, 2.0]).to(BF16)
    return [1.0, -1.0, 1.0, 2.0], run(larger, x, y, zeros(4, BF16), 4)


def constant(Y, N: tl.constexpr):
    tl.store(Y + tl.arange(0, N), tl.full((N,), 1 + 2.0**-7 * 0.75, tl.bfloat16))


@trap("bf16-constant")
def bf16_constant(run):
    return [1 + 2.0**-7] * 4, run(constant, zeros(4, BF16), 4)


def gather_sum(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.atomic_add(Y + lanes // 2, tl.load(X + lanes))


@trap("bf16-atomics")
def bf16_atomics(run):
    return [3.0, 7.0], run(gather_sum, torch.tensor([1.0, 2.0, 3.0, 4.0]).to(BF16), zeros(2, BF16), 4)


def total(X, Y, N: tl.constexpr):
    tl.store(Y, tl.sum(tl.load(X + tl.arange(0, N)), 0))


@trap("bf16-sum")
def bf16_sum(run):
    return [8.0], run(total, torch.ones(8).to(BF16), zeros(1), 8)


def running_total(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.cumsum(tl.load(X + lanes), 0))


@trap("bf16-cumsum")
def bf16_cumsum(run):
    return [1.0, 0.0, 3.0, 2.0], run(running_total, torch.tensor([1.0, -1.0, 3.0, -1.0]).to(BF16), zeros(4), 4)


def place_of_largest(X, Y, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(Y + row, tl.argmax(tl.load(X + row * N + tl.arange(0, N)), 0))


@trap("bf16-argmax")
def bf16_argmax(run):
    return [2], run(place_of_largest, torch.tensor([1.0, -2.0, 3.0, -4.0]).to(BF16), zeros(1, I32), 4)


@trap("int-to-bf16")
def int_to_bf16(run):
    numbers = torch.tensor([1, -3, 257, 259], dtype=I32)
    return [1.0, -3.0, 256.0, 260.0], run(convert, numbers, zeros(4, BF16), 4, tl.bfloat16)


@trap("fp8-rounding")
def fp8_rounding(run):
    numbers = torch.tensor([1.0625, 1.1875, 1.95, 17.0, 2.0**-9 * 1.5, 2.0**-9 * 0.75, 2.0**-7 * 0.99, 0.0])
    rounded = [1.0, 1.25, 2.0, 16.0, 2.0**-8, 2.0**-9, 2.0**-7, 0.0]
    return rounded, run(convert, numbers, zeros(8, E4M3), 8, tl.float8e4nv)


@trap("fp8-saturation")
def fp8_saturation(run):
    numbers = torch.tensor([449.0, 500.0, -1e9, INF])
    return [448.0, 448.0, -448.0, 448.0], run(convert, numbers, zeros(4, E4M3), 4, tl.float8e4nv)


@trap("fp8-nan")
def fp8_nan(run):
    return [NAN, NAN, 448.0, -448.0], run(convert, bits([0x7F, -1, 0x7E, -2], I8, E4M3), zeros(4), 4, tl.float32)


@trap("fp8-infinity")
def fp8_infinity(run):
    return [INF, -INF, NAN, 57344.0], run(convert, bits([0x7C, -4, 0x7D, 0x7B], I8, E5M2), zeros(4), 4, tl.float32)


@trap("fp8-arithmetic")
def fp8_arithmetic(run):
    x = torch.ones(4).to(E4M3)
    return NotOnHardware, run(add, x, x, zeros(4, E4M3), 4)


def toward_zero(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes).to(tl.float16, fp_downcast_rounding="rtz"))


@trap("fp8-sum")
def fp8_sum(run):
    return NotOnHardware, run(total, torch.ones(4).to(E4M3), zeros(1), 4)


@trap("fnuz-rounding")
def fnuz_rounding(run):
    """On gfx942, the only target that has these formats."""
    numbers = torch.tensor([1.0625, 1.1875, 1.95, 2.0**-10 * 1.5, 300.0, -1e-9, 2.0**-10 * 0.4, NAN])
    rounded = [1.0, 1.25, 2.0, 2.0**-9, 240.0, 0.0, 0.0, NAN]
    return rounded, run(convert, numbers, zeros(8, torch.float8_e4m3fnuz), 8, tl.float8e4b8)


@trap("fp16-toward-zero")
def fp16_toward_zero(run):
    return [1.0, 65504.0, -65504.0, INF], run(toward_zero, torch.tensor([1.0004, 7e4, -7e4, INF]), zeros(4, F16), 4)


@trap("float-to-int")
def float_to_int(run):
    numbers = torch.tensor([3e9, -3e9, NAN, INF])
    return [2**31 - 1, -(2**31), 0, 2**31 - 1], run(convert, numbers, zeros(4, I32), 4, tl.int32)


@trap("float-to-unsigned")
def float_to_unsigned(run):
    numbers = torch.tensor([-5.0, 3e9, NAN, 1e10])
    return [0, 3 * 10**9, 0, 2**32 - 1], run(convert, numbers, zeros(4, U32), 4, tl.uint32)


@trap("float-to-int8")
def float_to_int8(run):
    """There is no 8-bit `cvt`: the low byte of what `cvt.rzi.s16.f32` gives."""
    return [-56, -1, 0, 0], run(convert, torch.tensor([200.0, 3e9, NAN, -1e5]), zeros(4, I8), 4, tl.int8)


def fuse(X, Y, Z, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes)
    tl.store(Z + lanes, tl.fma(x, x, tl.load(Y + lanes)))


@trap("fma")
def fused_multiply_add(run):
    x = torch.tensor([1 + 2.0**-12, 1 - 2.0**-13])
    return [2.0**-24, 2.0**-26], run(fuse, x, -x * x, zeros(2), 2)


@trap("nan-in-maximum")
def nan_in_maximum(run):
    x, y = torch.tensor([NAN, 2.0, NAN, 4.0]), torch.tensor([1.0, NAN, NAN, 3.0])
    return [1.0, 2.0, NAN, 4.0], run(larger, x, y, zeros(4), 4)


@trap("nan-in-argmax")
def nan_in_argmax(run):
    """Of two lanes, whichever is NaN: no comparison holds, so the second one is taken."""
    rows = torch.tensor([[NAN, 1.0], [1.0, NAN]])
    return [1, 1], run(place_of_largest, rows, zeros(2, I32), 2, grid=(2,))


@trap("zeros-in-sum")
def zeros_in_sum(run):
    return [-0.0], run(total, torch.full((4,), -0.0), zeros(1), 4)


@trap("zeros-in-maximum")
def zeros_in_maximum(run):
    return [0.0, 0.0], run(larger, torch.tensor([-0.0, 0.0]), torch.tensor([0.0, -0.0]), zeros(2), 2)


def clamp(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.clamp(tl.load(X + lanes), -1.0, 1.0))


@trap("nan-in-clamp")
def nan_in_clamp(run):
    return [-1.0, 1.0], run(clamp, torch.tensor([NAN, 5.0]), zeros(2), 2)


def high(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes)
    tl.store(Y + lanes, tl.umulhi(x, x))


@trap("umulhi-of-signed")
def umulhi_of_signed(run):
    return [-2, 2**28], run(high, torch.tensor([-1, 2**30], dtype=I32), zeros(2, I32), 2)


def count(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.histogram(tl.load(X + lanes), N))


@trap("histogram-range")
def histogram_range(run):
    return [0, 2, 1, 0], run(count, torch.tensor([1, 4, 2, 1], dtype=I32), zeros(4, I32), 4)


def parity(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    positive = tl.load(X + lanes) > 0
    tl.store(Y + lanes, tl.add(positive, positive, sanitize_overflow=False).to(tl.int32))


@trap("int1-wraps")
def int1_wraps(run):
    return [0, 0], run(parity, torch.tensor([1.0, -1.0]), zeros(2, I32), 2)


def masked_by_scalar(X, Y, n, k, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes), mask=(lanes < n) & (k > 2))


@trap("scalar-in-mask")
def scalar_in_mask(run):
    return [1.0, 1.0, 1.0, 0.0], run(masked_by_scalar, torch.ones(4), zeros(4), 3, 5, 4)


def masked_by_flag(X, Y, flag, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes), mask=(lanes < N) & flag)


@trap("bool-argument")
def bool_argument(run):
    return [1.0, 1.0], run(masked_by_flag, torch.ones(2), zeros(2), True, 2)


def between(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes)
    tl.store(Y + lanes, x, mask=(x > 1 and x < 5) or not (x < 9 or x > 9))


@trap("logical-words")
def logical_words(run):
    """`and`, `or` and `not` of blocks, which compile with a warning."""
    return [3.0, 0.0, 0.0, 9.0], run(between, torch.tensor([3.0, 1.0, 7.0, 9.0]), zeros(4), 4)


def branching(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes)
    if x > 1:
        tl.store(Y + lanes, x)


@trap("branch-on-a-block")
def branch_on_a_block(run):
    return AmbiguousTruth, run(branching, torch.tensor([3.0, 0.0]), zeros(2), 2)


@triton.jit
def product_of_two(a, b):
    return a * b


def product_of_rows(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes[:, None] * N + lanes[None, :])
    tl.store(Y + lanes, tl.reduce(x, -1, product_of_two))


@trap("negative-axis")
def negative_axis(run):
    return [2.0, 12.0], run(product_of_rows, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), zeros(2), 2)


def repeated(COUNT, Y):
    for step in range(tl.load(COUNT)):
        tl.store(Y, step)


@trap("loaded-range")
def loaded_range(run):
    return [2], run(repeated, torch.tensor([3], dtype=I32), zeros(1, I32))


def nearest(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, libdevice.rint(tl.load(X + lanes)))


@trap("libdevice-rint")
def libdevice_rint(run):
    return [0.0, 2.0, 2.0, -0.0], run(nearest, torch.tensor([0.5, 1.5, 2.5, -0.5]), zeros(4), 4)


def assembly(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(X + lanes)
    y = tl.inline_asm_elementwise("prmt.b32 $0, $1, $1, 0x0123;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(Y + lanes, y)


@trap("inline-ptx")
def inline_ptx(run):
    return [0x04030201, 0x01000000], run(assembly, torch.tensor([0x01020304, 1], dtype=I32), zeros(2, I32), 2)


def asserted(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.device_assert(lanes < N - 1, "the last lane")
    tl.store(Y + lanes, tl.load(X + lanes))


@trap("device-assert")
def device_assert(run):
    return DeviceAssertFailed, run(asserted, torch.ones(4), zeros(4), 4)


def scaled(Y, stride, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, lanes * stride)


@trap("int32-overflow")
def int32_overflow(run):
    return IntegerOverflow, run(scaled, zeros(4, I32), 2**30, 4)


def promised(Y, n):
    tl.store(Y, tl.multiple_of(n, 16))


@trap("broken-hint")
def broken_hint(run):
    return BrokenHint, run(promised, zeros(1, I32), 24)


def copy(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes))


@trap("out-of-bounds")
def out_of_bounds(run):
    view = torch.zeros(2, 4).T[:3]
    return OutOfBounds, run(copy, view, zeros(8), 8, within=lambda *_: memory_checked())


@trap("unwritten-memory")
def unwritten_memory(run):
    return UninitialisedRead, run(copy, zeros(4), zeros(4), 4, within=lambda x, *_: memory_checked(uninitialised=[x]))


@trap("race")
def race(run):
    return Race, run(copy, zeros(4), zeros(4), 4, grid=(2,), within=lambda *_: memory_checked())


def crowded(Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes // 2, lanes)


@trap("duplicate-store")
def duplicate_store(run):
    return DuplicateStore, run(crowded, zeros(4, I32), 4, within=lambda *_: memory_checked())


def half_loaded(X, Y, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(Y + lanes, tl.load(X + lanes, mask=lanes < N // 2))


@trap("masked-lanes")
def masked_lanes(run):
    return [1.0, NAN], run(half_loaded, torch.ones(2), zeros(2), 2, within=lambda *_: memory_checked())


def nested(FACTOR: tl.constexpr):
    def closure(X, Y):
        tl.store(Y, tl.load(X) * FACTOR)

    return closure


@trap("closure")
def closure(run):
    return [3.0], run(nested(tl.constexpr(3)), torch.ones(1), zeros(1))


BORROWING = """
import triton.language as tl

def borrowing(Y):
    tl.store(Y, np.pi)
"""


@trap("borrowed-names")
def borrowed_names(run):
    """The kernel uses a name that its module does not define, which no compiler accepts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "borrowing.py"
        path.write_text(BORROWING)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        outcome = run(module.borrowing, zeros(1))
    cause = outcome.error and (outcome.error.__cause__ or outcome.error)
    return NameError, Outcome(outcome.values, cause)
