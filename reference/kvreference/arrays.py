"""Named refusals of bad arrays, raised before anything is read or written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kvspec.refusals import BlockRangeError, DtypeError, Refused, ShapeError

Float = NDArray[np.float64]
Int = NDArray[np.int64]
AnyArray = NDArray[Any]


class DeclarationError(Refused):
    """A kernel's declaration is impossible, or does not say what is asked of it."""


def check_shape(name: str, array: AnyArray, expected: tuple[int | None, ...]) -> None:
    """Raise `ShapeError` unless `array` has the `expected` shape; `None` allows any length."""
    fits = array.ndim == len(expected) and all(e in (None, n) for n, e in zip(array.shape, expected, strict=True))
    if not fits:
        wanted = ", ".join("any" if e is None else str(e) for e in expected)
        raise ShapeError(f"{name} has shape {list(array.shape)}, expected [{wanted}]")


def as_float(name: str, array: ArrayLike) -> Float:
    """`array` as float64. Raises `DtypeError` unless its elements are real numbers."""
    given = np.asarray(array)
    if given.dtype.kind not in "fiu":
        raise DtypeError(f"{name} has dtype {given.dtype}, expected real numbers")
    return given.astype(np.float64, copy=False)


def as_index(name: str, array: ArrayLike) -> Int:
    """`array` as int64. Raises `DtypeError` unless its elements are integers that fit; an empty list is allowed."""
    given = np.asarray(array)
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise DtypeError(f"{name} has dtype {given.dtype}, expected integers")
    if given.dtype == np.uint64 and int(given.max()) > np.iinfo(np.int64).max:
        raise BlockRangeError(f"{name} holds {int(given.max())}, beyond 64-bit signed")
    return given.astype(np.int64, copy=False)
