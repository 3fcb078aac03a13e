"""How many bytes a cache takes, how many blocks fit, and how much of them is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class CacheGeometry:
    """The shape of keys and values of one token.

    `bytes_per_element` may be a fraction (packed int4: 1/2). `scale_bytes` are the bytes of scales (and zero points)
    that belong to one token of one layer and one KV head, keys and values together. Raises `ValueError` for sizes
    that are not positive.
    """

    num_layers: int
    kv_heads: int
    head_dim: int
    bytes_per_element: Fraction
    scale_bytes: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("num_layers", "kv_heads", "head_dim", "bytes_per_element"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}, it must be positive")
        if self.scale_bytes < 0:
            raise ValueError(f"scale_bytes is {self.scale_bytes}, it must not be negative")

    @property
    def bytes_per_token(self) -> Fraction:
        """Bytes of one token: layers x 2 x KV heads x head dim x bytes per element, plus scales."""
        elements = 2 * self.head_dim * self.bytes_per_element
        return self.num_layers * self.kv_heads * (elements + self.scale_bytes)

    def bytes_for(self, num_tokens: int) -> Fraction:
        """Bytes of a cache that holds so many tokens."""
        return num_tokens * self.bytes_per_token

    def blocks_in(self, memory_bytes: int, block_size: int) -> int:
        """How many blocks of `block_size` tokens fit into a memory budget."""
        if block_size <= 0:
            raise ValueError(f"block_size is {block_size}, it must be positive")
        return int(memory_bytes // self.bytes_for(block_size))


@dataclass(frozen=True)
class Occupancy:
    """Tokens used and tokens allocated."""

    used: int
    allocated: int

    @property
    def utilization(self) -> float:
        """Share of the allocated memory that holds keys and values; 1.0 where nothing is allocated."""
        return self.used / self.allocated if self.allocated else 1.0

    @property
    def internal_fragmentation(self) -> float:
        """Share of the allocated memory that is reserved and empty."""
        return 1.0 - self.utilization


def paged_occupancy(lengths: Sequence[int], block_size: int) -> Occupancy:
    """Requests of these lengths in tokens, each in whole blocks: at most `block_size - 1` tokens wasted by each."""
    return Occupancy(sum(lengths), sum(-(-length // block_size) * block_size for length in lengths))


def contiguous_occupancy(lengths: Sequence[int], max_model_len: int) -> Occupancy:
    """The same requests, each in one buffer of maximal length. Raises `ValueError` if one is longer."""
    if lengths and max(lengths) > max_model_len:
        raise ValueError(f"a request has {max(lengths)} tokens, a buffer {max_model_len}")
    return Occupancy(sum(lengths), len(lengths) * max_model_len)
