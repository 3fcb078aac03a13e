"""Integer arithmetic, which is refused where it leaves its type, and assertions; both say where."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from numpy.typing import NDArray
from triton.language.semantic import TritonSemantic

from kvoptimized.interpreter.faults import DeviceAssertFailed, IntegerOverflow
from kvoptimized.interpreter.patching import Patches

_SIGNS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
}
_LONG = 64


def install(patches: Patches) -> None:
    """Turn on debug mode, in which the language asserts and checks for overflow, and make both cheap and telling."""
    builder = stock.interpreter_builder
    patches.set_attr(builder, "options", replace(builder.options, debug=True, sanitize_overflow=True))
    patches.set_attr(stock.InterpreterBuilder, "create_assert", _assert)
    patches.set_attr(
        stock.InterpreterBuilder, "create_assume", lambda self, condition: _assert(self, condition, "assume")
    )
    compiled_check = TritonSemantic.binary_op_sanitize_overflow_impl

    def check(self: Any, a: Any, b: Any, method: Any) -> None:
        if isinstance(self.builder, stock.InterpreterBuilder):
            _check_operator(a, b, method.__name__)
        else:
            compiled_check(self, a, b, method)

    patches.set_attr(TritonSemantic, "binary_op_sanitize_overflow_impl", check)
    for name, method in (("binary_op", _binary), ("create_umulhi", _high_product), ("create_histogram", _histogram)):
        patches.set_attr(stock.InterpreterBuilder, name, method)


def _assert(self: Any, condition: Any, message: Any) -> None:
    holds = np.asarray(condition.data, bool)
    if not holds.all():
        raise DeviceAssertFailed(str(message), tuple(int(i) for i in np.argwhere(~holds)[0]))


def _check_operator(a: Any, b: Any, name: str) -> None:
    type_ = a.type.scalar
    if type_.int_bitwidth >= _LONG:
        return
    sign, operation = _SIGNS[name]
    wide = operation(a.handle.data.astype(np.int64), b.handle.data.astype(np.int64))
    if (first := outside(wide, type_)) is not None:
        operands = (np.broadcast_to(data, wide.shape)[first] for data in (a.handle.data, b.handle.data))
        raise IntegerOverflow(sign, str(type_), tuple(int(operand) for operand in operands), int(wide[first]))


def outside(wide: NDArray[Any], type_: Any) -> tuple[int, ...] | None:
    """Index of the first number that the integer type cannot hold."""
    low, high = type_.get_int_min_value(), type_.get_int_max_value()
    if not wide.size or (low <= wide.min() and wide.max() <= high):
        return None
    return tuple(int(i) for i in np.argwhere((wide < low) | (wide > high))[0])


def _binary(self: Any, a: Any, b: Any, operation: Callable[..., NDArray[Any]]) -> Any:
    """What no other room replaces; int1 wraps like every integer."""
    type_ = a.dtype.scalar
    if a.data.dtype == b.data.dtype == np.bool_:
        return stock.TensorHandle((operation(a.data.astype(np.int8), b.data.astype(np.int8)) & 1).astype(bool), type_)
    result = operation(a.data, b.data)
    storage = stock._get_np_dtype(type_)
    return stock.TensorHandle(result if result.dtype.itemsize <= storage.itemsize else result.astype(storage), type_)


def _high_product(self: Any, a: Any, b: Any) -> Any:
    """The upper half of the product of two bit patterns."""
    storage = a.data.dtype
    bits, pattern = 8 * storage.itemsize, np.dtype(f"u{storage.itemsize}")
    wide = object if bits == _LONG else np.dtype(f"u{2 * storage.itemsize}")
    product = a.data.view(pattern).astype(wide) * b.data.view(pattern).astype(wide)
    return stock.TensorHandle((product >> bits).astype(pattern).view(storage), a.dtype.scalar)


def _histogram(self: Any, numbers: Any, bins: int, mask: Any) -> Any:
    """Counts of 0 to `bins` - 1; other numbers and masked lanes are dropped."""
    data = numbers.data.astype(np.int64)
    kept = (data >= 0) & (data < bins) & (True if mask is None else mask.data)
    return stock.TensorHandle(np.bincount(data[kept], minlength=bins).astype(np.int32), tl.int32)
