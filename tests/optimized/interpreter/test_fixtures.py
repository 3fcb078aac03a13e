"""The pytest plugin, used by a project of its own that decorates with `triton.jit`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest, torch, triton, triton.language as tl
from kvoptimized.interpreter import OutOfBounds

@triton.jit
def total(X, Y, BLOCK: tl.constexpr):
    x = tl.load(X + tl.arange(0, BLOCK))
    tl.store(Y, tl.sum(x.to(tl.float32), 0).to(tl.bfloat16))

def test_faithful(faithful_interpreter):
    y = torch.zeros(1, dtype=torch.bfloat16)
    total[(1,)](torch.full((4,), 0.2509765625 + 2.0**-11), y, 4)
    assert y.item() == 1.0078125

def test_memory(memory_check):
    with pytest.raises(OutOfBounds):
        total[(1,)](torch.ones(3), torch.zeros(1, dtype=torch.bfloat16), 4)

def test_traffic(kernel_traffic):
    total[(1,)](torch.ones(4), torch.zeros(1, dtype=torch.bfloat16), 4)
    assert kernel_traffic.loaded("X").requested == 16
"""


def test_a_project_uses_the_fixtures_under_triton_interpret(tmp_path: Path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["kvoptimized.interpreter.fixtures"]\n')
    (tmp_path / "test_kernels.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout
