"""One compilation that is asserted about: a kernel with the arguments of a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from kvoptimized.launch import Kernel
from kvoptimized.static import specialisations as rooms

TARGETS = ("sm_80", "sm_90", "sm_100", "gfx942")
"""Ampere, Hopper, Blackwell, and AMD's MI300."""


@dataclass(frozen=True)
class Specialisation:
    """A kernel, the types of its arguments, and what must be true of the result.

    The first word of `name` is the room of `specialisations` that it comes from; with a target it is unique.
    `signature` names types as Triton does (`*bf16`, `i32`), `constants` are compile-time parameters, `divisible` the
    arguments known to be multiples of 16, `options` those of a launch. `amd` and `amd_options` replace constants and
    options on AMD's targets, `architectures` constants on the others by target.

    `elements` are the key and value elements that one iteration of the main loop takes, `budget` the lane operations
    that each may cost on sm_90; `wide_bytes` come into an iteration, or into all of a kernel without
    main loop, in 128-bit loads. `exact` forbids contracted
    multiply-adds and approximate division, which would change codes. `matrix` names the matrix instruction by target.
    """

    name: str
    kernel: Kernel
    signature: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)
    divisible: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = TARGETS
    amd: Mapping[str, Any] = field(default_factory=dict)
    amd_options: Mapping[str, Any] = field(default_factory=dict)
    architectures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    elements: int = 0
    budget: float | None = None
    wide_bytes: int = 0
    exact: bool = False
    matrix: Mapping[str, str] = field(default_factory=dict)

    def constants_for(self, target: str) -> dict[str, Any]:
        """Compile-time parameters on `target`."""
        return {**self.constants, **(self.amd if is_amd(target) else self.architectures.get(target, {}))}

    def options_for(self, target: str) -> dict[str, Any]:
        """Launch options on `target`."""
        return {**self.options, **(self.amd_options if is_amd(target) else {})}


def is_amd(target: str) -> bool:
    """Whether `target` is one of AMD's."""
    return target.startswith("gfx")


def operations() -> list[str]:
    """The rooms of `specialisations`, in order; their names are the first words of what they register."""
    return sorted(module.name for module in iter_modules(rooms.__path__))


def registered(names: Iterable[str] | None = None) -> Iterator[Specialisation]:
    """All specialisations, or those of some operations."""
    for name in operations() if names is None else names:
        yield from import_module(f"{rooms.__name__}.{name}").specialisations()
