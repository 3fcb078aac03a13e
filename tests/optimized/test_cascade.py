"""Cascade attention: certified parts, a certified merge, and bits that do not depend on the batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvconformance.surfaces.attention.judging.certified import Parts, merged
from kvoptimized.cascade import cascade
from kvoptimized.decoding import arithmetic as decode_arithmetic
from kvoptimized.decoding import decode
from kvoptimized.prefilling import arithmetic, attend, prefill
from kvoptimized.refusals import LengthError
from kvoptimized.requirements import ParameterError
from kvreference.attention import Row
from kvspec.refusals import BlockRangeError, DtypeError, ShapeError, ShortTableError
from tests.optimized.attending import DTYPES, LSE_ERROR, Placed, Scenario, declaration_of, place, require_certified_rows
from tests.optimized.test_prefill import bits, few


def shared_prefix(scenario: Scenario, shared: int) -> Placed:
    """The scenario with the first `shared` tokens of all requests in the blocks of the first one."""
    placed = place(scenario)
    blocks = shared // scenario.block_size
    placed.tables[:, :blocks] = placed.tables[0, :blocks].clone()
    return placed


def cascaded(placed: Placed, shared: int, **more: bool) -> tuple[torch.Tensor, torch.Tensor]:
    query, cache, tables, lengths, starts = placed.arrays
    options = {name: placed.options[name] for name in ("scale", "softcap", "sinks")}
    return cascade(query, cache, tables[0], shared, tables, lengths, starts, **options, **more)  # type: ignore[arg-type]


@st.composite
def sharing(draw: st.DrawFn) -> tuple[Scenario, int]:
    size = draw(st.sampled_from([1, 4, 16]))
    shared = draw(st.integers(0, 96 // size)) * size
    own = draw(st.lists(st.sampled_from([(1, 1), (5, 2), (9, 9), (40, 1), (70, 3)]), min_size=1, max_size=3))
    format = draw(st.sampled_from(["fp32", "bf16", "fp16", "e4m3", "int8", "int4"]))
    scenario = Scenario(
        tuple((shared + tokens, rows) for tokens, rows in own),
        dtype=format if format in DTYPES else "bf16",
        format=format,
        static=draw(st.booleans()),
        block_size=size,
        kv_heads=1,
        group=draw(st.sampled_from([1, 3, 4])),
        head_dim=draw(st.sampled_from([16, 64, 80])),
        softcap=draw(st.sampled_from([None, 20.0])),
        sinks=draw(st.booleans()),
        padding=draw(st.sampled_from([0, 2])),
        seed=draw(st.integers(0, 9999)),
    )
    return scenario, shared


@few
@given(sharing())
def test_both_parts_are_certified_and_so_is_their_merge(drawn: tuple[Scenario, int]) -> None:
    scenario, shared = drawn
    placed = shared_prefix(scenario, shared)
    said = arithmetic(DTYPES[scenario.dtype], scenario.head_dim, dynamic=placed.cache.dynamic)
    parts = both_parts(placed, shared)
    rows = placed.row_list()
    for part, cut in zip(parts, (lambda row: first_keys(row, shared), lambda row: last_keys(row, shared)), strict=True):
        cut_rows = [[cut(row) for row in heads] for heads in rows]
        require_certified_rows(placed, replace(said, output="fp32"), cut_rows, *part)
    output, lse = cascaded(placed, shared)
    outputs, logs = ([part[index].double().numpy() for part in parts] for index in (0, 1))
    bounds = merged(Parts((outputs[0], outputs[1]), (logs[0], logs[1])), declaration_of(said), LSE_ERROR)
    found, log = output.double().numpy(), lse.double().numpy()
    assert ((bounds.low <= found) & (found <= bounds.high)).all()
    assert ((bounds.lse_low <= log) & (log <= bounds.lse_high)).all()
    assert (found[scenario.rows :] == 0).all() and np.isneginf(log[scenario.rows :]).all()


def both_parts(placed: Placed, shared: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The states of the prefix, seen by every row as a whole, and of what follows it."""
    query, cache, tables, _, starts = placed.arrays
    options: dict[str, Any] = {name: placed.options[name] for name in ("scale", "softcap", "sinks")}
    one, all_rows = torch.tensor([shared], dtype=torch.int32), torch.stack([starts[0], starts[-1]])
    before = attend(query, cache, tables[:1], one, all_rows, **{**options, "sinks": None}, causal=False, partial=True)
    return [before, attend(*placed.arrays, **options, first_key=shared, partial=True)]


def first_keys(row: Row, shared: int) -> Row:
    return replace(row, keys=row.keys[:shared], values=row.values[:shared], sink=None)


def last_keys(row: Row, shared: int) -> Row:
    return replace(row, keys=row.keys[shared:], values=row.values[shared:], first=shared)


