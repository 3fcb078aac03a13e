"""Kernels that multiply codes as they are: whatever the scheme and wherever scales enter, honest ones are allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kvconformance.surfaces.attention.formats import Reads, dynamic
from kvconformance.surfaces.attention.judging.certified import Allowed, allowed
from kvconformance.surfaces.attention.judging.doubts import doubts
from kvconformance.surfaces.attention.operations import Attend
from kvconformance.surfaces.attention.problems.numbers import PATTERNS, Problem, problem_of
from kvconformance.surfaces.attention.problems.sides import Side
from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.quantizers import Encoded, Scales, decode
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.certificates import certify, t1, t2
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.schemes import Q8_0
from tests.conformance.quantized_kernels import TILE, Head, caches, multiplied

FACTORED = caches(Reads.FACTORED)
WIDTH = 64
GROUP = 32


def stored(side: Side, rows: Float) -> tuple[Any, Any, Any]:
    """Codes as numbers, scales and zeros of one KV head, all `[tokens, head_dim]` in float32."""
    encoded = side.encode(rows)
    scale, zero = encoded.scales.scale, encoded.scales.zero
    nothing = None if zero is None else np.zeros_like(zero)
    codes = decode(Encoded(encoded.codes, Scales(np.ones_like(scale), nothing)), side.scheme)
    wide = (
        np.broadcast_to(np.repeat(x, rows.shape[2] // x.shape[2], axis=2), rows.shape)
        for x in (scale, np.zeros_like(scale) if zero is None else zero)
    )
    codes, scale, zero = (x.astype(np.float32)[:, 0] for x in (codes, *wide))
    return codes, scale, zero


@dataclass(frozen=True)
class Case:
    """A query over one KV head of a quantized cache, and what the kernel says of itself."""

    problem: Problem
    declared: Declaration
    on_output: bool = False

    def computed(self) -> Float:
        """What the honest kernel stores, `[head_dim]`."""
        cache, layer = self.problem.cache, self.problem.layer
        assert cache is not None
        sides = [stored(*one) for one in ((cache.keys, self.problem.keys[0]), (cache.values, self.problem.values[0]))]
        sink = None if layer.sinks is None else layer.sinks[0]
        query = self.problem.query[0, 0].astype(np.float32)
        head = Head(query, sides[0], sides[1], layer.scale, layer.softcap, sink)
        found = multiplied(head, cache.format, self.declared.p, on_output=self.on_output)
        return round_to(found.astype(np.float64), format_named(self.declared.output))

    def bounds(self) -> Allowed:
        """What is allowed."""
        return allowed(self.problem, self.declared, 2.0**-24)

    def outside(self, found: Float) -> float:
        """How far an output is outside of what is allowed."""
        bounds = self.bounds()
        return float(np.maximum(bounds.low[0, 0] - found, found - bounds.high[0, 0]).max())


def shaped(problem: Problem, shape: int, gain: float) -> Problem:
    """Keys and values of which weights and their scales are small, zero, or all of one sign."""
    keys, values, dtype = problem.keys[0].copy(), problem.values[0].copy(), format_named(problem.dtype)
    if shape & 1:
        keys = keys / 8
        keys[0, 0] = gain * np.sqrt(WIDTH) / np.maximum((problem.query[0, 0] ** 2).sum(), 1) * problem.query[0, 0]
        values[1:] = values[1:2]
    if shape & 2:
        values[:, :, :GROUP] = 0
    if shape & 4:
        values = values / 256
    if shape & 8:
        values[..., :1] = -8
        values[::3] = 0
    return replace(problem, keys=(round_to(keys, dtype),), values=(round_to(values, dtype),))


def cases(name: str, count: int) -> Iterator[Case]:
    """Drawn cases over one cache, with and without a tile; a shared scale is in the output where there is a tile."""
    rng = np.random.default_rng(7)
    shared = not dynamic(FACTORED[name].values)
    for seed in range(count):
        p, tile = (("fp16", "fp16", "bf16", None)[rng.integers(4)], (None, TILE)[seed % 2])
        operation = Attend(
            ((int((2, 37, 150)[rng.integers(3)]), 1),),
            seed=seed,
            dtype=("bf16", "fp16")[rng.integers(2)],
            heads=(1, 1, WIDTH),
            cache=name,
            pattern=PATTERNS[rng.integers(5)],
            softcap=(None, None, 5.0)[rng.integers(3)],
            sinks=not rng.integers(4),
        )
        problem = shaped(problem_of(operation, TILE, FACTORED), int(rng.integers(16)), float(rng.uniform(4, 18)))
        on_output = shared and (tile is not None or bool(rng.integers(2)))
        yield Case(problem, Declaration("fp32", p, kv_tile=tile), on_output)


@pytest.mark.parametrize("name", FACTORED)
def test_an_honest_kernel_over_codes_is_allowed(name: str) -> None:
    judged: Counter[bool] = Counter()
    for case in cases(name, 160):
        assert case.outside(case.computed()) <= 0, case
        judged[case.on_output] += 1
    assert bool(judged[True]) != dynamic(FACTORED[name].values)


def dominated(name: str, values: Float, gain: float) -> Case:
    """One token whose weight is 1 and whose value is `values[0]`, and others below it by `gain`, with fp16 weights."""
    problem = problem_of(Attend(((len(values), 1),), dtype="fp16", heads=(1, 1, WIDTH), cache=name), TILE, FACTORED)
    query, keys = np.zeros((1, 1, WIDTH)), np.zeros((len(values), 1, WIDTH))
    query[..., 0], keys[0, 0, 0], keys[1:, 0, 1] = 1, gain / problem.layer.scale, -1
    exact = (round_to(x, format_named("fp16")) for x in (keys, values[:, None]))
    keys, values = exact
    return Case(replace(problem, query=query, keys=(keys,), values=(values,)), Declaration("fp16", "fp16"))


@pytest.mark.parametrize("name", ["uint8/token-head", "uint4/group-32", "q4_1"])
def test_a_weight_that_is_flushed_multiplies_the_code_and_not_the_value(name: str) -> None:
    """Values of 0 have codes of 255, or a minimum that is not 0, from which nothing is left but for roundings."""
    values = np.zeros((3000, WIDTH))
    values[:, ::GROUP] = -1
    values[0], values[0, 0] = 0, -(2.0**-6)
    if name == "q4_1":
        values[1:, 1:] = 1e-3
    case = dominated(name, values, 11.125)
    found = case.computed()
    assert case.outside(found) <= 0
    first = doubts(case.problem, case.declared)[0][0]
    assert first.values is not None
    row = case.problem.row_list()[0][0]
    of_values = t1(row, case.declared, first.keys, first.values)
    assert not of_values.allows(found, "fp16")


@pytest.mark.parametrize("name", ["q8_0", "int4/group-32"])
def test_a_group_of_zeros_says_nothing_of_the_scale_of_another(name: str) -> None:
    values = np.zeros((300, WIDTH))
    values[1:, GROUP:] = values[0, GROUP] = 2.0**-6
    filled = np.where(np.arange(WIDTH) < GROUP, 2.0**-6, values)
    zeros, ones = dominated(name, values, 7.02), dominated(name, filled, 7.02)
    assert zeros.outside(zeros.computed()) <= 0
    widths = [(bounds.high - bounds.low)[0, 0, GROUP:] for bounds in (zeros.bounds(), ones.bounds())]
    assert (widths[0] == widths[1]).all()


@pytest.mark.parametrize("name", ["int8/head", "e4m3/tensor"])
def test_a_shared_scale_may_join_weights_where_no_tile_is_declared(name: str) -> None:
    """With a tile it multiplies the output, and one that joins weights is another kernel."""
    inside: Counter[tuple[bool, bool]] = Counter()
    for seed in range(60):
        operation = Attend(((37, 1),), seed=seed, dtype="fp16", heads=(1, 1, WIDTH), cache=name, pattern="peaked")
        problem = problem_of(operation, TILE, FACTORED)
        for tile in (None, TILE):
            for on_output in (False, True):
                case = Case(problem, Declaration("fp16", "fp16", kv_tile=tile), on_output)
                inside[tile is None, on_output] += case.outside(case.computed()) <= 0
    assert inside[True, False] == inside[True, True] == inside[False, True] == 60
    assert inside[False, False] < 60


def test_units_are_codes_where_scales_are_small_and_values_where_they_are_large() -> None:
    groups = np.repeat([0.0, 127 * 4, 127 / 4], GROUP) * np.resize([1, -0.5], 3 * GROUP)
    side, rows = Side(Q8_0), groups[None, None]
    units, sizes = side.units(rows)[0, 0], side.sizes(rows)[0, 0]
    assert units[:GROUP].tolist() == sizes[:GROUP].tolist() == [0.0] * GROUP
    assert units[GROUP : 2 * GROUP].tolist() == sizes[GROUP : 2 * GROUP].tolist()
    assert units[2 * GROUP :].tolist() == (4 * sizes[2 * GROUP :]).tolist()
    assert side.units(rows[:0]).shape == side.sizes(rows[:0]).shape == (0, 1, 3 * GROUP)


def test_rows_that_hold_nan_have_no_size() -> None:
    rows = np.ones((2, 1, GROUP))
    rows[1, 0, 3] = np.nan
    for found in (Side(Q8_0).units(rows), Side(Q8_0).sizes(rows)):
        assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()


def test_scaled_weights_are_paid_for_without_a_tile_too() -> None:
    rng = np.random.default_rng(2)
    row = Row(rng.standard_normal(8), rng.standard_normal((16, 8)), rng.standard_normal((16, 8)), 0.35)
    scales, declared = np.full(16, 2.0**-22), Declaration("fp32", "fp16")
    expected = t1(row, declared, value_units=np.abs(row.values) * 2.0**22).tolerance.tolist()
    assert certify(row, declared, scales).tolerance.tolist() == expected
    large = certify(row, declared, np.full(16, 8.0)).tolerance
    assert large == pytest.approx(t1(row, declared).tolerance, rel=1e-12)


def test_weights_that_are_flushed_before_large_scales_are_paid_for() -> None:
    """A weight that is flushed to zero is gone before it is multiplied by 2**16."""
    keys, values = np.array([[0.0], [1.0]]), np.array([[0.0], [2.0**16]])
    row = Row(np.array([-89.0]), keys, values, 1.0)
    assert t2(row, Declaration("fp32", "fp32", kv_tile=TILE), np.array([1.0, 2.0**16])).allows(np.zeros(1), "fp32")
