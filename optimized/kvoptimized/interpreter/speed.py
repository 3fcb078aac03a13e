"""Types and shapes made once instead of at every operation; nothing here changes a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton.language as tl
import triton.runtime.interpreter as stock

from kvoptimized.interpreter.patching import Patches

_storage: dict[str, Any] = {}
_blocks: dict[Any, dict[str, Any]] = {}
_shapes: dict[Any, tuple[Any, Any]] = {}
_stock_storage = stock._get_np_dtype
_stock_block, _stock_tensor = tl.core.block_type.__init__, tl.core.tensor.__init__


def install(patches: Patches) -> None:
    """Remember the NumPy type of every Triton type."""
    patches.set_attr(stock, "_get_np_dtype", _storage_of)


def faster_types() -> Iterator[tuple[Any, str, Any]]:
    """What to put where during a launch: (class, name, function)."""
    yield tl.core.block_type, "__init__", _make_block
    yield tl.core.tensor, "__init__", _make_tensor


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
