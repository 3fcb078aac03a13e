"""Decode: inside the certificate for every format, and bits that depend on nothing but a request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kvoptimized.cache import FORMATS, LAYOUTS, TOKEN_MAJOR, PagedKVCache
from kvoptimized.decoding import CHUNK, OVERHEAD, Plan, arithmetic, decode, plan_for
from kvoptimized.interpreter import UninitialisedRead, memory_checked
from kvoptimized.kernels.decode import attend_parts
from kvoptimized.refusals import LengthError, StrideError
from kvoptimized.requirements import ParameterError
from kvspec.refusals import DtypeError, Refused, ShapeError, ShortTableError
from tests.optimized.attending import BLOCK_SIZES, DTYPES, HEAD_DIMS, Placed, Scenario, place, require_certified
from tests.optimized.test_prefill_memory import require_own_reads

few = settings(max_examples=max(20, settings.default.max_examples // 6))
"""An example takes some tenths of a second in the interpreter."""
fewer = settings(max_examples=max(10, settings.default.max_examples // 16))
"""An example of three launches."""

PLAN = Plan(tile=16, split_tokens=32)
"""Small parts, so that short requests have several."""
QUANTIZED = ("e4m3", "int8", "int4")


def requests(*lengths: int) -> tuple[tuple[int, int], ...]:
    return tuple((length, 1) for length in lengths)


def attended(placed: Placed, plan: Plan | None = PLAN) -> tuple[torch.Tensor, torch.Tensor]:
    options = {name: value for name, value in placed.options.items() if name != "causal"}
    return decode(*placed.arrays[:4], **options, plan=plan)  # type: ignore[arg-type]


def certified(scenario: Scenario, plan: Plan | None = PLAN) -> None:
    placed = place(scenario)
    heads = scenario.kv_heads * scenario.group
    said = arithmetic(DTYPES[scenario.dtype], placed.cache, heads, plan)
    require_certified(placed, said, *attended(placed, plan))


def dtype_of(format: str) -> str:
    return format if format in DTYPES else "bf16"


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Small batches of requests of every length near an edge of blocks, tiles and parts, and of length 0."""
    format = draw(st.sampled_from([*FORMATS, *QUANTIZED]))
    size = draw(st.sampled_from(BLOCK_SIZES))
    edges = [n for n in (0, 1, size - 1, size, size + 1, 15, 16, 17, 31, 32, 33, 63, 64, 65) if n <= 70]
    lengths = draw(st.lists(st.one_of(st.sampled_from(edges), st.integers(0, 70)), min_size=1, max_size=3))
    return Scenario(
        requests(*lengths),
        dtype=draw(st.sampled_from(("bf16", "fp16"))) if format in QUANTIZED else format,
        format=format,
        static=draw(st.booleans()),
        layout=draw(st.sampled_from(LAYOUTS)),
        block_size=size,
        kv_heads=draw(st.sampled_from((1, 1, 2))),
        group=draw(st.sampled_from((1, 2, 3, 4, 8, 16))),
        head_dim=draw(st.sampled_from((16, *HEAD_DIMS))),
        window=draw(st.sampled_from([None, None, 1, 7, size, 32, 33])),
        softcap=draw(st.sampled_from([None, None, 5.0, 30.0])),
        sinks=draw(st.booleans()),
        seed=draw(st.integers(0, 9999)),
        order=draw(st.integers(0, 99)),
    )


@few
@given(scenarios())
def test_batches_lie_inside_their_certificate(scenario: Scenario) -> None:
    certified(scenario)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_head_dim_and_format(head_dim: int, format: str) -> None:
    certified(Scenario(requests(41), dtype_of(format), format, head_dim=head_dim, kv_heads=1, group=4, seed=head_dim))


@pytest.mark.parametrize("block_size", [*BLOCK_SIZES, 4, 31, 128])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_block_size_and_layout(block_size: int, layout: str) -> None:
    certified(
        Scenario(requests(45, 70), format="int8", layout=layout, block_size=block_size, head_dim=16, kv_heads=1, seed=5)
    )


@pytest.mark.parametrize("group", [1, 5, 7, 16, 17, 64])
def test_groups_that_do_not_fill_a_matrix_operand(group: int) -> None:
    certified(Scenario(requests(20), kv_heads=1, group=group, head_dim=16, seed=group))


@pytest.mark.parametrize("format", ["bf16", *QUANTIZED])
def test_lengths_around_every_edge(format: str) -> None:
    lengths = (0, 1, 6, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65)
    certified(Scenario(requests(*lengths), format=format, block_size=7, kv_heads=1, head_dim=16, seed=11))


