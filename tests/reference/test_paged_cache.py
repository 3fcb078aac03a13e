"""Paged cache arrays: what is written is gathered, wherever blocks lie; bad input writes nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kvreference.nibbles import pack, unpack
from kvreference.paged_cache import PADDING, Layout, PagedCache, Pages, QuantizedPages, slots_of
from kvreference.quantizers import Scales, decode, encode
from kvspec.numbers.schemes import SCHEMES
from kvspec.refusals import BlockRangeError, DtypeError, Refused, ScaleError, ShapeError, ShortTableError

BLOCKS, SIZE, HEADS, DIM = 8, 4, 2, 64
SHAPE = (BLOCKS, SIZE, HEADS, DIM)
TABLE = [5, 0, 7]
LAYOUTS = list(Layout)


def plain(layout: Layout = Layout.TOKEN_MAJOR, blocks: int = BLOCKS) -> PagedCache:
    inner = (SIZE, HEADS) if layout is Layout.TOKEN_MAJOR else (HEADS, SIZE)
    pages = [Pages(np.full((blocks, *inner, DIM), np.nan, np.float32), layout) for _ in range(2)]
    return PagedCache(*pages)


def quantized(name: str, layout: Layout = Layout.TOKEN_MAJOR) -> PagedCache:
    return PagedCache(*(QuantizedPages(SHAPE, SCHEMES[name], layout=layout) for _ in range(2)))


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(seed).standard_normal((2, count, HEADS, DIM)).astype(np.float32))


def snapshot(cache: PagedCache) -> list[bytes]:
    parts = [p for pages in (cache.keys, cache.values) for p in getattr(pages, "parts", [pages])]
    return [part.storage.tobytes() for part in parts]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_written_is_gathered_through_the_table(layout: Layout) -> None:
    cache, (keys, values) = plain(layout), rows(10)
    cache.write(slots_of(TABLE, 0, 10, SIZE), keys, values)
    found = cache.gather(TABLE, 3, 10)
    assert (found[0] == keys[3:]).all()
    assert (found[1] == values[3:]).all()


def test_one_token_lies_where_the_slot_says() -> None:
    cache, (keys, values) = plain(), rows(1)
    cache.write([5 * SIZE + 2], keys, values)
    assert (cache.keys.storage[5, 2] == keys[0]).all()
    assert np.isnan(cache.keys.storage).sum() == cache.keys.storage.size - HEADS * DIM


def test_padding_rows_write_nothing() -> None:
    cache, (keys, values) = plain(), rows(3)
    before = snapshot(cache)
    cache.write([PADDING] * 3, np.full_like(keys, 7), values)
    assert snapshot(cache) == before
    cache.write([PADDING, 4, PADDING], keys, values)
    assert (cache.gather([1], 0, 1)[0] == keys[1]).all()
    assert np.isnan(cache.keys.storage[-1]).all()


@pytest.mark.parametrize("name", ["int8/token-head", "uint4/group-32", "e4m3/token-head", "q4_1"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_quantized_rows_are_gathered_as_they_decode(name: str, layout: Layout) -> None:
    cache, (keys, values), scheme = quantized(name, layout), rows(10), SCHEMES[name]
    cache.write(slots_of(TABLE, 0, 10, SIZE), keys, values)
    found = cache.gather(TABLE, 0, 10)
    assert (found[0] == decode(encode(keys, scheme), scheme)).all()
    assert (found[1] == decode(encode(values, scheme), scheme)).all()


def test_scales_travel_with_a_copied_block() -> None:
    cache, (keys, values) = quantized("int8/token-head"), rows(SIZE)
    cache.write(slots_of([2], 0, SIZE, SIZE), keys * 100, values)
    cache.write(slots_of([3], 0, SIZE, SIZE), keys, values)
    expected = cache.gather([2], 0, SIZE)
    cache.copy([(2, 3)])
    cache.poison(slots_of([2], 0, SIZE, SIZE))
    for found, wanted in zip(cache.gather([3], 0, SIZE), expected, strict=True):
        assert (found == wanted).all()


def test_copies_read_before_they_write() -> None:
    cache, (keys, values) = plain(), rows(2 * SIZE)
    cache.write(slots_of([1, 2], 0, 2 * SIZE, SIZE), keys, values)
    cache.copy([(1, 2), (2, 1)])
    assert (cache.gather([2, 1], 0, 2 * SIZE)[0] == keys).all()


def test_padding_rows_do_not_reach_a_quantizer() -> None:
    cache, (keys, values) = quantized("int8/token-head"), rows(2)
    keys[1] = np.nan
    cache.write([0, PADDING], keys, values)
    assert np.isfinite(cache.gather([0], 0, 1)[0]).all()


def test_static_scales_are_used_on_write_and_read() -> None:
    scheme = SCHEMES["int8/head"]
    static = Scales(np.array([[[0.5], [0.25]]], np.float32))
    cache = PagedCache(*(QuantizedPages(SHAPE, scheme, static) for _ in range(2)))
    keys, values = rows(1)
    cache.write([9], np.full_like(keys, 3.1), values)
    assert cache.gather([2], 1, 2)[0][0, :, 0].tolist() == [3.0, 3.0]
    assert cache.keys.codes.storage[2, 1, :, 0].tolist() == [6, 12]


def test_poison_spoils_what_it_names_and_nothing_else() -> None:
    for cache in (plain(), quantized("int8/token-head"), quantized("e5m2/token-head")):
        keys, values = rows(8)
        cache.write(slots_of([1, 2], 0, 8, SIZE), keys, values)
        before = cache.gather([1, 2], 0, 8)[0]
        cache.poison(slots_of([1, 2], 3, 5, SIZE))
        after = cache.gather([1, 2], 0, 8)[0]
        changed = ~((before == after).all(axis=(1, 2)))
        assert changed.tolist() == [3 <= i < 5 for i in range(8)]


def test_large_block_ids_through_a_strided_view() -> None:
    buffer = np.zeros((70_000, SIZE, 2, HEADS, 2), np.float32)
    cache = PagedCache(Pages(buffer[:, :, 0]), Pages(buffer[:, :, 1]))
    keys, values = (r[..., :2] for r in rows(8))
    cache.write(slots_of([65_536, 69_999], 0, 8, SIZE), keys, values)
    assert (cache.gather([65_536, 69_999], 0, 8)[1] == values).all()
    assert not buffer[:65_536].any()


def wrong(change: Callable[[PagedCache, np.ndarray, np.ndarray], object]) -> Callable[[PagedCache], object]:
    return lambda cache: change(cache, *rows(2))


REFUSED = {
    "slot beyond": (BlockRangeError, wrong(lambda c, k, v: c.write([0, BLOCKS * SIZE], k, v))),
    "slot below padding": (BlockRangeError, wrong(lambda c, k, v: c.write([0, -2], k, v))),
    "slot of 64 unsigned bits": (BlockRangeError, wrong(lambda c, k, v: c.write(np.array([0, 2**64 - 1], "u8"), k, v))),
    "one slot twice": (BlockRangeError, wrong(lambda c, k, v: c.write([3, 3], k, v))),
    "fewer slots": (ShapeError, wrong(lambda c, k, v: c.write([0], k, v))),
    "fewer values": (ShapeError, wrong(lambda c, k, v: c.write([0, 1], k, v[:1]))),
    "narrow heads": (ShapeError, wrong(lambda c, k, v: c.write([0, 1], k, v[..., :3]))),
    "float slots": (DtypeError, wrong(lambda c, k, v: c.write([0.0, 1.0], k, v))),
    "complex rows": (DtypeError, wrong(lambda c, k, v: c.write([0, 1], k + 1j, v))),
    "copy from nowhere": (BlockRangeError, wrong(lambda c, k, v: c.copy([(0, 1), (-1, 2)]))),
    "copy twice to one": (BlockRangeError, wrong(lambda c, k, v: c.copy([(0, 2), (1, 2)]))),
    "table too short": (ShortTableError, wrong(lambda c, k, v: c.gather([0], 0, SIZE + 1))),
    "negative block": (BlockRangeError, wrong(lambda c, k, v: c.gather([0, -1], 0, SIZE + 1))),
    "mapping beyond the table": (ShortTableError, wrong(lambda c, k, v: slots_of([0], 0, SIZE + 1, SIZE))),
}


@pytest.mark.parametrize("name", list(REFUSED))
@pytest.mark.parametrize("make", [plain, lambda: quantized("int8/token-head")], ids=["plain", "quantized"])
def test_bad_input_is_refused_by_name_and_writes_nothing(name: str, make: Callable[[], PagedCache]) -> None:
    cache, (error, act) = make(), REFUSED[name]
    before = snapshot(cache)
    with pytest.raises(error) as caught:
        act(cache)
    assert isinstance(caught.value, Refused)
    assert snapshot(cache) == before


def test_non_finite_values_leave_the_keys_unwritten() -> None:
    cache, (keys, values) = quantized("int8/token-head"), rows(1)
    before = snapshot(cache)
    values[0, 0, 0] = np.inf
    with pytest.raises(Refused, match="infinity"):
        cache.write([0], keys, values)
    assert snapshot(cache) == before


def test_scales_of_the_wrong_granularity_are_refused() -> None:
    with pytest.raises(ScaleError):
        QuantizedPages(SHAPE, SCHEMES["int8/tensor"])
    with pytest.raises(ScaleError):
        QuantizedPages(SHAPE, SCHEMES["int8/tensor"], Scales(np.ones((1, HEADS, 1), np.float32)))
    with pytest.raises(ScaleError):
        QuantizedPages(SHAPE, SCHEMES["int8/token-head"], Scales(np.ones((1, 1, 1), np.float32)))


@pytest.mark.parametrize("name", ["int4/group-32", "uint4/group-64", "q4_0", "q4_1", "kivi-value"])
def test_packed_nibbles_unpack_to_the_same_codes(name: str) -> None:
    scheme = SCHEMES[name]
    codes = encode(rows(6)[0], scheme).codes
    packed = pack(codes, scheme)
    assert packed.shape == (6, HEADS, DIM // 2)
    assert (unpack(packed, scheme) == codes).all()


def test_nibbles_lie_as_the_layout_says() -> None:
    adjacent = pack(np.array([[-7, 7, 0, 1]], np.int8), SCHEMES["int4/tensor"])
    assert adjacent.tolist() == [[(15 << 4) | 1, (9 << 4) | 8]]
    halves = pack(np.arange(32, dtype=np.uint8)[None] % 16, SCHEMES["q4_1"])
    assert halves[0, 3] == (3 << 4 | 3)
