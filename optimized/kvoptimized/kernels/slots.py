"""Slot mapping: from block tables to the slots of new tokens."""

from __future__ import annotations

import triton.language as tl

from kvoptimized.launch import kernel


@kernel
def map_slots(
    SLOTS,
    TABLES,
    LENGTHS,
    STARTS,
    rows,
    requests,
    max_blocks,
    table_stride,
    BLOCK_SIZE: tl.constexpr,
    HALVINGS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Grid `(cdiv(rows, ROWS),)`: the slot of each row, -1 for rows behind the last request.

    The request of a row is the last one that starts at or before it: after HALVINGS > log2(requests) halvings of
    `[low, high)` only that one is left.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    low = tl.zeros([ROWS], tl.int32)
    high = low + requests
    for _ in range(HALVINGS):
        middle = (low + high) // 2
        begun = tl.load(STARTS + middle) <= row
        low = tl.where(begun, middle, low)
        high = tl.where(begun, high, middle)
    end = tl.load(STARTS + low + 1)
    position = tl.load(LENGTHS + low) - (end - row)
    # Contradictory tables and lengths are refused on the host; unchecked ones must not make a kernel leave the cache.
    inside = (row < end) & (position >= 0) & (position < max_blocks * BLOCK_SIZE)
    position = tl.where(inside, position, 0)
    block = tl.load(TABLES + low.to(tl.int64) * table_stride + position // BLOCK_SIZE, mask=inside, other=-1)
    slot = block.to(tl.int64) * BLOCK_SIZE + position % BLOCK_SIZE
    tl.store(SLOTS + row, tl.where(block >= 0, slot, -1), mask=row < rows)
