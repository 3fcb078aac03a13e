"""The Triton interpreter made faithful: kernels run on the CPU with the documented behaviour of the hardware.

`faithful()` corrects the interpreter that comes with Triton for as long as a block lasts, `memory_checked()` looks for
faulty accesses too, and `counted()` counts bytes. The rooms: `floats`, `casts`, `elementary`, `arithmetic`, `integers`,
`reductions`, `dots`, `atomics` and `ptx` hold the behaviour of the hardware; `rewriting`, `language`, `library`,
`hints`, `speed` and `grid` run a launch; `buffers`, `accesses`, `empties`, `shadows`, `memory` and `traffic` watch it.
`fixtures` is a pytest plugin. The traps of the stock interpreter are told in `optimized/TRAPS.md`.
"""

from kvoptimized.interpreter.buffers import OutOfBounds
from kvoptimized.interpreter.faithful import faithful
from kvoptimized.interpreter.faults import (
    AmbiguousTruth,
    DeviceAssertFailed,
    IntegerOverflow,
    KernelFault,
    MemoryFault,
    NotOnHardware,
    Place,
    UnknownInstruction,
)
from kvoptimized.interpreter.hints import BrokenHint
from kvoptimized.interpreter.library import UnknownFunction
from kvoptimized.interpreter.memory import DuplicateStore, MemoryCheck, Race, UninitialisedRead, memory_checked
from kvoptimized.interpreter.traffic import BufferTraffic, Moved, Traffic, counted

__all__ = [
    "AmbiguousTruth",
    "BrokenHint",
    "BufferTraffic",
    "DeviceAssertFailed",
    "DuplicateStore",
    "IntegerOverflow",
    "KernelFault",
    "MemoryCheck",
    "MemoryFault",
    "Moved",
    "NotOnHardware",
    "OutOfBounds",
    "Place",
    "Race",
    "Traffic",
    "UninitialisedRead",
    "UnknownFunction",
    "UnknownInstruction",
    "counted",
    "faithful",
    "memory_checked",
]
