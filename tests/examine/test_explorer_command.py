"""`kvspec explore`: what it writes, what it returns, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def explore(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kvconformance.cli", "explore", *arguments]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_scopes_are_explored_in_processes_of_their_own_and_written(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    done = explore("--scope", "chains", "--scope", "fcfs", "--jobs", "2", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    scopes = json.loads(path.read_text("utf-8"))["scopes"]
    assert [scope["name"] for scope in scopes] == ["chains", "fcfs"]
    for scope in scopes:
        assert set(scope) == {"name", "states", "transitions", "seconds", "complete", "violations"}
        assert scope["complete"] and scope["violations"] == [] and scope["states"] > 50
    assert "every run ends" in done.stdout


def test_an_incomplete_scope_is_no_success() -> None:
    done = explore("--scope", "prefix", "--limit", "100")
    assert done.returncode == 1 and "no" in done.stdout


def test_an_unknown_scope_is_a_usage_error_that_lists_the_scopes() -> None:
    done = explore("--scope", "prefxi")
    assert done.returncode == 2
    assert "did you mean prefix?" in done.stderr and "in-flight" in done.stderr


def test_a_file_that_cannot_be_written_is_found_out_before_the_work(tmp_path: Path) -> None:
    done = explore("--json", str(tmp_path / "missing" / "e.json"))
    assert done.returncode == 2 and "cannot write" in done.stderr


def test_the_help_says_what_a_scope_is_and_how_long_it_takes() -> None:
    done = explore("--help")
    assert "A scope is a world" in done.stdout and "minute" in done.stdout


def test_faults_are_written_as_json_and_told_of_the_scopes_in_which_they_were_tried(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    done = explore("--faults", "--scope", "reset", "--scope", "reset", "--json", str(path))
    faults = json.loads(path.read_text("utf-8"))["faults"]
    assert {name for fault in faults for name in fault["moves"]} == {"reset"}
    noticed = [fault["name"] for fault in faults if fault["noticed"]]
    assert "paged/reset-keeps-keys" in noticed
    assert f"{len(noticed)} of {len(faults)} faults noticed in these scopes" in done.stdout
    assert done.stdout.count("reset 3") >= 1 and "reset 3, reset 3" not in done.stdout
    assert done.returncode == (0 if len(noticed) == len(faults) else 1)


def test_what_was_found_last_is_shown_without_a_search() -> None:
    done = explore("--results", "--scope", "prefix", "--scope", "fcfs")
    assert done.returncode == 0 and "133,885" in done.stdout and "every run ends, after" in done.stdout
    assert "chains" not in done.stdout and "processor time" in done.stdout
    done = explore("--results", "--faults", "--scope", "exact-hit")
    assert "paged/full-hit" in done.stdout and "prefix/one-token-left: exact-hit 4" in done.stdout


def test_faults_in_large_scopes_are_refused() -> None:
    done = explore("--faults", "--large")
    assert done.returncode == 2 and "not in the --large ones" in done.stderr


def test_a_scope_of_the_other_command_is_named_as_such() -> None:
    done = explore("--scope", "adapters")
    assert done.returncode == 2 and "'adapters' is a scope of `kvspec exhaust`" in done.stderr
