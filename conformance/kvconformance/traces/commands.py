"""The commands `kvspec record`, `kvspec replay` and `kvspec refine`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from kvconformance.adapters import NotAnAdapter, load
from kvconformance.surfaces import Engine
from kvconformance.traces.chronicle import wrong_event
from kvconformance.traces.files import Header, TraceError, open_trace, write_trace
from kvconformance.traces.judging import Answer, Judgement, judge_file
from kvconformance.traces.recording import record as record_events
from kvconformance.traces.refining import Refinement, refine_engine
from kvspec.refinement import MOST_STATES
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Surface

USAGE, FAULT = 2, 3
STATUS = {Answer.ALLOWED: 0, Answer.BROKEN: 1, Answer.UNDECIDED: FAULT}

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

EngineName = Annotated[str, typer.Argument(help="A Stepper or Pool engine, or your own as module:object.")]
SurfaceName = Annotated[str | None, typer.Option(help="stepper or pool; without it, the stepper if there is one.")]
Seed = Annotated[int, typer.Option(help="Where the traffic begins; the same seed gives the same traffic.")]
States = Annotated[int, typer.Option(min=1, help="Most compatible states to follow where choices are hidden.")]
File = Annotated[Path, typer.Argument(help="A trace: JSON lines, as conformance/TRACES.md describes them.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `kvspec`."""
    for command in (record, replay, refine):
        app.command()(command)


def record(
    engine: EngineName,
    file: File,
    surface: SurfaceName = None,
    seed: Seed = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Most operations; without it, until all has left.")] = None,
) -> None:
    """Drive an engine through busy traffic and write what it did as a trace.

    Exit status: 0 written, 2 usage, 3 harness fault. Whether it was right is for `kvspec replay` to say.
    """
    loaded = _load(engine)
    chosen = _surface(loaded, surface)
    told = f"kvspec record {engine} --surface {chosen.value} --seed {seed}" + (f" --steps {steps}" if steps else "")
    try:
        recording = record_events(loaded, chosen, seed, steps, told)
        count = write_trace(file, recording.header, recording.events)
    except HarnessFault as fault:
        _stop(f"harness fault: {fault}", FAULT)
    except OSError as error:
        _stop(f"cannot write {file}: {error.strerror}", USAGE)
    console.print(escape(f"{loaded.name} {loaded.version}: {count} events written to {file}"))
    if recording.ended:
        console.print(escape(f"  the driver could not go on: {recording.ended}"))


def replay(
    file: File,
    json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
    states: States = MOST_STATES,
) -> None:
    """Judge a trace: all events allowed, or the first wrong one with the story of its request and its block.

    Exit status: 0 all allowed, 1 a wrong event, 2 not a trace, 3 not decided.
    """
    try:
        judgement = judge_file(file, states)
        header = open_trace(file).header
        wrong = wrong_event(header, open_trace(file).events, judgement) if judgement.refuted else None
    except TraceError as error:
        _stop(f"{file}: {error}", USAGE)
    if json:
        data = {"trace": _about(header), **_data(judgement), "wrong": wrong.as_data() if wrong else None}
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n")
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
) -> None:
    """Record an engine under busy traffic, then judge the recorded events alone.

    Exit status: 0 all allowed, 1 a wrong event, 2 usage, 3 not decided or harness fault.
    """
    loaded = _load(engine)
    try:
        outcome = refine_engine(loaded, _surface(loaded, surface), seed, events, states)
    except (HarnessFault, TraceError) as fault:
        _stop(f"harness fault: {fault}", FAULT)
    console.print(escape(_told(outcome, engine)))
    if json is not None:
        try:
            json.write_bytes(msgspec.json.format(msgspec.json.encode(outcome.as_data()), indent=2) + b"\n")
        except OSError as error:
            _stop(f"cannot write {json}: {error.strerror}", USAGE)
    raise typer.Exit(STATUS[outcome.answer])


def _told(outcome: Refinement, engine: str) -> str:
    """The outcome in words: each rule with its first wrong event, then one line of figures."""
    lines: list[str] = []
    for seed, wrong in outcome.wrong.values():
        again = f"kvspec record {engine} t.jsonl --surface {outcome.surface.value} --seed {seed}; kvspec replay t.jsonl"
        lines += [wrong.text(), "", f"  rerun   {again}", ""]
    return "\n".join([*lines, *outcome.lines()])


def _lines(header: Header, judgement: Judgement) -> list[str]:
    """What a replay says in the end."""
    said = f"{judgement.events} events, {judgement.answer.value}" + (f" ({judgement.why})" if judgement.why else "")
    rules = sorted(((rule.id, times) for rule, times in judgement.exercised.items()), key=lambda told: -told[1])
    return [
        f"{header.engine} {header.engine_version}, {header.surface}: {said}",
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


def _load(name: str) -> Engine:
    try:
        return load(name)
    except NotAnAdapter as error:
        _stop(str(error), USAGE)


def _surface(engine: Engine, text: str | None) -> Surface:
    able = [surface for surface in (Surface.STEPPER, Surface.POOL) if surface in engine.factories]
    chosen = next((surface for surface in able if text in {None, surface.value}), None)
    if chosen is None:
        has = ", ".join(surface.value for surface in engine.factories)
        _stop(f"{engine.name} has {has}; events are recorded from {text or 'a stepper or a pool'}", USAGE)
    return chosen


def _stop(text: str, status: int) -> NoReturn:
    """One clear line."""
    errors.print(f"[red]kvspec:[/] {escape(text)}")
    raise typer.Exit(status)
