"""The command `kvspec explore`: every state of small worlds, and the shortest way to anything broken in one of them."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kvconformance.exhaust.scopes import ALL as ENGINES_ONLY
from kvconformance.telling.output import require_writable, usage, write
from kvexamine.explorer import ALL, AnyScope, Result, campaign, find
from kvexamine.explorer import explore as run
from kvexamine.explorer.faults import FAULTS

WIDTH = None if sys.stdout.isatty() else 140
console = Console(highlight=False, width=WIDTH)
errors = Console(stderr=True, highlight=False)


def explore(
    scope: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this scope; may be given several times.")
    ] = None,
    large: Annotated[bool, typer.Option("--large", help="The large scopes instead: millions of states.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; each has a scope to itself.")] = min(
        2, os.cpu_count() or 1
    ),
    limit: Annotated[
        int, typer.Option(min=1, help="Most states of one scope; one that has more is reported as incomplete.")
    ] = 12_000_000,
    faults: Annotated[
        bool, typer.Option("--faults", help="Break the transition on purpose, and show which everyday scope notices.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Show what was found last, kept in spec/explorer.json, without a search.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the results here as JSON.")] = None,
) -> None:
    """Explore small worlds exhaustively: the specification checked against itself.

    A scope is a world (blocks, block size, budget), two to four requests, and the events that may happen to them; those
    called groups-* are caches with several groups, those called tree* radix trees with locks. The
    explorer goes through every state that the transition allows, up to the names of blocks, checks all invariants in
    each, and looks for dead ends and for runs that cannot finish; what is broken is told with the shortest history.
    The everyday scopes take about a minute on two cores, the large ones minutes and a gigabyte or two.

    Exit status: 0 all complete and nothing broken (or all faults noticed), 1 otherwise, 2 usage.
    """
    if faults and large:
        usage("--faults breaks the transition in everyday scopes, not in the --large ones; leave one of the two out")
    wanted = _scopes(scope, large)
    require_writable(json)
    if results:
        _show_kept({one.name for one in wanted}, faults)
        return
    if faults:
        raise typer.Exit(0 if _show_faults(wanted, json) else 1)
    found = []
    for result in run(wanted, jobs, limit, progress):
        found.append(result)
        errors.print(f"{result.name}: {result.states:,} states in {result.seconds:.1f} s", soft_wrap=True)
    found.sort(key=lambda result: [one.name for one in wanted].index(result.name))
    _show(found)
    if json is not None:
        told = jsonlib.dumps({"scopes": [_data(result) for result in found]}, indent=1) + "\n"
        write(json, told.encode())
    raise typer.Exit(0 if all(result.complete and not result.violations for result in found) else 1)


_LAST = [time.monotonic()]


def progress(name: str, states: int, depth: int) -> None:
    """A line every few seconds while a long search runs."""
    now = time.monotonic()
    if now - _LAST[0] > 5:
        _LAST[0] = now
        sys.stderr.write(f"{name}: {states:,} states, depth {depth}\n")


def _scopes(names: list[str] | None, large: bool) -> list[AnyScope]:
    if not names:
        return [scope for scope in ALL.values() if scope.large is large]
    if engines := [name for name in names if name in ENGINES_ONLY and name not in ALL]:
        usage(f"{engines[0]!r} is a scope of `kvspec exhaust`: engines are tried in it, and it is not explored")
    try:
        return [find(name) for name in dict.fromkeys(names)]
    except KeyError as error:
        usage(str(error.args[0]))


def _show(results: list[Result]) -> None:
    for result in results:
        for violation in result.violations:
            console.print(f"\n[red]✗ {violation.rule}[/]  in {result.name}, after {len(violation.history)} lines")
            console.print(escape("\n".join(violation.history)), soft_wrap=True)
            console.print(f"  broken  {escape(violation.what)}\n", soft_wrap=True)
    table = Table("scope", "states", "transitions", "depth", "seconds", "complete", "broken", "", box=None)
    for one in results:
        table.add_row(
            one.name,
            f"{one.states:,}",
            f"{one.transitions:,}",
            str(one.depth),
            f"{one.seconds:.1f}",
            "yes" if one.complete else "[red]no[/]",
            f"[red]{len(one.violations)}[/]" if one.violations else "0",
            "" if one.longest is None else f"every run ends, after {one.longest} moves at most",
        )
    console.print(table)
    states, seconds = sum(one.states for one in results), sum(one.seconds for one in results)
    console.print(
        f"\n{len(results)} scopes, {states:,} states, {states / max(seconds, 1e-9):,.0f} states per second and process",
        soft_wrap=True,
    )


def _data(result: Result) -> dict[str, object]:
    names = ("name", "states", "transitions", "seconds", "complete")
    return {**{name: getattr(result, name) for name in names}, "violations": [asdict(v) for v in result.violations]}


def _show_kept(names: set[str], faults: bool) -> None:
    """What `spec/explorer.json` says of these scopes: their counts, or who notices which fault and by which rule."""
    kept = campaign.read()
    if faults:
        table = Table("fault", "noticed in (moves), by", box=None)
        for fault in kept.faults:
            where = {name: told for name, told in fault.noticed.items() if name in names}
            told = (
                f"{rule}: " + ", ".join(f"{name} {moves}" for name, (moves, by) in where.items() if by == rule)
                for rule in dict.fromkeys(rule for _, rule in where.values())
            )
            if where:
                table.add_row(f"{fault.name}\n{fault.says}", "\n".join(told))
    else:
        table = Table("scope", "world", "about", "states", "transitions", "depth", box=None)
        for one in (scope for scope in kept.scopes if scope.name in names):
            longest = "" if one.longest is None else f"; every run ends, after {one.longest} moves at most"
            counts = f"{one.states:,}", f"{one.transitions:,}", str(one.depth)
            table.add_row(one.name, one.world, one.about + longest, *counts)
    console.print(table)
    for part, made in kept.made.items():
        console.print(f"{part}: {made}")


def _show_faults(wanted: list[AnyScope], json: Path | None) -> bool:
    """A line per fault as soon as it is tried; whether all were noticed."""
    told: list[dict[str, object]] = []
    for name, says, results in _trials(wanted):
        moves = {one.name: one.moves for one in results}
        where = [f"{scope} {number}" for scope, number in moves.items() if number is not None]
        console.print(f"{name:20} {says}", soft_wrap=True)
        console.print(f"{'':20} {', '.join(where) or '[red]not noticed[/]'}", soft_wrap=True)
        told.append({"name": name, "says": says, "noticed": bool(where), "moves": moves})
    noticed = sum(bool(one["noticed"]) for one in told)
    console.print(f"\n{noticed} of {len(told)} faults noticed in these scopes (scope, moves to what is broken)")
    if json is not None:
        write(json, (jsonlib.dumps({"faults": told}, indent=1) + "\n").encode())
    return noticed == len(told)


def _trials(wanted: list[AnyScope]) -> Iterator[tuple[str, str, list[Result]]]:
    """Each fault that one of the scopes could show: its name, what it is, and what became of it there."""
    for name, fault in FAULTS.items():
        if any(map(fault.shows_in, wanted)):
            yield name, fault.says, [fault.tried(scope) for scope in wanted if fault.shows_in(scope)]
