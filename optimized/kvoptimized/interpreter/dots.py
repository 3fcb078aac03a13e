"""`tl.dot`: products of the numbers, not of their bit patterns; fp32 sums, or exact int32 ones.

Without `input_precision="ieee"`, fp32 operands lose their 13 lowest bits, which the tf32 tensor cores ignore. The
order of summation is NumPy's, which no hardware promises; 8-bit floats are summed in fp32, better than Hopper does.
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
        exact = np.matmul(a.data.astype(np.float64), b.data.astype(np.float64)).astype(np.int64)
        return stock.TensorHandle((exact + accumulator.data).astype(stock._get_np_dtype(type_)), type_)
    total = np.matmul(_operand(a, precision), _operand(b, precision)) + values(accumulator)
    return stock.TensorHandle(pack(total, type_), type_)


def _operand(handle: Any, precision: Any) -> NDArray[Any]:
    numbers = values(handle)
    if numbers.dtype == np.float64:
        return numbers
    if handle.dtype.scalar.is_fp32() and precision == ir.INPUT_PRECISION.TF32:
        bits = np.ascontiguousarray(numbers).view(np.uint32)
        return np.where(np.isnan(numbers), numbers, (bits & _TF32).view(np.float32))
    return numbers.astype(np.float32, copy=False)
