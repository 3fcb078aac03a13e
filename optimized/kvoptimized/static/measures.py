"""What is counted in a compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvoptimized.static import amdgcn, ptx, sass
from kvoptimized.static.compiling import Compiled, compiled
from kvoptimized.static.registry import Specialisation, is_amd

_WIDE_BYTES = 16
_LOADS = ("LDG", "LDGSTS")


@dataclass(frozen=True, slots=True)
class Measures:
    """One compilation.

    `registers` per thread, `spills` instructions that move registers to memory or back, `shared` bytes, `wide` and
    `narrow` global loads of 128 bits and less, `wide_bytes` that a block of threads takes in wide loads per iteration
    of the main loop, or at all where there is none, `matrix` kinds of matrix instructions, `lane_operations` per
    element of keys and values in the main loop, `contracted` multiply-adds and `approximate` divisions.
    """

    registers: int
    spills: int
    shared: int
    wide: int
    narrow: int
    wide_bytes: int
    matrix: tuple[str, ...]
    lane_operations: float | None
    contracted: int
    approximate: int


def measured(specialisation: Specialisation, target: str) -> Measures:
    """Compile and count. Raises `NotCompiled`."""
    result = compiled(specialisation, target)
    return _on_amd(result) if is_amd(target) else _on_nvidia(specialisation, result)


def _on_nvidia(specialisation: Specialisation, result: Compiled) -> Measures:
    program = sass.disassembled(result.binary or b"")
    body = program.main_loop()
    elements = specialisation.elements
    return Measures(
        registers=program.registers,
        spills=sum(instruction.is_a("STL", "LDL") for instruction in program.instructions),
        shared=result.shared,
        wide=_wide(program.instructions),
        narrow=sum(i.is_a(*_LOADS) for i in program.instructions) - _wide(program.instructions),
        wide_bytes=_wide(body or program.instructions) * _WIDE_BYTES * result.threads,
        matrix=tuple(kind for kind in sass.MATRIX if any(i.is_a(kind) for i in program.instructions)),
        lane_operations=len(body) * result.threads / elements if elements and body else None,
        contracted=ptx.contracted(result.text),
        approximate=ptx.approximate(result.text),
    )


def _wide(instructions: Sequence[sass.Instruction]) -> int:
    return sum(i.is_a(*_LOADS) and "128" in i.opcode.split(".") for i in instructions)


def _on_amd(result: Compiled) -> Measures:
    wide = amdgcn.opcodes(result.text, r"(global|buffer)_load_(lds_)?dwordx4")
    divisions = amdgcn.opcodes(result.text, r"v_div_fixup_f32")
    fused = amdgcn.opcodes(result.text, amdgcn.FUSED)
    return Measures(
        registers=amdgcn.resource(result.text, "vgpr_count"),
        spills=amdgcn.resource(result.text, "vgpr_spill_count"),
        shared=result.shared,
        wide=wide,
        narrow=amdgcn.opcodes(result.text, r"(global|buffer)_load") - wide,
        wide_bytes=0,
        matrix=("MFMA",) if amdgcn.opcodes(result.text, "v_mfma") else (),
        lane_operations=None,
        contracted=fused - amdgcn.FUSED_PER_DIVISION * divisions,
        approximate=amdgcn.opcodes(result.text, r"v_(rcp|rsq)_f32") - divisions,
    )
