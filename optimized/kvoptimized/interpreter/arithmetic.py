"""Floating-point arithmetic on numbers instead of bit patterns: bf16 rounds once, NaN and signed zeros as in PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from numpy.typing import NDArray
from triton._C.libtriton import ir

from kvoptimized.interpreter import elementary
from kvoptimized.interpreter.casts import pack, values
from kvoptimized.interpreter.faults import NotOnHardware
from kvoptimized.interpreter.patching import Patches

Numbers = NDArray[Any]

_EIGHT_BITS = 8


def maximum(a: Numbers, b: Numbers) -> Numbers:
    """`max`: a NaN loses against a number, and +0 is larger than -0."""
    return np.where(a == b, np.where(np.signbit(b), a, b), np.fmax(a, b))


def minimum(a: Numbers, b: Numbers) -> Numbers:
    """`min`: a NaN loses against a number, and -0 is smaller than +0."""
    return np.where(a == b, np.where(np.signbit(b), b, a), np.fmin(a, b))


def maximum_nan(a: Numbers, b: Numbers) -> Numbers:
    """`max.NaN`: a NaN wins."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, maximum(a, b)).astype(a.dtype)


def minimum_nan(a: Numbers, b: Numbers) -> Numbers:
    """`min.NaN`: a NaN wins."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, minimum(a, b)).astype(a.dtype)


def fused(x: Numbers, y: Numbers, z: Numbers) -> NDArray[np.float64]:
    """x*y + z of fp32 or narrower numbers, as fp64 that rounds to fp32 and below as the exact value would.

    The product is exact; the sum is rounded to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded
    sums", IEEE Transactions on Computers 57, 2008).
    """
    product, addend = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + addend
    shifted = total - product
    lost = (product - (total - shifted)) + (addend - shifted)
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    toward = np.where(lost > 0, np.inf, -np.inf)
    return np.where((lost != 0) & even & np.isfinite(total), np.nextafter(total, toward), total)


_BINARY: dict[str, Callable[..., Numbers]] = {
    "create_fadd": np.add,
    "create_fsub": np.subtract,
    "create_fmul": np.multiply,
    "create_maxnumf": maximum,
    "create_minnumf": minimum,
    "create_maximumf": maximum_nan,
    "create_minimumf": minimum_nan,
}
_DIVISIONS: dict[str, Callable[..., Numbers]] = {
    "create_fdiv": np.divide,
    "create_approx_divf": np.divide,
    "create_precise_divf": np.divide,
    "create_frem": np.fmod,
}
_ELEMENTARY: dict[str, Callable[[Numbers], Numbers]] = {
    "create_exp": elementary.exp,
    "create_exp2": elementary.exp2,
    "create_log": elementary.log,
    "create_log2": elementary.log2,
}
_COMPARISONS: dict[str, Callable[..., Numbers]] = {
    "LT": np.less,
    "GT": np.greater,
    "LE": np.less_equal,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}


def install(patches: Patches) -> None:
    """Replace the interpreter's floating-point operators and all comparisons."""
    builder = stock.InterpreterBuilder
    for name, function in _ELEMENTARY.items():
        patches.set_attr(builder, name, _function(function))
    for name, operation in (_BINARY | _DIVISIONS).items():
        if hasattr(builder, name):
            patches.set_attr(builder, name, _operator(operation, eight_bits=name in _DIVISIONS))
    for kind, operation in _COMPARISONS.items():
        for name in (f"create_fcmp{order}{kind}" for order in "OU"):
            if hasattr(builder, name):
                patches.set_attr(builder, name, _comparison(operation))
        for name in (f"create_icmp{sign}{kind}" for sign in ("S", "U", "")):
            if hasattr(builder, name):
                patches.set_attr(builder, name, _comparison(operation))
    patches.set_attr(builder, "create_fneg", _negate)
    patches.set_attr(builder, "create_clampf", _clamp)
    patches.set_attr(builder, "create_fma", _fma)


def numbers(handle: Any, eight_bits: bool = False) -> Numbers:
    """The numbers to compute with: bf16 as fp64, in which one operation is exact or rounds harmlessly.

    Raises NotOnHardware for 8-bit floats, unless `eight_bits` says that the operation compiles for them.
    """
    type_ = handle.dtype.scalar
    if type_.is_floating() and type_.primitive_bitwidth == _EIGHT_BITS and not eight_bits:
        raise NotOnHardware(f"arithmetic on {type_} does not compile; cast to fp32 first")
    plain = values(handle)
    return plain.astype(np.float64) if type_.is_bf16() else plain


def _operator(operation: Callable[..., Numbers], eight_bits: bool) -> Callable[..., Any]:
    def method(self: Any, a: Any, b: Any) -> Any:
        result = operation(numbers(a, eight_bits), numbers(b, eight_bits))
        return stock.TensorHandle(pack(result, a.dtype.scalar), a.dtype.scalar)

    return method


def _function(function: Callable[[Numbers], Numbers]) -> Callable[..., Any]:
    def method(self: Any, x: Any) -> Any:
        return stock.TensorHandle(pack(function(numbers(x)), x.dtype.scalar), x.dtype.scalar)

    return method


def _comparison(operation: Callable[..., Numbers]) -> Callable[..., Any]:
    def method(self: Any, a: Any, b: Any) -> Any:
        return stock.TensorHandle(operation(numbers(a), numbers(b)), tl.int1)

    return method


def _negate(self: Any, a: Any) -> Any:
    return stock.TensorHandle(pack(np.negative(numbers(a)), a.dtype.scalar), a.dtype.scalar)


def _clamp(self: Any, x: Any, low: Any, high: Any, propagate: Any) -> Any:
    plain, bounds = numbers(x), (numbers(low), numbers(high))
    result = minimum(maximum(plain, bounds[0]), bounds[1])
    if propagate != ir.PROPAGATE_NAN.NONE:
        result = np.where(np.isnan(plain), np.nan, result)
    return stock.TensorHandle(pack(result, x.dtype.scalar), x.dtype.scalar)


def _fma(self: Any, x: Any, y: Any, z: Any) -> Any:
    type_ = z.dtype.scalar
    if type_.is_fp64():
        raise NotOnHardware("tl.fma of fp64 is not interpreted; use fp32, or multiply and add")
    result = fused(*np.broadcast_arrays(numbers(x), numbers(y), numbers(z)))
    return stock.TensorHandle(pack(result, type_), type_)
