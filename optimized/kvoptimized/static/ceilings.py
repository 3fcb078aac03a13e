"""Recorded bounds of kernels and targets, in `ceilings.toml`; `python -m kvoptimized.static --record` renews them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kvoptimized.static.measures import Measures

FILE = Path(__file__).with_name("ceilings.toml")
_HEAD = """\
# No kernel may need more than this: registers per thread, bytes of shared memory, global loads narrower than 128 bits,
# and, where there is a main loop over keys and values, lane operations per element. Spills are never allowed.
# Measured with Triton 3.9.0, whose compilers decide them, and written by `python -m kvoptimized.static --record`; lower
# a number by hand only to hold a gain.
"""
_ALLOCATION = 8
_STEP = 20


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Bounds of one kernel on one target; `lane_operations` None where it has no main loop."""

    registers: int
    shared: int
    narrow: int
    lane_operations: float | None = None

    def exceeded(self, found: Measures) -> list[str]:
        """What `found` needs more than is recorded, one sentence each."""
        pairs: list[tuple[str, float, float]] = [
            ("registers", found.registers, self.registers),
            ("bytes of shared memory", found.shared, self.shared),
            ("narrow loads", found.narrow, self.narrow),
        ]
        if self.lane_operations is not None:
            lanes = math.inf if found.lane_operations is None else found.lane_operations
            pairs.append(("lane operations per element", lanes, self.lane_operations))
        return [f"{seen:.4g} {what}, recorded {allowed:.4g}" for what, seen, allowed in pairs if seen > allowed]


def ceiling_of(found: Measures) -> Ceiling:
    """What is recorded for `found`: registers as they are allocated, lane operations rounded up to twentieths."""
    lanes = found.lane_operations
    return Ceiling(
        -(-found.registers // _ALLOCATION) * _ALLOCATION,
        found.shared,
        found.narrow,
        None if lanes is None else math.ceil(lanes * _STEP) / _STEP,
    )


Ceilings = dict[tuple[str, str], Ceiling]
"""By name of the specialisation and target."""


def load(path: Path = FILE) -> Ceilings:
    """All recorded ceilings; none where there is no file. Raises `TypeError` for a key that no ceiling has."""
    if not path.exists():
        return {}
    names = tomllib.loads(path.read_text("utf-8"))
    return {(name, target): Ceiling(**bounds) for name, targets in names.items() for target, bounds in targets.items()}


def save(ceilings: Mapping[tuple[str, str], Ceiling], path: Path = FILE) -> None:
    """Write them, one paragraph per kernel and one line per target."""
    lines = [_HEAD]
    for name in sorted({name for name, _ in ceilings}):
        lines.append(f'["{name}"]')
        lines += [f"{target} = {_inline(bound)}" for (of, target), bound in sorted(ceilings.items()) if of == name]
        lines.append("")
    path.write_text("\n".join(lines), "utf-8")


def _inline(bound: Ceiling) -> str:
    fields: Iterable[tuple[str, float | None]] = ((name, getattr(bound, name)) for name in bound.__slots__)
    return "{ " + ", ".join(f"{name} = {value}" for name, value in fields if value is not None) + " }"
