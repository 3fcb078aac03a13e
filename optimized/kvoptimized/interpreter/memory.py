"""`memory_checked()`: what a GPU would let pass in silence, or do differently every time.

Accesses outside of a tensor, reads of bytes that nothing has written, two programs of a launch that touch the same
byte without an order between them, and two lanes of one store that write the same byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kvoptimized.interpreter import accesses, empties
from kvoptimized.interpreter.accesses import Launch
from kvoptimized.interpreter.buffers import Access, Buffer
from kvoptimized.interpreter.faithful import faithful
from kvoptimized.interpreter.faults import MemoryFault
from kvoptimized.interpreter.shadows import Shadow, lane

_SEVERAL = -1


class UninitialisedRead(MemoryFault):
    """A load of bytes that neither the host nor a kernel has written."""

    def __init__(self, buffer: str, element: int, index: tuple[int, ...] | None, lanes: int) -> None:
        super().__init__(buffer, element, index, lanes, f"{lanes} lanes load what nothing has written")


class Race(MemoryFault):
    """Two programs of one launch touch an element, at least one of them writing, with no order between them.

    `earlier` is what `other` did to it in the interpreter, which runs programs one after another; `kind` is what this
    program does.
    """

    def __init__(
        self, kind: str, access: Access, number: int, lanes: int, earlier: str, other: tuple[int, int, int] | None
    ) -> None:
        self.kind, self.earlier, self.other = kind, earlier, other
        element = access.element(number)
        by = f"program {other}" if other else "several programs"
        what = f"{kind} of what {by} of the same launch {earlier} ({lanes} lanes)"
        super().__init__(access.buffer.name, element, access.buffer.index(element), lanes, what)


class DuplicateStore(MemoryFault):
    """Two lanes of one store have the same address, or overlap: which value stays is not defined."""

    def __init__(self, access: Access, number: int, lanes: int) -> None:
        element = access.element(number)
        what = f"{lanes} lanes of one store write bytes that another one writes too"
        super().__init__(access.buffer.name, element, access.buffer.index(element), lanes, what)


class MemoryCheck:
    """A memory checker at work; `memory_checked` makes one.

    What kernels have written stays written from launch to launch; races are looked for within each launch.
    """

    poisons = True

    def __init__(self, uninitialised: Sequence[Any], races: bool, duplicates: bool) -> None:
        self._races, self._duplicates = races, duplicates
        self._written: dict[int, np.ndarray[Any, np.dtype[np.bool_]]] = {}
        self._empties: dict[int, tuple[Any, int]] = {}
        self._shadows: dict[int, Shadow] = {}
        for tensor in uninitialised:
            self._declare(tensor, False)

    def made(self, tensor: Any) -> None:
        """Follow a new tensor until torch changes it; it is kept, so that its memory does not become another's."""
        storage = tensor.untyped_storage().data_ptr()
        self._written.pop(storage, None)
        self._empties[storage] = tensor, tensor._version
        self._declare(tensor, False)

    def close(self) -> None:
        """Let go of the tensors that were made."""
        self._empties = {}

    def initialised(self, tensor: Any) -> None:
        """The host has written all of `tensor`."""
        self._declare(tensor, True)

    def _declare(self, tensor: Any, written: bool) -> None:
        if tensor.device.type != "cpu":
            raise ValueError(f"uninitialised memory is followed on the CPU, and this tensor is on {tensor.device}")
        buffer = Buffer("", tensor, tensor.element_size(), 0)
        state = self._written.setdefault(buffer.storage, np.ones(buffer.storage_bytes, bool))
        size = tensor.element_size()
        own = state[buffer.start : buffer.start + buffer.extent * size].reshape(-1, size)
        own[slice(None) if buffer.gaps is None else buffer.gaps] = written

    def begin(self, launch: Launch) -> None:
        """Forget what the programs of the last launch touched."""
        by_storage: dict[int, list[Buffer]] = {}
        for buffer in (*launch.buffers, *launch.pointees):
            by_storage.setdefault(buffer.storage, []).append(buffer)
        self._shadows = {storage: Shadow(buffers[0].storage_bytes, buffers) for storage, buffers in by_storage.items()}

    def end(self, launch: Launch) -> None:
        """Drop what only this launch needed."""
        self._shadows = {}

    def touch(self, launch: Launch, access: Access) -> None:
        """Raise the fault that this access is, if it is one."""
        if access.kind == "store" and self._duplicates:
            _refuse_duplicates(access)
        if access.buffer.storage in self._written:
            self._follow_writes(access)
        if self._races:
            self._follow_programs(launch, access)

    def _follow_writes(self, access: Access) -> None:
        tensor, version = self._empties.get(access.buffer.storage, (None, 0))
        if tensor is not None and tensor._version != version:
            del self._empties[access.buffer.storage], self._written[access.buffer.storage]
            return
        state = self._written[access.buffer.storage]
        touched = access.offsets[:, None] + np.arange(access.size)
        if access.kind != "store" and not (known := state[touched].all(1)).all():
            element = access.element(int(np.flatnonzero(~known)[0]))
            raise UninitialisedRead(access.buffer.name, element, access.buffer.index(element), int((~known).sum()))
        if access.kind != "load":
            state[touched] = True

    def _follow_programs(self, launch: Launch, access: Access) -> None:
        """Every cell remembers the program that loaded, stored or atomically updated it, or that several did."""
        shadow, me = self._shadows[access.buffer.storage], launch.program
        cells, owners = shadow.cells(access)
        for kind, earlier in _CONFLICTS[access.kind]:
            before = shadow.layer(kind)[cells]
            foreign = (before != 0) & (before != me)
            if foreign.any():
                position = int(np.flatnonzero(foreign)[0])
                other = launch.program_at(int(before[position])) if before[position] != _SEVERAL else None
                number = lane(position, owners)
                count = np.count_nonzero(foreign) if owners is None else np.unique(owners[foreign]).size
                raise Race(access.kind, access, number, int(count), earlier, other)
        mine = shadow.layer(access.kind)
        before = mine[cells]
        mine[cells] = np.where((before == 0) | (before == me), me, _SEVERAL)


