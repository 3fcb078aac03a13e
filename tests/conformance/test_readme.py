"""The README's engine passes as it stands there, and is found broken when one line is forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kvconformance import Broken, check

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def example() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    return code


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(code, "README.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own README
    return names


def test_the_readme_says_how_long_the_example_is() -> None:
    lines = [line for line in example().splitlines() if line.strip()]
    assert f"test, {len(lines)} lines; yours calls your scheduler" in README


def test_the_example_is_conformant() -> None:
    run(example())["test_our_scheduler_is_conformant"]()


@pytest.mark.parametrize(
    ("line", "faulty", "rule"),
    [
        ("self.free += self.jobs.pop(id).table", "self.jobs.pop(id)", "alloc/every-exit-releases"),
        ("count = min(left, len(", "count = min(99, len(", "sched/step-budget"),
        ("self.free.pop() for _", "self.free[-1] for _", "alloc/conservation"),
        ("raise Rejected(request.id)", "pass", "sched/progress-or-reject"),
        ("job.computed += done.count", "job.computed += 1", "sched/chunk-independence"),
    ],
)
def test_the_example_with_one_fault_is_found(line: str, faulty: str, rule: str) -> None:
    assert line in example()
    report = check(run(example().replace(line, faulty))["MyStepper"], examples=300)
    assert rule in {finding.rule_id for finding in report.findings}
    with pytest.raises(Broken, match="rerun"):
        report.raise_if_broken()
