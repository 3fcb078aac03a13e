"""`counted()`: how many bytes kernels load and store, by buffer argument."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from kvoptimized.interpreter import accesses
from kvoptimized.interpreter.accesses import Launch
from kvoptimized.interpreter.buffers import Access
from kvoptimized.interpreter.faithful import faithful
from kvoptimized.interpreter.shadows import Shadow

SECTOR = 32
"""Bytes that DRAM and L2 move at the least."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes moved in one direction, counted in five ways, from the strictest to the most lenient.

    `issued` counts every unmasked lane; `sectors` the 32-byte sectors that an instruction touches, and `requested` its
    distinct bytes; `per_program` distinct bytes of each program, and `distinct` those of the launch.
    """

    issued: int = 0
    sectors: int = 0
    requested: int = 0
    per_program: int = 0
    distinct: int = 0

    def __add__(self, other: Moved) -> Moved:
        return Moved(
            self.issued + other.issued,
            self.sectors + other.sectors,
            self.requested + other.requested,
            self.per_program + other.per_program,
            self.distinct + other.distinct,
        )


@dataclass(frozen=True, slots=True)
class BufferTraffic:
    """What one launch moved from and to one buffer; atomic updates count in both directions."""

    kernel: str
    buffer: str
    loaded: Moved
    stored: Moved


class Traffic:
    """Counts of all launches, in order; `counted` makes one."""

    poisons = False

    def __init__(self) -> None:
        self.records: list[BufferTraffic] = []
        self._now: dict[str, dict[str, Moved]] = {}
        self._shadows: dict[str, Shadow] = {}
        self._instruction = 0

    def loaded(self, buffer: str = "", kernel: str = "") -> Moved:
        """Sum of the loads, of all buffers or one, of all kernels or one."""
        return sum((record.loaded for record in self._matching(buffer, kernel)), Moved())

    def stored(self, buffer: str = "", kernel: str = "") -> Moved:
        """Sum of the stores, of all buffers or one, of all kernels or one."""
        return sum((record.stored for record in self._matching(buffer, kernel)), Moved())

    def _matching(self, buffer: str, kernel: str) -> Iterator[BufferTraffic]:
        return (r for r in self.records if (not buffer or r.buffer == buffer) and (not kernel or r.kernel == kernel))

    def begin(self, launch: Launch) -> None:
        """Start counting a launch."""
        self._now = {buffer.name: {"load": Moved(), "store": Moved()} for buffer in launch.buffers}
        self._shadows = {}

    def end(self, launch: Launch) -> None:
        """Record a launch that has ended."""
        self.records += [
            BufferTraffic(launch.kernel, name, moved["load"], moved["store"]) for name, moved in self._now.items()
        ]

    def touch(self, launch: Launch, access: Access) -> None:
        """Count one access."""
        counts = self._now.setdefault(access.buffer.name, {"load": Moved(), "store": Moved()})
        for direction in ("load", "store") if access.kind == "atomic" else (access.kind,):
            counts[direction] += self._moved(launch, access, direction)

    def _moved(self, launch: Launch, access: Access, direction: str) -> Moved:
        buffer = access.buffer
        if buffer.name not in self._shadows:
            self._shadows[buffer.name] = Shadow(buffer.storage_bytes, [buffer])
        shadow = self._shadows[buffer.name]
        cells, _ = shadow.cells(access)
        own = cells if (cells[1:] > cells[:-1]).all() else np.unique(cells)
        last = shadow.layer(direction)
        before = last[own]
        last[own] = launch.program
        sectors = (own * shadow.granule + buffer.storage) // SECTOR
        return Moved(
            issued=access.offsets.size * access.size,
            sectors=SECTOR * (1 + int(np.count_nonzero(sectors[1:] != sectors[:-1]))),
            requested=own.size * shadow.granule,
            per_program=int((before != launch.program).sum()) * shadow.granule,
            distinct=int((before == 0).sum()) * shadow.granule,
        )


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count the traffic of interpreted kernels inside the block, which is also `faithful()`.

    A launch that fails is not recorded.
    """
    traffic = Traffic()
    with faithful():
        accesses.watch(traffic)
        try:
            yield traffic
        finally:
            accesses.unwatch(traffic)
