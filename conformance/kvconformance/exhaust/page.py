"""What `exhaust.json` says of scopes and imposters, as tables: which scope kills which imposter, who lives and why.

`python -m kvconformance.exhaust.page` prints them; `kvconformance.exhaust.kills` makes the file.
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
from kvconformance.exhaust.scopes import everyday
from kvconformance.exhaust.worlds import SURFACES
from kvconformance.explain.law import shipped
from kvexamine.explorer import Scope


def scopes_table(scopes: Sequence[Scope]) -> str:
    """One line per scope: its world and what it is about."""
    lines = (f"| `{scope.name}` | {scope} | {scope.about} |" for scope in scopes)
    return "\n".join(("| scope | world | about |", "|---|---|---|", *lines))


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


def kept(file: Path | None = None) -> KillsFile:
    """What a file holds, or the one that is shipped. Raises `ValueError`."""
    return msgspec.json.decode((file or shipped("kvconformance", "exhaust.json")).read_bytes(), type=KillsFile)


def main(
    file: Annotated[Path | None, typer.Argument(help="What `python -m kvconformance.exhaust.kills` wrote.")] = None,
) -> None:
    """Print the tables about engines in small worlds."""
    try:
        told = kept(file)
        require_reasons(told.rows)
    except (ValueError, OSError) as error:
        print(f"page: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    print(scopes_table(tuple(everyday())), imposters_tables(told.rows, tuple(everyday()), told.made), sep="\n\n")


if __name__ == "__main__":
    typer.run(main)
