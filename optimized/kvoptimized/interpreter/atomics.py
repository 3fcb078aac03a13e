"""Atomic addition of bf16, which the stock interpreter does not know."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.runtime.interpreter as stock
from triton._C.libtriton import interpreter as memory
from triton._C.libtriton import ir

from kvoptimized.interpreter.floats import BF16, narrow, widen
from kvoptimized.interpreter.patching import Patches


def install(patches: Patches) -> None:
    """Add bf16 to the types of `tl.atomic_add`."""
    builder = stock.InterpreterBuilder
    stock_update = builder.create_atomic_rmw

    def update(self: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if not value.dtype.scalar.is_bf16() or operation != ir.ATOMIC_OP.FADD:
            return stock_update(self, operation, pointers, value, mask, *rest)
        return stock.TensorHandle(_add(pointers.data, value.data, mask.data), value.dtype.scalar)

    patches.set_attr(builder, "create_atomic_rmw", update)


def _add(pointers: Any, addends: Any, mask: Any) -> Any:
    """Lane after lane, as several of them may have one address; gives what was there before."""
    pointers, addends, mask = np.broadcast_arrays(pointers, addends, mask)
    before = np.zeros(pointers.shape, np.uint16)
    on = np.ones(1, bool)
    for lane in np.argwhere(mask):
        at = tuple(lane)
        pointer = pointers[at].reshape(1)
        old = memory.load(pointer, on, before[at].reshape(1), np.dtype(np.uint16))
        total = widen(old, BF16).astype(np.float64) + widen(addends[at].reshape(1), BF16)
        memory.store(pointer, narrow(total, BF16), on)
        before[at] = old[0]
    return before
