"""Which environment a Python gets, and the one line where there is none: for the Python, or in it for an engine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that the Makefile reads, and Pythons that only say their version."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "conformance/kvengines", tmp_path / "conformance/kvengines")
    (tmp_path / "bin").mkdir()
    for minor in (10, 11, 12):
        pretend(tmp_path / f"bin/python3.{minor}", minor)
    return tmp_path


def pretend(python: Path, minor: int) -> None:
    answer = f"echo 3.{minor}" if minor >= 11 else ":"
    python.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo Python 3.{minor}.0 || {answer}\n', encoding="utf-8")
    python.chmod(0o755)


def make(project: Path, *arguments: str, python3: int) -> subprocess.CompletedProcess[str]:
    """Run make where `python3` is of this minor version."""
    pretend(project / "bin/python3", python3)
    environment = {"PATH": f"{project / 'bin'}:/usr/bin:/bin"}
    command = [str(MAKE), *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("python3", "named", "folder"),
    [
        (11, [], ".venv"),
        (11, ["PYTHON=python3.11"], ".venv"),
        (11, ["PYTHON=python3.12"], ".venv-3.12"),
        (12, ["PYTHON=python3.11"], ".venv-3.11"),
        (10, ["PYTHON=python3.12"], ".venv"),
    ],
)
def test_the_environment_follows_from_the_python(project: Path, python3: int, named: list[str], folder: str) -> None:
    done = make(project, "-n", "check", "ENGINE=reference", *named, python3=python3)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == [f"{folder}/bin/kvspec", "check", "reference"]


def test_an_environment_that_is_there_keeps_its_python(project: Path) -> None:
    (project / ".venv/bin").mkdir(parents=True)
    pretend(project / ".venv/bin/python", 12)
    for minor, folder in ((11, ".venv-3.11"), (12, ".venv")):
        done = make(project, "-n", "check", "ENGINE=reference", f"PYTHON=python3.{minor}", python3=11)
        assert f"\n{folder}/bin/kvspec check reference" in done.stdout


@pytest.mark.parametrize(("named", "says"), [("python3.10", "Python 3.10.0"), ("python3.99", "not found")])
def test_a_python_that_is_too_old_or_absent_is_refused_in_a_line(project: Path, named: str, says: str) -> None:
    done = make(project, "test", f"PYTHON={named}", python3=11)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"kvspec needs Python 3.11 or newer, and PYTHON={named} says" in line
    assert says in line


def test_a_default_python_that_is_too_old_is_refused_before_anything_is_made(project: Path) -> None:
    done = make(project, "test", python3=10)
    assert done.returncode == 2
    assert "kvspec needs Python 3.11 or newer, and PYTHON=python3 says" in done.stderr
    assert not (project / ".venv").exists()


def test_checking_an_engine_that_was_left_out_says_so_and_checks_nothing(project: Path) -> None:
    (project / ".venv").mkdir()
    for name in (".made", ".base", ".vllm"):
        (project / ".venv" / name).touch()
    (project / ".venv/.vllm").write_text("vllm is left out: xgrammar==0.2.8 has no wheel for Python 3.11\n")
    done = make(project, "-s", "check", "ENGINE=vllm", python3=11)
    assert done.returncode == 2
    assert done.stdout == "vllm is left out: xgrammar==0.2.8 has no wheel for Python 3.11\n"
    assert "kvspec" not in done.stderr


def test_every_python_that_is_new_enough_is_tested_once_and_has_its_line(project: Path) -> None:
    for minor, said, status in ((11, "7 passed in 0.1s", 0), (12, "1 failed, 6 passed in 0.2s", 1)):
        environment = project / f".venv-3.{minor}"
        (environment / "bin").mkdir(parents=True)
        for name in (".made", ".base", ".dev", ".mutants", ".proofs"):
            (environment / name).touch()
        for name, script in (("kvspec", ":"), ("python", f"echo {said}; exit {status}")):
            (environment / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (environment / "bin" / name).chmod(0o755)
    done = make(project, "-s", "pythons", "PYTHONS=python3 python3.10 python3.11 python3.99 python3.12", python3=11)
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "Python 3.11 passes: 7 passed in 0.1s",
        "Python 3.12 FAILS (.venv-3.12/pythons.log): 1 failed, 6 passed in 0.2s",
    ]
