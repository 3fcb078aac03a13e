"""Bad input that looks good: overlapping memory, odd addresses, numbers that fp32 does not hold, refused by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kvoptimized import launch
from kvoptimized.cache import PagedKVCache
from kvoptimized.cascade import cascade
from kvoptimized.decoding import Plan, decode
from kvoptimized.interpreter import memory_checked
from kvoptimized.launch import InterpretedWarning
from kvoptimized.merging import merge
from kvoptimized.prefilling import prefill
from kvoptimized.refusals import StrideError
from kvoptimized.requirements import ParameterError
from kvoptimized.writing import write
from kvspec.refusals import BlockRangeError, ScaleError, ShapeError, ShortTableError

SHARED, SHARED_LENGTH = torch.tensor([0, 1], dtype=torch.int32), 8
TABLES = torch.tensor([[0, 1, 2, 3], [0, 1, 4, 5]], dtype=torch.int32)


def ints(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


def query(heads: int = 2) -> torch.Tensor:
    return torch.randn(2, heads, 16).bfloat16()


@pytest.fixture
def unlaunched(monkeypatch: pytest.MonkeyPatch) -> None:
    """To launch anything is a failure."""

    def launched(*_: Any, **__: Any) -> None:
        pytest.fail("a kernel was launched")

    monkeypatch.setattr(launch.Kernel, "run", launched)


@pytest.mark.usefixtures("unlaunched")
@pytest.mark.parametrize("decoding", [False, True])
def test_cascade_looks_at_all_tables_before_it_attends_to_the_prefix(decoding: bool) -> None:
    cache = PagedKVCache.empty(8, 4, 1, 16)
    plan = (ints(16, 16), ints(0, 1, 2))
    foreign = TABLES.clone()
    foreign[1, 2] = 99
    with pytest.raises(BlockRangeError, match=r"block_tables\[1, 2\] is 99"):
        cascade(query(), cache, SHARED, 8, foreign, *plan, scale=0.25, decoding=decoding)
    with pytest.raises(ShortTableError, match="request 0 has 16 tokens, its table of 3 blocks of 4 covers 12"):
        cascade(query(), cache, SHARED, 8, TABLES[:, :3], *plan, scale=0.25, decoding=decoding)
    with pytest.raises(ShapeError, match="heads for 1 KV heads; up to"):
        cascade(query(65 if decoding else 129), cache, SHARED, 8, TABLES, *plan, scale=0.25, decoding=decoding)
    with pytest.raises(ParameterError, match="scale is inf"):
        cascade(query(), cache, SHARED, 8, TABLES, *plan, scale=float("inf"), decoding=decoding)
    with pytest.raises(ScaleError, match=r"sinks\[1\] is nan"):
        sinks = torch.tensor([0.0, float("nan")])
        cascade(query(), cache, SHARED, 8, TABLES, *plan, scale=0.25, sinks=sinks, decoding=decoding)


@pytest.mark.parametrize("decoding", [False, True])
def test_tables_of_a_cascade_may_hold_anything_within_the_prefix(decoding: bool) -> None:
    cache = PagedKVCache.empty(8, 4, 1, 16)
    plan, unread = (ints(16, 16), ints(0, 1, 2)), TABLES.clone()
    unread[:, :2] = 99
    given, rows = query(), torch.randn(32, 1, 16).bfloat16()
    write(cache, torch.arange(32), rows, rows)
    found, expected = (
        cascade(given, cache, SHARED, 8, tables, *plan, scale=0.25, decoding=decoding)[0] for tables in (unread, TABLES)
    )
    assert torch.equal(found, expected)


@pytest.mark.usefixtures("unlaunched")
@pytest.mark.parametrize("attend", ["decode", "prefill", "cascade"])
def test_codes_at_odd_addresses_are_refused(attend: str) -> None:
    storage = torch.zeros(513 + 512, dtype=torch.int8)
    keys, values = storage[1:513].view(8, 1, 4, 16), storage[513:].view(8, 1, 4, 16)
    cache = PagedKVCache.around(keys, values, torch.ones(8, 1, 4), torch.ones(8, 1, 4), format="int8")
    with pytest.raises(StrideError, match="odd address"):
        attended(attend, cache)


def attended(attend: str, cache: PagedKVCache, **options: Any) -> Any:
    lengths, starts, options = ints(16, 16), ints(0, 1, 2), {"scale": 0.25, **options}
    if attend == "decode":
        return decode(query(), cache, TABLES, lengths, **options)
    if attend == "prefill":
        return prefill(query(), cache, TABLES, lengths, starts, **options)
    return cascade(query(), cache, SHARED, 8, TABLES, lengths, starts, **options)


BLOCK = torch.zeros(1, 1, 4, 16).bfloat16()
OVERLAPPING = {
    "one block eight times": lambda: (BLOCK.expand(8, 1, 4, 16), BLOCK.clone().expand(8, 1, 4, 16)),
    "blocks half a block apart": lambda: tuple(
        torch.zeros(8 * 64).bfloat16().as_strided((8, 1, 4, 16), (32, 64, 16, 1)) for _ in range(2)
    ),
    "keys that are the values": lambda: (torch.zeros(8, 1, 4, 16).bfloat16(),) * 2,
    "values that begin within the keys": lambda: shared_storage(32, 64),
}


def shared_storage(shift: int, stride: int) -> tuple[torch.Tensor, torch.Tensor]:
    buffer = torch.zeros(8 * stride + shift + 64).bfloat16()
    one, other = (buffer[at:].as_strided((8, 1, 4, 16), (stride, 64, 16, 1), at) for at in (0, shift))
    return one, other


@pytest.mark.parametrize("what", OVERLAPPING)
def test_caches_in_which_two_slots_are_one_are_refused(what: str) -> None:
    keys, values = OVERLAPPING[what]()
    with pytest.raises(StrideError, match=r"overlap|same memory"):
        PagedKVCache.around(keys, values, format="bf16")


@pytest.mark.parametrize(("shift", "stride", "fine"), [(64, 128, True), (512, 64, True), (96, 128, False)])
@pytest.mark.parametrize("turned", [False, True])
def test_keys_and_values_may_alternate_in_one_buffer(shift: int, stride: int, fine: bool, turned: bool) -> None:
    pair = shared_storage(shift, stride)
    keys, values = reversed(pair) if turned else pair
    if not fine:
        with pytest.raises(StrideError, match="same memory"):
            PagedKVCache.around(keys, values, format="bf16")
        return
    cache, rows = PagedKVCache.around(keys, values, format="bf16"), torch.randn(32, 1, 16).bfloat16()
    with memory_checked():
        write(cache, torch.arange(32), rows, -rows)
    assert torch.equal(keys.reshape(32, 1, 16), rows) and torch.equal(values.reshape(32, 1, 16), -rows)


def test_scales_of_keys_are_not_those_of_values() -> None:
    codes = [torch.zeros(8, 1, 4, 16, dtype=torch.int8) for _ in range(2)]
    scales = torch.ones(8, 1, 4)
    with pytest.raises(StrideError, match="key_scales and value_scales lie in the same memory"):
        PagedKVCache.around(*codes, scales, scales, format="int8")
    with pytest.raises(StrideError, match="key_scales are 0 elements apart"):
        PagedKVCache.around(*codes, scales[:1].expand(8, 1, 4), scales, format="int8")


@pytest.mark.usefixtures("unlaunched")
@pytest.mark.parametrize("attend", ["decode", "prefill", "cascade"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 1e39}, "scale is 1e.39: not within fp32"),
        ({"scale": 1e10, "softcap": 1e-30}, "scale is 10000000000.0 and softcap 1e-30: not within fp32"),
        ({"softcap": 1e-39}, "softcap is 1e-39, which is not within the normal numbers"),
        ({"softcap": 3e38}, "softcap is 3e.38"),
    ],
)
def test_numbers_that_fp32_does_not_hold_are_refused(attend: str, options: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        attended(attend, PagedKVCache.empty(8, 4, 1, 16), **options)


@pytest.mark.usefixtures("unlaunched")
@pytest.mark.parametrize("attend", ["decode", "prefill", "cascade"])
@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_static_scales_that_are_none_are_refused(attend: str, scale: float) -> None:
    codes = [torch.zeros(8, 1, 4, 16, dtype=torch.int8) for _ in range(2)]
    cache = PagedKVCache.around(*codes, torch.ones(1), torch.full((1,), scale), format="int8")
    with pytest.raises(ScaleError, match=r"value_scales\[0\]"):
        attended(attend, cache)


@pytest.mark.parametrize(("warps", "stages"), [(3, 1), (64, 1), (4, 0)])
def test_plans_that_no_launch_has_are_refused(warps: int, stages: int) -> None:
    with pytest.raises(ParameterError, match=r"warps is|stages is"):
        Plan(16, 64, warps, stages)


def test_states_without_channels_are_refused() -> None:
    with pytest.raises(ShapeError, match="head dim of 0"):
        merge(torch.zeros(2, 1, 0), torch.zeros(2, 1), torch.zeros(2, 1, 0), torch.zeros(2, 1))


def test_heads_far_apart_are_addressed_in_64_bits() -> None:
    base = torch.empty(64 * 600_000 * 64, dtype=torch.bfloat16)
    far = base.view(64, 600_000, 64).transpose(0, 1)[:1]
    far.copy_(torch.randn(1, 64, 64))
    cache = PagedKVCache.empty(2, 16, 1, 64)
    rows = torch.randn(3, 1, 64).bfloat16()
    write(cache, torch.arange(3), rows, rows)
    plan = (ints(0)[None], ints(3), ints(0, 1))
    assert torch.equal(prefill(far, cache, *plan, scale=0.1)[0], prefill(far.contiguous(), cache, *plan, scale=0.1)[0])
    wide = PagedKVCache.empty(1, 16, 64, 64)
    write(wide, torch.zeros(1, dtype=torch.int64), far, far)
    assert torch.equal(wide.keys[0, :, 0], far[0])


def test_the_warning_names_the_line_that_called() -> None:
    launch._warn_once.cache_clear()
    cache, rows = PagedKVCache.empty(2, 4, 1, 16), torch.zeros(1, 1, 16).bfloat16()
    with pytest.warns(InterpretedWarning) as caught:
        write(cache, torch.zeros(1, dtype=torch.int64), rows, rows)
    assert caught[0].filename == __file__
