"""The traffic counter against counts by hand."""

from __future__ import annotations

import pytest
import torch
import triton.language as tl

from kvoptimized.evidence import traffic as table
from kvoptimized.interpreter import Moved, OutOfBounds, counted
from kvoptimized.launch import kernel


@kernel
def weigh(X, WEIGHT, Y, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lanes < n
    x = tl.load(X + lanes, mask=mask, other=0.0)
    again = tl.load(X + lanes, mask=mask, other=0.0)
    weight = tl.load(WEIGHT + lanes * 0)
    tl.store(Y + lanes, (x + again) * weight, mask=mask)


@kernel
def strided(X, Y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(Y + lanes, tl.load(X + 16 * lanes))


@kernel
def tally(X, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.atomic_add(X + lanes // 2, 1)


def test_bytes_are_counted_by_buffer_lane_instruction_program_and_launch():
    x, weight, y = torch.zeros(64, dtype=torch.float16), torch.ones(1), torch.zeros(64)
    with counted() as traffic:
        weigh[(4,)](x, weight, y, 40, 16)
    assert traffic.loaded("X") == Moved(issued=160, sectors=192, requested=160, per_program=80, distinct=80)
    assert traffic.loaded("WEIGHT") == Moved(issued=256, sectors=128, requested=16, per_program=16, distinct=4)
    assert traffic.stored("Y") == Moved(issued=160, sectors=160, requested=160, per_program=160, distinct=160)
    assert traffic.stored("X") == traffic.loaded("Y") == Moved()
    assert traffic.loaded() == traffic.loaded("X") + traffic.loaded("WEIGHT")


def test_strides_cost_whole_sectors():
    with counted() as traffic:
        strided[(1,)](torch.zeros(128), torch.zeros(8), 8)
    assert traffic.loaded("X") == Moved(issued=32, sectors=256, requested=32, per_program=32, distinct=32)


def test_atomics_load_and_store():
    with counted() as traffic:
        tally[(3,)](torch.zeros(4, dtype=torch.int32), 8)
    assert traffic.loaded("X") == traffic.stored("X")
    assert traffic.loaded("X") == Moved(issued=96, sectors=96, requested=48, per_program=48, distinct=16)


def test_launches_are_recorded_one_by_one_and_failed_ones_not_at_all():
    x, y = torch.zeros(64), torch.zeros(64)
    with counted() as traffic:
        weigh[(1,)](x, torch.ones(1), y, 8, 16)
        strided[(1,)](torch.zeros(128), y, 8)
        with pytest.raises(OutOfBounds):
            strided[(1,)](torch.zeros(64), y, 8)
    assert [(record.kernel, record.buffer) for record in traffic.records] == [
        ("weigh", "X"),
        ("weigh", "WEIGHT"),
        ("weigh", "Y"),
        ("strided", "X"),
        ("strided", "Y"),
    ]
    assert traffic.stored(kernel="strided").issued == 32


def row(operation: str, moved: int, ceiling: float = 1.05) -> table.Row:
    return table.Row(operation, "a shape", moved, 100, ceiling)


def test_the_summary_names_the_worst_ratio_of_each_operation():
    rows = [row("copy", 100), row("decode", 101), row("decode", 104)]
    assert table.summary(rows) == "traffic: 3 rows, worst copy 1.00, worst decode 1.04, all within their ceilings"
    assert table.summary([*rows, row("write", 106)]).endswith("worst write 1.06, 1 beyond their ceilings")


@pytest.mark.parametrize(("moved", "status"), [(105, 0), (106, 1)])
def test_the_exit_status_says_whether_a_ceiling_was_exceeded(monkeypatch, capsys, moved: int, status: int):
    monkeypatch.setattr(table, "operations", lambda: ["decode"])
    monkeypatch.setattr(table, "collect", lambda names: iter([row(name, moved) for name in names]))
    assert table.main([]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == table.HEADER
    assert lines[-1].startswith("traffic: 1 rows, worst decode 1.0")
    assert ("beyond its ceiling" in lines[1]) == bool(status)


def test_an_unknown_operation_is_a_usage_error(capsys):
    assert table.main(["teleport"]) == 2
    assert "no rows for teleport" in capsys.readouterr().err
