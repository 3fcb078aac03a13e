"""The command `kvspec prove`: run the proofs of the specification and show one table of obligations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from kvconformance.telling.output import require_writable, usage, write
from kvexamine.proofs import run
from kvexamine.proofs.results import MissingTool, Obligation, Outcome


def prove(
    name: Annotated[str | None, typer.Option("--only", help="Only obligations whose name contains this.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the outcomes here as JSON.")] = None,
) -> None:
    """Prove what the specification claims for any size: each obligation with its vacuity check and its mutants.

    Exit status: 0 all hold, 1 one fails, 2 usage or a prover that is not installed.
    """
    console = Console(highlight=False)
    try:
        chosen = [one for one in run.obligations() if name is None or name in one.name]
    except MissingTool as missing:
        usage(str(missing))
    if not chosen:
        usage(f"no obligation is called {name!r}; see spec/proofs.md")
    require_writable(json)
    outcomes = list(_told(console, chosen))
    for one in outcomes:
        for text in (*one.failures, *one.notes):
            console.print(f"{one.name}: {escape(text)}", soft_wrap=True)
    console.print("\n" + escape(run.summary(outcomes)), soft_wrap=True)
    if json is not None:
        write(json, msgspec.json.encode([_data(outcome) for outcome in outcomes]))
    raise typer.Exit(0 if all(outcome.holds for outcome in outcomes) else 1)


def _told(console: Console, chosen: list[Obligation]) -> Iterator[Outcome]:
    """Discharge one obligation after the other, with a line for each as soon as it is done."""
    width = max(len(one.name) for one in chosen)
    for obligation in chosen:
        one = obligation.timed()
        mutants = f"{one.refuted}/{one.mutants} mutants" if one.mutants else "no mutants"
        mark = "[green]✓[/]" if one.holds else "[red]✗[/]"
        told = f"{one.name:{width}}  {one.kind.value:21}  {one.seconds:6.1f} s  {mutants:13}  {one.vacuity}"
        console.print(f"{mark} {escape(told)}", soft_wrap=True)
        yield one


def _data(one: Outcome) -> dict[str, object]:
    fields = {name: getattr(one, name) for name in Outcome.__dataclass_fields__}
    return fields | {"kind": one.kind.value, "holds": one.holds}
