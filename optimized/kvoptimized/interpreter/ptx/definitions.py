"""The table of instruction definitions, and the words that their rooms share."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Word = NDArray[Any]
"""Unsigned integers of a register's width (bool for a predicate), one for each invocation of the code."""

_INTEGERS = {f"{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)}
_FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "tf32": 32}
_PACKED = {"f16x2": 32, "bf16x2": 32, "e4m3x2": 16, "e5m2x2": 16}
WIDTHS = {"pred": 1} | _INTEGERS | _FLOATS | _PACKED
"""Bits of a register of each type."""


class Undefined(Exception):
    """An instruction, or a form of it, without a definition; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Form:
    """How an instruction was written: its modifiers, and how many destinations its first operand names."""

    modifiers: tuple[str, ...]
    destinations: int = 1

    @property
    def types(self) -> tuple[str, ...]:
        """The types among the modifiers, in order."""
        return tuple(modifier for modifier in self.modifiers if modifier in WIDTHS)

    @property
    def type(self) -> str:
        """The last type."""
        if not self.types:
            raise Undefined("no known type")
        return self.types[-1]

    @property
    def bits(self) -> int:
        """Width of `type`."""
        return WIDTHS[self.type]

    @property
    def is_floating(self) -> bool:
        """Whether `type` is a floating-point type."""
        return self.type in _FLOATS or self.type in _PACKED

    def has(self, modifier: str) -> bool:
        """Whether the modifier was written."""
        return modifier in self.modifiers


@dataclass(frozen=True, slots=True)
class Definition:
    """What an opcode does: from a `Form` and source words to a word, or a tuple of them for several destinations.

    `allows` are the modifiers, other than types, that the definition knows the meaning of.
    """

    meaning: Callable[..., Any]
    allows: frozenset[str]

    def __call__(self, form: Form, *sources: Word) -> Any:
        """Raises Undefined for a modifier that is not allowed."""
        if unknown := set(form.modifiers) - self.allows - WIDTHS.keys():
            raise Undefined(f"modifier .{min(unknown)}")
        return self.meaning(form, *sources)


_DEFINITIONS: dict[tuple[str, bool], Definition] = {}


def defines(
    name: str, allows: str = "", floating: bool | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a definition for integers, for floats (`floating`), or where that is None for all types."""

    def register(meaning: Callable[..., Any]) -> Callable[..., Any]:
        for kind in (True, False) if floating is None else (floating,):
            _DEFINITIONS[name, kind] = Definition(meaning, frozenset(allows.split()))
        return meaning

    return register


def definition(name: str, form: Form) -> Definition:
    """The definition of an opcode for the types in `form`; raises Undefined."""
    try:
        return _DEFINITIONS[name, form.is_floating]
    except KeyError:
        raise Undefined("no such instruction here") from None


def storage(bits: int) -> np.dtype[Any]:
    """The unsigned NumPy type that holds a word of `bits`."""
    return np.dtype(bool) if bits == 1 else np.dtype(f"u{bits // 8}")


def word(value: Word, bits: int) -> Word:
    """`value` cut or zero-extended to `bits`."""
    return value.astype(storage(bits))


def integer(value: Word, type_: str) -> Word:
    """The word read as the signed or unsigned integers of `type_`."""
    cut = word(value, WIDTHS[type_])
    return cut.view(f"i{cut.dtype.itemsize}") if type_.startswith("s") else cut


def pattern(values: Any, bits: int) -> Word:
    """Signed or unsigned integers of this width as the word that holds them."""
    held: Word = np.asarray(values).view(storage(bits))
    return held


def lanes(value: Word, type_: str) -> list[Word]:
    """The parts of a word, lowest first: two for a packed type, else the word itself."""
    bits, count = WIDTHS[type_], 2 if type_ in _PACKED else 1
    return [word(word(value, bits) >> part * (bits // count), bits // count) for part in range(count)]


def joined(parts: list[Word]) -> Word:
    """One word from its parts, lowest first."""
    part = 8 * parts[0].dtype.itemsize
    whole = storage(part * len(parts))
    return reduce(operator.or_, (one.astype(whole) << index * part for index, one in enumerate(parts)))
