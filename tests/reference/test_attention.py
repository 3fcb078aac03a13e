"""Paged attention against naive sums in 50-digit decimals, torch in float64, and its own invariances.

No tolerance is chosen: float64 results are compared within certificate T1 of a kernel that computes in float64, and
whatever should be the same bits is compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest

from kvreference.arrays import DeclarationError
from kvreference.attention import Row, State, attend_row, empty_state, emulated_attention, merge, with_sink
from kvreference.paged_attention import Attention, Batch, paged_attention, rows_of
from kvreference.paged_cache import Layout, PagedCache, Pages, QuantizedPages, slots_of
from kvreference.roundings import FORMATS, round_to
from kvreference.tolerance.arithmetic import gamma
from kvreference.tolerance.certificates import t1
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import exponents
from kvspec.numbers.schemes import SCHEMES
from kvspec.refusals import BlockRangeError, DtypeError, ShapeError, ShortTableError

DOUBLE = Declaration("fp32", None, 2.0**-53, False, exp_error=2.0**-51, tanh_error=2.0**-51)
SIZE, BLOCKS, KV_HEADS, HEADS, DIM, VALUE_DIM = 4, 16, 2, 6, 8, 5
LENGTHS, QUERIES = [7, 0, 12, 1], [3, 0, 12, 1]
LAYERS = {
    "causal": Attention(0.3),
    "full": Attention(0.3, causal=False),
    "window": Attention(0.3, window=4),
    "softcap": Attention(2.0, softcap=5.0),
    "sinks": Attention(0.3, sinks=(0.5, -3.0, 4.0, 0.0, 9.0, -1.0)),
    "all": Attention(1.0, window=3, softcap=7.0, sinks=(0.5, -3.0, 4.0, 0.0, 9.0, -1.0)),
}


class World:
    """Four requests, one empty, with their keys and values in blocks of a permuted pool."""

    def __init__(self, seed: int = 0, layout: Layout = Layout.TOKEN_MAJOR) -> None:
        rng = np.random.default_rng(5)
        self.tables = np.random.default_rng(seed).permutation(BLOCKS).reshape(4, 4)
        self.cache = PagedCache(*(_pages(width, layout) for width in (DIM, VALUE_DIM)))
        self.keys = [rng.standard_normal((n, KV_HEADS, DIM)) for n in LENGTHS]
        self.values = [rng.standard_normal((n, KV_HEADS, VALUE_DIM)) for n in LENGTHS]
        for table, keys, values in zip(self.tables, self.keys, self.values, strict=True):
            self.cache.write(slots_of(table, 0, len(keys), SIZE), keys, values)
        self.query = rng.standard_normal((sum(QUERIES) + 2, HEADS, DIM))
        self.batch = Batch(self.tables, LENGTHS, np.cumsum([0, *QUERIES]))

    def attend(self, layer: Attention) -> State:
        return paged_attention(self.query, self.cache, self.batch, layer)


def _pages(width: int, layout: Layout) -> Pages:
    inner = (SIZE, KV_HEADS) if layout is Layout.TOKEN_MAJOR else (KV_HEADS, SIZE)
    return Pages(np.full((BLOCKS, *inner, width), np.nan), layout)


def same_bits(a: State, b: State) -> bool:
    return a.output.tobytes() == b.output.tobytes() and a.lse.tobytes() == b.lse.tobytes()


def naive(row: Row) -> tuple[list[Decimal], Decimal]:
    """Sums of exponentials in decimals."""
    with localcontext() as context:
        context.prec = 50
        weights = []
        for key in row.keys:
            z = sum((Decimal(a) * Decimal(b) for a, b in zip(key, row.query, strict=True)), Decimal(0))
            z *= Decimal(row.scale)
            if row.softcap is not None:
                cap = Decimal(row.softcap)
                double = (2 * z / cap).exp()
                z = cap * (double - 1) / (double + 1)
            weights.append(z.exp())
        mass = sum(weights, Decimal(0)) + (Decimal(row.sink).exp() if row.sink is not None else 0)
        columns = [[Decimal(v) for v in column] for column in row.values.T]
        return [sum(w * v for w, v in zip(weights, c, strict=True)) / mass for c in columns], mass.ln()


def close_to_naive(row: Row, state: State) -> bool:
    """Within the certificate of a kernel in float64, twice: ours is the centre and the kernel."""
    output, lse = naive(row)
    allowed = t1(row, DOUBLE).tolerance
    off = np.array([float(abs(Decimal(v) - w)) for v, w in zip(state.output, output, strict=True)])
    moved = exponents(row, DOUBLE).relative.max() + gamma(len(row.keys) + 8, 2.0**-53) * (1 + abs(float(state.lse)))
    return bool((off <= allowed).all()) and abs(float(Decimal(float(state.lse)) - lse)) <= moved


def all_rows(world: World, layer: Attention) -> Iterator[tuple[tuple[int, int], Row]]:
    for index, heads in enumerate(rows_of(world.query, world.cache, world.batch, layer)):
        for head, row in enumerate(heads):
            yield (index, head), row


@pytest.mark.parametrize("name", list(LAYERS))
def test_every_row_equals_the_naive_sum_over_what_it_may_see(name: str) -> None:
    world, layer = World(), LAYERS[name]
    found = world.attend(layer)
    start = 0
    for request, (length, queries) in enumerate(zip(LENGTHS, QUERIES, strict=True)):
        for index in range(queries):
            position = length - queries + index
            seen = [
                j
                for j in range(length)
                if (not layer.causal or j <= position) and (layer.window is None or j > position - layer.window)
            ]
            for head in range(HEADS):
                group = head // (HEADS // KV_HEADS)
                keys, values = world.keys[request][seen, group], world.values[request][seen, group]
                sink = None if layer.sinks is None else layer.sinks[head]
                row = Row(world.query[start + index, head], keys, values, layer.scale, layer.softcap, sink)
                at = (start + index, head)
                assert close_to_naive(row, State(found.output[at], found.lse[at]))
        start += queries


def test_torch_agrees_in_float64() -> None:
    torch = pytest.importorskip("torch")
    world = World()
    found = world.attend(LAYERS["causal"])
    query = torch.from_numpy(world.query[3:15].transpose(1, 0, 2).copy())
    keys, values = (torch.from_numpy(x[2].transpose(1, 0, 2).repeat(3, axis=0)) for x in (world.keys, world.values))
    attend = torch.nn.functional.scaled_dot_product_attention
    theirs = attend(query, keys, values, is_causal=True, scale=0.3).numpy()
    for (index, head), row in all_rows(world, LAYERS["causal"]):
        if 3 <= index < 15:
            off = np.abs(theirs[head, index - 3] - found.output[index, head])
            assert (off <= t1(row, DOUBLE).tolerance).all()


@pytest.mark.parametrize("name", list(LAYERS))
def test_relabeled_blocks_and_other_layouts_give_the_same_bits(name: str) -> None:
    expected = World(0).attend(LAYERS[name])
    assert same_bits(expected, World(1).attend(LAYERS[name]))
    assert same_bits(expected, World(2, Layout.HEAD_MAJOR).attend(LAYERS[name]))


@pytest.mark.parametrize("name", list(LAYERS))
def test_poison_outside_of_what_is_seen_changes_nothing(name: str) -> None:
    world, layer = World(), LAYERS[name]
    expected = world.attend(layer)
    assert np.isfinite(expected.output).all()
    if layer.window is not None:
        world.cache.poison(slots_of(world.tables[0], 0, LENGTHS[0] - QUERIES[0] - layer.window + 1, SIZE))
        assert same_bits(expected, world.attend(layer))


def test_blocks_behind_the_window_need_no_table_entry() -> None:
    world = World()
    expected = world.attend(LAYERS["window"])
    world.tables[0, 3], world.tables[3, 1:] = -1, -1
    late = replace(world.batch, tables=world.tables)
    assert same_bits(expected, paged_attention(world.query, world.cache, late, LAYERS["window"]))


@pytest.mark.parametrize("window", range(1, 6))
def test_the_window_is_exact_at_equality(window: int) -> None:
    layer = Attention(1.0, window=window)
    assert list(layer.visible(4, 9)) == list(range(max(0, 5 - window), 5))
    assert len(layer.visible(window - 1, 99)) == window
    assert layer.visible(window, 99).start == 1


def test_queries_before_the_first_key_see_nothing() -> None:
    world = World()
    batch = Batch(world.tables[:1], [1], [0, 3])
    found = paged_attention(world.query, world.cache, batch, LAYERS["causal"])
    assert np.isneginf(found.lse[:2]).all()
    assert np.isfinite(found.lse[2]).all()


@pytest.mark.parametrize("name", list(LAYERS))
def test_empty_and_padding_rows_give_zero_and_minus_infinity(name: str) -> None:
    found = World().attend(LAYERS[name])
    assert not found.output[-2:].any()
    assert np.isneginf(found.lse[-2:]).all()
    assert np.isfinite(found.lse[:-2]).all()


@pytest.mark.parametrize("name", list(LAYERS))
def test_one_chunk_or_many_one_request_or_a_batch_give_the_same_bits(name: str) -> None:
    world, layer = World(), LAYERS[name]
    whole = world.attend(layer)
    for start, stop in ((0, 5), (5, 6), (6, 12)):
        length = stop if layer.causal else 12
        if not layer.causal and stop != 12:
            continue
        batch = Batch(world.tables[2:3], [length], [0, stop - start])
        part = paged_attention(world.query[3 + start : 3 + stop], world.cache, batch, layer)
        assert part.output.tobytes() == whole.output[3 + start : 3 + stop].tobytes()


def random_row(seed: int, count: int = 40, sink: float | None = None) -> Row:
    rng = np.random.default_rng(seed)
    query, keys, values = rng.standard_normal(16), rng.standard_normal((count, 16)), rng.standard_normal((count, 6))
    return Row(query, keys, values, 0.5, sink=sink)


def between(row: Row, start: int, stop: int) -> Row:
    return replace(row, keys=row.keys[start:stop], values=row.values[start:stop], sink=None)


@pytest.mark.parametrize("sink", [None, 3.0])
def test_merged_parts_equal_the_whole(sink: float | None) -> None:
    row = random_row(1, sink=sink)
    for cuts in ([0, 1, 40], [0, 13, 13, 29, 40], [0, 0, 40, 40]):
        state = empty_state((), 6)
        for start, stop in pairwise(cuts):
            state = merge(state, attend_row(between(row, start, stop)))
        assert close_to_naive(row, state if sink is None else with_sink(state, sink))


def test_an_empty_state_is_the_identity_of_merge() -> None:
    state, empty = attend_row(random_row(2)), empty_state((), 6)
    assert same_bits(merge(state, empty), state)
    assert same_bits(merge(empty, state), state)
    assert same_bits(merge(empty, empty), empty)
    garbage = State(np.full(6, np.nan), np.asarray(-np.inf))
    assert same_bits(merge(state, garbage), state)
    assert same_bits(merge(garbage, garbage), empty)
    assert same_bits(with_sink(empty, 5.0), empty)


def test_merging_far_apart_states_does_not_overflow() -> None:
    low, high = State(np.ones(2), np.asarray(-1e4)), State(np.full(2, 3.0), np.asarray(1e4))
    assert merge(low, high).output.tolist() == [3.0, 3.0]
    assert float(merge(low, high).lse) == 1e4


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("sink", [None, 3.0])
def test_emulation_without_roundings_is_attention(splits: int, sink: float | None) -> None:
    row = random_row(3, sink=sink)
    declared = replace(DOUBLE, kv_tile=8, splits=splits)
    exact = replace(declared, partial="fp32")
    found, truth = emulated_attention(row, exact), attend_row(row)
    unit = 2.0**-24 if splits > 1 else 0.0
    allowed = 2 * t1(row, DOUBLE).tolerance + unit * np.abs(row.values).max(axis=0)
    assert (np.abs(found.output - truth.output) <= allowed).all()


@pytest.mark.parametrize("p", ["bf16", "fp16", "e4m3fn"])
def test_emulation_rounds_each_weight_under_the_maximum_of_its_tile(p: str) -> None:
    row = random_row(4, count=20)
    z = row.logits()
    total, mass = np.zeros(6), 0.0
    for j in range(20):
        top = z[: (j // 8 + 1) * 8].max()
        total += round_to(np.exp(z[j : j + 1] - top), FORMATS[p])[0] * np.exp(top - z.max()) * row.values[j]
        mass += np.exp(z[j] - z.max())
    found = emulated_attention(row, Declaration("fp32", p, kv_tile=8)).output
    assert (np.abs(found - total / mass) <= 2 * t1(row, DOUBLE).tolerance).all()


def test_emulation_begins_tiles_at_absolute_positions() -> None:
    row, declared = random_row(5), Declaration("bf16", "bf16", kv_tile=16)
    assert declared.tiles_of(10, 0, 40) == [(0, 6), (6, 22), (22, 38), (38, 40)]
    at = [emulated_attention(replace(row, first=first), declared).output for first in (0, 16, 10)]
    assert (at[0] == at[1]).all()
    assert (at[0] != at[2]).any()


def test_emulation_stores_parts_in_their_format() -> None:
    row = random_row(6, count=32)
    halves = [attend_row(between(row, a, a + 16)) for a in (0, 16)]
    parts = [State(round_to(half.output, FORMATS["bf16"]), half.lse) for half in halves]
    declared = Declaration("bf16", None, kv_tile=16, splits=2, partial="bf16")
    expected = merge(*parts).output
    assert (np.abs(emulated_attention(row, declared).output - expected) <= 2 * t1(row, DOUBLE).tolerance).all()


def test_quantized_caches_attend_to_what_they_decode() -> None:
    scheme, rng = SCHEMES["int8/token-head"], np.random.default_rng(0)
    keys, values = rng.standard_normal((2, 6, KV_HEADS, DIM)).astype(np.float32)
    cache = PagedCache(*(QuantizedPages((BLOCKS, SIZE, KV_HEADS, DIM), scheme) for _ in range(2)))
    cache.write(slots_of([3, 1], 0, 6, SIZE), keys, values)
    decoded = PagedCache(*(Pages(np.zeros((BLOCKS, SIZE, KV_HEADS, DIM))) for _ in range(2)))
    decoded.write(slots_of([0, 1], 0, 6, SIZE), *cache.gather([3, 1], 0, 6))
    query = rng.standard_normal((1, HEADS, DIM))
    read = paged_attention(query, cache, Batch([[3, 1]], [6], [0, 1]), Attention(0.3))
    assert same_bits(read, paged_attention(query, decoded, Batch([[0, 1]], [6], [0, 1]), Attention(0.3)))


def test_bad_input_is_refused_by_name() -> None:
    world = World()
    layer, batch, query = Attention(1.0), world.batch, world.query
    short, beyond = replace(batch, tables=world.tables[:, :1]), replace(batch, tables=world.tables + BLOCKS)
    for error, act in (
        (ShapeError, lambda: paged_attention(query[:, :5], world.cache, batch, layer)),
        (ShapeError, lambda: paged_attention(query[:4], world.cache, batch, layer)),
        (ShapeError, lambda: paged_attention(query[..., :3], world.cache, batch, layer)),
        (DtypeError, lambda: paged_attention(query + 1j, world.cache, batch, layer)),
        (ShapeError, lambda: Batch(world.tables, LENGTHS, [0, 3])),
        (ShapeError, lambda: Batch(world.tables, LENGTHS, [0, 3, 2, 12, 13])),
        (ShapeError, lambda: Batch(world.tables, [-1, 0, 0, 0], [0, 3, 3, 15, 16])),
        (DtypeError, lambda: Batch(world.tables * 1.0, LENGTHS, [0, 3, 3, 15, 16])),
        (
            ShortTableError,
            lambda: paged_attention(query, world.cache, short, layer),
        ),
        (BlockRangeError, lambda: paged_attention(query, world.cache, beyond, layer)),
        (DeclarationError, lambda: paged_attention(query, world.cache, batch, replace(layer, sinks=(1.0,)))),
        (ShapeError, lambda: Row(np.ones(3), np.ones((2, 4)), np.ones((2, 4)), 1.0)),
        (ShapeError, lambda: Row(np.ones(4), np.ones((2, 4)), np.ones((3, 4)), 1.0)),
        (DeclarationError, lambda: emulated_attention(random_row(0), Declaration())),
    ):
        with pytest.raises(error):
            act()