@pytest.mark.parametrize("format", ["bf16", "int8", "e4m3"])
@pytest.mark.parametrize("sinks", [False, True])
def test_what_follows_the_prefix_may_be_decoded_in_parts(format: str, sinks: bool) -> None:
    shared, size = 96, 16
    placed = shared_prefix(Scenario(((97, 1), (500, 1), (130, 1)), format=format, sinks=sinks, seed=4), shared)
    query, cache, tables, lengths, _ = placed.arrays
    options: dict[str, Any] = {name: placed.options[name] for name in ("scale", "softcap", "sinks")}
    one, all_rows = torch.tensor([shared], dtype=torch.int32), torch.tensor([0, 3], dtype=torch.int32)
    before = attend(query, cache, tables[:1], one, all_rows, **{**options, "sinks": None}, causal=False)
    own = decode(query, cache, tables[:, shared // size :], lengths - shared, **options)
    rows = placed.row_list()
    said = arithmetic(torch.bfloat16, 64, dynamic=cache.dynamic)
    require_certified_rows(placed, said, [[first_keys(row, shared) for row in heads] for heads in rows], *before)
    split = decode_arithmetic(torch.bfloat16, cache, 4)
    # Positions of the part count from the end of the prefix, as its parts and tiles do.
    behind = [[replace(last_keys(row, shared), first=0) for row in heads] for heads in rows]
    scaled = replace(placed, tables=tables[:, shared // size :])
    require_certified_rows(scaled, split, behind, *own)
    output, lse = cascaded(placed, shared, decoding=True)
    parts = [[x.double().numpy() for x in pair] for pair in (before, own)]
    bounds = merged(Parts((parts[0][0], parts[1][0]), (parts[0][1], parts[1][1])), declaration_of(said), LSE_ERROR)
    found, log = output.double().numpy(), lse.double().numpy()
    assert ((bounds.low <= found) & (found <= bounds.high)).all()
    assert ((bounds.lse_low <= log) & (log <= bounds.lse_high)).all()


def test_without_a_shared_prefix_it_is_prefill_bit_for_bit() -> None:
    for format in ("bf16", "int4"):
        placed = place(Scenario(((70, 3), (5, 5), (33, 1)), format=format, sinks=True, padding=1, seed=2))
        found, wanted = cascaded(placed, 0), prefill(*placed.arrays, **placed.options)  # type: ignore[arg-type]
        assert all(torch.equal(bits(x), bits(y)) for x, y in zip(found, wanted, strict=True))


@pytest.mark.parametrize("shared", [64, 80])
def test_a_row_has_the_same_bits_alone_and_in_a_batch(shared: int) -> None:
    placed = shared_prefix(Scenario(((shared + 9, 2), (shared + 70, 20), (shared + 1, 1)), group=3, seed=7), shared)
    output, lse = cascaded(placed, shared)
    for request, (_, rows) in enumerate(placed.scenario.requests):
        first = int(placed.starts[request])
        alone = replace(
            placed,
            query=placed.query[first : first + rows],
            tables=placed.tables[request : request + 1],
            lengths=placed.lengths[request : request + 1],
            starts=torch.tensor([0, rows], dtype=torch.int32),
        )
        found = cascaded(alone, shared)
        chunk = slice(first, first + rows)
        assert torch.equal(bits(output[chunk]), bits(found[0])) and torch.equal(bits(lse[chunk]), bits(found[1]))


def test_the_prefix_is_not_read_through_the_tables_of_requests() -> None:
    placed = shared_prefix(Scenario(((40, 1), (37, 2)), seed=3), 32)
    output, _ = cascaded(placed, 32)
    query, cache, tables, lengths, starts = placed.arrays
    other = tables.clone()
    other[:, :2] = int(tables.max())
    again, _ = cascade(query, cache, tables[0], 32, other, lengths, starts, scale=placed.scenario.layer.scale)
    assert torch.equal(bits(output), bits(again))


def test_what_does_not_fit_is_refused_before_any_launch() -> None:
    placed = shared_prefix(Scenario(((40, 1), (37, 2)), seed=3), 32)
    query, cache, tables, lengths, starts = placed.arrays

    def call(table: torch.Tensor, shared: int) -> None:
        cascade(query, cache, table, shared, tables, lengths, starts, scale=0.125)

    with pytest.raises(LengthError, match="request 1 has 37 tokens and 2 rows"):
        call(tables[0], 36)
    with pytest.raises(ShortTableError):
        call(tables[0][:1], 32)
    with pytest.raises(BlockRangeError):
        call(torch.tensor([0, 999], dtype=torch.int32), 32)
    with pytest.raises(ParameterError, match="shared_length is -1"):
        call(tables[0], -1)
    with pytest.raises(ShapeError):
        call(tables, 32)
    with pytest.raises(DtypeError):
        call(tables[0].long(), 32)
    with pytest.raises(LengthError, match="3 rows for 2 requests"):
        cascaded(placed, 32, decoding=True)
    decodes = place(Scenario(((40, 1), (37, 1)), seed=3))
    with pytest.raises(ParameterError, match="shared_length is 30; where decoding it is a multiple"):
        cascaded(decodes, 30, decoding=True)
    with pytest.raises(LengthError, match="not those of one row per request"):
        cascaded(replace(decodes, starts=torch.tensor([0, 0, 2], dtype=torch.int32)), 32, decoding=True)


def test_the_operator_keeps_the_contract_of_torch_library() -> None:
    placed = shared_prefix(Scenario(((40, 1), (37, 2)), format="int8", seed=3), 32)
    query, cache, tables, lengths, starts = placed.arrays
    pages = (cache.keys, cache.values, cache.key_scales, cache.value_scales)
    arguments = (
        query,
        *pages,
        tables[0],
        32,
        tables,
        lengths,
        starts,
        None,
        cache.format,
        cache.layout,
        0.1,
        None,
        False,
        True,
    )
    torch.library.opcheck(torch.ops.kvspec.cascade.default, arguments)
