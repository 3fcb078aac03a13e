"""Operators in torch: schemas, fake tensors, and whole graphs through `torch.compile`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kvoptimized.cache import HEAD_MAJOR, PagedKVCache
from kvoptimized.copying import copy_blocks
from kvoptimized.operators import operators, overload
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from kvspec.refusals import ShapeError
from tests.optimized.caches import QUANTIZED, Shape

TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
NO_FP8_COMPARISON = TESTS[1:]
"""torch cannot compare 8-bit floats on a CPU, which its schema test needs."""

TABLES = torch.tensor([[3, 1, 0], [2, 0, 1]], dtype=torch.int32)
LENGTHS, STARTS = torch.tensor([7, 3], dtype=torch.int32), torch.tensor([0, 4, 6], dtype=torch.int32)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("format", ["bf16", *QUANTIZED])
def test_write_and_copy_declare_what_they_change(format: str, static: bool) -> None:
    if format == "bf16" and static:
        return
    cache = Shape(4, 5, 2, 8, format, HEAD_MAJOR, static).empty()
    rows, slots = torch.randn(3, 2, 8).bfloat16(), torch.tensor([4, -1, 0])
    scales = (cache.key_scales, cache.value_scales)
    none = (None, None)
    own, given = (none, scales) if static else (scales, none)
    tests = NO_FP8_COMPARISON if format == "e4m3" else TESTS
    arguments = (cache.keys, cache.values, *own, *given, slots, rows, rows, format, HEAD_MAJOR, True)
    torch.library.opcheck(overload("write"), arguments, test_utils=tests)
    pairs = torch.tensor([[0, 1], [2, 3]])
    torch.library.opcheck(overload("copy_blocks"), (cache.keys, cache.values, *own, pairs, True), test_utils=tests)


def test_slot_mapping_declares_its_result() -> None:
    named = {"block_size": 4, "rows": 8, "num_blocks": 4, "checked": True}
    torch.library.opcheck(overload("slot_mapping"), (TABLES, LENGTHS, STARTS), named, test_utils=TESTS)


def step(cache: PagedKVCache, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    slots = slot_mapping(TABLES, LENGTHS, STARTS, block_size=4, rows=8, num_blocks=cache.num_blocks)
    write(cache, slots, keys * 2, values)
    copy_blocks(cache, torch.tensor([[0, 1], [3, 2]]))
    return slots + 1


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("format", ["bf16", *QUANTIZED])
def test_a_compiled_step_does_what_the_eager_one_does(format: str, dynamic: bool) -> None:
    torch.compiler.reset()
    keys, values = torch.randn(2, 8, 2, 16).bfloat16()
    eager, compiled = (Shape(4, 4, 2, 16, format, HEAD_MAJOR).empty() for _ in range(2))
    slots = step(eager, keys, values)
    found = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=dynamic)(compiled, keys, values)
    assert torch.equal(found, slots)
    for name in ("keys", "values", "key_scales", "value_scales"):
        one, other = getattr(eager, name), getattr(compiled, name)
        assert one is None or torch.equal(one.view(torch.uint8), other.view(torch.uint8))


def test_fake_tensors_have_shapes_and_are_checked() -> None:
    with FakeTensorMode():
        cache = Shape(4, 4, 2, 16, "int4", HEAD_MAJOR).empty()
        rows = torch.randn(5, 2, 16)
        slots = slot_mapping(
            torch.zeros(2, 3, dtype=torch.int32),
            torch.zeros(2, dtype=torch.int32),
            torch.zeros(3, dtype=torch.int32),
            block_size=4,
            rows=5,
        )
        assert (slots.shape, slots.dtype) == ((5,), torch.int64)
        assert write(cache, slots, rows, rows) is None
        with pytest.raises(ShapeError, match="keys has shape"):
            write(cache, slots, rows[:3], rows)


def test_every_operator_is_listed() -> None:
    names = ("write", "copy_blocks", "slot_mapping", "decode", "prefill", "cascade", "merge")
    assert {f"kvspec::{name}" for name in names} <= set(operators())


def test_an_error_of_a_compiled_step_keeps_its_name() -> None:
    torch.compiler.reset()
    cache = Shape(4, 4, 2, 16, "int8", HEAD_MAJOR).empty()

    def wrong(rows: torch.Tensor, slots: torch.Tensor) -> Any:
        write(cache, slots, rows, rows)
        return rows

    compiled = torch.compile(wrong, backend="aot_eager", fullgraph=True)
    with pytest.raises(ValueError, match="two rows are written to slot 3"):
        compiled(torch.randn(2, 2, 16), torch.tensor([3, 3]))
