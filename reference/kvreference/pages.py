"""One array of cache blocks: write by slot, gather by block table, copy blocks, poison.

A block id is an index on the first axis in every layout, and a slot is `block * block_size + offset`. Inputs are
checked completely before anything is written.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from kvreference.arrays import AnyArray, Int, check_shape
from kvspec.refusals import BlockRangeError, DtypeError, ShortTableError

PADDING = -1
"""The slot of a padding row: it writes nothing."""


class Layout(Enum):
    """The order of axes of a page array."""

    TOKEN_MAJOR = "[num_blocks, block_size, kv_heads, head_dim]"  # noqa: S105 - an order of axes
    HEAD_MAJOR = "[num_blocks, kv_heads, block_size, head_dim]"


class Pages:
    """One array of blocks in a declared layout; strides are free, so a view into a larger buffer will do."""

    def __init__(self, storage: AnyArray, layout: Layout = Layout.TOKEN_MAJOR) -> None:
        check_shape("pages", storage, (None, None, None, None))
        self.storage, self.layout = storage, layout
        self._tokens = storage if layout is Layout.TOKEN_MAJOR else storage.transpose(0, 2, 1, 3)
        self.num_blocks, self.block_size, self.kv_heads, self.width = self._tokens.shape

    def check_rows(self, slots: Int, rows: AnyArray) -> None:
        """Raise unless `rows` `[tokens, kv_heads, width]` can be written to `slots` `[tokens]`."""
        check_shape("slots", slots, (None,))
        check_shape("rows", rows, (len(slots), self.kv_heads, self.width))
        if not np.can_cast(rows.dtype, self.storage.dtype, "same_kind"):
            raise DtypeError(f"rows have dtype {rows.dtype}, pages {self.storage.dtype}")
        bad = slots[(slots < PADDING) | (slots >= self.num_blocks * self.block_size)]
        if bad.size:
            raise BlockRangeError(f"slot {int(bad[0])} is outside {self.num_blocks} blocks of {self.block_size}")
        real = slots[slots != PADDING]
        if len(np.unique(real)) < len(real):
            raise BlockRangeError("two rows are written to one slot")

    def write(self, slots: Int, rows: AnyArray) -> None:
        """Store `rows` at `slots`; rows of slot -1 are dropped. Raises as `check_rows`."""
        self.check_rows(slots, rows)
        real = slots != PADDING
        self._tokens[slots[real] // self.block_size, slots[real] % self.block_size] = rows[real]

    def gather(self, table: Int, start: int, stop: int) -> AnyArray:
        """Rows `[stop - start, kv_heads, width]` of positions `start:stop`; no other block or byte is read.

        Raises `ShortTableError` and `BlockRangeError`.
        """
        check_shape("table", table, (None,))
        if not 0 <= start <= stop or len(table) * self.block_size < stop:
            raise ShortTableError(f"table of {len(table)} blocks of {self.block_size} has no positions {start}:{stop}")
        positions = np.arange(start, stop)
        blocks = table[positions // self.block_size]
        self.check_blocks(blocks)
        rows: AnyArray = self._tokens[blocks, positions % self.block_size]
        return rows

    def check_blocks(self, blocks: Int) -> None:
        """Raise `BlockRangeError` unless every id is that of a block; negative ids never wrap."""
        bad = blocks[(blocks < 0) | (blocks >= self.num_blocks)]
        if bad.size:
            raise BlockRangeError(f"block {int(bad[0])} is outside {self.num_blocks} blocks")

    def copy(self, sources: Int, targets: Int) -> None:
        """Copy whole blocks, all read before any is written. Raises `ShapeError` and `BlockRangeError`."""
        check_shape("targets", targets, (len(sources),))
        self.check_blocks(np.concatenate([sources, targets]))
        if len(np.unique(targets)) < len(targets):
            raise BlockRangeError("two blocks are copied to one target")
        self.storage[targets] = self.storage[sources]

    def poison(self, slots: Int) -> None:
        """Fill `slots` with NaN, or with the largest number where the elements have no NaN."""
        floating = self.storage.dtype.kind == "f"
        worst = np.nan if floating else np.iinfo(self.storage.dtype).max
        self._tokens[slots // self.block_size, slots % self.block_size] = worst
