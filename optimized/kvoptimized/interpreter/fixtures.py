"""pytest fixtures: `pytest_plugins = ["kvoptimized.interpreter.fixtures"]` in a conftest.py makes them known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kvoptimized.interpreter import MemoryCheck, Traffic, counted, faithful, memory_checked


@pytest.fixture
def faithful_interpreter() -> Iterator[None]:
    """Interpreted kernels act as documented for the hardware during the test."""
    with faithful():
        yield


@pytest.fixture
def memory_check() -> Iterator[MemoryCheck]:
    """The same, and every access is checked: bounds, races, duplicate stores, unwritten memory made in the test."""
    with memory_checked() as check:
        yield check


@pytest.fixture
def kernel_traffic() -> Iterator[Traffic]:
    """The same as `faithful_interpreter`, and bytes are counted."""
    with counted() as traffic:
        yield traffic
