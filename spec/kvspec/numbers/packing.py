"""Two 4-bit codes to the byte, in either declared layout."""

from __future__ import annotations

from collections.abc import Sequence

from kvspec.numbers.errors import CodeError
from kvspec.numbers.schemes import IntegerCodes, Layout
from kvspec.refusals import ShapeError


def pack(codes: Sequence[int], of: IntegerCodes, layout: Layout) -> bytes:
    """The bytes of one row of an even number of codes; raises ShapeError or CodeError, naming the place."""
    _require_nibbles(of)
    if len(codes) % 2:
        raise ShapeError(f"{len(codes)} codes do not fill whole bytes")
    nibbles = [_nibble(code, index, of) for index, code in enumerate(codes)]
    low, high = _halves(nibbles, layout)
    return bytes(first | second << 4 for first, second in zip(low, high, strict=True))


def unpack(data: bytes, of: IntegerCodes, layout: Layout) -> list[int]:
    """The codes of one packed row; raises CodeError where a nibble stands for no code."""
    _require_nibbles(of)
    low, high = [byte & 15 for byte in data], [byte >> 4 for byte in data]
    if layout is Layout.HALVES:
        nibbles = low + high
    else:
        nibbles = [nibble for pair in zip(low, high, strict=True) for nibble in pair]
    return [_code(nibble, index, of) for index, nibble in enumerate(nibbles)]


def _halves(nibbles: list[int], layout: Layout) -> tuple[list[int], list[int]]:
    if layout is Layout.ADJACENT:
        return nibbles[::2], nibbles[1::2]
    half = len(nibbles) // 2
    return nibbles[:half], nibbles[half:]


def _nibble(code: int, index: int, of: IntegerCodes) -> int:
    if not of.lowest <= code <= of.highest:
        raise CodeError(f"code {code} at index {index} is not in {of.lowest}..{of.highest}")
    return code + of.bias


def _code(nibble: int, index: int, of: IntegerCodes) -> int:
    code = nibble - of.bias
    if not of.lowest <= code <= of.highest:
        raise CodeError(f"nibble {nibble} at index {index} stands for {code}, not in {of.lowest}..{of.highest}")
    return code


def _require_nibbles(of: IntegerCodes) -> None:
    if of.bits != 4:
        raise CodeError(f"codes of {of.bits} bits are not packed in nibbles")
