"""The tables of `spec/explorer.md`: what each scope is, and which fault each of them notices after how many moves.

`python -m kvexamine.explorer.page` prints them; with `spec/explorer.md` as argument it writes them in place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from kvexamine.explorer.faults import SMALL_FAULTS
from kvexamine.explorer.paged.faults import FAULTS, LIMIT, Fault
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import SCOPES, everyday
from kvexamine.explorer.scopes import SMALL, Small
from kvexamine.explorer.spoiling import SmallFault


def scopes_table(scopes: Iterable[Scope]) -> str:
    """One line per scope: its world, its requests and its alphabet."""
    lines = ["| scope | blocks × tokens, budget | requests (prompt, new tokens) | may happen besides | about |"]
    lines.append("|---|---|---|---|---|")
    for scope in scopes:
        world = scope.world
        requests = ", ".join(f"{''.join(map(str, r.prompt))}+{r.max_new_tokens}" for r in scope.everybody)
        kinds = ", ".join(sorted(scope.may)) or "-"
        size = f"{world.num_blocks} × {world.block_size}, {world.token_budget}"
        lines.append(f"| `{scope.name}` | {size} | {requests} | {kinds} | {scope.about} |")
    return "\n".join(lines)


def faults_table(faults: Iterable[Fault], scopes: Iterable[Scope], limit: int = LIMIT) -> str:
    """Fault × scope: moves of the shortest way to what is broken, a dot where a fault goes unnoticed."""
    columns = list(scopes)
    lines = ["| fault | " + " | ".join(scope.name for scope in columns) + " |", "|---|" + "---|" * len(columns)]
    for fault in faults:
        cells = [_cell(fault, scope, limit) for scope in columns]
        lines.append(f"| `{fault.name}`: {fault.says} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def small_scopes_table(scopes: Iterable[Small]) -> str:
    """One line per small world of groups and of trees."""
    lines = ["| scope | world | about |", "|---|---|---|"]
    lines += [f"| `{small.name}` | {small.world} | {small.about} |" for small in scopes]
    return "\n".join(lines)


def small_faults_table(faults: Iterable[SmallFault], scopes: Iterable[Small]) -> str:
    """One line per fault of the smaller transitions: the worlds that notice it, each with the steps that it takes."""
    worlds, lines = list(scopes), ["| fault | noticed in (steps) |", "|---|---|"]
    for fault in faults:
        tried = [fault.tried(small) for small in worlds if small.of == fault.of]
        noticed = [f"`{one.name}` {one.moves}" for one in tried if one.moves is not None]
        lines.append(f"| `{fault.of}/{fault.name}`: {fault.says} | {', '.join(noticed) or '·'} |")
    return "\n".join(lines)


def _cell(fault: Fault, scope: Scope, limit: int) -> str:
    if not fault.shows_in(scope):
        return ""
    moves = fault.tried(scope, limit).moves
    return "·" if moves is None else str(moves)


def written(text: str, name: str, table: str) -> str:
    """`text` with another table between the marks of this name. Raises `ValueError` where it has none."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    return f"{head}{begin}\n{table}\n{end}{tail}"


def main(path: str | None = None) -> None:
    """Print the tables, or write them into the page."""
    small = [one for one in SMALL.values() if not one.large]
    tables = {
        "scopes": scopes_table(SCOPES.values()),
        "small-scopes": small_scopes_table(SMALL.values()),
        "faults": faults_table(FAULTS.values(), everyday()),
        "small-faults": small_faults_table(SMALL_FAULTS.values(), small),
    }
    if path is None:
        print("\n\n".join(tables.values()))
        return
    text = Path(path).read_text(encoding="utf-8")
    for name, table in tables.items():
        text = written(text, name, table)
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
