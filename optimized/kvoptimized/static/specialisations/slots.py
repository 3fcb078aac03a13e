"""Slot mapping."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.slot_maps import slot_mapping
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import Specialisation


def specialisations() -> Iterator[Specialisation]:
    """Blocks of a power of two, and others."""
    tables, lengths, starts = (torch.zeros(shape, dtype=torch.int32) for shape in ((16, 512), (16,), (17,)))
    for size in (16, 24):
        [launch] = recorded(
            lambda size=size: slot_mapping(tables, lengths, starts, block_size=size, rows=64, checked=False)  # type: ignore[misc]
        )
        yield launch.specialised(f"slots for blocks of {size}")