@pytest.mark.parametrize("format", ["bf16", "int4"])
def test_more_parts_than_are_merged_at_a_time(format: str) -> None:
    plan = Plan(16, 16)
    scenario = Scenario(
        requests(16 * CHUNK + 20, 16 * CHUNK + 1, 16 * CHUNK),
        format=format,
        kv_heads=1,
        head_dim=16,
        sinks=True,
        seed=2,
    )
    certified(scenario, plan)
    certified(replace(scenario, window=70), plan)


def test_the_plan_that_is_chosen() -> None:
    certified(Scenario(requests(300, 128, 1), head_dim=16, kv_heads=1, seed=3), None)


@fewer
@given(scenarios(), st.data())
def test_a_request_has_the_same_bits_alone_in_a_batch_under_any_block_ids_and_beside_any_table(
    scenario: Scenario, data: Any
) -> None:
    placed = place(scenario)
    output, lse = attended(placed)
    layout = data.draw(st.sampled_from(LAYOUTS))
    moved = place(replace(scenario, order=scenario.order + 1, layout=layout))
    wide = torch.nn.functional.pad(moved.tables, (0, data.draw(st.sampled_from([0, 1, 40]))), value=-1)
    again = attended(replace(moved, tables=wide))
    assert same(output, again[0]) and same(lse, again[1])
    nth = data.draw(st.integers(0, len(scenario.requests) - 1))
    alone = attended(
        replace(
            placed,
            query=placed.query[nth : nth + 1],
            tables=placed.tables[nth : nth + 1],
            lengths=placed.lengths[nth : nth + 1],
        )
    )
    assert same(output[nth], alone[0][0]) and same(lse[nth], alone[1][0])


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    word = torch.int16 if a.element_size() == 2 else torch.int32
    return torch.equal(a.contiguous().view(word), b.contiguous().view(word))


@pytest.mark.parametrize("format", FORMATS)
def test_no_access_is_out_of_bounds_unwritten_or_raced(format: str) -> None:
    scenario = Scenario(requests(0, 1, 50, 33), dtype_of(format), format, kv_heads=2, head_dim=80, block_size=7, seed=1)
    for changed in (scenario, replace(scenario, window=20, block_size=8)):
        require_own_reads(place(changed), changed, attended)


