"""Tells how far the scopes were searched: a line for each, what was skipped and why, and with which options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from kvconformance.exhaust.covered import Covered
from kvconformance.exhaust.search import Exhaustive
from kvconformance.telling.output import escape
from kvconformance.telling.report import SurfaceResult

console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def show_covered(results: Sequence[SurfaceResult], bounds: Exhaustive) -> None:
    """Print the lines of all surfaces, and what is to be said of each surface as a whole."""
    table = Table("scope", "surface", "histories", "every history up to", "", box=None, pad_edge=False)
    for result in results:
        for one in result.covered:
            if not one.skipped:
                ended = _ended(result) if one is result.covered[-1] else ""
                told = escape(_said(one, bounds.depth, ended))
                table.add_row(one.scope, one.surface.value, f"{one.histories:,}", _depth(one), told)
    console.print()
    if table.row_count:
        console.print(table)
    for result in results:
        for line in _about(result, bounds):
            console.print(escape(line), soft_wrap=True)


def _depth(one: Covered) -> str:
    return f"{one.depth} operations" if one.longest is None else f"any length: none has more than {one.longest}"


def _ended(result: SurfaceResult) -> str:
    """Why the scope that is told last on the surface may not be done."""
    return result.ended or ("a harness fault ended it" if result.fault else "")


def _said(one: Covered, depth: int, ended: str) -> str:
    """What a line says besides: whether it went as deep as was asked for, and what got in the way."""
    why = ended or f"--histories ends it before {depth} operations"
    said = [] if one.complete else [f"not complete: {why}"]
    said += [f"broken: {', '.join(one.broken)}"] if one.broken else []
    if one.cut:
        known = f"{', '.join(one.cut_at)}, which {'is' if len(one.cut_at) == 1 else 'are'} broken or not claimed"
        said += [f"{one.cut:,} histories end early, at {known}"]
    return "; ".join(said)


def _about(result: SurfaceResult, bounds: Exhaustive) -> Iterator[str]:
    """What holds for a surface as a whole: its options, the scopes that do not fit, and those never begun."""
    surface, tried = result.surface.value, [one for one in result.covered if not one.skipped]
    if tried and tried[0].options:
        values = ", ".join(f"{name}={value}" for name, value in tried[0].options.items())
        yield f"On the {surface} with {values} (--option tries another value)."
    yield from _skipped(surface, [one for one in result.covered if one.skipped], bool(tried))
    if result.covered and (why := _ended(result)):
        begun = {one.scope for one in result.covered}
        left = [scope.name for scope in bounds.scopes if scope.name not in begun]
        yield f"The search on the {surface} is not complete: {why}." + (
            f" Not begun: {', '.join(left)}." if left else ""
        )


def _skipped(surface: str, skipped: Sequence[Covered], some: bool) -> Iterator[str]:
    """One line for each reason, and a single one where no scope fits."""
    if not skipped:
        return
    if not some:
        common = [why for why in skipped[0].skipped if all(why in one.skipped for one in skipped)]
        whys = common or dict.fromkeys(why for one in skipped for why in one.skipped)
        yield f"No scope fits the {surface}: it {', '.join(whys)}."
        return
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(", ".join(one.skipped), []).append(one.scope)
    for why, scopes in by_reason.items():
        yield f"Skipped on the {surface}, which {why}: {', '.join(scopes)}."
