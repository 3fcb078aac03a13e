"""The commands `kvspec record`, `kvspec replay` and `kvspec refine`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NoReturn

import msgspec
import typer
from rich.console import Console

from kvconformance.adapters import load
from kvconformance.search.isolate import ChildTrouble
from kvconformance.telling import output
from kvconformance.telling.output import escape, visible
from kvconformance.traces.apart import PATIENCE, Job
from kvconformance.traces.chronicle import wrong_event
from kvconformance.traces.files import Header, TraceError, open_trace
from kvconformance.traces.judging import Answer, Judgement, judge
from kvconformance.traces.refining import Refinement, read, refine_loaded
from kvrefine.refinement import MOST_STATES
from kvspec.violation import HarnessFault

FAULT = 3
STATUS = {Answer.ALLOWED: 0, Answer.BROKEN: 1, Answer.UNDECIDED: FAULT, Answer.NOTHING: FAULT}

console = Console(highlight=False, soft_wrap=True)

EngineName = Annotated[str, typer.Argument(help="A Stepper or Pool engine, or your own as module:object.")]
SurfaceName = Annotated[str | None, typer.Option(help="stepper or pool; without it, the stepper if there is one.")]
Seed = Annotated[int, typer.Option(help="Where the traffic begins; the same seed gives the same traffic.")]
States = Annotated[int, typer.Option(min=1, help="Most compatible states to follow where choices are hidden.")]
Patience = Annotated[float, typer.Option(min=0.1, help="Seconds without an event before it counts as a hang.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `kvspec`."""
    for command in (record, replay, refine):
        app.command()(command)


def record(
    engine: EngineName,
    file: Annotated[Path, typer.Argument(help="Where the trace is written, as conformance/TRACES.md describes it.")],
    surface: SurfaceName = None,
    seed: Seed = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Most operations; without it, until all has left.")] = None,
    patience: Patience = PATIENCE,
) -> None:
    """Drive an engine through busy traffic and write what it did as a trace.

    Exit status: 0 written, 1 written up to where the engine raised, hung or died, 2 usage, 3 harness fault. Whether
    the events are right is for `kvspec replay` to say.
    """
    output.require_writable(file, "FILE")
    limit = f" --steps {steps}" if steps else ""
    with TemporaryDirectory(prefix="kvspec-") as folder:
        job = Job(
            lambda: load(engine),
            surface,
            Path(folder),
            seed,
            steps=steps,
            patience=patience,
            command=lambda on, seed: f"kvspec record {engine} --surface {on.value} --seed {seed}{limit}",
        )
        try:
            about = job.run()
            count = len(read(job.written[0].path)[1])
        except (ChildTrouble, HarnessFault) as trouble:
            _give_up(trouble)
        written = job.written[0]
        output.write(file, written.path.read_bytes())
    console.print(escape(f"{about.name} {about.version}: {count} events written to {file}"))
    if (ending := written.ending) is None:
        return
    console.print(escape(f"  {'the driver could not go on' if ending.shown else 'the engine ended it'}: {ending}"))
    if not ending.shown:
        raise typer.Exit(STATUS[Answer.BROKEN])


def replay(
    file: Annotated[
        Path, typer.Argument(help="A trace: JSON lines, as conformance/TRACES.md has them; - is standard input.")
    ],
    json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
    states: States = MOST_STATES,
) -> None:
    """Judge a trace: all events allowed, or the first wrong one with the story of its request and its block.

    Exit status: 0 all allowed, 1 a wrong event, 2 not a trace, 3 not decided or nothing to judge.
    """
    piped = str(file) == "-"
    try:
        with open_trace(sys.stdin.buffer if piped else file) as trace:
            header, judgement = trace.header, judge(trace.header.begin(states), trace.events)
            wrong = wrong_event(header, trace.again(), judgement) if judgement.refuted else None
    except TraceError as error:
        output.usage(visible(f"{'standard input' if piped else file}: {error}"))
    if json:
        data = {"trace": _about(header), **_data(judgement), "wrong": wrong.as_data() if wrong else None}
        told = msgspec.json.format(msgspec.json.encode(data), indent=2).decode()
        sys.stdout.buffer.write(visible(told, "\n").encode() + b"\n")
    else:
        console.print(escape("\n".join([*([wrong.text(), ""] if wrong else []), *_lines(header, judgement)])))
    raise typer.Exit(STATUS[judgement.answer])


def refine(
    engine: EngineName,
    surface: SurfaceName = None,
    seed: Seed = 0,
    events: Annotated[int, typer.Option(min=1, help="Events to record before they are judged.")] = 20_000,
    states: States = MOST_STATES,
    json: Annotated[Path | None, typer.Option(help="Write the outcome here as JSON.")] = None,
    patience: Patience = PATIENCE,
) -> None:
    """Record an engine under busy traffic, then judge the recorded events alone.

    Exit status: 0 all allowed, 1 a wrong event or an engine that raises, hangs or dies, 2 usage, 3 not decided,
    nothing to judge or harness fault.
    """
    output.require_writable(json)
    try:
        outcome = refine_loaded(lambda: load(engine), surface, seed, events, states, patience)
    except (ChildTrouble, HarnessFault, TraceError) as trouble:
        _give_up(trouble)
    console.print(escape(_told(outcome, engine)))
    if json is not None:
        output.write(json, msgspec.json.format(msgspec.json.encode(outcome.as_data()), indent=2) + b"\n")
    raise typer.Exit(STATUS[outcome.answer])


def _told(outcome: Refinement, engine: str) -> str:
    """The outcome in words: each rule with its first wrong event, then one line of figures."""
    told = [(seed, wrong.text(), "; kvspec replay t.jsonl") for seed, wrong in outcome.wrong.values()]
    told += [(seed, text, "") for seed, text in outcome.told_endings()]
    lines: list[str] = []
    for seed, text, then in told:
        again = f"kvspec record {engine} t.jsonl --surface {outcome.surface.value} --seed {seed}{then}"
        lines += [text, "", f"  rerun   {again}", ""]
    return "\n".join([*lines, *outcome.lines()])


def _lines(header: Header, judgement: Judgement) -> list[str]:
    """What a replay says in the end."""
    said = f"{judgement.events} events, {judgement.answer.value}" + (f" ({judgement.why})" if judgement.why else "")
    rules = sorted(((rule.id, times) for rule, times in judgement.exercised.items()), key=lambda told: -told[1])
    return [
        visible(f"{header.engine} {header.engine_version}, {header.surface}: {said}"),
        f"  {judgement.events_per_second} events/s, {judgement.observations} observations among them; "
        f"at most {judgement.widest} compatible states",
        f"  {len(rules)} rules exercised: " + ", ".join(f"{id} {times}" for id, times in rules),
    ]


def _about(header: Header) -> dict[str, object]:
    return {name: getattr(header, name) for name in ("engine", "engine_version", "surface", "command", "world")}


def _data(judgement: Judgement) -> dict[str, object]:
    return {
        "answer": judgement.answer.value,
        "why": judgement.why or None,
        "events": judgement.events,
        "observations": judgement.observations,
        "events_per_second": judgement.events_per_second,
        "widest": judgement.widest,
        "exercised": {rule.id: times for rule, times in judgement.exercised.items()},
    }


def _give_up(trouble: Exception) -> NoReturn:
    """One clear line: the user named something wrong, or the adapter or we are at fault."""
    if getattr(trouble, "usage", False):
        output.usage(str(trouble))
    output.errors.print(f"[red]kvspec:[/] {escape(f'harness fault: {trouble}')}")
    raise typer.Exit(FAULT)
