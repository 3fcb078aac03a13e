"""Which elements share a scale, by granularity, and what each costs: keys or values `[tokens, kv_heads, head_dim]`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NewType

from kvspec.numbers.schemes import Granularity, Scheme, Zero
from kvspec.refusals import ShapeError

GroupId = NewType("GroupId", int)
"""Index of a group, counted with its last coordinate fastest."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many tokens, KV heads and channels keys or values have."""

    tokens: int
    kv_heads: int
    head_dim: int

    @property
    def elements(self) -> int:
        """Number of values."""
        return self.tokens * self.kv_heads * self.head_dim


def num_groups(extent: Extent, scheme: Scheme) -> int:
    """Number of scales; raises ShapeError where groups of channels would cross a head."""
    size = scheme.group_size
    if scheme.granularity is Granularity.GROUP and (not size or extent.head_dim % size):
        raise ShapeError(f"{scheme.name}: groups of {size} channels do not divide a head of {extent.head_dim}")
    token_groups = -(-extent.tokens // size) if size else 1
    return {
        Granularity.TENSOR: 1,
        Granularity.HEAD: extent.kv_heads,
        Granularity.TOKEN_HEAD: extent.tokens * extent.kv_heads,
        Granularity.CHANNEL: token_groups * extent.kv_heads * extent.head_dim,
        Granularity.GROUP: extent.elements // (size or 1),
    }[scheme.granularity]


def group_of(token: int, head: int, channel: int, extent: Extent, scheme: Scheme) -> GroupId:
    """The group of one element; groups of tokens may end short, groups of channels never do."""
    size = scheme.group_size
    row = token * extent.kv_heads + head
    token_group = token // size if size else 0
    return GroupId(
        {
            Granularity.TENSOR: 0,
            Granularity.HEAD: head,
            Granularity.TOKEN_HEAD: row,
            Granularity.CHANNEL: (token_group * extent.kv_heads + head) * extent.head_dim + channel,
            Granularity.GROUP: (row * extent.head_dim + channel) // (size or 1),
        }[scheme.granularity]
    )


def groups(extent: Extent, scheme: Scheme) -> list[list[int]]:
    """For each group, the flat indices (row-major) of its elements in increasing order."""
    members: list[list[int]] = [[] for _ in range(num_groups(extent, scheme))]
    for index in range(extent.elements):
        row, channel = divmod(index, extent.head_dim)
        token, head = divmod(row, extent.kv_heads)
        members[group_of(token, head, channel, extent, scheme)].append(index)
    return members


def group_bits(scheme: Scheme) -> int:
    """Bits stored once for each group: its scale, and its minimum or its zero point (as wide as a code)."""
    bits = scheme.scale_format.bits
    if scheme.zero is Zero.ZERO_POINT:
        bits += scheme.code_bits
    elif scheme.zero is Zero.MINIMUM:
        bits += (scheme.zero_format or scheme.scale_format).bits
    return bits


def bits_per_element(scheme: Scheme, extent: Extent) -> Fraction:
    """Bits per element of keys or values of `extent`, without padding or alignment."""
    return scheme.code_bits + Fraction(group_bits(scheme) * num_groups(extent, scheme), extent.elements)
