"""Bad input of the operations is refused by a named error before any launch, and nothing has been written."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kvoptimized import copying, refusals, slot_maps, writing
from kvoptimized.cache import HEAD_MAJOR, PagedKVCache
from kvoptimized.copying import copy_blocks
from kvoptimized.refusals import CopyChainError, DeviceError, DuplicateError, LengthError, StrideError
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from kvspec.refusals import (
    BlockRangeError,
    DtypeError,
    NonFiniteError,
    Refused,
    ScaleError,
    ShapeError,
    ShortTableError,
)
from tests.optimized.caches import Shape
from tests.optimized.test_copy import bytes_of, scrambled


class NoLaunch:
    """Stands where a kernel stood."""

    def __getitem__(self, grid: object) -> Any:
        raise AssertionError(f"launched over {grid}")


@pytest.fixture(autouse=True)
def no_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((writing, "write_rows"), (copying, "copy_pairs"), (slot_maps, "map_slots")):
        monkeypatch.setattr(module, name, NoLaunch())


def ids(*numbers: object) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64)


def small(*numbers: object) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


ROWS = torch.randn(2, 3, 4)
NAN = ROWS.clone()
NAN[1, 2, 3] = float("nan")


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (ShapeError, r"slots has shape \[2, 1\]", {"slots": ids([0], [1])}),
        (ShapeError, r"keys has shape \[2, 3, 4\], expected \[3, 3, 4\]", {"slots": ids(0, 1, 2)}),
        (ShapeError, r"values has shape \[2, 4, 3\]", {"values": ROWS.transpose(1, 2)}),
        (DtypeError, "slots has dtype torch.int32", {"slots": small(0, 1)}),
        (DtypeError, "keys has dtype torch.float64", {"keys": ROWS.double()}),
        (DtypeError, "keys has dtype torch.int8", {"keys": ROWS.to(torch.int8)}),
        (StrideError, "keys has stride 2 along its last axis", {"keys": torch.randn(2, 3, 8)[..., ::2]}),
        (StrideError, "slots has stride 2", {"slots": ids(0, 9, 1, 9)[::2]}),
        (BlockRangeError, "slot 8 is outside the 8 slots", {"slots": ids(0, 8)}),
        (BlockRangeError, "slot -2 is outside", {"slots": ids(-2, 0)}),
        (DuplicateError, "two rows are written to slot 5", {"slots": ids(5, 5)}),
        (NonFiniteError, r"values\[1, 2, 3\] is nan", {"values": NAN}),
        (NonFiniteError, r"keys\[0, 1, 0\] is -inf", {"keys": torch.where(ROWS[0, 1, 0] == ROWS, float("-inf"), ROWS)}),
    ],
)
@pytest.mark.parametrize("format", ["int8", "int4"])
def test_a_write_that_does_not_fit(error: type[Refused], words: str, change: dict[str, Any], format: str) -> None:
    cache = Shape(4, 2, 3, 4, format, HEAD_MAJOR).empty()
    scrambled(cache, 0)
    before = bytes_of(cache)
    with pytest.raises(error, match=words):
        write(cache, **{"slots": ids(0, 1), "keys": ROWS, "values": ROWS, **change})
    assert all((a == b).all() for a, b in zip(bytes_of(cache), before, strict=True))


def test_tensors_on_two_devices() -> None:
    cache = Shape(4, 2, 3, 4, "int8", HEAD_MAJOR).empty()
    with pytest.raises(DeviceError, match="keys is on meta, the cache on cpu"):
        writing._require_fit(cache, ids(0, 1), ROWS.to("meta"), ROWS)
    with pytest.raises(DeviceError, match="pairs is on meta"):
        copying._require_fit(cache.keys, ids([0, 1]).to("meta"))
    with pytest.raises(DeviceError, match="lengths is on meta"):
        slot_maps._require_fit(small([0]), small(1).to("meta"), small(0, 1), 4, 1)


def test_a_plain_cache_takes_rows_of_its_own_dtype_only() -> None:
    with pytest.raises(DtypeError, match=r"keys has dtype torch.float32, expected torch.bfloat16"):
        write(PagedKVCache.empty(4, 2, 3, 4, format="bf16"), ids(0, 1), ROWS, ROWS)


def test_padding_rows_may_hold_anything_and_e4m3_has_codes_for_it() -> None:
    refusals.require_slots(ids(-1, 3, -1), 4)
    refusals.require_finite("keys", NAN, ids(0, -1))
    with pytest.raises(AssertionError, match="launched"):
        write(Shape(4, 2, 3, 4, "int8", HEAD_MAJOR).empty(), ids(0, -1), NAN, NAN)
    with pytest.raises(AssertionError, match="launched"):
        write(Shape(4, 2, 3, 4, "e4m3", HEAD_MAJOR).empty(), ids(0, 1), NAN, NAN)


def test_a_static_scale_that_was_spoilt() -> None:
    cache = Shape(4, 2, 3, 4, "e4m3", HEAD_MAJOR, static=True).empty()
    assert cache.value_scales is not None
    cache.value_scales[2] = 0.0
    with pytest.raises(ScaleError, match=r"value_scales\[2\] is 0.0"):
        write(cache, ids(0, 1), ROWS, ROWS)


@pytest.mark.parametrize(
    ("error", "words", "pairs"),
    [
        (ShapeError, r"pairs has shape \[2\]", ids(0, 1)),
        (ShapeError, r"pairs has shape \[1, 3\]", ids([0, 1, 2])),
        (DtypeError, "pairs has dtype torch.int32", small([0, 1])),
        (StrideError, "pairs", ids([0, 1], [2, 3]).t()),
        (StrideError, "pairs", ids([0, 1, 9], [2, 3, 9])[:, :2]),
        (BlockRangeError, "block 4 is outside the 4 blocks", ids([0, 4])),
        (BlockRangeError, "block -1 is outside", ids([-1, 0])),
        (DuplicateError, "two blocks are copied to block 2", ids([0, 2], [1, 2])),
        (CopyChainError, "block 1 is both source and target", ids([0, 1], [1, 2])),
        (CopyChainError, "block 1 is both source and target", ids([1, 2], [0, 1])),
        (CopyChainError, "block 3 is both source and target", ids([3, 3])),
    ],
)
@pytest.mark.parametrize("format", ["bf16", "int4"])
def test_a_copy_that_does_not_fit(error: type[Refused], words: str, pairs: torch.Tensor, format: str) -> None:
    cache = Shape(4, 2, 3, 4, format, HEAD_MAJOR).empty()
    scrambled(cache, 0)
    before = bytes_of(cache)
    with pytest.raises(error, match=words):
        copy_blocks(cache, pairs)
    assert all((a == b).all() for a, b in zip(bytes_of(cache), before, strict=True))


@pytest.mark.parametrize(
    ("error", "words", "change"),
    [
        (ShapeError, r"block_tables has shape \[2\]", {"block_tables": small(0, 1)}),
        (ShapeError, r"lengths has shape \[1\], expected \[2\]", {"lengths": small(7)}),
        (ShapeError, r"starts has shape \[2\], expected \[3\]", {"starts": small(0, 4)}),
        (ShapeError, "block_size is 0", {"block_size": 0}),
        (ShapeError, "rows is -1", {"rows": -1}),
        (DtypeError, "block_tables has dtype torch.int64", {"block_tables": ids([0, 1], [2, 3])}),
        (DtypeError, "lengths has dtype torch.int64", {"lengths": ids(7, 3)}),
        (StrideError, "block_tables has stride 2", {"block_tables": small([0, 2], [1, 3]).t()}),
        (LengthError, "request 1 has length -3", {"lengths": small(7, -3)}),
        (ShortTableError, "request 0 has 9 tokens, its table of 2 blocks of 4 covers 8", {"lengths": small(9, 3)}),
        (BlockRangeError, r"block_tables\[1, 0\] is 5, outside the 5 blocks", {"block_tables": small([0, 1], [5, -1])}),
        (BlockRangeError, r"block_tables\[0, 1\] is -1", {"block_tables": small([0, -1], [2, 3])}),
        (LengthError, "do not rise from 0", {"starts": small(1, 4, 6)}),
        (LengthError, "do not rise from 0", {"starts": small(0, 4, 3)}),
        (LengthError, "to at most 6 rows", {"starts": small(0, 4, 7)}),
        (LengthError, "request 1 has 4 rows and only 3 tokens", {"starts": small(0, 2, 6)}),
    ],
)
def test_a_slot_mapping_that_does_not_fit(error: type[Refused], words: str, change: dict[str, Any]) -> None:
    good = {
        "block_tables": small([0, 1], [2, -1]),
        "lengths": small(7, 3),
        "starts": small(0, 4, 6),
        "block_size": 4,
        "rows": 6,
        "num_blocks": 5,
    }
    with pytest.raises(AssertionError, match="launched"):
        slot_mapping(**good)
    with pytest.raises(error, match=words):
        slot_mapping(**{**good, **change})


def test_unchecked_values_are_not_looked_at() -> None:
    cache = Shape(4, 2, 3, 4, "int8", HEAD_MAJOR).empty()
    for call in (
        lambda: write(cache, ids(5, 5), NAN, NAN, checked=False),
        lambda: copy_blocks(cache, ids([0, 1], [1, 2]), checked=False),
        lambda: slot_mapping(small([9]), small(9), small(0, 1), block_size=1, rows=1, num_blocks=2, checked=False),
    ):
        with pytest.raises(AssertionError, match="launched"):
            call()


def test_every_refusal_is_a_value_error() -> None:
    kinds = [kind for kind in vars(refusals).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 10
    assert all(issubclass(kind, Refused) and issubclass(kind, ValueError) for kind in kinds)
