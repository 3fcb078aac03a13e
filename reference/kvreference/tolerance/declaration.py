"""What a kernel says about its own arithmetic, as data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from kvreference.arrays import DeclarationError
from kvreference.roundings import format_named


@dataclass(frozen=True, slots=True)
class Declaration:
    """The arithmetic of an attention kernel; formats by name (`fp32`, `bf16`, `fp16`, `e4m3fn`, `e5m2`).

    `p` is the format to which the weights P are rounded before P @ V (`None`: not at all). `accumulation` is the unit
    roundoff of additions (2**-24 to nearest, 2**-23 where a matrix unit truncates). `exact_products`: those of q and k
    are exact (bf16, fp16). `exp_error` bounds the relative error of exp and exp2, exact at 0, and the error of log,
    relative above 1 and absolute below; `tanh_error` is absolute. `h_qk` and `h_pv` are the longest chains of
    additions in q @ k and in P @ V (and the sum of P) of one whole row; `None` allows any order. `kv_tile` is the
    number of keys between two updates of the running maximum, at absolute positions; `None` says nothing. `splits`
    parts (or parts of `split_tokens` keys at absolute positions) are stored in the format `partial` and merged.

    Raises `DeclarationError` for what cannot be.
    """

    output: str = "bf16"
    p: str | None = "bf16"
    accumulation: float = 2.0**-24
    exact_products: bool = True
    exp_error: float = 2.0**-22
    tanh_error: float = 2.0**-11
    h_qk: int | None = None
    h_pv: int | None = None
    kv_tile: int | None = None
    splits: int = 1
    split_tokens: int | None = None
    partial: str = "fp32"

    def __post_init__(self) -> None:
        for name in (self.output, self.partial, self.p or "fp32"):
            format_named(name)
        sizes = (self.h_qk, self.h_pv, self.kv_tile, self.split_tokens, self.splits)
        if any(size is not None and size < 1 for size in sizes):
            raise DeclarationError(f"chains, tiles and splits must be at least 1: {sizes}")
        if not all(0 <= error < 2.0**-4 for error in (self.accumulation, self.exp_error, self.tanh_error)):
            raise DeclarationError("errors must be at least 0 and less than 1/16")

    def splits_of(self, first: int, count: int) -> list[tuple[int, int]]:
        """The parts of `count` keys that begin at absolute position `first`, as non-empty index ranges.

        Part lengths are multiples of the tile: `ceil(ceil(end / splits) / tile) * tile` where only their number is
        declared, with `end = first + count`.
        """
        tile, end = self.kv_tile or 1, first + count
        length = self.split_tokens or ceil(ceil(end / self.splits) / tile) * tile
        return _pieces(first, end, max(length, 1), first)

    def tiles_of(self, first: int, start: int, stop: int) -> list[tuple[int, int]]:
        """The tiles of the part `start:stop`, as index ranges cut at absolute multiples of the tile.

        Raises `DeclarationError` where no tile is declared.
        """
        if self.kv_tile is None:
            raise DeclarationError("the kernel does not declare its KV tile")
        return _pieces(first + start, first + stop, self.kv_tile, first)


def _pieces(begin: int, end: int, length: int, origin: int) -> list[tuple[int, int]]:
    cuts = [begin, *range((begin // length + 1) * length, end, length), end]
    return [(a - origin, b - origin) for a, b in pairwise(cuts) if a < b]
