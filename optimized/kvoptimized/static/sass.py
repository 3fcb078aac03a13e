"""NVIDIA's machine code: instructions, loops, and what they do, as `nvdisasm` and `cuobjdump` print them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import triton

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
MATRIX = ("HGMMA", "IGMMA", "QGMMA", "UTCHMMA", "UTCIMMA", "UTCQMMA", "HMMA", "IMMA", "DMMA")
"""Matrix instructions: of warp groups, of Blackwell's tensor memory, and of warps."""
_LABEL = re.compile(r"\s*(\.L\w+):")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*);")
_TARGET = re.compile(r"(\.L\w+)|0x([0-9a-f]+)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a warp: `opcode` with its dotted modifiers, and the text of its operands."""

    address: int
    opcode: str
    operands: str

    def is_a(self, *names: str) -> bool:
        """Whether the opcode without modifiers is one of `names`."""
        return self.opcode.split(".")[0] in names


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel: its instructions in order, its `loops` as ranges of them, and `registers` per thread."""

    instructions: tuple[Instruction, ...]
    loops: tuple[range, ...]
    registers: int

    def main_loop(self) -> Sequence[Instruction]:
        """The body of the leanest innermost loop with matrix instructions: that over whole tiles, without masks.

        Empty where there is no such loop.
        """
        bodies = [
            [self.instructions[index] for index in loop]
            for loop in self.loops
            if not any(other != loop and other.start >= loop.start and other.stop <= loop.stop for other in self.loops)
        ]
        return min((body for body in bodies if any(i.is_a(*MATRIX) for i in body)), key=len, default=[])


def disassembled(binary: bytes) -> Program:
    """The program in a cubin. Raises `subprocess.CalledProcessError` where the tools cannot read it."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        text = _run("nvdisasm", "-c", file.name)
        resources = _run("cuobjdump", "--dump-resource-usage", file.name)
    found = re.search(r"\bREG:(\d+)", resources)
    return parsed(text, int(found[1]) if found else 0)


def parsed(text: str, registers: int = 0) -> Program:
    """The program that a listing shows."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(instructions)
        elif match := _INSTRUCTION.match(line):
            instructions.append(Instruction(int(match[1], 16), match[2], match[3].strip()))
    places = {instruction.address: index for index, instruction in enumerate(instructions)}
    loops = []
    for index, instruction in enumerate(instructions):
        target = _TARGET.search(instruction.operands) if instruction.is_a("BRA") else None
        start = None if target is None else labels.get(target[1]) if target[1] else places.get(int(target[2], 16))
        if start is not None and start < index:
            loops.append(range(start, index + 1))
    return Program(tuple(instructions), tuple(loops), registers)


def _run(tool: str, *arguments: str) -> str:
    done = subprocess.run([TOOLS / tool, *arguments], capture_output=True, text=True, check=True)  # noqa: S603 - our own tools
    return done.stdout