_CONFLICTS = {
    "load": (("store", "has stored"), ("atomic", "has updated")),
    "store": (("store", "has stored"), ("load", "has loaded"), ("atomic", "has updated")),
    "atomic": (("store", "has stored"), ("load", "has loaded")),
}


def _refuse_duplicates(access: Access) -> None:
    if (np.diff(access.offsets) >= access.size).all():
        return
    order = np.argsort(access.offsets, kind="stable")
    clashes = np.diff(access.offsets[order]) < access.size
    lanes = np.union1d(order[:-1][clashes], order[1:][clashes])
    if lanes.size:
        raise DuplicateStore(access, int(lanes[0]), int(lanes.size))


@contextmanager
def memory_checked(
    uninitialised: Sequence[Any] = (), *, races: bool = True, duplicates: bool = True, pointees: Sequence[Any] = ()
) -> Iterator[MemoryCheck]:
    """Check every access of interpreted kernels inside the block, which is also `faithful()`.

    `uninitialised` are CPU tensors of which nothing has been written yet, beside those that `torch.empty`,
    `empty_like`, `new_empty` and their like make inside the block. Of these, torch's own first change, to whatever
    part, counts as writing all; tell of changes that torch does not make with `MemoryCheck.initialised`. `pointees`
    are tensors that kernels reach through addresses kept in memory.

    Raises OutOfBounds, UninitialisedRead, Race and DuplicateStore, before the access happens. Programs of a launch have
    no order here, not even one that atomics give them: for kernels with locks or tickets, set `races` to False. Lanes
    of a load that are masked and have no `other` hold NaN or odd integers.
    """
    check = MemoryCheck(uninitialised, races, duplicates)
    with faithful():
        accesses.watch(check, tuple(pointees))
        empties.listen(check.made)
        try:
            yield check
        finally:
            empties.ignore(check.made)
            accesses.unwatch(check)
            check.close()
