"""Hints to the compiler, which vectorizes by them without a check: here they are checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray

from kvoptimized.interpreter.faults import KernelFault


class BrokenHint(KernelFault, ValueError):
    """`tl.multiple_of` or `tl.max_contiguous` promised something about numbers for which it does not hold."""


def hint_functions() -> Iterator[tuple[Any, str, Any]]:
    """What to put where: (module, name, function on interpreted tensors)."""
    for module in (tl, tl.core):
        yield module, "multiple_of", _multiple_of
        yield module, "max_contiguous", _contiguous


def _multiple_of(input: Any, values: Any) -> Any:
    """The first element must be a multiple; within a contiguous run of others, the hint means its first one too."""
    for value in _plain(values):
        numbers: NDArray[Any] = np.asarray(input.handle.data if isinstance(input, tl.tensor) else input)
        first = int(numbers.reshape(-1)[0])
        if first % value:
            raise BrokenHint(f"tl.multiple_of promises multiples of {value}, and the first number is {first}")
    return input


def _contiguous(input: Any, values: Any) -> Any:
    """Runs along the last axis, each of the promised length, must rise by one."""
    numbers = np.asarray(input.handle.data).astype(np.int64)
    length = _plain(values)[-1]
    if numbers.ndim and numbers.shape[-1] % length == 0:
        steps = np.diff(numbers.reshape(-1, length), axis=1)
        if (steps != 1).any():
            raise BrokenHint(f"tl.max_contiguous promises runs of {length}, and a step is {int(steps[steps != 1][0])}")
    return input


def _plain(values: Any) -> list[int]:
    several = values if isinstance(values, list | tuple) else [values]
    return [int(value.value if isinstance(value, tl.constexpr) else value) for value in several]
