"""The tables of `spec/explorer.md` about engines: our own scopes, which imposters each kills, and who lives and why.

`python -m kvconformance.exhaust.kills kills.json && python -m kvconformance.exhaust.page kills.json spec/explorer.md`
writes them between their marks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kvconformance.exhaust.kills import KillsFile, Row
from kvconformance.exhaust.reasons import reason, require_reasons
from kvconformance.exhaust.scopes import OWN, everyday
from kvconformance.exhaust.worlds import SURFACES
from kvexamine.explorer import Scope
from kvexamine.explorer.page import scopes_table, written


def imposters_tables(found: Sequence[Row], scopes: Sequence[Scope], made: str) -> str:
    """Scope × imposters, told from both sides, and the imposters that live."""
    dead = [row for row in found if row.killed]
    parts = [f"{len(dead)} of {len(found)} killed; {made}.\n"]
    kills = " | ".join(f"kills on a {surface.value.title()}" for surface in SURFACES)
    parts += [f"| scope | {kills} | only this scope kills |", "|---|" + "---|" * len(SURFACES) + "---|"]
    parts += [_scope_line(scope.name, dead) for scope in scopes]
    parts += ["", "| imposter | surface | scopes that kill it, with the operations that takes |", "|---|---|---|"]
    parts += [_imposter_line(row) for row in dead]
    parts += ["", "| imposter that lives | surface | lacking | what |", "|---|---|---|---|", *_living(found)]
    return "\n".join(parts)


def _scope_line(name: str, dead: Sequence[Row]) -> str:
    cells = []
    for surface in SURFACES:
        there = [row for row in dead if row.surface == surface]
        fits = any(name in row.killed or name in row.lived for row in there)
        cells.append(str(sum(name in row.killed for row in there)) if fits else "")
    only = ", ".join(row.name for row in dead if set(row.killed) == {name})
    return f"| `{name}` | {' | '.join(cells)} | {only} |"


def _imposter_line(row: Row) -> str:
    fewest = sorted(row.killed.items(), key=lambda item: item[1])
    return f"| {row.name} | {row.surface.value} | {', '.join(f'`{scope}` {number}' for scope, number in fewest)} |"


def _living(found: Sequence[Row]) -> Iterator[str]:
    for row in found:
        why = reason(row)
        if not row.killed and why is not None:
            yield f"| {row.name} | {row.surface.value} | {why[0].value} | {why[1]} |"


def main(
    kills: Annotated[Path, typer.Argument(help="What `python -m kvconformance.exhaust.kills` wrote.")],
    page: Annotated[Path, typer.Argument(help="The page to write the tables into.")],
) -> None:
    """Write the tables about engines into the page of the explorer."""
    try:
        told = msgspec.json.decode(kills.read_bytes(), type=KillsFile)
        require_reasons(told.rows)
        text = written(page.read_text("utf-8"), "own-scopes", scopes_table(OWN))
        made = f"{told.made}, {told.seconds:.0f} s"
        page.write_text(written(text, "imposters", imposters_tables(told.rows, tuple(everyday()), made)), "utf-8")
    except (ValueError, OSError) as error:
        print(f"page: {error}", file=sys.stderr)
        raise typer.Exit(2) from error


if __name__ == "__main__":
    typer.run(main)
