"""The command `kvspec`: check an engine, list rules, try the suite on its imposters; other modules add the rest."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from kvconformance.adapters import load
from kvconformance.commands import exhaust, traces
from kvconformance.commands.explain import explain
from kvconformance.commands.explore import explore
from kvconformance.commands.prove import prove
from kvconformance.explain.law import shipped
from kvconformance.history import History
from kvconformance.search.examples import Plan
from kvconformance.search.isolate import ChildTrouble
from kvconformance.search.supervise import Stopped, check_supervised
from kvconformance.surfaces.registry import kind_of, named
from kvconformance.telling.output import escape, require_writable, usage, write
from kvconformance.telling.report import OFTEN, Report, RuleReport, Verdict, kvspec_version
from kvspec import SPEC_VERSION
from kvspec.rules import RULES, Rule, find
from kvspec.vocabulary import Surface

DEFAULT_SECONDS = 45.0
"""Of searching; with shrinking and the keys of another process, a default check stays within a minute."""

app = typer.Typer(
    name="kvspec",
    help="Is an LLM serving engine's KV cache right? Checks engines against an executable specification.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
WIDTH = None if sys.stdout.isatty() else 140
"""Written to a file, tables are as wide as they need to be."""

console = Console(highlight=False, width=WIDTH)
wide = Console(highlight=False, width=WIDTH and 190)
errors = Console(stderr=True, highlight=False)


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign is no reason to lose a verdict
    app()


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        console.print(f"kvspec {kvspec_version()}, specification {SPEC_VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Check whether an LLM serving engine's KV cache is right."""


