"""Engines that installed distributions ship: found by their entry points, refused in one line, listed unimported."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from kvconformance.adapters import NotAnAdapter, load
from kvconformance.installed import CORE, findings, installed

ROOT = Path(__file__).parents[2]
ADAPTERS = """
from kvconformance import Engine, Surface
from kvreference.pool import ReferencePool as Adapter

ENGINE = Engine("theirs", "7", {Surface.POOL: Adapter})

def build():
    return ENGINE

class Half:
    def admit(self): ...
"""


def ship(folder: Path, distribution: str, engine: str, target: str, source: str, more: str = "") -> None:
    """A distribution with one module and one entry point, as pip lays it out."""
    (folder / f"{target.partition(':')[0]}.py").write_text(source)
    info = folder / f"{distribution.replace('-', '_')}-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.1\n{more}")
    (info / "entry_points.txt").write_text(f"[kvspec.engines]\n{engine} = {target}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path; the modules that tests ship in it are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("their_adapter", "another_adapter"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def kvspec(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", "from kvconformance.cli import main; main()", *arguments]
    environment = os.environ | {"PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("thing", ["Adapter", "ENGINE", "build"])
def test_an_adapter_class_an_engine_and_what_builds_one_are_found_by_name(site: Path, thing: str) -> None:
    ship(site, "their-dist", "theirs", f"their_adapter:{thing}", ADAPTERS)
    assert load("theirs").name == "theirs"


def test_the_command_checks_an_engine_of_any_distribution(site: Path) -> None:
    ship(site, "their-dist", "theirs", "their_adapter:build", ADAPTERS)
    done = kvspec(site, "check", "theirs", "--examples", "20")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "theirs 7" in done.stdout and "0 broken" in done.stdout


def test_the_help_names_engines_without_importing_them(site: Path) -> None:
    ship(site, "their-dist", "theirs", "their_adapter:build", "raise SystemExit('imported')")
    for command in ("check", "exhaust"):
        done = kvspec(site, command, "--help")
        assert done.returncode == 0, done.stderr
        assert "theirs" in done.stdout and "kvoptimized" in done.stdout


NEEDS = "import their_library"
EXTRA = "Provides-Extra: theirs\n"
MISSING = (
    "engine 'theirs' of their-dist 2.1 does not import here (ModuleNotFoundError: No module named 'their_library')"
)


@pytest.mark.parametrize(
    ("thing", "source", "more", "says"),
    [
        ("build", NEEDS, "", MISSING),
        ("build", NEEDS, EXTRA, f"{MISSING}; pip install 'their-dist[theirs]'"),
        ("build", f"def build():\n    {NEEDS}", "", MISSING),
        ("build", r"raise OSError('no\ndevice')", EXTRA, "their-dist 2.1 cannot be loaded here (OSError: no device)"),
        ("gone", ADAPTERS, EXTRA, "(AttributeError: module 'their_adapter' has no attribute 'gone')"),
        ("Half", ADAPTERS, EXTRA, "engine 'theirs' of their-dist 2.1: <class 'their_adapter.Half'> is no adapter"),
    ],
)
def test_an_engine_that_cannot_be_had_is_refused_in_a_line_that_names_its_distribution(
    site: Path, thing: str, source: str, more: str, says: str
) -> None:
    ship(site, "their-dist", "theirs", f"their_adapter:{thing}", source, more)
    with pytest.raises(NotAnAdapter) as refused:
        load("theirs")
    (line,) = str(refused.value).splitlines()
    assert line.endswith(says) if says.startswith(MISSING) else says in line


def test_the_refusal_reaches_the_command_line(site: Path) -> None:
    ship(site, "their-dist", "theirs", "their_adapter:build", NEEDS)
    done = kvspec(site, "check", "theirs")
    assert (done.returncode, done.stderr.strip()) == (2, f"kvspec: {MISSING}")


def test_a_name_that_two_distributions_ship_is_refused_with_both(site: Path) -> None:
    ship(site, "their-dist", "theirs", "their_adapter:build", ADAPTERS)
    ship(site, "another-dist", "theirs", "another_adapter:build", ADAPTERS)
    with pytest.raises(
        NotAnAdapter, match=r"^2 distributions ship an engine called 'theirs': .*; uninstall"
    ) as refused:
        load("theirs")
    assert "their-dist 2.1 (their_adapter:build)" in str(refused.value)
    assert "another-dist 2.1 (another_adapter:build)" in str(refused.value)


def test_nobody_takes_the_name_of_the_reference(site: Path) -> None:
    ship(site, "their-dist", "reference", "their_adapter:build", ADAPTERS)
    with pytest.raises(NotAnAdapter, match=r"called 'reference': kvspec \(.*\), their-dist 2\.1"):
        load("reference")


def test_scripts_of_findings_are_those_beside_an_adapter_that_is_a_package(site: Path) -> None:
    ship(site, "their-dist", "theirs", "their_adapter:build", "raise SystemExit('imported')")
    (entry,) = installed()["theirs"]
    assert findings(entry) == []
    (site / "their_adapter.py").unlink()
    (site / "their_adapter" / "findings").mkdir(parents=True)
    for file in ("__init__.py", "findings/hangs.py", "findings/notes.txt"):
        (site / "their_adapter" / file).write_text("raise SystemExit('imported')")
    assert findings(entry) == [site / "their_adapter" / "findings" / "hangs.py"]


def test_every_folder_of_kvengines_has_the_entry_point_of_its_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    folders = {path.parent.name for path in (ROOT / "conformance" / "kvengines").glob("*/__init__.py")}
    named = {folder.replace("_", "-"): f"kvengines.{folder}:engine" for folder in folders}
    hybrid = {f"{name}-hybrid": f"kvengines.{name}:hybrid_engine" for name in ("sglang", "vllm")}
    assert project["entry-points"]["kvspec.engines"] == named | hybrid
    assert all(find_spec(entry.module) for entry in CORE)
