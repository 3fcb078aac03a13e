"""`faithful()`: the Triton interpreter with the documented behaviour of the hardware, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import triton.runtime.interpreter as stock

from kvoptimized.interpreter import (
    accesses,
    arithmetic,
    assembly,
    atomics,
    casts,
    dots,
    grid,
    integers,
    reductions,
    speed,
)
from kvoptimized.interpreter.patching import Patches, exclusive
from kvoptimized.interpreter.rewriting import rewritten

_depth = [0]
_patches = Patches()


@contextmanager
def faithful() -> Iterator[None]:
    """Interpreted kernels act as documented for the hardware inside the block; everything is put back at its end.

    For functions decorated with `triton.jit` under TRITON_INTERPRET=1; kernels of `kvoptimized.launch` enter it by
    themselves. Compiling inside the block works. Blocks may be nested, overlap and end in any order and in any thread:
    Triton is stock again when the last one has ended. Launches of several threads run one after another; what else
    uses Triton in another thread meanwhile, such as `triton.compile`, must hold `patching.exclusive`.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with exclusive:
        if not _depth[0]:
            try:
                _install(_patches)
            except BaseException:
                _patches.undo()
                raise
        _depth[0] += 1


def _leave() -> None:
    with exclusive:
        _depth[0] -= 1
        if not _depth[0]:
            _patches.undo()


def _install(patches: Patches) -> None:
    for room in (speed, casts, arithmetic, integers, reductions, dots, assembly, atomics, accesses, grid):
        room.install(patches)
    patches.set_attr(stock.InterpretedFunction, "rewrite", lambda self: rewritten(self.fn))
    patches.set_attr(
        stock.InterpretedFunction, "__call__", lambda self, *args, **named: rewritten(self.fn)(*args, **named)
    )
