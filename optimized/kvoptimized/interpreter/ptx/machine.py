"""Binding operands to registers, and running the instructions in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter.faults import KernelFault, UnknownInstruction
from kvoptimized.interpreter.ptx import conversions, floating, integers, logic  # noqa: F401  # they fill the table
from kvoptimized.interpreter.ptx.definitions import WIDTHS, Form, Undefined, Word, definition, storage, word
from kvoptimized.interpreter.ptx.syntax import Instruction, parse

_CONSTRAINT_BITS = {"h": 16, "r": 32, "f": 32, "l": 64, "d": 64}
_REGISTER_BYTES = 4
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)U?")
_PATTERN = re.compile(r"0[fFdD]([0-9a-fA-F]+)")


class OperandMismatch(KernelFault, ValueError):
    """The constraints of inline PTX do not fit the tensors that are passed."""


def evaluate(
    text: str, constraints: str, operands: Sequence[NDArray[Any]], results: Sequence[np.dtype[Any]], pack: int
) -> list[NDArray[Any]]:
    """What `tl.inline_asm_elementwise` gives for `operands`, NumPy arrays of one shape, `pack` elements at a time.

    Elements are grouped along the last axis; those below 32 bits share a register, the first one lowest. Raises
    UnknownInstruction and OperandMismatch.
    """
    shape = operands[0].shape if operands else (pack,)
    outputs, inputs = _widths(constraints)
    words = [register for operand in operands for register in _registers(operand, pack)]
    if len(words) != len(inputs):
        raise OperandMismatch(f"{len(words)} registers of input for {len(inputs)} constraints in {constraints!r}")
    code = parse(text)
    machine = _Machine(code.registers | {f"${i}": f"b{bits}" for i, bits in enumerate((*outputs, *inputs))})
    machine.count = int(np.prod(shape)) // pack
    for index, (value, bits) in enumerate(zip(words, inputs, strict=True), start=len(outputs)):
        machine.words[f"${index}"] = word(value, bits)
    with np.errstate(all="ignore"):
        for instruction in code.instructions:
            machine.run(instruction)
    return _tensors([machine.read(f"${index}") for index in range(len(outputs))], results, pack, shape)


def _widths(constraints: str) -> tuple[list[int], list[int]]:
    """Bits of every output register and of every input register."""
    outputs: list[int] = []
    inputs: list[int] = []
    for constraint in (part.strip() for part in constraints.split(",")):
        if constraint.startswith("~"):
            continue
        letter = constraint.lstrip("=&")
        if letter not in _CONSTRAINT_BITS:
            raise OperandMismatch(f"constraint {constraint!r}; known are {', '.join(_CONSTRAINT_BITS)}")
        (outputs if constraint.startswith("=") else inputs).append(_CONSTRAINT_BITS[letter])
    return outputs, inputs


def _per_register(itemsize: int, pack: int) -> int:
    return max(1, min(_REGISTER_BYTES // itemsize, pack))


def _registers(operand: NDArray[Any], pack: int) -> list[Word]:
    """The words that one tensor fills in each invocation."""
    if operand.size % pack:
        raise OperandMismatch(f"{operand.size} elements in groups of {pack}")
    elements = np.ascontiguousarray(operand).reshape(-1, pack)
    shared = _per_register(elements.itemsize, pack)
    packed = elements.view(storage(8 * elements.itemsize * shared))
    return [packed[:, index].copy() for index in range(packed.shape[1])]


def _tensors(words: list[Word], results: Sequence[np.dtype[Any]], pack: int, shape: Any) -> list[NDArray[Any]]:
    tensors, left = [], list(words)
    for dtype in results:
        shared = _per_register(dtype.itemsize, pack)
        count, bits = pack // shared, 8 * dtype.itemsize * shared
        if len(left) < count:
            raise OperandMismatch(f"{len(words)} output registers for results {[str(result) for result in results]}")
        columns = np.stack([word(value, bits) for value in left[:count]], axis=1)
        left = left[count:]
        tensors.append(np.ascontiguousarray(columns).view(dtype).reshape(shape))
    return tensors


class _Machine:
    """Registers, each an array with one word per invocation."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types, self.words, self.count = types, dict[str, Word](), 1

    def run(self, instruction: Instruction) -> None:
        first, *rest = instruction.operands
        targets = first if isinstance(first, tuple) else (first,)
        sources = [part for operand in rest for part in (operand if isinstance(operand, tuple) else (operand,))]
        form = Form(instruction.modifiers, len(targets))
        try:
            meaning = definition(instruction.name, form)
            values = meaning(form, *(self.read(source) for source in sources))
        except (Undefined, TypeError) as missing:
            raise UnknownInstruction(instruction.text, str(missing)) from missing
        for target, value in zip(targets, values if isinstance(values, tuple) else (values,), strict=True):
            self.write(target, value, instruction)

    def read(self, name: str) -> Word:
        """A register, or an immediate for every invocation."""
        if name in self.words:
            return self.words[name]
        if match := _PATTERN.fullmatch(name):
            return np.full(self.count, int(match[1], 16), storage(4 * len(match[1])))
        if match := _INTEGER.fullmatch(name):
            octal = match[2].startswith("0") and match[2].isdecimal()
            value = int(match[1] + match[2], 8 if octal else 0)
            return np.full(self.count, value % (1 << 64), np.uint64)
        raise UnknownInstruction(name, "read before anything was written to it")

    def write(self, name: str, value: Word, instruction: Instruction) -> None:
        type_ = self.types.get(name)
        if type_ not in WIDTHS:
            raise UnknownInstruction(instruction.text, f"register {name} is not declared with a known type")
        value = np.broadcast_to(word(value, WIDTHS[type_]), self.count)
        if instruction.predicate is not None:
            holds = self.read(instruction.predicate) != instruction.negated
            value = np.where(holds, value, self.words.get(name, np.zeros_like(value)))
        self.words[name] = value
