"""The kill table: who was killed, by which rule, how soon, and whether by that rule alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec
from rich.table import Table

from kvconformance.imposters.trial import Kill
from kvexamine.machine import machine, today


def kill_table(kills: Sequence[Kill]) -> Table:
    """One line for each imposter."""
    columns = ["imposter", "bug", "rule", "killed by", "examples", "steps", "seconds"]
    tried = any(kill.alone is not None for kill in kills)
    table = Table(*columns, *(["without it"] if tried else []), box=None, pad_edge=False)
    for kill in kills:
        by = "[red]alive[/]" if kill.by is None else "its rule" if kill.by == kill.rule else kill.by
        steps = "-" if kill.steps is None else str(kill.steps)
        cells = [kill.name, kill.bug, kill.rule, by, str(kill.examples), steps, f"{kill.seconds:.2f}"]
        table.add_row(*cells, *([kill.without or "[yellow]alive[/]"] if tried else []))
    return table


def sole_killers(kills: Sequence[Kill]) -> dict[str, list[str]]:
    """For each rule that alone kills an imposter, the names of those."""
    sole: dict[str, list[str]] = {}
    for kill in kills:
        if kill.alone and kill.by is not None:
            sole.setdefault(kill.by, []).append(kill.name)
    return sole


def summary(kills: Sequence[Kill], seed: int) -> str:
    """The last lines: what only one check kills, how many are dead, and the medians of what it took."""
    dead = [kill for kill in kills if kill.killed]
    sole = sole_killers(kills)
    lines = [f"only {rule} kills {', '.join(names)}" for rule, names in sole.items()]
    told = f"{len(dead)} of {len(kills)} imposters killed"
    if dead:
        seconds = median(kill.seconds for kill in dead)
        told += f"; median {middle(kills, 'steps')} steps, {middle(kills, 'examples')} examples, {seconds:.2f} s"
    if any(kill.alone is not None for kill in kills):
        told += f"; {sum(map(len, sole.values()))} of them by one check alone"
    alive = [kill.name for kill in kills if not kill.killed]
    return "\n".join([*lines, told + (f"; alive: {', '.join(alive)}" if alive else "") + f"; seed {seed}"])


def middle(kills: Sequence[Kill], what: str) -> str:
    """The median of a number over those killed."""
    return f"{median(getattr(kill, what) or 0 for kill in kills if kill.killed):g}"


class KeptKills(msgspec.Struct):
    """What `kvspec imposters --json` writes: the kills, and on which day and machine they were made."""

    imposters: list[Kill]
    made: str = ""


def to_json(kills: Sequence[Kill]) -> bytes:
    """The kills as indented JSON."""
    kept = KeptKills(list(kills), f"{today()}, {machine()}")
    return msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"


def read_kills(path: Path) -> KeptKills:
    """The kills of a file. Raises `ValueError` and `OSError`."""
    return msgspec.json.decode(path.read_bytes(), type=KeptKills)
