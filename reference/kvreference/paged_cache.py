"""The paged KV cache of one layer: keys and values in blocks, plain or quantized, written and moved together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kvreference.arrays import AnyArray, Int, as_index
from kvreference.pages import PADDING, Layout, Pages
from kvreference.quantized_pages import QuantizedPages
from kvspec.refusals import ShapeError, ShortTableError

__all__ = ["PADDING", "Layout", "PagedCache", "Pages", "QuantizedPages", "slots_of"]


@dataclass(frozen=True, slots=True)
class PagedCache:
    """Keys and values of one layer. Raises `ShapeError` where their blocks differ."""

    keys: Pages | QuantizedPages
    values: Pages | QuantizedPages

    def __post_init__(self) -> None:
        shapes = [(p.num_blocks, p.block_size, p.kv_heads) for p in (self.keys, self.values)]
        if shapes[0] != shapes[1]:
            raise ShapeError(f"keys have [num_blocks, block_size, kv_heads] {shapes[0]}, values {shapes[1]}")

    @property
    def block_size(self) -> int:
        """Tokens per block."""
        return self.keys.block_size

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.keys.kv_heads

    @property
    def head_dim(self) -> int:
        """Width of a key."""
        return self.keys.width

    @property
    def value_dim(self) -> int:
        """Width of a value."""
        return self.values.width

    def write(self, slots: ArrayLike, keys: AnyArray, values: AnyArray) -> None:
        """Store the rows `[tokens, kv_heads, head_dim]` of `slots` `[tokens]`; slot -1 writes nothing."""
        where = as_index("slots", slots)
        self.keys.check_rows(where, keys)
        self.values.check_rows(where, values)
        self.keys.write(where, keys)
        self.values.write(where, values)

    def gather(self, table: ArrayLike, start: int, stop: int) -> tuple[AnyArray, AnyArray]:
        """Keys and values `[stop - start, kv_heads, head_dim]` of positions `start:stop` through a block table."""
        blocks = as_index("table", table)
        return self.keys.gather(blocks, start, stop), self.values.gather(blocks, start, stop)

    def copy(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Copy blocks from source to target, all read before any is written."""
        both = as_index("pairs", [list(pair) for pair in pairs]).reshape(-1, 2)
        for pages in (self.keys, self.values):
            pages.copy(both[:, 0], both[:, 1])

    def poison(self, slots: ArrayLike) -> None:
        """Spoil every byte of `slots`: a result that changes has read what it must not."""
        for pages in (self.keys, self.values):
            pages.poison(as_index("slots", slots))


def slots_of(table: ArrayLike, start: int, stop: int, block_size: int) -> Int:
    """The slot mapping `[stop - start]` of positions `start:stop`. Raises `ShortTableError`."""
    blocks = as_index("table", table)
    if not 0 <= start <= stop or len(blocks) * block_size < stop:
        raise ShortTableError(f"table of {len(blocks)} blocks of {block_size} has no positions {start}:{stop}")
    positions = np.arange(start, stop)
    return np.asarray(blocks[positions // block_size] * block_size + positions % block_size, np.int64)
