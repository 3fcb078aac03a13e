"""What a kernel says of a quantized cache that it reads: the schemes of keys and values, and how it uses codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from kvreference.arrays import DeclarationError
from kvreference.roundings import format_named
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.floats import Overflow
from kvspec.numbers.schemes import Granularity, IntegerCodes, Scheme, Zero

STORABLE = ("fp32", "fp16", "bf16")
"""Formats of scales and minima that calls have a storage for."""


class Reads(Enum):
    """How codes and scales become numbers in a kernel (`spec/attention-tolerance.md`, Quantized caches)."""

    ROUNDED = "each element is decoded and rounded to `rounded_to` before it is multiplied"
    FACTORED = (
        "codes are multiplied as they are: the scale of a key is a factor of its logit, that of a value a factor of "
        "its weight before that is rounded, or where all tokens share it of the output; `Declaration.kv_tile` says the "
        "latter of a shared scale, and a kernel that multiplies weights by it declares none for that cache"
    )
    EXACT = "each element is decoded without rounding"


@dataclass(frozen=True, slots=True)
class CacheFormat:
    """A quantized cache. Codes have 8 bits, or 4 in a declared layout, and no scale is shared by a part of the tokens.

    `arithmetic` by dtype of the query is that over this cache. `rounded_to` is a format of `ROUNDED` reads, None for
    that of the query. `head_dims` are those that the cache can hold, None for all that its schemes can. `in_place`
    says that codes and scales are read where they lie; an adapter that converts them says False, and is not shown far
    blocks. `writes` says that the kernel's `write` encodes rows as the schemes say. Raises `DeclarationError` for a
    scheme of another kind.
    """

    keys: Scheme
    values: Scheme
    arithmetic: Mapping[str, Declaration] = field(
        default_factory=lambda: MappingProxyType({"bf16": Declaration("bf16", "bf16")})
    )
    reads: Reads = Reads.ROUNDED
    rounded_to: str | None = None
    head_dims: tuple[int, ...] | None = None
    in_place: bool = True
    writes: bool = False

    def __post_init__(self) -> None:
        format_named(self.rounded_to or "fp32")
        for scheme in (self.keys, self.values):
            if scheme.granularity is Granularity.CHANNEL:
                raise DeclarationError(f"{scheme.name}: some tokens share scales, and calls have no place for those")
            if scheme.code_bits not in (4, 8) or (scheme.code_bits == 4 and scheme.layout is None):
                raise DeclarationError(f"{scheme.name}: codes of {scheme.code_bits} bits have no place in bytes")
            for kind in (scheme.scale_format, scheme.zero_format or scheme.scale_format):
                if kind.name not in STORABLE:
                    raise DeclarationError(f"{scheme.name}: calls have no storage for scales in {kind.name}")

    @classmethod
    def of(cls, scheme: Scheme, arithmetic: Mapping[str, Declaration], reads: Reads = Reads.ROUNDED) -> CacheFormat:
        """Keys and values under one scheme."""
        return cls(scheme, scheme, arithmetic, reads)

    def holds(self, head_dim: int) -> bool:
        """Whether rows of `head_dim` are whole groups of channels, and whole bytes."""
        if self.head_dims is not None and head_dim not in self.head_dims:
            return False
        sizes = [
            (s.group_size or 1) if s.granularity is Granularity.GROUP else 8 // s.code_bits
            for s in (self.keys, self.values)
        ]
        return all(head_dim % size == 0 for size in sizes)

    def saturating(self) -> CacheFormat:
        """The same cache, but what shared scales do not reach gets the largest code: a cache holds numbers.

        Scales of a token reach all of its row.
        """
        keys, values = (s if dynamic(s) else replace(s, overflow=Overflow.SATURATE) for s in (self.keys, self.values))
        return replace(self, keys=keys, values=values)

    def factored_throughout(self) -> bool:
        """Whether every scale is a factor of a whole logit, weight or output, and nothing is subtracted."""
        return self.reads is Reads.FACTORED and all(
            s.zero is Zero.SYMMETRIC and s.granularity is not Granularity.GROUP for s in (self.keys, self.values)
        )


def dynamic(scheme: Scheme) -> bool:
    """Whether each token has scales of its own, which lie beside its codes."""
    return scheme.granularity in (Granularity.TOKEN_HEAD, Granularity.GROUP)


def signed(scheme: Scheme) -> bool:
    """Whether codes of 8 bits are int8; others, patterns of floats and packed codes are uint8."""
    return isinstance(scheme.codes, IntegerCodes) and scheme.codes.lowest < 0 and scheme.code_bits == 8
