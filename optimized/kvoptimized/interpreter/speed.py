"""Types and shapes made and compared once instead of at every operation; nothing here changes a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton.language as tl
import triton.language.semantic as semantics
import triton.runtime.interpreter as stock

from kvoptimized.interpreter.patching import Patches

_storage: dict[str, Any] = {}
_blocks: dict[Any, dict[str, Any]] = {}
_shapes: dict[Any, tuple[Any, Any]] = {}
_stock_storage = stock._get_np_dtype
_stock_types = semantics.TritonSemantic.computation_type_impl
_stock_check = semantics.TritonSemantic.binary_op_type_checking_impl
_stock_broadcast = semantics.TritonSemantic.broadcast_impl_value
_computation: dict[Any, Any] = {}
_stock_block, _stock_tensor = tl.core.block_type.__init__, tl.core.tensor.__init__


def install(patches: Patches) -> None:
    """Remember the NumPy type of every Triton type."""
    patches.set_attr(stock, "_get_np_dtype", _storage_of)


def faster_types() -> Iterator[tuple[Any, str, Any]]:
    """What to put where during a launch: (class, name, function)."""
    yield tl.core.block_type, "__init__", _make_block
    yield tl.core.tensor, "__init__", _make_tensor
    yield semantics.TritonSemantic, "computation_type_impl", _computation_type
    yield semantics.TritonSemantic, "binary_op_type_checking_impl", _checked
    yield semantics.TritonSemantic, "broadcast_impl_value", _broadcast


def _storage_of(type_: Any) -> Any:
    if type(type_) is not tl.dtype:
        return _stock_storage(type_)
    if type_.name not in _storage:
        _storage[type_.name] = _stock_storage(type_)
    return _storage[type_.name]


def _make_block(self: Any, element_ty: Any, shape: Any) -> None:
    pointer = (getattr(element_ty, "address_space", None), getattr(element_ty, "const", None))
    key = (type(element_ty), element_ty.name, pointer, tuple(getattr(size, "value", size) for size in shape))
    known = _blocks.get(key)
    if known is None:
        _stock_block(self, element_ty, shape)
        _blocks[key] = dict(vars(self))
    else:
        vars(self).update(known)


def _make_tensor(self: Any, handle: Any, type: Any) -> None:
    key = tuple(type.shape) if type.is_block() else ()
    if key not in _shapes:
        _stock_tensor(self, handle, type)
        _shapes[key] = self.numel, self.shape
        return
    self.handle, self.type, self.dtype = handle, type, type.scalar
    self.numel, self.shape = _shapes[key]


def _computation_type(self: Any, a: Any, a_is_scalar: bool, b: Any, b_is_scalar: bool, div_or_mod: bool) -> Any:
    key = (a.name, a_is_scalar, b.name, b_is_scalar, div_or_mod)
    if key not in _computation:
        _computation[key] = _stock_types(self, a, a_is_scalar, b, b_is_scalar, div_or_mod)
    return _computation[key]


def _checked(
    self: Any,
    lhs: Any,
    rhs: Any,
    allow_lhs_ptr: bool = False,
    allow_rhs_ptr: bool = False,
    arithmetic_check: bool = True,
    div_or_mod: bool = False,
) -> tuple[Any, Any]:
    """Operands of one type and shape, in which they are computed, stay as they are."""
    alike = isinstance(lhs, tl.tensor) and isinstance(rhs, tl.tensor) and lhs.shape is rhs.shape
    if alike and type(lhs.dtype) is tl.dtype and lhs.dtype.name == rhs.dtype.name:
        computed_in = _computation_type(self, lhs.dtype, False, lhs.dtype, False, div_or_mod)
        if not arithmetic_check or computed_in.name == lhs.dtype.name:
            return lhs, rhs
    checked: tuple[Any, Any] = _stock_check(self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod)
    return checked


def _broadcast(self: Any, lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """Shapes are made once, so that equal ones are the same."""
    same: tuple[Any, Any] = (lhs, rhs) if lhs.shape is rhs.shape else _stock_broadcast(self, lhs, rhs)
    return same
