"""`conformance/install.py`: an engine with no wheel for this Python is left out in a line; all else is a failure."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[2] / "conformance" / "install.py"
ENGINES = Path("conformance/kvengines")
HERE = ".".join(map(str, sys.version_info[:2]))
PROJECT = """
[project]
name = "ours"
requires-python = ">=3.9"
[project.optional-dependencies]
whole = ["anywhere==1.0", "ours[part]"]
part = ["everywhere>=1.0"]
new = ["everywhere>=1.0", "olden==1.0"]
pinned = ["everywhere>=1.0", "olden>=0.5"]
parent = ["parent>=1.0"]
unbuilt = ["source>=1.0"]
clash = ["everywhere>=2.0"]
gone = ["nowhere==1.0"]
"""


SOURCE = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": "raise RuntimeError('this Python is too new')\n",
}


def wheel(folder: Path, name: str, tag: str, requires: str = "") -> None:
    """A wheel of one module."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def source(folder: Path, name: str) -> None:
    """A source archive that cannot be built."""
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for file, text in SOURCE.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project, and an index in which `olden` and `source` have wheels for Python 3.9 alone."""
    index = tmp_path / "index"
    index.mkdir()
    for name, tag in (("anywhere", "py3"), ("everywhere", "py3"), ("olden", "cp39"), ("source", "cp39")):
        wheel(index, name, f"{tag}-none-any")
    wheel(index, "parent", "py3-none-any", "Requires-Dist: olden\n")
    source(index, "source")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").write_text("everywhere==1.0\nolden==1.0\nparent==1.0\nsource==1.0\n")
    (tmp_path / ENGINES / "apart").mkdir(parents=True)
    (tmp_path / ENGINES / "apart/requirements.txt").write_text("everywhere==1.0\n")
    (tmp_path / ENGINES / "apart/nodeps.txt").write_text("olden==1.0\n")
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
    assert (project / "marker").read_text("utf-8") == ""


@pytest.mark.parametrize(
    ("name", "package"),
    [("new", "olden"), ("pinned", "olden"), ("parent", "olden"), ("apart", "olden"), ("unbuilt", "source")],
)
def test_an_engine_without_a_wheel_for_this_python_is_left_out_in_a_line(
    project: Path, name: str, package: str
) -> None:
    done = install(project, name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{name} is left out: {package}==1.0 has no wheel for Python {HERE}\n"
    assert (project / "marker").read_text("utf-8") == done.stdout
    assert installed(project) == set()


@pytest.mark.parametrize(("name", "said"), [("gone", "nowhere==1.0"), ("clash", "everywhere>=2.0")])
def test_what_no_python_finds_is_a_failure_in_the_words_of_pip(project: Path, name: str, said: str) -> None:
    done = install(project, name)
    assert done.returncode != 0
    assert said in done.stderr
    assert not (project / "marker").exists()
