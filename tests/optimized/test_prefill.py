"""Chunked prefill: inside the certificate for every format, and bits that depend on nothing but a row and its keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kvoptimized.cache import FORMATS, HEAD_MAJOR, TOKEN_MAJOR
from kvoptimized.prefilling import arithmetic, prefill, tiling
from tests.optimized.attending import (
    BLOCK_SIZES,
    DTYPES,
    HEAD_DIMS,
    Placed,
    Scenario,
    place,
    require_certified,
    scenarios,
)

few = settings(max_examples=max(20, settings.default.max_examples // 6))
"""An example takes some tenths of a second in the interpreter."""


def attended(placed: Placed) -> tuple[torch.Tensor, torch.Tensor]:
    return prefill(*placed.arrays, **placed.options)  # type: ignore[arg-type]


def certified(scenario: Scenario) -> None:
    placed = place(scenario)
    said = arithmetic(DTYPES[scenario.dtype], scenario.head_dim, dynamic=placed.cache.dynamic)
    require_certified(placed, said, *attended(placed))


@few
@given(scenarios())
def test_mixed_batches_lie_inside_their_certificate(scenario: Scenario) -> None:
    certified(scenario)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_head_dim_and_format(head_dim: int, format: str) -> None:
    dtype = format if format in DTYPES else "bf16"
    certified(Scenario(((70, 2), (33, 1)), dtype, format, head_dim=head_dim, kv_heads=1, group=4, seed=head_dim))


@pytest.mark.parametrize("block_size", [*BLOCK_SIZES, 128])
@pytest.mark.parametrize("layout", [HEAD_MAJOR, TOKEN_MAJOR])
def test_every_block_size_and_layout(block_size: int, layout: str) -> None:
    certified(Scenario(((130, 3), (65, 1)), format="int8", layout=layout, block_size=block_size, head_dim=16, seed=5))


@pytest.mark.parametrize("group", [1, 5, 7, 8, 64, 71])
def test_groups_that_do_not_fill_a_tile(group: int) -> None:
    certified(Scenario(((20, 20),), kv_heads=1, group=group, head_dim=16, seed=group))


@few
@given(scenarios(), st.data())
def test_a_row_has_the_same_bits_alone_in_a_batch_in_any_chunk_and_under_any_block_ids(
    scenario: Scenario, data: Any
) -> None:
    placed = place(scenario)
    output, lse = attended(placed)
    moved = place(
        replace(scenario, order=scenario.order + 1, layout=data.draw(st.sampled_from([HEAD_MAJOR, TOKEN_MAJOR])))
    )
    again = attended(moved)
    assert torch.equal(bits(output), bits(again[0])) and torch.equal(bits(lse), bits(again[1]))
    request = data.draw(st.integers(0, len(scenario.requests) - 1))
    tokens, rows = scenario.requests[request]
    cut = data.draw(st.integers(0, rows)) if scenario.causal else rows
    first = int(placed.starts[request])
    for start, stop in ((0, cut), (cut, rows)):
        kept = tokens if stop == rows else max(0, tokens - rows + stop)
        part = replace(
            placed,
            query=placed.query[first + start : first + stop],
            tables=placed.tables[request : request + 1],
            lengths=torch.tensor([kept], dtype=torch.int32),
            starts=torch.tensor([0, stop - start], dtype=torch.int32),
        )
        alone = attended(part)
        chunk = slice(first + start, first + stop)
        assert torch.equal(bits(output[chunk]), bits(alone[0])) and torch.equal(bits(lse[chunk]), bits(alone[1]))


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().view(torch.int16 if x.element_size() == 2 else torch.int32)


def test_padding_rows_are_overwritten_with_nothing_and_requests_without_rows_are_passed_over() -> None:
    placed = place(Scenario(((40, 0), (0, 2), (5, 1), (16, 0)), padding=40, seed=3))
    output, lse = attended(placed)
    assert (output[:2] == 0).all() and (output[3:] == 0).all()
    assert torch.isneginf(lse[:2]).all() and torch.isneginf(lse[3:]).all() and torch.isfinite(lse[2]).all()


def test_a_batch_without_requests_or_without_rows() -> None:
    placed = place(Scenario((), padding=3))
    output, lse = attended(placed)
    assert output.shape == (3, 4, 64) and (output == 0).all() and torch.isneginf(lse).all()
    output, lse = attended(place(Scenario(((20, 0),))))
    assert output.shape == (0, 4, 64) and lse.shape == (0, 4)


def test_queries_may_be_a_slice_of_a_wider_projection() -> None:
    placed = place(Scenario(((33, 5),), seed=4))
    wide = torch.randn(5, 9, 64).bfloat16()
    wide[:, 2:6] = placed.query
    output, _ = attended(placed)
    sliced, _ = attended(replace(placed, query=wide[:, 2:6]))
    assert torch.equal(bits(output), bits(sliced))


def test_keys_and_values_that_a_row_does_not_see_do_not_change_its_bits() -> None:
    scenario = Scenario(((70, 6),), window=20, seed=8)
    placed = place(scenario)
    output, _ = attended(placed)
    table = placed.tables[0].long()
    pages = [placed.cache.token_major(x) for x in (placed.cache.keys, placed.cache.values)]
    for page in pages:
        page[table[69 // 16], 69 % 16] = 1.0e4  # the newest token, which only the last row sees
        page[table[0:2]] = -1.0e4  # tokens 0 to 31: row 0, at position 64, sees 45 and later
    changed, _ = attended(placed)
    assert torch.equal(bits(output[:5]), bits(changed[:5]))
    assert not torch.equal(bits(output[5]), bits(changed[5]))


def test_the_declared_tile_is_the_one_that_is_launched() -> None:
    for head_dim in HEAD_DIMS:
        said = arithmetic(torch.bfloat16, head_dim)
        assert all(said.kv_tile == tiling(head_dim, 4, target, "bf16").keys for target in ("sm_80", "sm_90", "gfx942"))


def test_weights_are_rounded_once_per_tile_of_keys() -> None:
    """Two tiles whose second has the larger logits: the first tile's weights must be rounded under its own maximum."""
    for seed in range(20):
        certified(Scenario(((128, 1),), head_dim=64, kv_heads=1, group=1, seed=seed))


