"""The page of engines, the machine-readable file and the scripts that show findings say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from kvconformance.telling import table
from kvspec.rules import RULES

CONFORMANCE = Path(__file__).parents[2] / "conformance"


def test_the_page_is_the_view_of_the_file() -> None:
    lines = table.kept(CONFORMANCE / "engines.json")
    assert lines and (CONFORMANCE / "ENGINES.md").read_text("utf-8") == table.page(lines)


def test_the_lines_of_the_file_are_whole() -> None:
    for line in table.kept(CONFORMANCE / "engines.json"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", line.date)
        assert set(line.verdicts) == set(line.examples)
        for root in line.broken:
            assert root.rule in RULES
            assert line.verdicts[root.surface]["broken"] >= 1
            assert all((CONFORMANCE / script.replace(".", "/")).with_suffix(".py").exists() for script in root.findings)


def test_the_page_of_findings_names_every_script_and_none_that_is_not_there() -> None:
    there = {
        path.relative_to(CONFORMANCE / "kvengines").as_posix() for path in CONFORMANCE.glob("kvengines/*/findings/*")
    }
    named = re.findall(r"`(\w+/findings/\w+\.py)`", (CONFORMANCE / "FINDINGS.md").read_text("utf-8"))
    assert there and set(named) == there


def report(**more: Any) -> dict[str, Any]:
    rule = {"id": "sched/step-budget", "verdict": "broken", "exercised": 9, "finding": {"surface": "stepper"}}
    held = {"id": "sched/one-queue", "verdict": "held", "exercised": 7, "finding": None}
    data = {
        "engine": "mini-infer",
        "engine_version": "0.2.5",
        "seed": 0,
        "examples": {"stepper": 3},
        "verdicts": {"stepper": {"held": 1, "broken": 1}},
        "rules": [rule, held],
    }
    return {**data, **more}


def write(folder: Path, *reports: dict[str, Any]) -> Any:
    """Run the command on reports."""
    paths = []
    for number, data in enumerate(reports):
        paths.append(str(folder / f"{number}.json"))
        Path(paths[-1]).write_text(json.dumps(data), "utf-8")
    app = table.typer.Typer()
    app.command()(table.main)
    return CliRunner().invoke(app, [*paths, "--folder", str(folder)])


def test_a_report_becomes_a_line_and_a_row(tmp_path: Path) -> None:
    assert write(tmp_path, report()).exit_code == 0
    (line,) = table.kept(tmp_path / "engines.json")
    assert (line.held, line.least_exercised, line.not_reached) == (1, 7, 0)
    assert line.broken == [table.Root("sched/step-budget", "stepper", ["kvengines.mini_infer.findings.budget_ignored"])]
    text = (tmp_path / "ENGINES.md").read_text("utf-8")
    assert "| mini-infer | 0.2.5 | 1 (7) | `sched/step-budget` | 0 | 3 stepper |" in text


def test_a_later_report_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    write(tmp_path, report(), report(engine="hqq"))
    write(tmp_path, report(engine_version="0.3.0"))
    lines = table.kept(tmp_path / "engines.json")
    assert [(line.engine, line.version) for line in lines] == [("mini-infer", "0.3.0"), ("hqq", "0.2.5")]
    assert "| mini-infer | 0.2.5 |" not in (tmp_path / "ENGINES.md").read_text("utf-8")


@pytest.mark.parametrize("data", [{}, report(examples=3), report(rules=[{"id": 4}])])
def test_what_is_no_report_is_refused_and_nothing_is_written(tmp_path: Path, data: dict[str, Any]) -> None:
    done = write(tmp_path, data)
    assert done.exit_code == 2
    assert not (tmp_path / "engines.json").exists() and not (tmp_path / "ENGINES.md").exists()


def test_the_file_is_validated(tmp_path: Path) -> None:
    (tmp_path / "engines.json").write_bytes(msgspec.json.encode([{"engine": 1}]))
    with pytest.raises(ValueError, match=r"engines\.json is not what it should be"):
        table.kept(tmp_path / "engines.json")
