"""What a kernel can do wrong, by name; every fault says in which kernel, on which line, in which program."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import FrameType

import triton
import triton.runtime.interpreter as stock

_MACHINERY = (str(Path(triton.__file__).parent), str(Path(__file__).parent))


@dataclass(frozen=True, slots=True)
class Place:
    """A line of kernel source, in one program of a launch; `function` is a device function, or the kernel itself."""

    kernel: str
    function: str
    file: str
    line: int
    program: tuple[int, int, int]

    def __str__(self) -> str:
        inside = f" in {self.function}" if self.function != self.kernel else ""
        return f"kernel {self.kernel}{inside}, {self.file}:{self.line}, program {self.program}"


running: list[str] = []
"""Names of the kernels that are being interpreted, the innermost launch last."""


class KernelFault(Exception):
    """The kernel did something that a GPU would not do, or would do wrongly without a word."""

    def __init__(self, what: str) -> None:
        self.what, self.place = what, here()
        super().__init__(f"{self.place}: {what}")


class DeviceAssertFailed(KernelFault, AssertionError):
    """`tl.device_assert` or `tl.assume` found its condition false; `index` is the first element where it is."""

    def __init__(self, message: str, index: tuple[int, ...]) -> None:
        self.message, self.index = message, index
        super().__init__(f"assertion failed at element {index}: {message}")


class IntegerOverflow(KernelFault, ArithmeticError):
    """Integer arithmetic left the range of its type; a GPU wraps silently, and offsets then point anywhere."""

    def __init__(self, operation: str, type_name: str, operands: tuple[int, ...], exact: int) -> None:
        self.operation, self.type_name, self.operands, self.exact = operation, type_name, operands, exact
        shown = f" {operation} ".join(map(str, operands)) if operands else operation
        super().__init__(f"{shown} = {exact} does not fit {type_name}; use int64, or sanitize_overflow=False if meant")


class NotOnHardware(KernelFault, NotImplementedError):
    """An operation that the compiler refuses for this type, such as addition of 8-bit floats."""


class AmbiguousTruth(NotOnHardware):
    """A block of several lanes where one value is needed, as in `if block`; blocks combine by `&`, `|` and `~`."""


class UnknownInstruction(KernelFault, NotImplementedError):
    """Inline PTX that the evaluator has no definition for."""

    def __init__(self, instruction: str, why: str = "no definition in kvoptimized.interpreter.ptx") -> None:
        self.instruction = instruction
        super().__init__(f"inline PTX `{instruction}`: {why}")


class MemoryFault(KernelFault):
    """A fault at one element of a buffer argument.

    `buffer` is the parameter's name, `element` the distance from the tensor's first element, `index` the tensor index
    where there is one, `lanes` how many lanes of the instruction are at fault.
    """

    def __init__(self, buffer: str, element: int, index: tuple[int, ...] | None, lanes: int, what: str) -> None:
        self.buffer, self.element, self.index, self.lanes = buffer, element, index, lanes
        at = "" if index is None else f", first at {buffer}[{', '.join(map(str, index))}]"
        super().__init__(what + at)


def here() -> Place:
    """The innermost line of kernel source that is being run."""
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return _innermost(frames)


def raised_at(error: BaseException) -> Place:
    """The innermost line of kernel source that an exception came through."""
    return _innermost([(frame, line) for frame, line in walk_tb(error.__traceback__)][::-1])


def _innermost(frames: list[tuple[FrameType, int]]) -> Place:
    """The first of `frames` that is neither Triton's nor the interpreter's."""
    own = [(frame, line) for frame, line in frames if not frame.f_code.co_filename.startswith(_MACHINERY)]
    frame, line = (own or frames)[0]
    program = getattr(stock.interpreter_builder, "grid_idx", None) or (0, 0, 0)
    kernel = running[-1] if running else frame.f_code.co_name
    return Place(kernel, frame.f_code.co_name, frame.f_code.co_filename, line, program)
