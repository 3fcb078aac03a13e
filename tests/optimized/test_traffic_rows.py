"""Some rows of `make traffic` in every run of the tests: bytes moved keep to their ceilings, and a ceiling can fail."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from kvoptimized.evidence.traffic import collect, main, operations, summary

NEAR_THE_LEAST = 1.05
"""What decode, write and copy may move over the least possible."""


@pytest.mark.parametrize(("operation", "rows"), [("copy", 3), ("decode", 6), ("prefill", 4), ("write", 3)])
def test_kernels_move_no_more_than_they_may(operation: str, rows: int) -> None:
    table = list(islice(collect([operation]), rows))
    assert len(table) == rows
    for row in table:
        assert row.within, str(row)
        assert row.least > 0 and row.moved >= row.least
        assert operation == "prefill" or row.ceiling <= NEAR_THE_LEAST


def test_every_operation_is_among_them() -> None:
    assert operations() == ["copy", "decode", "prefill", "write"]


def test_a_row_beyond_its_ceiling_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    row = next(collect(["copy"]))
    beyond = replace(row, moved=2 * row.least)
    assert not beyond.within and "beyond its ceiling" in str(beyond)
    assert summary([row, beyond]).endswith("worst copy 2.00, 1 beyond their ceilings")
    assert main(["nothing"]) == 2 and "no rows for nothing" in capsys.readouterr().err
