"""The README's table of engines and its printed finding, made from reports: `python -m kvconformance.table`.

Reads the JSON reports named on the command line, validates them, and writes what lies between the markers of a
Markdown file. Numbers in the README come from nowhere else.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

MOST_BYTES = 64 << 20


class FindingFile(msgspec.Struct):
    """What the table needs of a finding."""

    surface: str


class RuleLine(msgspec.Struct):
    """What the table needs of a rule."""

    id: str
    verdict: str
    exercised: int
    finding: FindingFile | None


class ReportFile(msgspec.Struct):
    """What the table needs of a report."""

    engine: str
    engine_version: str
    seed: int
    examples: dict[str, int]
    rules: list[RuleLine]

    def ids(self, verdict: str) -> list[str]:
        """The rules with this verdict and, where broken, a finding of their own."""
        return [r.id for r in self.rules if r.verdict == verdict and (verdict != "broken" or r.finding is not None)]

    @property
    def least_exercised(self) -> int:
        """How often the least exercised of the rules that held was put to the test."""
        return min((r.exercised for r in self.rules if r.verdict == "held"), default=0)


def read(path: Path) -> ReportFile:
    """A validated report. Raises `ValueError` that names the file and what is wrong with it."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} is larger than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReportFile)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path} is no report: {error}") from error


def table(reports: list[ReportFile]) -> str:
    """The Markdown table, with date and machine."""
    rows = [
        "| engine | version | held (least exercised) | broken | not reached | examples |",
        "|---|---|---|---|---|---|",
    ]
    for report in reports:
        broken = ", ".join(f"`{rule}`" for rule in report.ids("broken")) or "none"
        examples = ", ".join(f"{n} {surface}" for surface, n in report.examples.items())
        held = f"{len(report.ids('held'))} ({report.least_exercised})"
        reached = len(report.ids("not reached"))
        rows.append(f"| {report.engine} | {report.engine_version} | {held} | {broken} | {reached} | {examples} |")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    made = (
        f"`make engines-table`, {datetime.datetime.now(tz=datetime.UTC).date()}, {machine}; default runs of a minute."
    )
    return "\n".join([*rows, "", made])


def replaced(text: str, marker: str, content: str) -> str:
    """`text` with what stands between the markers replaced. Raises `ValueError` if they are not there."""
    pattern = re.compile(rf"(<!-- {marker}:begin -->\n).*?(<!-- {marker}:end -->)", flags=re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no markers <!-- {marker}:begin --> and <!-- {marker}:end -->")
    return pattern.sub(lambda match: match[1] + content + "\n" + match[2], text)


def main(
    reports: Annotated[list[Path], typer.Argument(help="JSON reports of `kvspec check --json`.")],
    readme: Annotated[Path, typer.Option(help="The file whose table is replaced.")] = Path("README.md"),
) -> None:
    """Write the table of engines into a Markdown file."""
    try:
        text = replaced(readme.read_text(), "table", table([read(path) for path in reports]))
    except (ValueError, OSError) as error:
        print(f"table: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    readme.write_text(text)


if __name__ == "__main__":
    typer.run(main)
