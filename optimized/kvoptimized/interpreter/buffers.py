"""Tensor arguments as memory: their elements, their gaps, and accesses to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter.faults import MemoryFault

Kind = Literal["load", "store", "atomic"]
Offsets = NDArray[np.int64]
"""Bytes from the start of a buffer's storage."""


class OutOfBounds(MemoryFault):
    """An access outside of the tensor that the pointer belongs to; `extent` is how many elements it spans."""

    def __init__(self, kind: Kind, buffer: str, element: int, lanes: int, extent: int) -> None:
        self.kind, self.extent = kind, extent
        where = f"element {element} of {buffer}, which spans {extent}" if extent else "an address of no argument"
        super().__init__(buffer, element, None, lanes, f"{kind} of {where} ({lanes} lanes outside)")


@dataclass(frozen=True, eq=False)
class Buffer:
    """A tensor argument: `name` is its parameter, `base` the pretended address of its first element."""

    name: str
    tensor: Any
    itemsize: int
    base: int

    @cached_property
    def storage(self) -> int:
        """Real address of the storage, which several buffers may share."""
        return int(self.tensor.untyped_storage().data_ptr())

    @cached_property
    def storage_bytes(self) -> int:
        """Size of the storage."""
        return int(self.tensor.untyped_storage().nbytes())

    @cached_property
    def start(self) -> int:
        """Bytes from the storage to the first element."""
        return int(self.tensor.data_ptr()) - self.storage

    @cached_property
    def extent(self) -> int:
        """Elements from the first to the last one, gaps included."""
        if not self.tensor.numel():
            return 0
        steps = zip(self.tensor.shape, self.tensor.stride(), strict=True)
        return int(1 + sum((size - 1) * stride for size, stride in steps))

    @cached_property
    def gaps(self) -> NDArray[np.bool_] | None:
        """For a strided view: which elements of the extent belong to it. None where all do."""
        if self.extent <= self.tensor.numel():
            return None
        own = np.zeros(self.extent, bool)
        np.lib.stride_tricks.as_strided(own, tuple(self.tensor.shape), tuple(self.tensor.stride()))[...] = True
        return own

    def index(self, element: int) -> tuple[int, ...] | None:
        """The tensor index of the element at this distance from the first; None where it is in no or several."""
        order = sorted(range(self.tensor.dim()), key=lambda axis: -self.tensor.stride(axis))
        index, rest = [0] * self.tensor.dim(), element
        for axis in order:
            stride = self.tensor.stride(axis)
            index[axis] = min(rest // stride, self.tensor.shape[axis] - 1) if stride else 0
            rest -= index[axis] * stride
        return tuple(index) if rest == 0 and element >= 0 else None


@dataclass(frozen=True, slots=True)
class Access:
    """What one instruction of one program touches in one buffer: `size` bytes at each of `offsets`."""

    kind: Kind
    buffer: Buffer
    offsets: Offsets
    size: int

    def element(self, lane: int) -> int:
        """Distance of a lane's element from the buffer's first one."""
        return (int(self.offsets[lane]) - self.buffer.start) // self.buffer.itemsize


def refuse_outside(access: Access) -> None:
    """Raise OutOfBounds for the first lane with a byte outside of the buffer, or in one of its gaps."""
    buffer, first = access.buffer, access.offsets - access.buffer.start
    outside = (first < 0) | (first + access.size > buffer.extent * buffer.itemsize)
    element = first // buffer.itemsize
    if not outside.any() and buffer.gaps is not None:
        element = _in_gap(buffer.gaps, element, (first + access.size - 1) // buffer.itemsize)
        outside = element >= 0
    if outside.any():
        lane = int(np.flatnonzero(outside)[0])
        raise OutOfBounds(access.kind, buffer.name, int(element[lane]), int(outside.sum()), buffer.extent)


def _in_gap(own: NDArray[np.bool_], first: Offsets, last: Offsets) -> Offsets:
    """For each range of elements, the first one that is not `own`; -1 where all are."""
    touched = np.minimum(first[:, None] + np.arange((last - first).max(initial=0) + 1), last[:, None])
    strange = ~own[touched]
    return np.where(strange.any(1), touched[np.arange(first.size), strange.argmax(1)], -1)
