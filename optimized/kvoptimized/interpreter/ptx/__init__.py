"""Inline PTX, evaluated on NumPy arrays: straight-line code as kernels embed it with `tl.inline_asm_elementwise`.

`syntax` reads the text, `machine` binds operands and runs it, and the definitions of the instructions stand in
`logic` (moves, bits, bytes), `integers`, `floating` and `conversions`. Source of all definitions: NVIDIA, PTX ISA 8.8.
An instruction without a definition raises `UnknownInstruction`; approximate ones are exact here.
"""

from kvoptimized.interpreter.ptx.machine import evaluate

__all__ = ["evaluate"]
