"""The same on Triton 3.6.0, in a process of its own; `make venv` puts that version beside the current one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton

from tests.optimized.interpreter.everything import results

ROOT = Path(__file__).parents[3]
FOLDER = Path(sys.prefix) / "triton-3.6"
THESE = ["tests/optimized/interpreter", "tests/optimized/test_launch.py"]
NOT_THESE = ["test_triton_3_6.py", "test_fixtures.py", "test_ptx.py"]

pytestmark = [
    pytest.mark.skipif(not FOLDER.exists(), reason=f"{FOLDER} is absent; `make venv` makes it"),
    pytest.mark.skipif(triton.__version__ == "3.6.0", reason="this is Triton 3.6.0"),
]


def older(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with Triton 3.6.0 first on the path."""
    environment = os.environ | {"PYTHONPATH": str(FOLDER)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_tests_of_the_interpreter_pass():
    version = older("-c", "import triton; print(triton.__version__)")
    assert version.stdout.strip() == "3.6.0"
    ignored = [f"--ignore={THESE[0]}/{name}" for name in NOT_THESE]
    ran = older("-m", "pytest", "-p", "no:cacheprovider", "-m", "not exhaustive", *ignored, *THESE)
    assert ran.returncode == 0, ran.stdout[-5000:]


def test_every_16_bit_and_8_bit_pattern_gives_what_it_gives_on_the_current_version(tmp_path: Path):
    file = tmp_path / "results.npz"
    ran = older("-m", "tests.optimized.interpreter.everything", str(file))
    assert ran.returncode == 0, ran.stderr
    here, there = results(), np.load(file)
    assert set(there) == set(here)
    assert [name for name in here if not np.array_equal(here[name], there[name])] == []
