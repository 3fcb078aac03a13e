"""The smallest kernels that use one operation each, and what converts their tensors for the specification."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
import triton.language as tl

from kvoptimized.launch import kernel
from kvspec.numbers import floats as spec

TORCH = {
    spec.FP32: torch.float32,
    spec.FP16: torch.float16,
    spec.BF16: torch.bfloat16,
    spec.E4M3FN: torch.float8_e4m3fn,
    spec.E5M2: torch.float8_e5m2,
}
TRITON = {
    torch.float64: tl.float64,
    torch.float32: tl.float32,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float8_e4m3fn: tl.float8e4nv,
    torch.float8_e5m2: tl.float8e5,
    torch.float8_e4m3fnuz: tl.float8e4b8,
    torch.float8_e5m2fnuz: tl.float8e5b16,
    torch.int8: tl.int8,
    torch.uint8: tl.uint8,
    torch.int16: tl.int16,
    torch.uint16: tl.uint16,
    torch.int32: tl.int32,
    torch.uint32: tl.uint32,
    torch.int64: tl.int64,
}
WORDS = {1: torch.uint8, 2: torch.uint16, 4: torch.int32, 8: torch.int64}


@kernel
def cast_kernel(X, Y, TYPE: tl.constexpr, ROUNDING: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(Y + lanes, tl.load(X + lanes).to(TYPE, fp_downcast_rounding=ROUNDING))


@kernel
def binary_kernel(X, Y, Z, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    y = tl.load(Y + lanes)
    if OPERATION == "add":
        z = x + y
    elif OPERATION == "sub":
        z = x - y
    elif OPERATION == "mul":
        z = x * y
    elif OPERATION == "less":
        z = (x < y).to(tl.int8)
    elif OPERATION == "less_equal":
        z = (x <= y).to(tl.int8)
    elif OPERATION == "equal":
        z = (x == y).to(tl.int8)
    elif OPERATION == "not_equal":
        z = (x != y).to(tl.int8)
    elif OPERATION == "maximum":
        z = tl.maximum(x, y)
    elif OPERATION == "minimum":
        z = tl.minimum(x, y)
    elif OPERATION == "maximum_nan":
        z = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    else:
        z = tl.fma(x, y, y)
    tl.store(Z + lanes, z)


@kernel
def dot_kernel(A, B, C, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    columns = tl.arange(0, N)[None, :]
    depth = tl.arange(0, K)
    a = tl.load(A + rows * K + depth[None, :])
    b = tl.load(B + depth[:, None] * N + columns)
    c = tl.load(C + rows * N + columns)
    c = tl.dot(a, b, c, input_precision=PRECISION, out_dtype=c.dtype)
    tl.store(C + rows * N + columns, c)


def padded(values: torch.Tensor) -> torch.Tensor:
    """To a power of two, repeating the first value."""
    size = 1 << max(0, values.numel() - 1).bit_length()
    return torch.cat([values, values[:1].expand(size - values.numel())])


def cast(values: torch.Tensor, target: torch.dtype, rounding: str | None = None) -> torch.Tensor:
    """`values` through a Triton cast."""
    source = padded(bits(values)).view(values.dtype)
    result = torch.zeros(source.shape, dtype=WORDS[target.itemsize]).view(target)
    cast_kernel[(1,)](source, result, TRITON[target], rounding, source.numel())
    return result[: values.numel()]


def binary(operation: str, x: torch.Tensor, y: torch.Tensor, result: torch.dtype | None = None) -> torch.Tensor:
    """`x` and `y` through one Triton operation."""
    left, right = padded(x), padded(y)
    out = torch.zeros(left.shape, dtype=result or x.dtype)
    binary_kernel[(1,)](left, right, out, operation, left.numel())
    return out[: x.numel()]


def dot(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, precision: str = "ieee") -> torch.Tensor:
    """A @ b + c."""
    out = c.clone()
    dot_kernel[(1,)](a, b, out, a.shape[0], b.shape[1], a.shape[1], precision)
    return out


def bits(values: torch.Tensor) -> torch.Tensor:
    """The bit patterns of floating-point values; integers as they are."""
    return values.view(WORDS[values.dtype.itemsize]) if values.dtype.is_floating_point else values


def every(format: spec.FloatFormat) -> torch.Tensor:
    """Every pattern of a format below 32 bits, as its torch dtype."""
    patterns = np.arange(1 << format.bits, dtype=f"u{format.bits // 8}")
    return torch.from_numpy(patterns).view(TORCH[format])


def patterns(values: torch.Tensor) -> list[int]:
    """The patterns as unsigned Python integers."""
    return [int(pattern) for pattern in bits(values).numpy().view(f"u{values.dtype.itemsize}")]


@cache
def value(pattern: int, format: spec.FloatFormat) -> spec.Number:
    """What a pattern stands for, exactly."""
    return spec.from_bits(pattern, format)


def same(pattern: int, expected: spec.Number, format: spec.FloatFormat) -> bool:
    """Whether the pattern is the expected number, NaN being any NaN."""
    if expected is spec.Special.NAN:
        return value(pattern, format) is spec.Special.NAN
    return pattern == spec.to_bits(expected, format)