def test_the_checker_would_see_a_part_that_nothing_has_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts lie in memory that `decode` makes itself, and are merged although no kernel computes them here."""
    monkeypatch.setattr(attend_parts, "run", lambda *args, **named: None)
    with memory_checked(), pytest.raises(UninitialisedRead) as caught:
        attended(place(Scenario(requests(70))))
    assert caught.value.buffer == "PARTIAL_LSE"


def test_tables_are_read_only_where_tokens_are_seen() -> None:
    placed = place(Scenario(requests(70, 16), window=20, block_size=8, seed=9))
    output, _ = attended(placed)
    spoilt = placed.tables.clone()
    spoilt[0, :6], spoilt[0, 9:], spoilt[1, 2:] = -1, 12345678, -7
    options = {name: value for name, value in placed.options.items() if name != "causal"}
    again, _ = decode(placed.query, placed.cache, spoilt, placed.lengths, **options, plan=PLAN, checked=False)  # type: ignore[arg-type]
    assert same(output, again)


def test_queries_may_be_a_slice_of_a_wider_projection() -> None:
    placed = place(Scenario(requests(33, 5), seed=4))
    wide = torch.randn(2, 9, 64).bfloat16()
    wide[:, 2:6] = placed.query
    assert same(attended(placed)[0], attended(replace(placed, query=wide[:, 2:6]))[0])


def test_a_batch_without_requests_and_tables_without_columns() -> None:
    placed = place(Scenario(requests(0, 0)))
    output, lse = attended(replace(placed, tables=placed.tables[:, :0]))
    assert (output == 0).all() and torch.isneginf(lse).all()
    nobody = replace(placed, query=placed.query[:0], tables=placed.tables[:0], lengths=placed.lengths[:0])
    assert attended(nobody)[0].shape == (0, 4, 64)


def test_a_value_that_is_not_a_number_shows() -> None:
    placed = place(Scenario(requests(20), seed=4))
    placed.cache.token_major(placed.cache.values)[placed.tables[0, 0].long(), 3] = float("nan")
    assert attended(placed)[0].isnan().all()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("heads", "kv_heads", "head_dim"), [(32, 8, 128), (64, 8, 128), (32, 4, 128), (8, 1, 128), (64, 8, 64)]
)
def test_parts_move_little_besides_keys_and_values(format: str, heads: int, kv_heads: int, head_dim: int) -> None:
    cache = PagedKVCache.empty(1, 16, kv_heads, head_dim, format=format)
    split = plan_for(cache, heads).split_tokens
    extra = heads * (2 * 4 * (head_dim + 1) + 2 * head_dim)
    assert extra <= OVERHEAD * cache.bytes_per_token * split


@pytest.mark.parametrize(("tile", "split"), [(8, 32), (48, 96), (64, 32), (64, 96), (0, 0)])
def test_plans_that_cannot_be(tile: int, split: int) -> None:
    with pytest.raises(ParameterError):
        Plan(tile, split)


def spoilt(**changes: Any) -> dict[str, Any]:
    placed = place(Scenario(requests(33, 5), block_size=16, seed=4))
    arguments: dict[str, Any] = {
        "query": placed.query,
        "cache": placed.cache,
        "block_tables": placed.tables,
        "lengths": placed.lengths,
        "scale": 0.125,
    }
    return arguments | changes


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"query": torch.zeros(2, 4, 32, dtype=torch.bfloat16)}, ShapeError),
        ({"query": torch.zeros(2, 3, 64, dtype=torch.bfloat16)}, ShapeError),
        ({"query": torch.zeros(2, 256, 64, dtype=torch.bfloat16)}, ShapeError),
        ({"query": torch.zeros(3, 4, 64, dtype=torch.bfloat16)}, ShapeError),
        ({"query": torch.zeros(2, 4, 64, dtype=torch.float16)}, DtypeError),
        ({"query": torch.zeros(2, 4, 128, dtype=torch.bfloat16)[..., ::2]}, StrideError),
        ({"lengths": torch.tensor([33, 5])}, DtypeError),
        ({"lengths": torch.tensor([33, -1], dtype=torch.int32)}, LengthError),
        ({"lengths": torch.tensor([33, 65], dtype=torch.int32)}, ShortTableError),
        ({"sinks": torch.zeros(3)}, ShapeError),
        ({"sinks": torch.zeros(4, dtype=torch.bfloat16)}, DtypeError),
        ({"window": 0}, ParameterError),
        ({"softcap": -1.0}, ParameterError),
        ({"scale": float("nan")}, ParameterError),
        (
            {"cache": PagedKVCache.empty(4, 16, 2, 6, format="int4"), "query": torch.zeros(2, 4, 6).bfloat16()},
            ShapeError,
        ),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, Any], refusal: type[Refused]) -> None:
    with pytest.raises(refusal):
        decode(**spoilt(**changes))


def test_rows_of_codes_that_are_no_aligned_words_are_refused() -> None:
    storage = torch.zeros(2, 4 * 2 * 16 * 64 + 1, dtype=torch.int8)[:, 1:].reshape(2, 4, 2, 16, 64)
    scales = torch.zeros(4, 2, 16)
    cache = PagedKVCache.around(storage[0], storage[1], scales, scales.clone(), format="int8")
    assert cache.keys.storage_offset() % 2
    with pytest.raises(StrideError):
        decode(**spoilt(cache=cache))


def test_torch_compiles_it_and_knows_its_shape_without_data() -> None:
    placed = place(Scenario(requests(33, 20), format="int4", seed=6))
    rest, scale = placed.arrays[1:4], placed.scenario.layer.scale

    def doubled(query: torch.Tensor) -> torch.Tensor:
        return decode(query, *rest, scale=scale, softcap=30.0, plan=PLAN)[0] * 2

    compiled = torch.compile(doubled, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(placed.query), doubled(placed.query))
    output, lse = torch.ops.kvspec.decode(*flat(placed, "meta"))
    assert output.shape == placed.query.shape and output.dtype == torch.bfloat16 and output.is_meta
    assert lse.shape == placed.query.shape[:2] and lse.dtype == torch.float32


def test_the_operator_keeps_the_contract_of_torch_library() -> None:
    placed = place(Scenario(requests(20, 40), format="int8", sinks=True, layout=TOKEN_MAJOR, seed=6))
    torch.library.opcheck(torch.ops.kvspec.decode.default, flat(placed, "cpu"))


def flat(placed: Placed, device: str) -> tuple[Any, ...]:
    cache, options = placed.cache, placed.options
    tensors = (
        placed.query,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        placed.tables,
        placed.lengths,
        options["sinks"],
    )
    moved = [x.to(device) if isinstance(x, torch.Tensor) else x for x in tensors]
    limits = (options["scale"], options["window"], options["softcap"])
    return (*moved, cache.format, cache.layout, *limits, PLAN.tile, PLAN.split_tokens, PLAN.warps, PLAN.stages, True)
