"""What the engines were found to be: `engines.json`, and its view `ENGINES.md`; a module to run (`python -m`).

Reads the JSON reports named on the command line, validates them, puts them into the machine-readable file in place of
what stood there of the same engines, and writes the page anew. Numbers about engines come from nowhere else.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from kvconformance.installed import findings, installed
from kvexamine.machine import machine, today

T = TypeVar("T")

MOST_BYTES = 64 << 20
PAGE = """\
# Engines checked

What the default minute of `kvspec check` found in each, on the day and the machine that [engines.json](engines.json)
names: rules *held* (with how often the least exercised one was put to the test), the rules *broken* that have a finding
of their own, rules *not reached*, and the examples tried. [FINDINGS.md](FINDINGS.md) has the findings.

| engine | version | held (least exercised) | broken | not reached | examples |
|---|---|---|---|---|---|
{0}

`make engines-table` makes this page and the file.
"""


class FindingFile(msgspec.Struct):
    """What is needed of a finding."""

    surface: str


class RuleLine(msgspec.Struct):
    """What is needed of a rule."""

    id: str
    verdict: str
    exercised: int
    finding: FindingFile | None


class ReportFile(msgspec.Struct):
    """What is needed of a report."""

    engine: str
    engine_version: str
    seed: int
    examples: dict[str, int]
    verdicts: dict[str, dict[str, int]]
    rules: list[RuleLine]

    def count(self, verdict: str) -> int:
        """How many rules have this verdict."""
        return sum(rule.verdict == verdict for rule in self.rules)


class Root(msgspec.Struct, frozen=True):
    """A broken rule with a finding of its own, and the scripts that show it, as `python -m` runs them."""

    rule: str
    surface: str
    findings: list[str]


class EngineLine(msgspec.Struct, frozen=True):
    """An engine in `engines.json`. Verdicts are counted per surface; `held` and `not_reached` over all of them."""

    engine: str
    version: str
    date: str
    machine: str
    seed: int
    examples: dict[str, int]
    verdicts: dict[str, dict[str, int]]
    held: int
    least_exercised: int
    not_reached: int
    broken: list[Root]

    def row(self) -> str:
        """Its row of the table."""
        broken = ", ".join(f"`{root.rule}`" for root in self.broken) or "none"
        examples = ", ".join(f"{n} {surface}" for surface, n in self.examples.items())
        held = f"{self.held} ({self.least_exercised})"
        return f"| {self.engine} | {self.version} | {held} | {broken} | {self.not_reached} | {examples} |"


def read(path: Path) -> ReportFile:
    """A validated report. Raises `ValueError` that names the file and what is wrong with it."""
    return _decoded(path, ReportFile)


def kept(path: Path) -> list[EngineLine]:
    """What the machine-readable file holds; nothing where there is none. Raises `ValueError`."""
    return _decoded(path, list[EngineLine]) if path.exists() else []


def _decoded(path: Path, type_: type[T]) -> T:
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} is larger than {MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(path.read_bytes(), type=type_)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path} is not what it should be: {error}") from error


def line(report: ReportFile) -> EngineLine:
    """A report as it is kept, with today's date and this machine."""
    roots = [
        Root(rule.id, rule.finding.surface, scripts(report.engine, rule.id))
        for rule in report.rules
        if rule.verdict == "broken" and rule.finding is not None
    ]
    return EngineLine(
        engine=report.engine,
        version=report.engine_version,
        date=today(),
        machine=machine(),
        seed=report.seed,
        examples=report.examples,
        verdicts=report.verdicts,
        held=report.count("held"),
        least_exercised=min((rule.exercised for rule in report.rules if rule.verdict == "held"), default=0),
        not_reached=report.count("not reached"),
        broken=roots,
    )


def scripts(engine: str, rule: str) -> list[str]:
    """The reproductions that are shipped beside an engine's adapter and whose first line names the rule, as modules."""
    shown = [(entry, path) for entry in installed().get(engine, ()) for path in findings(entry)]
    return [
        f"{entry.module}.findings.{path.stem}"
        for entry, path in shown
        if f"`{rule}`" in path.read_text("utf-8").partition("\n")[0]
    ]


def merged(old: list[EngineLine], new: list[EngineLine]) -> list[EngineLine]:
    """The old lines with new ones in place of those of the same engines, and the rest of the new ones behind."""
    fresh = {one.engine: one for one in new}
    return [fresh.pop(one.engine, one) for one in old] + list(fresh.values())


def page(lines: list[EngineLine]) -> str:
    """The Markdown page of all engines of the file."""
    return PAGE.format("\n".join(one.row() for one in lines))


def main(
    reports: Annotated[list[Path], typer.Argument(help="JSON reports of `kvspec check --json`.")],
    folder: Annotated[Path, typer.Option(help="Where engines.json and ENGINES.md are.")] = Path("conformance"),
) -> None:
    """Take reports into the machine-readable file, and write the page of engines anew."""
    file = folder / "engines.json"
    try:
        lines = merged(kept(file), [line(read(path)) for path in reports])
    except (ValueError, OSError) as error:
        print(f"table: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    file.write_bytes(msgspec.json.format(msgspec.json.encode(lines), indent=1) + b"\n")
    (folder / "ENGINES.md").write_text(page(lines), "utf-8")


if __name__ == "__main__":
    typer.run(main)
