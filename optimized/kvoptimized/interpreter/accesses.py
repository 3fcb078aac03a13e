"""What a kernel touches in memory: every load, store and atomic, by buffer argument and byte.

While somebody watches, each tensor argument gets an address range of its own, far from all others, so that a pointer
that leaves its buffer is noticed even where another buffer lies next to it. Real addresses are put back for the access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import triton.runtime.interpreter as stock
from numpy.typing import NDArray

from kvoptimized.interpreter.buffers import Access, Buffer, Kind, Offsets, OutOfBounds, refuse_outside
from kvoptimized.interpreter.patching import Patches

_RANGE = 48
_MIDDLE = 1 << (_RANGE - 1)
_PAGE = 4096
_NAN_BYTE, _ODD_BYTE = 0xFF, 0xA5


class Watcher(Protocol):
    """Whoever wants to see accesses; `poisons` asks for garbage in masked lanes of loads without `other`."""

    poisons: bool

    def begin(self, launch: Launch) -> None:
        """A launch starts."""

    def touch(self, launch: Launch, access: Access) -> None:
        """An access is about to happen; a fault raised here prevents it."""

    def end(self, launch: Launch) -> None:
        """A launch has ended without a fault."""


@dataclass(eq=False)
class Launch:
    """One launch that is watched; `program` counts its programs from 1."""

    kernel: str
    grid: tuple[int, int, int]
    watchers: tuple[Watcher, ...]
    buffers: list[Buffer] = field(default_factory=list)
    pointees: list[Buffer] = field(default_factory=list)
    program: int = 0
    atomic: bool = False

    def pretend(self, name: str, tensor: Any, handle: Any) -> None:
        """Give the pointer in `handle` the pretended address of a new buffer."""
        base = ((len(self.buffers) + 1) << _RANGE) + _MIDDLE + tensor.data_ptr() % _PAGE
        itemsize = max(1, handle.get_element_ty().primitive_bitwidth // 8)
        self.buffers.append(Buffer(name, tensor, itemsize, base))
        handle.data = np.array([base], np.uint64)

    def program_at(self, number: int) -> tuple[int, int, int]:
        """Grid position of the program with this number."""
        x, y, z = np.unravel_index(number - 1, self.grid)
        return int(x), int(y), int(z)

    def touch(self, kind: Kind, pointers: NDArray[np.uint64], size: int) -> None:
        """Tell every watcher; raises OutOfBounds before any of them is asked."""
        kind = "atomic" if self.atomic else kind
        for buffer, offsets in self._located(pointers, kind):
            access = Access(kind, buffer, offsets, size)
            refuse_outside(access)
            for watcher in self.watchers:
                watcher.touch(self, access)

    def real(self, pointers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The addresses to use."""
        number = pointers >> np.uint64(_RANGE)
        result = pointers.copy()
        for index, buffer in enumerate(self.buffers, start=1):
            own = number == index
            if own.any():
                shift = np.array(buffer.storage + buffer.start - buffer.base).astype(np.int64).astype(np.uint64)
                result = np.where(own, pointers + shift, result)
        return result

    def _located(self, pointers: NDArray[np.uint64], kind: Kind) -> Iterator[tuple[Buffer, Offsets]]:
        number = (pointers >> np.uint64(_RANGE)).astype(np.int64)
        for which in np.unique(number):
            own = pointers if number.size and (number == which).all() else pointers[number == which]
            if 0 < which <= len(self.buffers):
                buffer = self.buffers[which - 1]
                yield buffer, (own - np.uint64(buffer.base)).astype(np.int64) + buffer.start
            else:
                yield from self._pointed_to(own, kind)

    def _pointed_to(self, addresses: NDArray[np.uint64], kind: Kind) -> Iterator[tuple[Buffer, Offsets]]:
        """Real addresses, which a kernel can only have read from memory."""
        left = addresses.astype(np.int64)
        for buffer in (*self.buffers, *self.pointees):
            offsets = left - buffer.storage
            own = (offsets >= buffer.start) & (offsets < buffer.start + buffer.extent * buffer.itemsize)
            if own.any():
                yield buffer, offsets[own]
                left = left[~own]
        if left.size:
            raise OutOfBounds(kind, "?", int(left[0]), int(left.size), 0)


_watchers: list[Watcher] = []
_pointees: list[Any] = []
_launch: list[Launch] = []


def watch(watcher: Watcher, pointees: tuple[Any, ...] = ()) -> None:
    """Show the watcher every access from now on; `pointees` are tensors that kernels reach through loaded pointers."""
    _watchers.append(watcher)
    _pointees.append(pointees)


