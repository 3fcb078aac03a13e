"""The page about imposters, made from what `kvspec imposters --alone --json conformance/imposters.json` has written.

`python -m kvconformance.imposters.page` makes it. Its numbers come from the kills, causes and addresses from the table
of public bugs, and from nowhere else.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kvconformance.bugs import BUGS, Bug, Why
from kvconformance.imposters.controls import CONTROLS
from kvconformance.imposters.registry import IMPOSTERS
from kvconformance.imposters.show import middle, read_kills, sole_killers
from kvconformance.imposters.trial import Kill

COMMAND = "kvspec imposters --alone --json conformance/imposters.json && python -m kvconformance.imposters.page"

INTRODUCTION = """\
# Imposters

An imposter is an engine of ours with one deliberate fault, after a bug that was reported in public about a real engine.
The suite must kill each: find a history that breaks the rule of the bug, or one that implies it. So this page says what
kvspec is known to find; it does not say that it finds everything.

The faults are small analogues in the terms of our reference engine, which has no streams, processes or devices. Reports
were read and not reproduced: what they say of other people's engines may have turned out otherwise, and may be long
repaired. Causes are told in our own words.
"""

SOLE = """\
## Checks that must never be weakened

Each imposter was tried again with the checks of the rule that killed it taken out: the guard finds nothing wrong and
the history goes on. Of these imposters no other check saw anything then, in three times as many histories as the kill
had taken, and at least 1000 on the surfaces Pool, Stepper and Groups, 400 on Quantizer, 250 on Attention. That nobody
else would ever see them does not follow.
"""

EVERY = """\
## Every imposter

`kvspec imposters --kept` shows each: the public bug, what killed it, after how many histories, in how few steps, and
what kills it when the checks of that rule are taken out ([imposters.json](imposters.json)). `kvspec explain RULE` shows
those of a rule. Histories depend on the seed alone.
"""


def page(kills: list[Kill], made: str) -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION, *_numbers(kills, made), EVERY, SOLE, *_sole(kills), *_without_imposter()]
    return "\n".join(parts) + "\n"


def _numbers(kills: list[Kill], made: str) -> Iterator[str]:
    dead = [kill for kill in kills if kill.killed]
    imitated = [bug for bug in BUGS if bug.imposters]
    whys = Counter(bug.why for bug in BUGS if bug.why is not None)
    rest = ", ".join(f"{times} ({why.value})" for why, times in whys.items())
    own = sum(1 for kill in dead if kill.by == kill.rule)
    few = sum(1 for kill in dead if (kill.steps or 0) <= 6)
    yield f"- {len(BUGS)} public bugs: {len(imitated)} imitated by {len(IMPOSTERS)} imposters; without one {rest}."
    yield f"- {len(dead)} of {len(kills)} killed, {own} by the very rule of the bug, the others by one that implies it."
    yield f"- Median: {middle(kills, 'examples')} histories, {middle(kills, 'steps')} steps; {few} in 6 steps or fewer."
    yield f"- {sum(map(len, sole_killers(kills).values()))} killed by one check alone."
    yield f"\n`{COMMAND}`, {made}.\n"


def _sole(kills: list[Kill]) -> Iterator[str]:
    yield "| check | imposters that only it kills |\n|---|---|"
    for rule, names in sole_killers(kills).items():
        yield f"| `{rule}` | {', '.join(names)} |"
    yield ""


def _without_imposter() -> Iterator[str]:
    said = {control.__name__: (control.__doc__ or "").rpartition(" (")[0] for control in CONTROLS}
    yield "## Controls\n\nKernels that drift by rounding, as in reports of corruption that was none: they must live.\n"
    yield from (f"- **{name}** ({_link(bug)}): {said[name]}." for bug in BUGS for name in bug.controls)
    yield "\n## Public bugs without an imposter\n\n| bug | rule | cause | why not |\n|---|---|---|---|"
    for bug in BUGS:
        if bug.why not in (None, Why.DRIFT):
            yield f"| {_link(bug)} | `{bug.rules[0].id}` | {bug.cause} | {bug.why.value}: {bug.reason} |"


def _link(bug: Bug) -> str:
    return f"[{bug.reference}]({bug.address}) {bug.id}"


def main(
    folder: Annotated[Path, typer.Option(help="Where imposters.json and IMPOSTERS.md are.")] = Path("conformance"),
) -> None:
    """Write the page about imposters."""
    try:
        kept = read_kills(folder / "imposters.json")
        missing = {imposter.__name__ for imposter in IMPOSTERS} ^ {kill.name for kill in kept.imposters}
        if missing:
            raise ValueError(f"imposters.json and the imposters differ in {', '.join(sorted(missing))}")
        (folder / "IMPOSTERS.md").write_text(page(kept.imposters, kept.made), "utf-8")
    except (ValueError, OSError) as error:
        print(f"page: {error}", file=sys.stderr)
        raise typer.Exit(2) from error


if __name__ == "__main__":
    typer.run(main)
