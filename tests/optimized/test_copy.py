"""Copy-on-write: the reference's copies, bit for bit, with scales, in every layout and word size."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvoptimized.cache import HEAD_MAJOR, LAYOUTS, PagedKVCache
from kvoptimized.copying import CHUNK_BYTES, copy_blocks
from kvoptimized.evidence.traffic_rows.copy import rows as traffic_rows
from kvoptimized.interpreter import Race, memory_checked
from kvreference.pages import Layout, Pages
from tests.optimized.caches import QUANTIZED, Shape, interpreted, shapes


def scrambled(cache: PagedKVCache, seed: int) -> None:
    """Every byte of codes and scales at random, NaN patterns included."""
    random = np.random.default_rng(seed)
    tensors = [cache.keys, cache.values] + ([cache.key_scales, cache.value_scales] if cache.dynamic else [])
    for tensor in tensors:
        raw = tensor.view(torch.uint8)
        raw.copy_(torch.from_numpy(random.integers(0, 256, tuple(raw.shape), np.uint8)))


def bytes_of(cache: PagedKVCache) -> list[Any]:
    """All blocks as bytes `[num_blocks, ...]`, keys, values, and the scales of tokens."""
    tensors = [cache.keys, cache.values] + ([cache.key_scales, cache.value_scales] if cache.dynamic else [])
    return [tensor.contiguous().view(torch.uint8).numpy().copy() for tensor in tensors]


def copied(before: list[Any], pairs: list[list[int]]) -> list[Any]:
    """What the reference makes of the same bytes."""
    both = np.array(pairs, np.int64).reshape(-1, 2)
    after = []
    for array in before:
        storage = array.reshape(len(array), 1, 1, -1).copy()
        Pages(storage, Layout.HEAD_MAJOR).copy(both[:, 0], both[:, 1])
        after.append(storage.reshape(array.shape))
    return after


@interpreted
@given(st.data())
def test_copies_equal_the_reference(data: Any) -> None:
    shape = data.draw(shapes(block_sizes=(1, 2, 3, 16, 31)))
    cache = replace(shape, num_blocks=shape.num_blocks + 3).empty()
    scrambled(cache, data.draw(st.integers(0, 999)))
    order = data.draw(st.permutations(range(cache.num_blocks)))
    targets = order[: data.draw(st.integers(0, cache.num_blocks - 1))]
    sources = data.draw(st.lists(st.sampled_from(order[len(targets) :]), min_size=len(targets), max_size=len(targets)))
    pairs = [list(pair) for pair in zip(sources, targets, strict=True)]
    before = bytes_of(cache)
    with memory_checked():
        copy_blocks(cache, torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2))
    for found, wanted in zip(bytes_of(cache), copied(before, pairs), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("format", ["bf16", *QUANTIZED])
def test_a_block_of_several_chunks(format: str, layout: str) -> None:
    cache = Shape(4, 128, 4, 128, format, layout).empty()
    assert cache.keys[0].numel() * cache.keys.element_size() > CHUNK_BYTES
    scrambled(cache, 1)
    before = bytes_of(cache)
    with memory_checked():
        copy_blocks(cache, torch.tensor([[2, 0], [2, 3]]))
    for found, wanted in zip(bytes_of(cache), copied(before, [[2, 0], [2, 3]]), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("width", [8, 3])
def test_blocks_of_an_interleaved_buffer_leave_their_neighbours_alone(width: int) -> None:
    buffer = torch.randint(-128, 127, (5, 2, 3, 2, width), dtype=torch.int8)
    scales = torch.randn(5, 2, 3, 2)
    cache = PagedKVCache.around(
        buffer[:, 0], buffer[:, 1], scales[:, 0], scales[:, 1], format="int8", layout=HEAD_MAJOR
    )
    wanted, wanted_scales = buffer.clone(), scales.clone()
    wanted[4], wanted_scales[4] = buffer[1], scales[1]
    with memory_checked():
        copy_blocks(cache, torch.tensor([[1, 4]]))
    assert torch.equal(buffer, wanted)
    assert torch.equal(scales, wanted_scales)


@pytest.mark.parametrize(("apart", "between"), [(37, 1), (40, 1), (38, 0), (36, 4)])
def test_blocks_whose_addresses_are_not_those_of_words(apart: int, between: int) -> None:
    buffer = torch.randint(-128, 127, (5, apart), dtype=torch.int8)
    keys, values = (buffer[:, at : at + 16].unflatten(1, (1, 2, 8)) for at in (0, 16 + between))
    cache = PagedKVCache.around(keys, values, torch.ones(5, 1, 2), torch.ones(5, 1, 2), format="int8")
    wanted = buffer.clone()
    wanted[3, :16], wanted[3, 16 + between : 32 + between] = buffer[0, :16], buffer[0, 16 + between : 32 + between]
    with memory_checked():
        copy_blocks(cache, torch.tensor([[0, 3]]))
    assert torch.equal(buffer, wanted)


@pytest.mark.parametrize("head_dim", [2, 8])
def test_scales_of_several_chunks(head_dim: int) -> None:
    cache = Shape(3, 256, 32, head_dim, "int8", HEAD_MAJOR).empty()
    assert cache.key_scales is not None
    assert cache.key_scales[0].numel() * 4 > CHUNK_BYTES
    scrambled(cache, 1)
    before = bytes_of(cache)
    with memory_checked():
        copy_blocks(cache, torch.tensor([[2, 0]]))
    for found, wanted in zip(bytes_of(cache), copied(before, [[2, 0]]), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_static_scales_stay_where_they_are() -> None:
    cache = Shape(3, 2, 2, 4, "e4m3", HEAD_MAJOR, static=True).empty()
    before = (cache.key_scales.clone(), cache.value_scales.clone())
    copy_blocks(cache, torch.tensor([[0, 2]]))
    assert torch.equal(cache.key_scales, before[0])
    assert torch.equal(cache.value_scales, before[1])


def test_no_pairs_copy_nothing() -> None:
    cache = Shape(2, 2, 1, 4, "int8", HEAD_MAJOR).empty()
    scrambled(cache, 3)
    before = bytes_of(cache)
    copy_blocks(cache, torch.empty((0, 2), dtype=torch.int64))
    assert all(np.array_equal(a, b) for a, b in zip(bytes_of(cache), before, strict=True))


def test_a_chain_that_is_not_refused_is_a_race_to_the_memory_checker() -> None:
    cache = Shape(4, 2, 1, 4, "int8", HEAD_MAJOR).empty()
    with memory_checked(), pytest.raises(Race):
        copy_blocks(cache, torch.tensor([[0, 1], [1, 2]]), checked=False)
    with memory_checked(), pytest.raises(Race):
        copy_blocks(cache, torch.tensor([[0, 1], [2, 1]]), checked=False)


def test_every_byte_is_moved_once() -> None:
    for row in islice(traffic_rows(), 4):
        assert row.within
        assert row.ratio < 1.001
