"""Which scopes kill which imposters, and in how many operations: what a scope is for.

`python -m kvconformance.exhaust.kills conformance/exhaust.json` tries them all, some minutes long;
`kvconformance.exhaust.page` prints what it found. Imposters that the file has are not tried again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kvconformance.claims import claimed
from kvconformance.exhaust.scopes import everyday
from kvconformance.exhaust.search import Exhaustive, exhaust
from kvconformance.exhaust.worlds import lacks
from kvconformance.imposters import IMPOSTERS, Imposter, surface_of
from kvconformance.imposters.trial import judges
from kvconformance.search.examples import Plan
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of
from kvconformance.telling.output import require_writable, usage, write
from kvexamine.explorer import Scope
from kvexamine.machine import machine, today
from kvspec.rules import REPRODUCIBLE_KEY
from kvspec.vocabulary import Surface

LIMIT = 150
"""Histories that each scope is given for each imposter."""
PATIENT = 1_000
"""Histories that each scope is given for an imposter that lives after `LIMIT`."""

ANY_DEPTH = 1_000


@dataclass(frozen=True)
class Row:
    """One imposter: the scopes that kill it by its rule or by one that implies it, each with the fewest operations."""

    name: str
    bug: str
    rule: str
    surface: Surface
    killed: dict[str, int] = field(default_factory=dict)
    lived: tuple[str, ...] = ()
    """The scopes that let it live."""


def tried() -> tuple[Imposter, ...]:
    """The imposters with a surface whose histories can be tried exhaustively, and one group of layers as the scopes."""
    ours = (one for one in IMPOSTERS if kind_of(surface_of(one)).letters)
    return tuple(one for one in ours if "groups" not in one.capabilities.options)


def operations(imposter: Imposter, scope: Scope, limit: int = LIMIT) -> int | None:
    """The length of a shortest history of the scope that kills the imposter, None where the first `limit` do not."""
    surface = surface_of(imposter)
    engine = Engine(imposter.__name__, "imposter", {surface: imposter})
    plan = Plan(seconds=1e9, rules=judges(imposter.broken_rule), first_only=True)
    outcome = exhaust(engine, surface, plan, claimed(engine, surface), Exhaustive((scope,), ANY_DEPTH, limit))
    return len(outcome.found[0].trial.history.operations) if outcome.found else None


def row(imposter: Imposter, scopes: Iterable[Scope], limit: int = LIMIT) -> Row:
    """Try one imposter in every scope in which it can live."""
    surface = surface_of(imposter)
    fit = [scope for scope in scopes if not lacks(scope, imposter.capabilities, surface)]
    fewest = {scope.name: operations(imposter, scope, limit) for scope in fit}
    return Row(
        imposter.__name__,
        imposter.bug,
        imposter.broken_rule.id,
        surface,
        {name: number for name, number in fewest.items() if number is not None},
        tuple(name for name, number in fewest.items() if number is None),
    )


def tested(imposter: Imposter, scopes: tuple[Scope, ...], limit: int = LIMIT, patient: int = PATIENT) -> Row:
    """Try one imposter with `limit` histories of each scope and, if none of them kills it, with `patient` of each.

    More histories of one engine do not show that its keys differ from those of another process.
    """
    found = row(imposter, scopes, limit)
    hopeless = imposter.broken_rule is REPRODUCIBLE_KEY
    return found if found.killed or hopeless else row(imposter, scopes, patient)


class KillsFile(msgspec.Struct):
    """What the command writes: how the kills were made, in how many seconds, and a row for each imposter."""

    made: str
    seconds: float
    rows: list[Row]


def main(
    file: Annotated[
        Path, typer.Argument(help="Where the kills go, as JSON; imposters that it has are not tried again.")
    ],
    limit: Annotated[int, typer.Option(min=1, help="Most histories of a scope for an imposter.")] = LIMIT,
    patient: Annotated[int, typer.Option(min=1, help="The same for one that lives after --limit.")] = PATIENT,
) -> None:
    """Try every imposter of a Pool or a Stepper in every everyday scope. What is done is written at once."""
    require_writable(file, "the argument")
    scopes, kills = tuple(everyday()), _begun(file)
    known, places = {one.name for one in kills.rows}, {one.__name__: place for place, one in enumerate(tried())}
    kills.rows = [one for one in kills.rows if one.name in places]
    most = f"at most {limit} histories of each scope, {patient:,} for those that live then"
    kills.made = f"{most}; {today()}, one of {machine()}"
    for imposter in tried():
        if imposter.__name__ not in known:
            begun = time.process_time()
            found = tested(imposter, scopes, limit, patient)
            kills.rows.append(found)
            kills.rows.sort(key=lambda one: places[one.name])
            kills.seconds += time.process_time() - begun
            print(f"{imposter.__name__}: {found.killed or 'lives'}", file=sys.stderr, flush=True)
            write(file, encoded(kills))


def encoded(kills: KillsFile) -> bytes:
    """The file: a line for each imposter."""
    made, *rows = (msgspec.json.encode(one) for one in (kills.made, *kills.rows))
    head = b'{\n "made": %b,\n "seconds": %.1f,\n "rows": [\n  ' % (made, kills.seconds)
    return head + b",\n  ".join(rows) + b"\n ]\n}\n"


def _begun(file: Path) -> KillsFile:
    """What an earlier run has written, or nothing."""
    if not file.exists():
        return KillsFile("", 0.0, [])
    try:
        return msgspec.json.decode(file.read_bytes(), type=KillsFile)
    except (msgspec.MsgspecError, OSError) as error:
        usage(f"{file} is no file of kills ({error}); name another or remove it")


if __name__ == "__main__":
    typer.run(main)
