"""Hypothesis profiles (`ci` bounded and derandomized, `dev` quick and random, `campaign` long), and rules as markers.

Each test carries the rules that it names as markers, so that `pytest -k publish-only-computed` runs what guards a rule.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kvconformance.explain.references import rules_of_tests
from kvspec.rules import Rule

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", max_examples=200, derandomize=True, **_COMMON)
settings.register_profile("dev", max_examples=100, **_COMMON)
settings.register_profile("campaign", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("KVSPEC_HYPOTHESIS", "ci"))
gc.set_threshold(50_000)  # of 700 new objects hardly one is garbage, and looking for it takes a tenth of the time


@cache
def _named(path: Path) -> Mapping[str, frozenset[Rule]]:
    return rules_of_tests(path.read_text("utf-8"))


def rules_of(item: pytest.Item) -> Iterable[Rule]:
    """The rules that a test names in its source, and those that its parameters are or must break."""
    if isinstance(item, pytest.Function):
        yield from _named(item.path).get(item.nodeid.partition("::")[2].partition("[")[0], ())
        for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
            rule = getattr(value, "broken_rule", value)
            if isinstance(rule, Rule):
                yield rule


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with `rule(id=...)` for each of its rules, and let `-k` find it by their ids."""
    for item in items:
        for rule in {*rules_of(item)}:
            item.add_marker(pytest.mark.rule(id=rule.id))
            item.extra_keyword_matches.add(rule.id)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What all those modules hold stays: no test looks through it again for garbage."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which packages are not installed, and how many tests or files were skipped for want of each."""
    reasons = " ".join(str(skipped.longrepr) for skipped in terminalreporter.stats.get("skipped", []))
    absent = Counter(re.findall(r"could not import '([\w.]+)'", reasons))
    if absent:
        counts = ", ".join(f"{package} ({count})" for package, count in absent.most_common())
        where = f"Python {platform.python_version()} in {sys.prefix}"
        terminalreporter.write_line(f"left out, for want of packages that are not installed for {where}: {counts}")
