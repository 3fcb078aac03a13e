"""Slot mapping: where the new tokens of a batch of requests go."""

from __future__ import annotations

import torch

from kvoptimized.cache import PADDING
from kvoptimized.kernels.slots import map_slots
from kvoptimized.operators import has_data, operator
from kvoptimized.refusals import (
    require_device,
    require_dtype,
    require_rows,
    require_shape,
    require_starts,
    require_tables,
)
from kvspec.refusals import ShapeError

ROWS = 256
"""Rows of one program."""
WARPS = 4


@operator()
def slot_mapping(
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    *,
    block_size: int,
    rows: int,
    num_blocks: int | None = None,
    checked: bool = True,
) -> torch.Tensor:
    """The slots, int64 `[rows]`, of new tokens: rows `starts[r] : starts[r + 1]` are the last positions of request r.

    `block_tables` is int32 `[requests, max_blocks]`, `lengths` int32 `[requests]` counts all tokens, the new ones
    included, `starts` is int32 `[requests + 1]`. Rows behind the last request are padding: slot -1.

    Raises `ShapeError`, `DtypeError`, `DeviceError` and `StrideError`; and where `checked`, which waits for a GPU,
    `LengthError`, `ShortTableError` and `BlockRangeError`, the latter against `num_blocks` where it is given.
    """
    _require_fit(block_tables, lengths, starts, block_size, rows)
    slots = block_tables.new_empty((rows,), dtype=torch.int64)
    if not has_data(slots):
        return slots
    if checked:
        require_tables(block_tables, lengths, block_size, num_blocks)
        require_starts(starts, lengths, rows)
    requests, max_blocks = block_tables.shape
    if not rows or not requests:
        return slots.fill_(PADDING)
    map_slots[(-(-rows // ROWS),)](
        slots,
        block_tables,
        lengths,
        starts,
        rows,
        requests,
        max_blocks,
        block_tables.stride(0),
        BLOCK_SIZE=block_size,
        HALVINGS=requests.bit_length(),
        ROWS=ROWS,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )
    return slots


def _require_fit(
    block_tables: torch.Tensor, lengths: torch.Tensor, starts: torch.Tensor, block_size: int, rows: int
) -> None:
    require_shape("block_tables", block_tables, (None, None))
    require_device(block_tables.device, lengths=lengths, starts=starts)
    requests = block_tables.shape[0]
    for name, tensor, shape in (("lengths", lengths, requests), ("starts", starts, requests + 1)):
        require_shape(name, tensor, (shape,))
    for name, tensor in (("block_tables", block_tables), ("lengths", lengths), ("starts", starts)):
        require_dtype(name, tensor, torch.int32)
        require_rows(name, tensor)
    if block_size < 1 or rows < 0:
        raise ShapeError(f"block_size is {block_size} and rows is {rows}, expected a positive and a non-negative count")
