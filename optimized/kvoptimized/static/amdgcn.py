"""AMD's assembly: resources, as its metadata states them, and instructions."""

from __future__ import annotations

import re

FUSED = r"v_(pk_)?(fma|mad|mac)(c|ak|mk)?_(f(32|64)|mix)"
"""Fused multiply-adds: with an accumulator (`c`), or a constant added (`ak`) or multiplied (`mk`)."""
FUSED_PER_DIVISION = 5
"""A correctly rounded division of fp32, which ends in `v_div_fixup_f32`, is made of two scalings, one reciprocal, five
fused multiply-adds and `v_div_fmas_f32`, as LLVM expands an exact `fdiv`; what goes beyond that was contracted."""

_OPCODE = re.compile(r"^\s+([a-z]\w+)\b", re.MULTILINE)


def resource(text: str, name: str) -> int:
    """A number of the kernel's metadata, such as `vgpr_count`; 0 where it is not stated."""
    found = re.search(rf"\.{name}:\s*(\d+)", text)
    return int(found[1]) if found else 0


def opcodes(text: str, pattern: str) -> int:
    """Instructions whose opcode matches `pattern`."""
    return sum(re.match(pattern, opcode) is not None for opcode in _OPCODE.findall(text))
