"""Without torch or Triton this folder is skipped as a whole, before any file of it is imported."""

import pytest


def pytest_pycollect_makemodule() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
