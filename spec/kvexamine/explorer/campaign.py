"""What the explorer found last: `spec/explorer.json`, of which `kvspec explore --results` is the view.

`python -m kvexamine.explorer.campaign spec/explorer.json everyday large faults` finds these parts anew.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from kvexamine.explorer.catalogue import ALL, everyday, explore
from kvexamine.explorer.faults import FAULTS
from kvexamine.explorer.results import Result
from kvexamine.explorer.run import AnyScope
from kvexamine.explorer.spoiling import Fault
from kvexamine.machine import machine, today


@dataclass(frozen=True)
class ScopeLine:
    """One scope: what it is, and how many states and transitions it has; everything was seen and nothing broken."""

    name: str
    world: str
    about: str
    states: int
    transitions: int
    depth: int
    longest: int | None = None
    """Moves of the longest run, where runs must end."""


@dataclass(frozen=True)
class FaultLine:
    """One fault, and by scope the moves of a shortest history to what is broken and the rule that says so."""

    name: str
    says: str
    noticed: dict[str, tuple[int, str]]


@dataclass(frozen=True)
class Kept:
    """All that is kept. `made` says of each part on which day and machine it was found."""

    made: dict[str, str]
    scopes: list[ScopeLine]
    faults: list[FaultLine]


def read(path: Path | None = None) -> Kept:
    """What a file holds, or the one that is shipped: in an installed wheel inside the package, else beside it."""
    if path is None:
        folder = Path(str(resources.files("kvexamine")))
        path = next(file for at in (folder, folder.parent) if (file := at / "explorer.json").exists())
    told = json.loads(path.read_text("utf-8"))
    faults = [FaultLine(one["name"], one["says"], _pairs(one["noticed"])) for one in told["faults"]]
    return Kept(told["made"], [ScopeLine(**one) for one in told["scopes"]], faults)


def _pairs(noticed: dict[str, list[Any]]) -> dict[str, tuple[int, str]]:
    return {scope: (moves, rule) for scope, (moves, rule) in noticed.items()}


def scope_line(result: Result) -> ScopeLine:
    """A scope as it is kept. Raises `ValueError` where something is broken or was not seen."""
    if result.violations or not result.complete:
        raise ValueError(f"{result.name}: {result.violations or 'not complete'}")
    scope = ALL[result.name]
    counts = result.states, result.transitions, result.depth
    return ScopeLine(scope.name, str(scope), scope.about, *counts, result.longest)


def fault_line(fault: Fault, scopes: Iterable[AnyScope]) -> FaultLine:
    """A fault as it is kept, after it was tried in these scopes."""
    tried = [fault.tried(scope) for scope in scopes if fault.shows_in(scope)]
    noticed = {one.name: (one.moves, one.violations[0].rule) for one in tried if one.moves is not None}
    return FaultLine(fault.full_name, fault.says, noticed)


def explored(*, large: bool) -> Callable[[Kept], Kept]:
    """The everyday or the large scopes are explored anew."""

    def found(old: Kept) -> Kept:
        known = {line.name: line for line in old.scopes}
        wanted = [scope for scope in ALL.values() if scope.large is large]
        known |= {result.name: scope_line(result) for result in explore(wanted)}
        return replace(old, scopes=[known[name] for name in ALL if name in known])

    return found


def _tried(old: Kept) -> Kept:
    return replace(old, faults=[fault_line(fault, everyday()) for fault in FAULTS.values()])


PARTS = {"everyday": explored(large=False), "large": explored(large=True), "faults": _tried}


def written(kept: Kept) -> str:
    """The file: a line for each scope and for each fault."""
    told: dict[str, Sequence[ScopeLine | FaultLine]] = {"scopes": kept.scopes, "faults": kept.faults}
    rows = (f' "{name}": [\n  ' + ",\n  ".join(map(_row, lines)) + "\n ]" for name, lines in told.items())
    return "{\n" + ",\n".join((f' "made": {json.dumps(kept.made)}', *rows)) + "\n}\n"


def _row(line: ScopeLine | FaultLine) -> str:
    return json.dumps({name: value for name, value in asdict(line).items() if value is not None})


def main(file: str, *parts: str) -> None:
    """Find these parts anew and write them into the file; each is written as soon as it is found."""
    path = Path(file)
    kept = read(path) if path.exists() else Kept({}, [], [])
    for part in parts:
        began = time.process_time()
        kept = PARTS[part](kept)
        seconds = time.process_time() - began
        made = f"{today()}, {machine()}, {seconds:.0f} s of processor time"
        kept = replace(kept, made={**kept.made, part: made})
        path.write_text(written(kept), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
