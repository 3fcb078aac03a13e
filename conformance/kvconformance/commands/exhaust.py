"""The command `kvspec exhaust`: every history of small worlds, up to a number of operations, played on an engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from kvconformance.adapters import NotAnAdapter, load
from kvconformance.exhaust.covered import Covered
from kvconformance.exhaust.scopes import everyday, find
from kvconformance.exhaust.search import DEPTH, HISTORIES, Exhaustive
from kvconformance.exhaust.telling import show_covered
from kvconformance.exhaust.worlds import SURFACES, Wanted, mistaken
from kvconformance.installed import installed
from kvconformance.search.examples import Plan
from kvconformance.search.isolate import ChildTrouble
from kvconformance.search.supervise import Stopped, check_supervised
from kvconformance.surfaces import Engine
from kvconformance.telling.output import escape, require_writable, usage, write
from kvconformance.telling.report import Report
from kvexamine.explorer import Scope
from kvspec.rules import Rule
from kvspec.rules import find as find_rule
from kvspec.vocabulary import Surface

UNLIMITED = 1e9
EngineName = Annotated[
    str, typer.Argument(help=f"One of {', '.join(installed())}, or your own as module:object.", metavar="ENGINE")
]

errors = Console(stderr=True, highlight=False)

Bar = Callable[[], AbstractContextManager[Any]]
Watcher = Callable[[Any, str], Any]


def register(app: typer.Typer, bar_of: Bar, watcher: Watcher, show: Callable[[Report], None]) -> None:
    """Add the command to the app; the bar, what watches a check and what shows a report are those of `kvspec check`."""

    @app.command()
    def exhaust(
        engine: EngineName,
        scope: Annotated[
            list[str] | None, typer.Option(metavar="NAME", help="Only this scope; may be given several times.")
        ] = None,
        depth: Annotated[int, typer.Option(min=1, help="Most operations of a history.")] = DEPTH,
        histories: Annotated[
            int,
            typer.Option(min=1, help="Most histories of one scope; one that has more is reported as not complete."),
        ] = HISTORIES,
        surface: Annotated[list[str] | None, typer.Option(help="Only this surface: pool or stepper.")] = None,
        option: Annotated[
            list[str] | None,
            typer.Option(
                metavar="NAME=VALUE",
                help="A value of an option that the engine declares, else its first one; may be given several times.",
            ),
        ] = None,
        rule: Annotated[list[str] | None, typer.Option(help="Look only for breaks of this rule.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
        patience: Annotated[
            float, typer.Option(min=0.1, help="Seconds without an answer before it counts as a hang.")
        ] = 10.0,
    ) -> None:
        """Play every history of small worlds on an engine, shortest first.

        `kvspec check` tries random histories; this tries all of them, in the scopes of `kvspec explore` that are not
        called groups-* or tree*, and in eighteen of its own: a world of a few blocks, one to five requests, and
        what a client and a device may do (add, step, grow, free, abort, fork, reset, fail). A line for each scope says
        up to how many operations really every history was played, and a rule that breaks is told as by `check`, with a
        history of the fewest operations that there is in the scope. Options that an engine declares (`kvspec check`
        draws them) are tried with one value each, their first or that of --option, which the report names.

        kvspec exhaust reference

        kvspec exhaust my_engine:MyStepper --scope in-flight --depth 8 --histories 50000

        Ctrl-C ends the search and shows what was found until then.

        Exit status: 0 nothing broken, 1 a rule broken, 2 usage (also: the engine fits no scope), 3 harness fault, 130
        stopped.
        """
        bounds = Exhaustive(_scopes(scope), depth, histories, _options(option))
        plan = Plan(seconds=UNLIMITED, rules=_rules(rule), patience=patience, how=bounds)
        wanted = [_surface(text) for text in surface] if surface else None
        require_writable(json)
        stopped = 0
        with bar_of() as bar:
            try:
                report = _report(engine, plan, bounds, wanted, watcher(bar, engine))
            except Stopped as stop:
                report, stopped = stop.report, stop.status
        covered = [one for result in report.results for one in result.covered]
        show(report)
        show_covered(report.results, bounds)
        if json is not None:
            write(json, _to_json(report, covered))
        if covered and all(one.skipped for one in covered):
            usage(f"{engine} fits none of these scopes, nothing was tried")
        raise typer.Exit(stopped or report.exit_status)


def _report(name: str, plan: Plan, bounds: Exhaustive, wanted: list[Surface] | None, watch: Any) -> Report:
    """The report on the surfaces that can be tried exhaustively."""

    def loaded() -> Engine:
        engine = load(name)
        factories = {surface: factory for surface, factory in engine.factories.items() if surface in SURFACES}
        if not factories:
            has = ", ".join(one.value for one in engine.factories)
            raise NotAnAdapter(f"{engine.name} has neither a pool nor a stepper to try histories on; it has {has}")
        some = replace(engine, factories=factories)
        asked = [some.capabilities(surface) for surface in factories if wanted is None or surface in wanted]
        if asked and (wrong := mistaken(asked, bounds.options)):
            raise NotAnAdapter(f"{engine.name} cannot be tried so: {wrong}")
        return some

    try:
        return check_supervised(loaded, plan, name=name, surfaces=wanted, progress=watch.told, on_loaded=watch.loaded)
    except ChildTrouble as trouble:
        if trouble.usage:
            usage(str(trouble))
        errors.print(f"[red]harness fault:[/] {escape(str(trouble))}", soft_wrap=True)
        raise typer.Exit(3) from trouble


def _options(texts: list[str] | None) -> Wanted:
    pairs = [text.partition("=") for text in texts or ()]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        usage(f"--option wants NAME=VALUE, not {wrong[0]!r}")
    return tuple((name, value) for name, _, value in pairs)


def _to_json(report: Report, covered: list[Covered]) -> bytes:
    """The report of `kvspec check`, and how far each scope was searched."""
    data = {**report.as_data(), "scopes": covered}
    return msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n"


def _scopes(names: list[str] | None) -> tuple[Scope, ...]:
    try:
        return tuple(map(find, dict.fromkeys(names))) if names else tuple(everyday())
    except KeyError as error:
        usage(str(error.args[0]))


def _rules(names: list[str] | None) -> frozenset[Rule] | None:
    try:
        return frozenset(map(find_rule, names)) if names else None
    except KeyError as error:
        usage(str(error.args[0]))


def _surface(text: str) -> Surface:
    names = [surface.value for surface in SURFACES]
    if text not in names:
        usage(f"histories are tried on the surfaces {' and '.join(names)}, not on {text!r}")
    return Surface(text)
