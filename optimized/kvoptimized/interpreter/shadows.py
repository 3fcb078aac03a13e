"""Facts about every element of a buffer's storage, kept beside it."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter.buffers import Access, Buffer

Cells = NDArray[np.int64]
"""Positions in a shadow; a cell stands for as many bytes as every access to it covers."""


class Shadow:
    """Named layers of int32 facts, one cell for each `granule` bytes of a storage; all zero at first."""

    def __init__(self, storage_bytes: int, buffers: Iterable[Buffer]) -> None:
        self.bytes = storage_bytes
        self.granule = gcd(storage_bytes, *(number for b in buffers for number in (b.itemsize, b.start)))
        self.layers: dict[str, NDArray[np.int32]] = {}

    def layer(self, name: str) -> NDArray[np.int32]:
        """One fact about every cell."""
        if name not in self.layers:
            self.layers[name] = np.zeros(self.bytes // self.granule, np.int32)
        return self.layers[name]

    def cells(self, access: Access) -> tuple[Cells, Cells | None]:
        """The cells that an access touches, and the lane that each belongs to (None: each lane has its own cell)."""
        if access.size % self.granule or (access.offsets % self.granule).any():
            self._refine()
        first, each = access.offsets // self.granule, access.size // self.granule
        if each == 1:
            return first, None
        return (first[:, None] + np.arange(each)).ravel(), np.repeat(np.arange(first.size), each)

    def _refine(self) -> None:
        """One cell per byte, for pointers that were cast to a smaller type."""
        self.layers = {name: np.repeat(facts, self.granule) for name, facts in self.layers.items()}
        self.granule = 1


def lane(position: Any, owners: Cells | None) -> int:
    """The lane that a position among an access's cells belongs to."""
    return int(position if owners is None else owners[position])
