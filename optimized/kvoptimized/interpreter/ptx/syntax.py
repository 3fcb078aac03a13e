"""Reading inline PTX: declarations, predicates, instructions and their operands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from kvoptimized.interpreter.faults import UnknownInstruction

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"\.reg\s+\.(\w+)\s+(.*)", re.DOTALL)
_INSTRUCTION = re.compile(r"(?:@(!?)(\S+)\s+)?([a-z]\w*(?:\.\w+)*)\s+(.*)", re.DOTALL)
_OPERAND = re.compile(r"\s*(\{[^}]*\}|[^,{}]+)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `name` and its dotted `modifiers`, operands as text, the first one written to.

    `predicate` is the register that guards it, `negated` whether the guard must be false. An operand in braces is a
    tuple of registers.
    """

    text: str
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[str | tuple[str, ...], ...]
    predicate: str | None
    negated: bool


@dataclass(frozen=True, slots=True)
class Code:
    """The text of one `inline_asm_elementwise`: type of every declared register, and the instructions in order."""

    registers: dict[str, str]
    instructions: tuple[Instruction, ...]


@cache
def parse(text: str) -> Code:
    """Read `text`; raises UnknownInstruction for what is neither a declaration nor an instruction."""
    registers: dict[str, str] = {}
    instructions: list[Instruction] = []
    for statement in _statements(text):
        if declaration := _DECLARATION.fullmatch(statement):
            registers |= _declared(*declaration.groups())
        elif match := _INSTRUCTION.fullmatch(statement):
            instructions.append(_instruction(statement, *match.groups()))
        else:
            raise UnknownInstruction(statement, "not a declaration or an instruction")
    return Code(registers, tuple(instructions))


def _statements(text: str) -> Iterator[str]:
    """What stands between semicolons, without the braces of a scope."""
    for part in _COMMENT.sub("", text).split(";"):
        statement = part.strip()
        while statement[:1] in {"{", "}"}:
            statement = statement[1:].strip()
        if statement:
            yield statement


def _declared(type_: str, names: str) -> Iterator[tuple[str, str]]:
    for name in (name.strip() for name in names.split(",")):
        counted = re.fullmatch(r"(\S+?)<(\d+)>", name)
        many = [f"{counted[1]}{index}" for index in range(int(counted[2]))] if counted else [name]
        yield from ((one, type_) for one in many)


def _instruction(text: str, negation: str | None, predicate: str | None, opcode: str, rest: str) -> Instruction:
    name, *modifiers = opcode.split(".")
    operands = tuple(_operand(operand.strip()) for operand in _OPERAND.findall(rest))
    return Instruction(" ".join(text.split()), name, tuple(modifiers), operands, predicate, bool(negation))


def _operand(text: str) -> str | tuple[str, ...]:
    return tuple(part.strip() for part in text[1:-1].split(",")) if text.startswith("{") else text
