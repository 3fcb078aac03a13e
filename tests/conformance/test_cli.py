"""The command line: what it prints, what it returns, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import Result
from typer.testing import CliRunner

from kvconformance.cli import app
from kvconformance.history import Add, History
from kvconformance.surfaces.stepper import SURFACE
from kvconformance.surfaces.stepper.operations import Step

ROOT = Path(__file__).parents[2]


def kvspec(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kvconformance.cli", *arguments]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


def here(*arguments: str) -> Result:
    """The command in this process, which has everything imported."""
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_a_clean_engine_returns_0_and_a_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = kvspec("check", "reference", "--examples", "40", "--seed", "7", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Put to the test fewer than 100 times: " in done.stdout
    data = json.loads(path.read_text("utf-8"))
    assert {"engine", "engine_version", "kvspec_version", "spec_version", "seed", "rules"} <= set(data)
    assert data["engine"] == "reference" and data["seed"] == 7
    for line in data["rules"]:
        assert {"id", "verdict", "exercised", "finding"} <= set(line)
        assert line["verdict"] != "held" or line["exercised"] > 0


def test_the_same_seed_gives_the_same_report(tmp_path: Path) -> None:
    def report(name: str) -> dict:
        path = tmp_path / name
        kvspec("check", "contiguous", "--examples", "100", "--seed", "3", "--json", str(path))
        data = json.loads(path.read_text("utf-8"))
        del data["seconds"]
        return data

    assert report("a") == report("b")


def test_a_broken_engine_returns_1_and_tells_the_story() -> None:
    done = kvspec("check", "tests.conformance.hostile:Raising", "--examples", "200")
    assert done.returncode == 1, done.stderr
    for text in (
        "✗ sched/progress-or-reject",
        "world:",
        "seen",
        "expected",
        "rerun   kvspec check",
        "two are too many",
    ):
        assert text in done.stdout


def test_the_rerun_command_shows_the_same_break() -> None:
    history = History(4, 2, (Add((0,)), Add((0,)), Step()))
    name = "tests.conformance.hostile:Raising"
    done = kvspec("check", name, "--surface", "stepper", "--history", history.to_json().decode())
    assert done.returncode == 1
    assert "two are too many" in done.stdout
    assert kvspec("check", "reference", "--surface", "stepper", "--history", history.to_json().decode()).returncode == 0


def test_a_wrong_adapter_returns_3() -> None:
    done = kvspec("check", "tests.conformance.hostile:Lying", "--examples", "50")
    assert done.returncode == 3
    assert "harness fault" in done.stderr


DEEP = f'"options":{{"a":{"[" * 100_000}{"]" * 100_000}}},'
ADDED = '{%s"num_blocks":%d,"block_size":%d,"operations":[{"type":"Add","prompt":[1],"max_new_tokens":%d}]}'


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "nonesuch"], "no engine is called 'nonesuch'; there are reference"),
        (["check", "no.such.module:x"], "module 'no.such.module' does not import"),
        (["check", "tests.conformance.hostile:Nothing"], "has no 'Nothing'"),
        (["check", "tests.conformance.hostile:Half"], "lacks complete(), abort()"),
        (["check", "tests.conformance.hostile:Silent"], "declares no capabilities"),
        (["check", "tests.conformance.hostile:Boasting"], "declares forks=True but has no fork()"),
        (["check", "reference", "--json", "/no/such/folder/x.json"], "cannot write /no/such/folder/x.json"),
        (["check", "reference", "--surface", "pond"], "no surface is called 'pond'"),
        (["check", "reference", "--surface", "events"], "no surface is called 'events'"),
        (["check", "reference", "--surface", "generator"], "has no surface generator; it has pool, stepper"),
        (["check", "reference", "--rule", "prefix/one-token"], "did you mean prefix/one-token-left"),
        (["check", "reference", "--profile", "mru"], "no profile is called mru"),
        (
            ["check", "reference", "--surface", "pool", "--profile", "fcfs"],
            "the profile fcfs does nothing on pool; it is one of stepper",
        ),
        (
            ["check", "kvreference.pool:ReferencePool", "--profile", "decode-first"],
            "the profile decode-first does nothing on pool",
        ),
        (["check", "reference", "--history", "{}"], "--history needs the one --surface"),
        (["check", "reference", "--surface", "pool", "--history", "{"], "not a history"),
        (
            ["check", "reference", "--surface", "pool", "--history", '{"num_blocks":0,"block_size":1,"operations":[]}'],
            "Expected `int` >= 1 - at `$.num_blocks`",
        ),
        (
            ["check", "reference", "--surface", "pool", "--history", ADDED % ("", 1 << 20, 1 << 16, 1)],
            "num_blocks times block_size is 68719476736",
        ),
        (
            ["check", "reference", "--surface", "stepper", "--history", ADDED % ("", 4, 2, 0)],
            "Expected `int` >= 1 - at `$.operations[0].max_new_tokens`",
        ),
        (
            ["check", "reference", "--surface", "stepper", "--history", ADDED % ("", 4, 2, -3)],
            "Expected `int` >= 1 - at `$.operations[0].max_new_tokens`",
        ),
        (
            ["check", "reference", "--surface", "stepper", "--history", ADDED % (DEEP, 4, 2, 1)],
            "not a history: nested too deeply",
        ),
        (["explain", "nothing/at-all"], "no rule is called"),
    ],
)
def test_bad_input_gets_one_clear_line_and_status_2(arguments: list[str], says: str) -> None:
    done = here(*arguments)
    assert done.exit_code == 2, done.output
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["replay", "t.jsonl"], 2),
        (["rules"], 0),
        (["check", "reference", "--surface", "pool", "--examples", "1"], 0),
        (["check", "mine:Mine", "--examples", "1"], 0),
    ],
)
def test_a_folder_is_on_the_path_only_where_a_module_of_it_is_named(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    for name in ("pydantic", "hypothesis", "numpy", "tomllib", "kvspec", "pygments"):
        (tmp_path / f"{name}.py").write_text("import pathlib; pathlib.Path('ran').touch(); raise SystemExit(7)")
    if "mine:Mine" in arguments:
        for stray in tmp_path.glob("*.py"):
            stray.unlink()
        (tmp_path / "mine.py").write_text("from kvreference.pool import ReferencePool as Mine")
    (tmp_path / "t.jsonl").write_text("{}")
    command = [sys.executable, "-P", "-m", "kvconformance.cli", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert not (tmp_path / "ran").exists()


def test_rules_and_explain() -> None:
    listed = json.loads(here("rules", "--json").stdout)
    assert {"id", "sentence", "surfaces", "implies", "sources"} <= set(listed[0])
    assert "prefix/one-token-left" in here("rules").stdout
    told = here("explain", "prefix/shared-bytes-never-change").stdout
    assert "falls with it  prefix/content-matches-key" in told


def test_help_teaches() -> None:
    for command in ("check", "rules", "explain"):
        done = here(command, "--help")
        assert done.exit_code == 0 and len(done.stdout) > 200


def test_a_history_survives_json() -> None:
    history = History(4, 2, (Add((0, 1), media=(("beef", 0, 1),)), Step()), options={"a": 1})
    assert SURFACE.read(history.to_json()) == history
    with pytest.raises(ValueError, match="not a history"):
        SURFACE.read(msgspec.json.encode({"num_blocks": 4, "block_size": 2, "operations": [{"type": "Evil"}]}))
