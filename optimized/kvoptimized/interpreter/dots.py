"""`tl.dot`: products of the numbers, not of their bit patterns; fp32 sums in an order of their own, exact int32 sums.

Every product is rounded to fp32 (those of bf16, fp16 and 8-bit operands are exact), then the first half of the products
along k is added to the second until one is left, and the accumulator comes last: the order of `tl.sum`. It is spelt
out in NumPy's elementwise operations, which IEEE 754 defines, so a row has the same bits on every processor and at
every place of every tile. A BLAS promises neither: its order depends on processor, shape and place. No hardware adds in
this order (tensor cores take k in groups, and truncate as they align them); certificates allow every order, and so
hold for the hardware too.

Without `input_precision="ieee"`, fp32 operands lose their 13 lowest bits, which the tf32 tensor cores ignore. 8-bit
floats are summed in fp32, better than Hopper does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.runtime.interpreter as stock
from numpy.typing import NDArray
from triton._C.libtriton import ir

from kvoptimized.interpreter.casts import pack, values
from kvoptimized.interpreter.patching import Patches

_TF32 = np.uint32(0xFFFFE000)


def install(patches: Patches) -> None:
    """Replace the interpreter's matrix product."""
    patches.set_attr(stock.InterpreterBuilder, "create_dot", _dot)


def _dot(self: Any, a: Any, b: Any, accumulator: Any, precision: Any, imprecise: Any) -> Any:
    type_ = accumulator.dtype.scalar
    if a.dtype.scalar.is_int():
        exact = np.matmul(a.data.astype(np.int64), b.data.astype(np.int64))
        return stock.TensorHandle((exact + accumulator.data).astype(stock._get_np_dtype(type_)), type_)
    total = _product(_operand(a, precision), _operand(b, precision)) + values(accumulator)
    return stock.TensorHandle(pack(total, type_), type_)


def _product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """`[..., m, n]` sums over k of `a` `[..., m, k]` times `b` `[..., k, n]`, halved along k; k is a power of two."""
    parts = np.moveaxis(a, -1, 0)[..., None] * np.moveaxis(b, -2, 0)[..., None, :]
    while (length := len(parts)) > 1:
        parts = np.add(parts[: length // 2], parts[length // 2 :], out=parts[: length // 2])
    total: NDArray[Any] = parts[0]
    return total


def _operand(handle: Any, precision: Any) -> NDArray[Any]:
    numbers = values(handle)
    if numbers.dtype == np.float64:
        return numbers
    if handle.dtype.scalar.is_fp32() and precision == ir.INPUT_PRECISION.TF32:
        bits = np.ascontiguousarray(numbers).view(np.uint32)
        return np.where(np.isnan(numbers), numbers, (bits & _TF32).view(np.float32))
    return numbers.astype(np.float32, copy=False)
