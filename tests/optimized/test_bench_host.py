"""What a call costs on the host before a kernel starts: checks, dispatch through torch, arguments; nothing is run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kvoptimized.cascade import cascade
from kvoptimized.kernels.merge import merge_states
from kvoptimized.merging import merge
from kvoptimized.prefilling import prefill
from tests.optimized.attending import Placed, Scenario, place

BATCH = ((64, 1),) * 255 + ((64, 40),)


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> Placed:
    monkeypatch.setattr(type(merge_states), "run", lambda *_, **__: None)
    return place(Scenario(BATCH, kv_heads=2, group=4, head_dim=16))


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.benchmark(group="host side of a launch, 256 requests")
def test_prefill(benchmark: Any, placed: Placed, checked: bool) -> None:
    benchmark(prefill, *placed.arrays, scale=0.25, checked=checked)


@pytest.mark.benchmark(group="host side of a launch, 256 requests")
def test_cascade(benchmark: Any, placed: Placed) -> None:
    query, cache, *rest = placed.arrays
    benchmark(cascade, query, cache, placed.tables[0], 16, *rest, scale=0.25, checked=False)


@pytest.mark.benchmark(group="host side of a launch, 256 requests")
def test_merge(benchmark: Any, placed: Placed) -> None:
    lse = torch.zeros(placed.query.shape[:2])
    benchmark(merge, placed.query, lse, placed.query, lse)