def test_torch_compiles_it_and_knows_its_shape_without_data() -> None:
    placed = place(Scenario(((33, 3),), format="int4", seed=6))
    _, *rest = placed.arrays
    options = placed.options

    def doubled(query: torch.Tensor) -> torch.Tensor:
        return prefill(query, *rest, **options)[0] * 2  # type: ignore[arg-type]

    compiled = torch.compile(doubled, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(placed.query), doubled(placed.query))
    output, lse = torch.ops.kvspec.prefill(*flat(placed, "meta"))
    assert output.shape == placed.query.shape and output.dtype == torch.bfloat16 and output.is_meta
    assert lse.shape == placed.query.shape[:2] and lse.dtype == torch.float32


def test_the_operator_keeps_the_contract_of_torch_library() -> None:
    placed = place(Scenario(((20, 3),), format="int8", sinks=True, seed=6))
    torch.library.opcheck(torch.ops.kvspec.prefill.default, flat(placed, "cpu"))


def flat(placed: Placed, device: str) -> tuple[Any, ...]:
    cache, options = placed.cache, placed.options
    tensors = (
        placed.query,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        *placed.arrays[2:],
        options["sinks"],
    )
    moved = [x.to(device) if isinstance(x, torch.Tensor) else x for x in tensors]
    limits = (options["scale"], options["causal"], options["window"], options["softcap"])
    return (*moved, cache.format, cache.layout, *limits, 0, False, True)


def test_tables_are_read_only_where_tokens_lie() -> None:
    placed = place(Scenario(((33, 2), (16, 1)), seed=9))
    output, _ = attended(placed)
    spoilt = placed.tables.clone()
    spoilt[0, 3:], spoilt[1, 1:] = 12345678, -7
    assert torch.equal(bits(output), bits(attended(replace(placed, tables=spoilt))[0]))
    assert np.isfinite(output.float().numpy()).all()
