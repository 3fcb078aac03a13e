"""The kill table: who was killed, by which rule, how soon."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec
from rich.table import Table

from kvconformance.imposters.trial import Kill


def kill_table(kills: Sequence[Kill]) -> Table:
    """One line for each imposter."""
    table = Table("imposter", "bug", "rule", "killed by", "examples", "steps", "seconds", box=None, pad_edge=False)
    for kill in kills:
        by = "[red]alive[/]" if kill.by is None else "its rule" if kill.by == kill.rule else kill.by
        steps = "-" if kill.steps is None else str(kill.steps)
        table.add_row(kill.name, kill.bug, kill.rule, by, str(kill.examples), steps, f"{kill.seconds:.2f}")
    return table


def summary(kills: Sequence[Kill], seed: int) -> str:
    """The last line: how many are dead, and the medians of what it took."""
    dead = [kill for kill in kills if kill.killed]
    told = f"{len(dead)} of {len(kills)} imposters killed"
    if dead:
        steps = median(kill.steps or 0 for kill in dead)
        seconds = median(kill.seconds for kill in dead)
        told += f"; median {steps:g} steps, {median(kill.examples for kill in dead):g} examples, {seconds:.2f} s"
    alive = [kill.name for kill in kills if not kill.killed]
    return told + (f"; alive: {', '.join(alive)}" if alive else "") + f"; seed {seed}"


def to_json(kills: Sequence[Kill]) -> bytes:
    """The kills as indented JSON."""
    data = {"imposters": [kill.as_data() for kill in kills]}
    return msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n"
