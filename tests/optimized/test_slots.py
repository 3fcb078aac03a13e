"""Slot mapping: the reference's slots for every request of a batch, and padding behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvoptimized.interpreter import memory_checked
from kvoptimized.slot_maps import slot_mapping
from kvreference.paged_cache import slots_of
from tests.optimized.caches import BLOCK_SIZES, interpreted


def mapped(tables: Any, lengths: Any, new: Any, block_size: int, padding: int = 0) -> torch.Tensor:
    starts = np.concatenate([[0], np.cumsum(new)]).astype(np.int32)
    with memory_checked():
        return slot_mapping(
            torch.from_numpy(np.asarray(tables, np.int32)),
            torch.from_numpy(np.asarray(lengths, np.int32)),
            torch.from_numpy(starts),
            block_size=block_size,
            rows=int(starts[-1]) + padding,
        )


def wanted(tables: Any, lengths: Any, new: Any, block_size: int, padding: int = 0) -> list[int]:
    found: list[int] = []
    for table, length, count in zip(tables, lengths, new, strict=True):
        used = table[: -(-length // block_size)]
        found += slots_of(np.asarray(used), length - count, length, block_size).tolist()
    return found + [-1] * padding


@interpreted
@given(st.data())
def test_slots_equal_the_reference(data: Any) -> None:
    block_size = data.draw(st.sampled_from(BLOCK_SIZES))
    requests = data.draw(st.integers(0, 9))
    lengths = data.draw(st.lists(st.integers(0, 3 * block_size + 2), min_size=requests, max_size=requests))
    new = [data.draw(st.integers(0, length)) for length in lengths]
    columns = -(-max(lengths, default=0) // block_size) + data.draw(st.integers(0, 2))
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    # Blocks of different requests may be the same: shared prefixes. What lies behind a length may be anything.
    tables = random.integers(0, 1 << 22, (requests, columns)).astype(np.int32)
    for table, length in zip(tables, lengths, strict=True):
        table[-(-length // block_size) :] = -7
    padding = data.draw(st.integers(0, 4))
    found = mapped(tables, lengths, new, block_size, padding)
    assert found.dtype == torch.int64
    assert found.tolist() == wanted(tables, lengths, new, block_size, padding)


@pytest.mark.parametrize("requests", [1, 2, 3, 127, 128, 129, 300])
def test_the_search_ends_at_the_right_request(requests: int) -> None:
    random = np.random.default_rng(requests)
    lengths = random.integers(1, 40, requests)
    new = np.minimum(lengths, random.integers(0, 4, requests))
    tables = random.permutation(requests * 3).reshape(requests, 3)
    assert mapped(tables, lengths, new, 16, 3).tolist() == wanted(tables, lengths, new, 16, 3)


def test_slots_need_64_bits() -> None:
    block = (1 << 31) - 1
    assert mapped([[block]], [256], [2], 256).tolist() == [block * 256 + 254, block * 256 + 255]


def test_unchecked_contradictions_give_padding_and_no_wild_slot() -> None:
    arguments = {"block_size": 2, "rows": 4, "checked": False}
    tables = torch.tensor([[3, -1]], dtype=torch.int32)
    lengths, starts = torch.tensor([7], dtype=torch.int32), torch.tensor([0, 4], dtype=torch.int32)
    assert slot_mapping(tables, lengths, starts, **arguments).tolist() == [-1, -1, -1, -1]
    assert slot_mapping(tables, torch.tensor([2], dtype=torch.int32), starts, **arguments).tolist() == [-1, -1, 6, 7]
