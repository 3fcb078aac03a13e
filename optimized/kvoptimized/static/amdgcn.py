"""AMD's assembly: resources, as its metadata states them, and instructions."""

from __future__ import annotations

import re

_OPCODE = re.compile(r"^\s+([a-z]\w+)\b", re.MULTILINE)


def resource(text: str, name: str) -> int:
    """A number of the kernel's metadata, such as `vgpr_count`; 0 where it is not stated."""
    found = re.search(rf"\.{name}:\s*(\d+)", text)
    return int(found[1]) if found else 0


def opcodes(text: str, pattern: str) -> int:
    """Instructions whose opcode matches `pattern`."""
    return sum(re.match(pattern, opcode) is not None for opcode in _OPCODE.findall(text))
