"""`faithful()`: the Triton interpreter with the documented behaviour of the hardware, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import triton.runtime.interpreter as stock

from kvoptimized.interpreter import accesses, arithmetic, assembly, atomics, casts, dots, grid, integers, speed
from kvoptimized.interpreter.patching import Patches
from kvoptimized.interpreter.rewriting import rewritten

_depth = [0]


@contextmanager
def faithful() -> Iterator[None]:
    """Interpreted kernels act as documented for the hardware inside the block; everything is put back at its end.

    For functions decorated with `triton.jit` under TRITON_INTERPRET=1; kernels of `kvoptimized.launch` enter it by
    themselves. May be nested, and compiling inside the block works.
    """
    patches = Patches()
    _depth[0] += 1
    try:
        if _depth[0] == 1:
            _install(patches)
        yield
    finally:
        _depth[0] -= 1
        patches.undo()


def _install(patches: Patches) -> None:
    for room in (speed, casts, arithmetic, integers, dots, assembly, atomics, accesses, grid):
        room.install(patches)
    patches.set_attr(stock.InterpretedFunction, "rewrite", lambda self: rewritten(self.fn))
    patches.set_attr(
        stock.InterpretedFunction, "__call__", lambda self, *args, **named: rewritten(self.fn)(*args, **named)
    )
