"""`conformance/install.py`: an engine with no wheel for this Python is left out in a line; all else is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[2] / "conformance" / "install.py"
ENGINES = Path("conformance/kvconformance/engines")
HERE = ".".join(map(str, sys.version_info[:2]))
PROJECT = """
[project]
name = "ours"
requires-python = ">=3.9"
[project.optional-dependencies]
whole = ["anywhere==1.0", "ours[part]"]
part = ["everywhere>=1.0"]
new = ["everywhere>=1.0", "olden==1.0"]
gone = ["nowhere==1.0"]
"""


def wheel(folder: Path, name: str, tag: str) -> None:
    """A wheel of one module."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project, and an index in which `olden` has a wheel for Python 3.9 alone."""
    (tmp_path / "index").mkdir()
    for name, tag in (("anywhere", "py3-none-any"), ("everywhere", "py3-none-any"), ("olden", "cp39-none-any")):
        wheel(tmp_path / "index", name, tag)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").touch()
    (tmp_path / ENGINES).mkdir(parents=True)
    (tmp_path / ENGINES / "apart-requirements.txt").write_text("everywhere==1.0\n")
    (tmp_path / ENGINES / "apart-nodeps.txt").write_text("olden==1.0\n")
    return tmp_path


def install(project: Path, name: str) -> subprocess.CompletedProcess[str]:
    index = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project / "index")}
    environment = os.environ | index | {"PIP_TARGET": str(project / "installed")}
    command = [sys.executable, INSTALL, name, "marker"]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def installed(project: Path) -> set[str]:
    return {file.stem for file in project.glob("installed/*.py")}


def test_an_extra_is_installed_with_the_extras_that_it_names(project: Path) -> None:
    done = install(project, "whole")
    assert done.returncode == 0, done.stderr
    assert installed(project) == {"anywhere", "everywhere"}
    assert (project / "marker").read_text() == ""


@pytest.mark.parametrize("name", ["new", "apart"])
def test_an_engine_without_a_wheel_for_this_python_is_left_out_in_a_line(project: Path, name: str) -> None:
    done = install(project, name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{name} is left out: olden==1.0 has no wheel for Python {HERE}\n"
    assert (project / "marker").read_text() == done.stdout
    assert installed(project) == set()


def test_what_no_python_finds_is_a_failure_in_the_words_of_pip(project: Path) -> None:
    done = install(project, "gone")
    assert done.returncode != 0
    assert "nowhere==1.0" in done.stderr
    assert not (project / "marker").exists()
