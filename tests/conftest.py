"""Hypothesis profiles: `ci` bounded and derandomized, `dev` quick and random, `campaign` long."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", max_examples=200, derandomize=True, **_COMMON)
settings.register_profile("dev", max_examples=100, **_COMMON)
settings.register_profile("campaign", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("KVSPEC_HYPOTHESIS", "ci"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which packages are not installed, and how many tests or files were skipped for want of each."""
    reasons = " ".join(str(skipped.longrepr) for skipped in terminalreporter.stats.get("skipped", []))
    absent = Counter(re.findall(r"could not import '([\w.]+)'", reasons))
    if absent:
        counts = ", ".join(f"{package} ({count})" for package, count in absent.most_common())
        where = f"Python {platform.python_version()} in {sys.prefix}"
        terminalreporter.write_line(f"left out, for want of packages that are not installed for {where}: {counts}")