@app.command()
def check(
    engine: exhaust.EngineName,
    surface: Annotated[
        list[str] | None,
        typer.Option(help="Check only this surface: pool, stepper, groups, tree, generator, quantizer, attention."),
    ] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Look only for breaks of this rule.")] = None,
    examples: Annotated[
        int | None,
        typer.Option(min=1, help="Histories to try on each surface; without it, as many as fit in a minute."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Where the search begins; the same seed gives the same search.")] = 0,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Demand a profile that the engine need not declare: fcfs, lru, decode-first, longest-hit."),
    ] = None,
    history: Annotated[str | None, typer.Option(help="Judge one history, as printed by a finding, and stop.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
    patience: Annotated[
        float, typer.Option(min=0.1, help="Seconds without an answer before it counts as a hang.")
    ] = 10.0,
) -> None:
    """Check an engine: a verdict for every rule, and for every broken one the smallest history that breaks it.

    Ctrl-C ends the search and shows what was found until then.

    Exit status: 0 nothing broken, 1 a rule broken, 2 usage, 3 harness fault, 130 stopped.
    """
    plan = _plan(examples, seed, rule, patience)
    surfaces = [_surface(text) for text in surface] if surface else None
    given = _history(history, surfaces)
    require_writable(json)
    stopped = 0
    with _progress() as bar:
        watch = Watch(bar, engine)
        try:
            report = check_supervised(
                lambda: load(engine),
                plan,
                name=engine,
                surfaces=surfaces,
                profiles=frozenset(profile or ()),
                history=given,
                progress=watch.told,
                on_loaded=watch.loaded,
            )
        except Stopped as stop:
            report, stopped = stop.report, stop.status
        except ChildTrouble as trouble:
            if trouble.usage:
                usage(str(trouble))
            errors.print(f"[red]harness fault:[/] {escape(str(trouble))}", soft_wrap=True)
            raise typer.Exit(3) from trouble
    _show(report)
    if json is not None:
        write(json, report.to_json())
    raise typer.Exit(stopped or report.exit_status)


@app.command()
def rules(
    json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> None:
    """List every rule of the catalogue."""
    if json:
        sys.stdout.buffer.write(msgspec.json.encode([_rule_data(rule) for rule in RULES.values()]) + b"\n")
        return
    table = Table("rule", "sentence", box=None, pad_edge=False)
    for rule in RULES.values():
        table.add_row(rule.id, escape(rule.sentence))
    console.print(table)


@app.command()
def imposters(
    name: Annotated[str | None, typer.Option(help="Only imposters whose name or bug id contains this.")] = None,
    seed: Annotated[int, typer.Option(help="Where the searches begin.")] = 0,
    alone: Annotated[
        bool, typer.Option("--alone", help="Try each again without the check that killed it (some minutes).")
    ] = False,
    kept: Annotated[bool, typer.Option("--kept", help="Show what the last campaign found, and try nothing.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the kills here as JSON.")] = None,
) -> None:
    """Try the suite itself on its imposters, the reference engine with one public bug each.

    Exit status: 0 all killed, 1 one lives, 2 usage.
    """
    from kvconformance import imposters as suite  # noqa: PLC0415 - no other command needs them

    chosen = [one.__name__ for one in suite.IMPOSTERS if name is None or name in f"{one.__name__} {one.bug}"]
    if not chosen:
        usage(f"no imposter is called {name!r}; `kvspec imposters` without --name lists them all")
    if kept and (alone or json is not None):
        usage("--kept shows what was found, and finds nothing: it goes with --name alone")
    require_writable(json)
    if kept:
        known = suite.read_kills(shipped("kvconformance", "imposters.json"))
        wide.print(suite.kill_table([kill for kill in known.imposters if kill.name in chosen]))
        console.print(f"\n{known.made}")
        raise typer.Exit
    with _progress() as bar:
        task = bar.add_task("imposters", total=len(chosen))
        kills = suite.run_all(
            chosen, seed, lambda kill: bar.update(task, advance=1, description=kill.name), alone=alone
        )
    wide.print(suite.kill_table(kills))
    console.print("\n" + suite.summary(kills, seed), soft_wrap=True)
    if json is not None:
        write(json, suite.to_json(kills))
    raise typer.Exit(0 if all(kill.killed for kill in kills) else 1)


app.command()(explain)
app.command()(explore)
app.command()(prove)


traces.register(app)


class Watch:
    """Shows how a check is going."""

    def __init__(self, bar: Progress, engine: str) -> None:
        self.bar = bar
        self.tasks: dict[Surface, TaskID] = {}
        self.loading = bar.add_task(f"importing {engine}", total=None)

    def loaded(self, name: str, version: str) -> None:
        """The engine is there."""
        self.bar.remove_task(self.loading)
        console.print(escape(f"{name} {version}"))

    def told(self, surface: Surface, done: int, wanted: int, broken: list[str]) -> None:
        """So many examples are done."""
        if surface not in self.tasks:
            self.tasks[surface] = self.bar.add_task(surface.value, total=wanted)
        said = f"{surface.value}  {done} examples" + (f", broken: {len(broken)}" if broken else "")
        self.bar.update(self.tasks[surface], completed=done, total=wanted, description=said)


def _progress() -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
    )


def _plan(examples: int | None, seed: int, rule: list[str] | None, patience: float) -> Plan:
    chosen = frozenset(_rule(text) for text in rule) if rule else None
    if examples is None:
        return Plan(seed=seed, seconds=DEFAULT_SECONDS, rules=chosen, patience=patience)
    seconds = max(60.0, examples * 3600.0)
    return Plan(examples=examples, seed=seed, seconds=seconds, rules=chosen, patience=patience)


def _show(report: Report) -> None:
    for found in report.findings:
        console.print()
        console.print(escape(found.text()), soft_wrap=True)
    console.print()
    table = Table("verdict", "rule", "exercised", "", box=None, pad_edge=False)
    for line in report.rules:
        if line.verdict is not Verdict.NOT_CLAIMED:
            table.add_row(_coloured(line.verdict), line.rule.id, str(line.exercised), escape(line.why))
    console.print(table)
    _seldom(report)
    _summary(report)


def _seldom(report: Report) -> None:
    """Which claimed rules a search says little about; one history says little about any."""
    searched = {result.surface for result in report.results if result.examples > 1 and not result.covered}
    told = [
        f"{each.rule.id} ({each.exercised} on the {each.surface.value})"
        for each in report.seldom
        if each.surface in searched
    ]
    if told:
        console.print(
            f"\nPut to the test fewer than {OFTEN} times: {', '.join(told)}. --examples tries more.", soft_wrap=True
        )


def _summary(report: Report) -> None:
    counts = {verdict: len(report.with_verdict(verdict)) for verdict in Verdict}
    tried = ", ".join(f"{r.examples} examples on the {r.surface.value}" for r in report.results)
    console.print(
        f"\n{report.engine} {report.engine_version}: {counts[Verdict.BROKEN]} broken, {counts[Verdict.HELD]} held, "
        f"{counts[Verdict.NOT_REACHED]} not reached, {counts[Verdict.NOT_CLAIMED]} not claimed; {tried}, "
        f"seed {report.seed}",
        soft_wrap=True,
    )
    if report.fault:
        errors.print(f"[red]harness fault:[/] {escape(report.fault)}", soft_wrap=True)


def _coloured(verdict: Verdict) -> str:
    colour = {Verdict.HELD: "green", Verdict.BROKEN: "red", Verdict.HARNESS_FAULT: "magenta"}.get(verdict, "yellow")
    return f"[{colour}]{verdict.value}[/]"


def _surface(text: str) -> Surface:
    try:
        return named(text)
    except ValueError as error:
        usage(str(error))


def _rule(text: str) -> Rule:
    try:
        return find(text)
    except KeyError as error:
        usage(str(error.args[0]))


def _history(text: str | None, surfaces: list[Surface] | None) -> History | None:
    if text is None:
        return None
    if not surfaces or len(surfaces) != 1:
        usage("--history needs the one --surface on which it was found")
    try:
        return kind_of(surfaces[0]).read(text)
    except ValueError as error:
        usage(str(error))


def _rule_data(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "sentence": rule.sentence,
        "profile": rule.profile,
        "surfaces": [surface.value for surface in rule.surfaces],
        "implies": [other.id for other in rule.implies],
        "sources": list(rule.sources),
        "checked": rule.checked,
    }


exhaust.register(app, _progress, Watch, _show)

__all__ = ["RuleReport", "app", "main"]

if __name__ == "__main__":
    main()
