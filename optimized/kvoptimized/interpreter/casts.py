"""Casts between Triton types, with the instructions that Triton compiles them to on sm_90.

Floating point narrows with one rounding to nearest even (`cvt.rn`, `.satfinite` for the 8-bit formats); integers
become bf16 with one rounding (`cvt.rn.bf16.s32`). Floating point becomes an integer by `cvt.rzi`: toward zero, the
nearest bound out of range, 0 for NaN, or the highest bit alone where the source is fp64 or the target has 64 bits;
8-bit integers are the low byte of the 16-bit result, as there is no 8-bit `cvt`. fp8e4b8 and fp8e5b16 are converted
as on gfx942, the only target that has them in hardware. 8-bit floats are converted from and to fp32, fp16 and bf16
alone, as on sm_90, sm_100 and gfx942.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.runtime.interpreter as stock
from numpy.typing import NDArray
from triton._C.libtriton import ir

from kvoptimized.interpreter.faults import NotOnHardware
from kvoptimized.interpreter.floats import EIGHT_BITS, NARROW, narrow, to_integer, widen
from kvoptimized.interpreter.patching import Patches

_KNOWN = {"fp32", "fp64", *NARROW}
_PARTNERS = {"fp32", "fp16", "bf16"}
_BYTE = 8


def install(patches: Patches) -> None:
    """Replace the interpreter's casts."""
    builder = stock.InterpreterBuilder
    stock_cast, stock_fp_to_fp = builder.cast_impl, builder.create_fp_to_fp

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        before, after = source.dtype.scalar, target.scalar
        _refuse(before, after, False)
        if {before.name, after.name} <= _KNOWN:
            return _convert(source, after, False)
        if before.name in _KNOWN and after.is_int() and not after.is_bool():
            return stock.TensorHandle(_truncate(values(source), stock._get_np_dtype(after)), after)
        if before.is_int() and after.name in NARROW:
            return stock.TensorHandle(pack(_exact(source.data), after), after)
        return stock_cast(self, source, target)

    def create_fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        _refuse(source.dtype.scalar, target.scalar, rounding == ir.ROUNDING_MODE.RTZ)
        if {source.dtype.scalar.name, target.scalar.name} <= _KNOWN:
            return _convert(source, target.scalar, rounding == ir.ROUNDING_MODE.RTZ)
        return stock_fp_to_fp(self, source, target, rounding)

    patches.set_attr(builder, "cast_impl", cast_impl)
    patches.set_attr(builder, "create_fp_to_fp", create_fp_to_fp)
    patches.set_attr(builder, "get_bf16", lambda self, value: cast_impl(self, self.get_fp64(value), self.get_bf16_ty()))


def _refuse(before: Any, after: Any, toward_zero: bool) -> None:
    """Raises NotOnHardware for casts that no target compiles, and for fp8e4b15."""
    eight = {type_.name for type_ in (before, after) if type_.is_floating() and type_.primitive_bitwidth == _BYTE}
    if before == after or not eight:
        return
    for name in eight:
        _require_known(name)
    if {before.name, after.name} - eight - _PARTNERS or len(eight) > 1:
        raise NotOnHardware(f"a cast from {before} to {after} does not compile; go by way of fp32")
    if toward_zero and after.name in EIGHT_BITS and EIGHT_BITS[after.name].unsigned_zero:
        raise NotOnHardware(f"a cast toward zero to {after} does not compile")


def _require_known(name: str) -> None:
    if name.startswith("fp8") and name not in EIGHT_BITS:
        raise NotOnHardware(f"numbers of {name} are not interpreted; use fp8e4nv or fp8e5")


def values(handle: Any) -> NDArray[Any]:
    """The numbers of a handle: bit patterns are widened to fp32, everything else is as it is stored."""
    name = handle.dtype.scalar.name
    _require_known(name)
    format = NARROW.get(name)
    data: NDArray[Any] = handle.data
    return data if format is None or data.dtype.kind != "u" else widen(data, format)


def pack(numbers: NDArray[Any], type_: Any, toward_zero: bool = False) -> NDArray[Any]:
    """`numbers` as the interpreter stores the floating-point type: patterns for bf16 and the 8-bit formats."""
    storage = stock._get_np_dtype(type_)
    if type_.name not in NARROW:
        return numbers.astype(storage, copy=False)
    return narrow(numbers, NARROW[type_.name], toward_zero).view(storage)


def _convert(source: Any, after: Any, toward_zero: bool) -> Any:
    return stock.TensorHandle(pack(values(source), after, toward_zero), after)


def _exact(integers: NDArray[Any]) -> NDArray[Any]:
    """The integers as fp64 that rounds to every narrow format as they would themselves.

    Of those beyond 53 bits, only whether anything is set below bit 16 matters; bit 15 says so.
    """
    if integers.dtype.itemsize == 8:
        low = (integers & integers.dtype.type(0xFFFF)) != 0
        collapsed = integers >> 16 << 16 | low.astype(integers.dtype) << 15
        integers = np.where(np.abs(integers.astype(np.float64)) >= 2.0**53, collapsed, integers)
    return integers.astype(np.float64)


def _truncate(numbers: NDArray[Any], storage: Any) -> NDArray[Any]:
    """Toward zero; the low byte of the 16-bit result for 8-bit integers."""
    if storage.itemsize > 1:
        return to_integer(numbers, storage)
    return to_integer(numbers, np.dtype(f"{storage.kind}2")).astype(storage)
