"""What does not fit is refused before any launch, with an error that says what, where and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from kvoptimized.kernels.prefill import attend_chunks
from kvoptimized.prefilling import arithmetic, attend, prefill
from kvoptimized.refusals import DeviceError, LengthError, StrideError
from kvoptimized.requirements import ParameterError
from kvspec.refusals import BlockRangeError, DtypeError, ShapeError, ShortTableError
from tests.optimized.attending import Placed, Scenario, place

Change = Callable[[Placed], Placed]


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> Placed:
    """A batch that fits; to launch anything is a failure."""

    def launched(*_: Any, **__: Any) -> None:
        pytest.fail("a kernel was launched")

    monkeypatch.setattr(type(attend_chunks), "run", launched)
    return place(Scenario(((33, 3), (16, 1)), seed=1))


WRONG: dict[str, tuple[Change, type[Exception], str]] = {
    "query of another head dim": (
        lambda p: replace(p, query=p.query[..., :32]),
        ShapeError,
        r"query has shape \[4, 4, 32\]",
    ),
    "heads that are no multiple": (
        lambda p: replace(p, query=p.query[:, :3]),
        ShapeError,
        "3 heads, .* the 2 KV heads",
    ),
    "query of another dtype": (lambda p: replace(p, query=p.query.half()), DtypeError, "query has dtype torch.float16"),
    "query with strided channels": (
        lambda p: replace(p, query=torch.zeros(4, 64, 4).bfloat16().transpose(1, 2)),
        StrideError,
        "query has stride 4",
    ),
    "query on another device": (lambda p: replace(p, query=p.query.to("meta")), DeviceError, "query is on meta"),
    "lengths of another batch": (lambda p: replace(p, lengths=p.lengths[:1]), ShapeError, "lengths has shape"),
    "starts without an end": (lambda p: replace(p, starts=p.starts[:2]), ShapeError, "starts has shape"),
    "lengths in int64": (lambda p: replace(p, lengths=p.lengths.long()), DtypeError, "lengths has dtype torch.int64"),
    "tables of one request": (lambda p: replace(p, tables=p.tables[0]), ShapeError, "block_tables has shape"),
    "tables in columns": (
        lambda p: replace(p, tables=p.tables.T.contiguous().T),
        StrideError,
        "block_tables has stride 2",
    ),
    "a table that is too short": (
        lambda p: replace(p, tables=p.tables[:, :2]),
        ShortTableError,
        "request 0 has 33 tokens, its table of 2 blocks of 16 covers 32",
    ),
    "a block beyond the cache": (lambda p: _with_block(p, 999), BlockRangeError, r"block_tables\[0, 1\] is 999"),
    "a block that is padding": (lambda p: _with_block(p, -1), BlockRangeError, r"block_tables\[0, 1\] is -1"),
    "a negative length": (lambda p: replace(p, lengths=p.lengths - 20), LengthError, "request 1 has length -4"),
    "starts that fall": (lambda p: replace(p, starts=_ints(0, 5, 4)), LengthError, r"starts \[0, 5, 4\] do not rise"),
    "starts beyond the rows": (lambda p: replace(p, starts=_ints(0, 3, 5)), LengthError, "to at most 4 rows"),
    "starts that begin late": (lambda p: replace(p, starts=_ints(1, 3, 4)), LengthError, r"starts \[1, 3, 4\]"),
}


def _with_block(placed: Placed, block: int) -> Placed:
    tables = placed.tables.clone()
    tables[0, 1] = block
    return replace(placed, tables=tables)


def _ints(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


@pytest.mark.parametrize("what", WRONG)
def test_arrays_that_do_not_fit(placed: Placed, what: str) -> None:
    change, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        prefill(*change(placed).arrays, scale=0.125)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": float("nan")}, "scale is nan"),
        ({"window": 0}, "window is 0; it counts the query's own position"),
        ({"softcap": 0.0}, "softcap is 0.0"),
        ({"softcap": float("inf")}, "softcap is inf"),
    ],
)
def test_parameters_of_no_attention(placed: Placed, options: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        prefill(*placed.arrays, **{"scale": 0.125, **options})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="first_key is -1"):
        attend(*placed.arrays, scale=0.125, first_key=-1)


def test_sinks_that_do_not_fit(placed: Placed) -> None:
    for sinks, error in ((torch.zeros(3), ShapeError), (torch.zeros(4).half(), DtypeError)):
        with pytest.raises(error, match="sinks"):
            prefill(*placed.arrays, scale=0.125, sinks=sinks)


def test_rows_that_a_program_cannot_hold() -> None:
    with pytest.raises(ShapeError, match="the head dim is 512, attention takes up to 256"):
        prefill(*place(Scenario((), head_dim=512)).arrays, scale=0.1)
    with pytest.raises(ShapeError, match="the head dim is 6, int4 is read in words of 4 elements"):
        prefill(*place(Scenario((), head_dim=6, format="int4")).arrays, scale=0.1)


def test_an_fp32_query_over_codes(placed: Placed) -> None:
    quantized = place(Scenario((), format="int8"))
    with pytest.raises(DtypeError, match=r"expected torch\.bfloat16 or torch\.float16"):
        prefill(quantized.query.float(), *quantized.arrays[1:], scale=0.1)
    with pytest.raises(DtypeError, match="expected one of"):
        arithmetic(torch.float64, 64)