def unwatch(watcher: Watcher) -> None:
    """Stop showing."""
    index = _watchers.index(watcher)
    del _watchers[index], _pointees[index]


def begin(kernel: str, grid: tuple[int, int, int], arguments: Mapping[str, tuple[Any, Any]]) -> Launch | None:
    """Start a watched launch: `arguments` are host values and what the interpreter made of them. None if unwatched."""
    if not _watchers:
        return None
    launch = Launch(kernel, grid, tuple(_watchers))
    for name, (value, handle) in arguments.items():
        for part, tensor, pointer in _pointers(name, value, handle):
            launch.pretend(part, tensor, pointer)
    for pointee in (tensor for tensors in _pointees for tensor in tensors):
        launch.pointees.append(Buffer("a tensor pointed to", pointee, pointee.element_size(), 0))
    _launch.append(launch)
    for watcher in launch.watchers:
        watcher.begin(launch)
    return launch


def end(launch: Launch | None, completed: bool) -> None:
    """End a watched launch."""
    if launch is None:
        return
    _launch.remove(launch)
    if completed:
        for watcher in launch.watchers:
            watcher.end(launch)


def _pointers(name: str, value: Any, handle: Any) -> Iterator[tuple[str, Any, Any]]:
    """(name, tensor, handle of its pointer) for every tensor in an argument."""
    value = stock._unwrap_tensor(value)
    if isinstance(value, tuple):
        for index, (part, converted) in enumerate(zip(value, handle, strict=True)):
            yield from _pointers(f"{name}[{index}]", part, converted)
    elif isinstance(value, stock.TensorDescriptor):
        yield name, stock._unwrap_tensor(value.base), handle.handle.base
    elif hasattr(value, "untyped_storage"):
        yield name, value, handle.handle


def install(patches: Patches) -> None:
    """Show loads, stores and atomics to the watchers of the launch in progress."""
    builder = stock.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store
    update, exchange = builder.create_atomic_rmw, builder.create_atomic_cas

    def masked_load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        if other is None and _launch and any(watcher.poisons for watcher in _launch[-1].watchers):
            other = _garbage(pointers)
        return load(self, _seen("load", pointers, mask), mask, other, *rest, **named)

    def masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        return store(self, _seen("store", pointers, mask), value, mask, *rest, **named)

    def atomic_rmw(self: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        return update(self, operation, _seen("atomic", pointers, mask), value, mask, *rest)

    def atomic_cas(self: Any, pointers: Any, *rest: Any) -> Any:
        return exchange(self, _seen("atomic", pointers, None), *rest)

    patches.set_attr(builder, "create_masked_load", masked_load)
    patches.set_attr(builder, "create_masked_store", masked_store)
    patches.set_attr(builder, "create_atomic_rmw", atomic_rmw)
    patches.set_attr(builder, "create_atomic_cas", atomic_cas)
    for name in ("create_atomic_load", "create_atomic_store", "create_atomic_poll"):
        if hasattr(builder, name):
            patches.set_attr(builder, name, _as_atomic(getattr(builder, name)))


def _seen(kind: Kind, handle: Any, mask: Any) -> Any:
    """The handle with real addresses, after the watchers were told of its unmasked lanes."""
    if not _launch:
        return handle
    launch = _launch[-1]
    pointers = np.asarray(handle.data)
    if mask is None:
        touched = pointers.ravel()
    else:
        chosen = np.asarray(getattr(mask, "data", mask), bool)
        shape = np.broadcast_shapes(pointers.shape, chosen.shape)
        touched = np.broadcast_to(pointers, shape)[np.broadcast_to(chosen, shape)]
    if touched.size:
        launch.touch(kind, touched, max(1, handle.get_element_ty().primitive_bitwidth // 8))
    return stock.TensorHandle(launch.real(pointers), handle.dtype)


def _garbage(pointers: Any) -> Any:
    """What a masked lane holds that was given nothing: NaN, or an unlikely integer."""
    type_ = pointers.get_element_ty()
    storage = np.dtype(stock._get_np_dtype(type_))
    byte = _NAN_BYTE if type_.is_floating() else _ODD_BYTE
    filled = np.full((*pointers.data.shape, storage.itemsize), byte, np.uint8).view(storage)[..., 0]
    return stock.TensorHandle(filled, type_)


def _as_atomic(method: Any) -> Any:
    def atomic(self: Any, *args: Any, **named: Any) -> Any:
        if not _launch:
            return method(self, *args, **named)
        _launch[-1].atomic = True
        try:
            return method(self, *args, **named)
        finally:
            _launch[-1].atomic = False

    return atomic
