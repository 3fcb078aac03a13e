"""The benchmark script without a GPU: it checks, says that nothing can be timed, and its problems are what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import contenders, problems, table
from benchmarks.correctness import TINY, checks
from benchmarks.shapes import FORMATS, Heads, Shape, decodes, prefills

SCRIPT = Path(__file__).resolve().parents[2] / "optimized" / "benchmarks" / "run.py"
HEADS = Heads(4, 2, 64)
CPU = torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU the script times for minutes")
def test_the_script_checks_and_says_that_nothing_can_be_timed() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("There is no GPU here, so nothing can be timed")
    assert len(rest) == len(list(checks(CPU, TINY))) and all(line.startswith("right ") for line in rest)


@pytest.mark.parametrize("requests", [((40, 1),) * 3, ((33, 33),) * 2])
def test_a_contender_computes_what_ours_computes(requests: tuple[tuple[int, int], ...]) -> None:
    operation = "decode" if requests[0][1] == 1 else "prefill"
    problem = problems.build(Shape(operation, "tiny", requests, HEADS), CPU, cold_bytes=0)
    ours, theirs = contenders.ours(problem), contenders.sdpa(problem)
    assert len(ours) == len(theirs) == len(problem.batches) == 2
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own(), other(), rtol=2.0**-6, atol=2.0**-6)


@pytest.mark.parametrize("format", FORMATS)
def test_batches_share_no_block_and_hold_no_nan(format: str) -> None:
    shape = Shape("prefill", "tiny", ((40, 3), (17, 1)), HEADS, format)
    problem = problems.build(shape, CPU, cold_bytes=60_000)
    held = 5 * 16 * problem.cache.bytes_per_token
    assert len(problem.batches) * held >= 4 * 60_000
    used = [batch.tables[r, :count] for batch in problem.batches for r, count in enumerate((3, 2))]
    ids = torch.cat(used)
    assert len(ids) == len(ids.unique()) == problem.cache.num_blocks
    assert torch.isfinite(contenders.ours(problem)[0]()).all()


def test_a_contender_that_is_not_there_says_why() -> None:
    problem = problems.build(Shape("decode", "tiny", ((40, 1),), HEADS, "int4"), CPU, cold_bytes=0)
    for make in contenders.CONTENDERS.values():
        with pytest.raises(contenders.NotThere):
            make(problem)


def test_least_bytes_and_operations_of_a_standard_shape() -> None:
    shape = next(decodes())
    assert shape.tokens == 8 * 32768 and shape.flops == 4 * 8 * 32768 * 32 * 128
    assert len({(s.operation, s.name, s.heads, s.format) for s in (*decodes(), *prefills())}) == 48
    problem = problems.build(Shape("decode", "tiny", ((32, 1),), HEADS), CPU, cold_bytes=0)
    assert problem.least_bytes == 32 * 2 * 2 * 64 * 2 + 4 * (2 * 64 * 2 + 4) + 4 * 2


def test_a_table_is_kept_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    page.write_text(f"before {table.BEGIN} old {table.END} after")
    measured = table.Measured(next(decodes()), 250e-6, 10**9, {"torch SDPA": 300e-6, "FlashInfer": "not installed"})
    cells = measured.cells(bandwidth=4e12)
    assert cells[3:6] == ["250.0", "4.00", "1.00"] and cells[-2:] == ["300.0 (1.20x)", "not installed"]
    table.save(table.line(cells), page)
    assert page.read_text().startswith(f"before {table.BEGIN}\ndecode 8x32768")
    assert page.read_text().endswith(f"{table.END} after")


def test_no_result_is_written_down_that_was_not_measured() -> None:
    assert "Nothing has been timed on a GPU yet" in table.RESULTS.read_text()
