"""Trace files: what is written is read back, the page tells all of it, a stranger's file never ends in a traceback."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import kvspec
from kvconformance.cli import app
from kvconformance.history import History
from kvconformance.search.trial import play
from kvconformance.surfaces.registry import histories
from kvconformance.traces import (
    Header,
    Judgement,
    TraceError,
    files,
    judge,
    judge_file,
    open_trace,
    wire,
    write_trace,
)
from kvconformance.traces.chronicle import wrong_event
from kvconformance.traces.files import LONGEST_LINE, MOST_SLOTS, Declared
from kvconformance.traces.judging import Answer
from kvreference.publishing import PublishingPool, PublishingStepper
from kvrefine.refinement import ComputeSomewhere, Evictions, Observed, OneOf, StartSomewhere
from kvspec import Capabilities, KeyParts, Media, Request, Tally, World, rules
from kvspec import events as ev
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored
from kvspec.vocabulary import Surface
from tests.spec.test_any_events import anything

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "conformance" / "TRACES.md").read_text("utf-8")
HEADER = Header.of(World(num_blocks=4, block_size=2, token_budget=4, max_running=2), Capabilities())
FIRST = msgspec.json.encode(HEADER)
ADD = b'{"event":"Add","request":{"id":"A","prompt":[0,1,0],"max_new_tokens":2}}'
START = b'{"event":"Start","request":"A"}'


# Writing and reading.

keys = st.one_of(st.binary(max_size=40), st.integers(-(2**63), 2**64), st.text(max_size=9))
media = st.lists(st.builds(Media, st.text(max_size=4), st.integers(0, 9), st.integers(1, 3)), max_size=2).map(tuple)
parts = st.builds(
    KeyParts, st.none() | st.text(max_size=4), st.none() | st.text(max_size=4), st.just(1), st.just(2), media
)
messages = st.one_of(
    st.builds(
        BlockStored,
        st.lists(keys, max_size=2).map(tuple),
        st.none() | keys,
        st.lists(st.integers(0, 9), max_size=3).map(tuple),
        st.integers(1, 4),
        parts,
    ),
    st.builds(BlockRemoved, st.lists(keys, max_size=2).map(tuple), st.text(max_size=5)),
    st.just(AllBlocksCleared()),
)
everything = st.one_of(
    anything,
    st.builds(ev.Observe, published=st.lists(messages, max_size=3).map(tuple)),
    st.builds(ev.Add, st.builds(Request, st.just("A"), st.just((0, 1)), parts=parts)),
    st.builds(Evictions, st.integers(0, 5)),
    st.builds(StartSomewhere, st.just("A"), st.integers(-1, 5)),
    st.builds(ComputeSomewhere, st.just("A"), st.integers(-1, 5), st.integers(-1, 5)),
    st.lists(st.lists(anything, max_size=2).map(tuple), min_size=1, max_size=2)
    .filter(lambda courses: not any(isinstance(event, ev.Observe) for course in courses for event in course))
    .map(lambda courses: OneOf(tuple(courses))),
)


@settings(max_examples=600)
@given(everything)
def test_what_is_written_is_read_back(event: Observed) -> None:
    line = wire.encode(event)
    assert b"\n" not in line
    assert wire.decode(line) == event


@settings(max_examples=25)
@given(histories(Surface.STEPPER, PublishingStepper.capabilities), histories(Surface.POOL, PublishingPool.capabilities))
def test_what_an_engine_does_is_read_back(stepped: History, pooled: History) -> None:
    for factory, surface, history in (
        (PublishingStepper, Surface.STEPPER, stepped),
        (PublishingPool, Surface.POOL, pooled),
    ):
        trial = play(factory, factory.capabilities, surface, history, Tally())
        events = [event for event in trial.checker.events if isinstance(event, Observed)]
        assert [wire.decode(wire.encode(event)) for event in events] == events
        header = Header.of(trial.checker.state.world, trial.checker.state.capabilities)
        again = msgspec.json.decode(msgspec.json.encode(header), type=Header)
        assert again == header
        assert again.built()[0] == trial.checker.state.world


def test_a_trace_holds_every_capability_that_the_specification_asks_for() -> None:
    folder = Path(kvspec.__file__).parent
    sources = [p.read_text("utf-8") for p in (*folder.glob("*.py"), *folder.glob("transition/*.py"))]
    asked = {name for source in sources for name in re.findall(r"capabilities\.([a-z_]+)", source)}
    assert asked <= set(Declared.__struct_fields__)


# The page.


def test_the_page_has_every_event_with_every_field() -> None:
    for event in wire.EVENTS:
        row = next((line for line in PAGE.splitlines() if line.startswith(f"| `{event.__name__}` |")), None)
        assert row is not None, event.__name__
        for field in fields(event):
            assert f"`{field.name}`" in row, f"{event.__name__}.{field.name}"


@pytest.mark.parametrize(
    "record", [Request, KeyParts, Media, BlockStored, BlockRemoved], ids=lambda record: record.__name__
)
def test_the_page_has_every_field_of_what_events_hold(record: type) -> None:
    assert all(f"`{field.name}`" in PAGE for field in fields(record))  # type: ignore[arg-type]


def test_the_page_has_the_header() -> None:
    for struct in (Header, Declared, type(HEADER.world)):
        assert all(f"`{name}`" in PAGE for name in struct.__struct_fields__)


def test_the_example_of_the_page_is_all_allowed(tmp_path: Path) -> None:
    example = PAGE.split("```jsonl\n")[1].split("```")[0]
    path = tmp_path / "example.jsonl"
    path.write_text(example)
    done = replay(path)
    assert done.exit_code == 0, done.output
    assert f"{len(example.splitlines()) - 1} events, all allowed" in done.output
    path.write_text(example.replace('"start":3,"count":1,"table":[1,2]', '"start":3,"count":1,"table":[1,3]'))
    assert replay(path).exit_code == 1


AHEAD = b"""\
{"event":"Add","request":{"id":"A","prompt":[0,1,0],"max_new_tokens":4,"stops":[7]}}
{"event":"Start","request":"A"}
{"event":"Compute","request":"A","start":0,"count":3,"table":[0,1]}
{"event":"Dispatch","step":0}
{"event":"EndStep"}
{"event":"Sample","request":"A","token":7}
{"event":"Waste","request":"A","count":1,"table":[0,1]}
{"event":"Dispatch","step":1}
{"event":"EndStep"}
{"event":"Complete","step":0}
{"event":"Finish","request":"A"}
{"event":"Add","request":{"id":"B","prompt":[1,1]}}
{"event":"Start","request":"B"}
{"event":"Compute","request":"B","start":0,"count":2,"table":[1]}
{"event":"Dispatch","step":2}
{"event":"EndStep"}
{"event":"Complete","step":1}
{"event":"Complete","step":2}
{"event":"Preempt","request":"B","between":true}
{"event":"Start","request":"B"}
{"event":"Compute","request":"B","start":0,"count":2,"table":[2]}
{"event":"EndStep"}
{"event":"Sample","request":"B","token":5}
{"event":"Finish","request":"B"}
{"event":"Observe","free":4}
"""
"""A stops in the first step, and the second was planned before that was known; B begins in a block of the second."""


def test_a_trace_of_an_engine_that_plans_ahead_is_written_read_and_judged(tmp_path: Path) -> None:
    ordered = msgspec.structs.replace(HEADER, capabilities=Declared(orders_steps=True))
    events = [wire.decode(line) for line in AHEAD.splitlines()]
    assert write_trace(tmp_path / "t.jsonl", ordered, events) == 25
    first, *lines = (tmp_path / "t.jsonl").read_bytes().splitlines()
    assert [wire.decode(line) for line in lines] == events
    done = replay(tmp_path / "t.jsonl")
    assert done.exit_code == 0 and "25 events, all allowed" in done.output
    for header, told, rule in (
        (first, AHEAD.replace(b',"stops":[7]', b""), "sched/chunk-independence"),
        (first, AHEAD.replace(b',"between":true', b""), "sched/one-queue"),
        (first, AHEAD.replace(b'{"event":"Waste"', b'{"event":"Compute","start":4'), "sched/chunk-independence"),
        (FIRST, AHEAD, "alloc/in-flight-fence"),
    ):
        done = replay(written(tmp_path / "wrong.jsonl", header, told))
        assert done.exit_code == 1 and rule in done.output


def test_a_wasted_step_names_its_blocks(tmp_path: Path) -> None:
    nameless = FIRST[:-1] + b',"nameless":true}'
    done = replay(
        written(tmp_path / "t.jsonl", nameless, ADD, START, b'{"event":"Waste","request":"A","count":1,"table":[]}')
    )
    assert done.exit_code == 2 and "line 4: Waste names a block in a trace that is nameless" in done.output


# Hostile files.


def replay(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["replay", str(path), *arguments])


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


OPTION = FIRST.replace(b'"max_running":2', b'"max_running":2,"options":{"max_model_len":%s}')
DEEP = b'{"event":"Add","request":' + b'{"id":' * 100_000
HOSTILE: dict[str, tuple[Sequence[bytes], str]] = {
    "an empty file": ((), "line 1: empty"),
    "an empty first line": ((b"",), "line 1: empty"),
    "no header": ((ADD,), "line 1: no header of a kvspec trace"),
    "another format": (
        (b'{"format":"x","version":1,"world":{"num_blocks":1,"block_size":1}}',),
        "Invalid enum value 'x'",
    ),
    "another version": ((FIRST.replace(b'"version":1', b'"version":2'),), "Invalid enum value 2"),
    "a world that fills the memory": ((FIRST.replace(b'"num_blocks":4', b'"num_blocks":99999999999'),), "slots"),
    "an unknown capability": ((FIRST.replace(b"max_running", b"max_runing"),), "unknown field `max_runing`"),
    "a reserved block that does not exist": (
        (FIRST[:-1] + b',"capabilities":{"reserved_blocks":[9]}}',),
        "the reserved block 9 is none of 4",
    ),
    "a preemption of another kind": (
        (FIRST.replace(b'"max_running":2', b'"max_running":2,"preemption":"pray"'),),
        "line 1: no header of a kvspec trace: Invalid enum value 'pray'",
    ),
    "a longest request in words": ((OPTION % b'"abc"',), "line 1: max_model_len is 'abc'"),
    "a longest request below nothing": ((OPTION % b"-3",), "line 1: max_model_len is -3"),
    "a longest request that is true": ((OPTION % b"true",), "line 1: max_model_len is True"),
    "blocks that are all reserved": (
        (FIRST[:-1] + b',"capabilities":{"reserved_blocks":[0,1,2,3,3]}}', ADD),
        "line 1: all 4 blocks are reserved",
    ),
    "an empty prompt": ((FIRST, ADD.replace(b"[0,1,0]", b"[]")), "line 2: request A has an empty prompt"),
    "an empty prompt in a choice": (
        (FIRST, b'{"event":"OneOf","courses":[[],[' + ADD.replace(b"[0,1,0]", b"[]") + b"]]}"),
        "line 2: request A has an empty prompt",
    ),
    "an empty prompt of a child": (
        (FIRST, ADD, b'{"event":"Fork","parent":"A","child":{"id":"B","prompt":[]},"table":[]}'),
        "line 3: request B has an empty prompt",
    ),
    "fewer new tokens than none": (
        (FIRST, ADD.replace(b'tokens":2', b'tokens":-2')),
        "line 2: request A asks for -2 new tokens",
    ),
    "an empty line": ((FIRST, b"", ADD), "line 2: empty"),
    "bytes": ((FIRST, bytes(range(256)).replace(b"\n", b"")), "line 2: no event"),
    "a pickle": ((FIRST, b"\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00"), "line 2: no event"),
    "text that is no UTF-8": ((FIRST, ADD.replace(b'"A"', b'"\xff"')), "line 2: no event"),
    "a line cut short": ((FIRST, ADD[:30]), "line 2: no event"),
    "an unknown event": ((FIRST, b'{"event":"Explode"}'), "line 2: no event: Invalid value 'Explode'"),
    "no event": ((FIRST, b"[1,2,3]"), "line 2: no event: Expected `object`, got `array`"),
    "a word for a number": ((FIRST, ADD, b'{"event":"Start","request":"A","hit":"two"}'), "line 3: no event"),
    "a fraction": ((FIRST, ADD, b'{"event":"Start","request":"A","hit":0.5}'), "line 3: no event"),
    "a huge number": ((FIRST, ADD, b'{"event":"Start","request":"A","hit":1' + b"0" * 400 + b"}"), "line 3: no event"),
    "a misspelt field": ((FIRST, ADD.replace(b"max_new", b"most_new")), "unknown field `most_new_tokens`"),
    "a field that is missing": ((FIRST, b'{"event":"Start"}'), "missing required field `request`"),
    "deep nesting": ((FIRST, DEEP), "line 2: no event"),
    "deep nesting of lists": ((FIRST, b'{"event":"Compute","table":' + b"[" * 100_000), "line 2: no event"),
    "deep nesting of a header": ((b'{"format":"kvspec trace","x":' + b"[" * 100_000,), "line 1: no header"),
    "a giant line": ((FIRST, b" " * (LONGEST_LINE + 1)), f"line 2: longer than {LONGEST_LINE} bytes"),
    "a giant name": ((FIRST, ADD.replace(b'"A"', b'"' + b"A" * 10_000 + b'"')), "line 2: no event"),
    "a key that is no bytes": (
        (FIRST, b'{"event":"Observe","published":[{"message":"BlockRemoved","keys":[{"hex":"-f"}]}]}'),
        "line 2: no event",
    ),
    "a course that is an observation": (
        (FIRST, b'{"event":"OneOf","courses":[[{"event":"Observe"}]]}'),
        "line 2: no event",
    ),
    "a block in a trace without names": (
        (FIRST[:-1] + b',"nameless":true}', ADD, START, b'{"event":"Observe","keyed":[]}'),
        "line 4: Observe names a block in a trace that is nameless",
    ),
    "a request that nobody added": ((FIRST, START), "line 2: an event names request A, which was never added"),
    "one name for two requests": ((FIRST, ADD, ADD), "line 3: request A is added twice"),
    "a transfer that did not begin": ((FIRST, b'{"event":"TransferDone","transfer":1}'), "line 2: transfer 1 is done"),
    "a step that was not dispatched": ((FIRST, b'{"event":"Complete","step":0}'), "line 2: step 0 completes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_trace_gets_one_clear_line_and_status_2(name: str, tmp_path: Path) -> None:
    lines, says = HOSTILE[name]
    done = replay(written(tmp_path / "t.jsonl", *lines))
    assert done.exit_code == 2, done.output
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert isinstance(done.exception, SystemExit)


def test_a_file_cut_in_the_middle_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(FIRST + b"\n" + ADD + b"\n" + START[:12])
    assert "the file ends within this line" in replay(path).output


@pytest.mark.parametrize("path", ["/nowhere/t.jsonl", "/"])
def test_a_file_that_cannot_be_read(path: str) -> None:
    done = replay(Path(path))
    assert done.exit_code == 2
    assert "cannot read" in done.output


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b'{"event":"Compute","request":"A","start":0,"count":3,"table":[-1,0]}', rules.NO_DANGLING_REFERENCE),
        (
            b'{"event":"Compute","request":"A","start":0,"count":3,"table":[9007199254740991,0]}',
            rules.NO_DANGLING_REFERENCE,
        ),
        (b'{"event":"Compute","request":"A","start":0,"count":3,"table":[0,0]}', rules.CONSERVATION),
        (b'{"event":"Compute","request":"A","start":0,"count":-3,"table":[]}', rules.STEP_BUDGET),
        (
            b'{"event":"Compute","request":"A","start":0,"count":1,"table":[0],"slots":[[0,-1]]}',
            rules.COVERAGE_AND_LIMIT,
        ),
        (b'{"event":"Observe","refs":{"7":1}}', rules.NO_DANGLING_REFERENCE),
    ],
)
def test_numbers_that_name_nothing_are_wrong_events(line: bytes, rule: rules.Rule, tmp_path: Path) -> None:
    judgement = judge_file(written(tmp_path / "t.jsonl", FIRST, ADD, START, line))
    assert judgement.refuted is not None
    assert (judgement.refuted.rule, judgement.line) == (rule, 4)
    assert replay(tmp_path / "t.jsonl").exit_code == 1


@settings(max_examples=300)
@given(
    st.lists(st.one_of(st.sampled_from([ADD, START, b'{"event":"EndStep"}']), everything.map(wire.encode)), max_size=6)
)
def test_whatever_events_a_file_has_it_is_judged(lines: list[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            judgement: Judgement = judge_file(written(Path(folder) / "t.jsonl", FIRST, ADD, *lines), 50)
        except TraceError as error:
            assert error.line > 2
        else:
            assert judgement.answer in Answer


# The story.

WRONG: tuple[Observed, ...] = (
    ev.Add(Request("A", (0, 1, 0), 2)),  # type: ignore[arg-type]
    ev.Start("A"),  # type: ignore[arg-type]
    ev.Compute("A", 0, 3, (0, 1)),  # type: ignore[arg-type]
    ev.EndStep(),
    ev.Abort("A"),  # type: ignore[arg-type]
    ev.Add(Request("B", (1, 1), 2)),  # type: ignore[arg-type]
    ev.Start("B"),  # type: ignore[arg-type]
    ev.Compute("B", 0, 2, (0,)),  # type: ignore[arg-type]
    ev.EndStep(),
    ev.Add(Request("C", (0, 1, 1), 2)),  # type: ignore[arg-type]
    ev.Start("C", 2, (0,)),  # type: ignore[arg-type]
)
"""B overwrites the block in which A's tokens were cached, and C hits it nevertheless."""


def test_a_wrong_event_is_told_with_the_story_of_its_request_and_block(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    assert write_trace(path, HEADER, WRONG) == len(WRONG)
    done = replay(path)
    assert done.exit_code == 1
    for text in (
        "✗ prefix/content-matches-key                   broken in line 12",
        "seen      C hits block 0, which holds (1 1) of B",
        "the story of C",
        "line 11    C [0 1 1] up to 2 new",
        "the story of block 0",
        "line 4     A computes positions 0-2 in blocks 0 1",
        "line 6     A ends",
        "line 9     B computes positions 0-1 in block 0",
        "block 0: [B's 0-1: 1 1 (step 1)]  held by B",
        "11 events, broken",
    ):
        assert text in done.output, done.output
    assert "line 5 " not in done.output


def test_a_wrong_event_as_json(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_trace(path, HEADER, WRONG)
    done = CliRunner().invoke(app, ["replay", str(path), "--json"])
    told = json.loads(done.stdout)
    assert told["answer"] == "broken"
    assert told["events"] == len(WRONG)
    assert (told["wrong"]["line"], told["wrong"]["request"], told["wrong"]["block"]) == (12, "C", 0)
    assert any("B computes" in line for line in told["wrong"]["block_story"])
    assert told["exercised"]["prefix/content-matches-key"] == 1


def test_long_stories_are_cut(tmp_path: Path) -> None:
    steps = [
        event
        for p in range(30)
        for event in (ev.Compute("A", 3 + p, 1, tuple(range((5 + p) // 2))), ev.EndStep(), ev.Sample("A", 0))
    ]  # type: ignore[arg-type]
    begun = (
        ev.Add(Request("A", (0, 1, 0), 60)),
        ev.Start("A"),
        ev.Compute("A", 0, 3, (0, 1)),
        ev.EndStep(),
        ev.Sample("A", 0),
    )  # type: ignore[arg-type]
    path = tmp_path / "t.jsonl"
    write_trace(path, Header.of(World(40, 2), Capabilities()), (*begun, *steps, ev.Sample("A", 0)))  # type: ignore[arg-type]
    done = replay(path)
    assert done.exit_code == 1, done.output
    assert re.search(r"\(\d+ earlier events\)", done.output)


def test_a_trace_without_events_is_nothing_to_judge(tmp_path: Path) -> None:
    done = replay(written(tmp_path / "t.jsonl", FIRST))
    assert done.exit_code == 3
    assert "0 events, nothing to judge" in done.output
    assert json.loads(replay(tmp_path / "t.jsonl", "--json").stdout)["answer"] == "nothing to judge"


def test_a_log_of_many_blocks_without_names_is_judged_soon(tmp_path: Path) -> None:
    header = msgspec.structs.replace(Header.of(World(200, 16, 200), Capabilities()), nameless=True)
    add = ev.Add(Request("A", (1,) * 160, 2))  # type: ignore[arg-type]
    write_trace(tmp_path / "t.jsonl", header, (add, StartSomewhere("A"), ComputeSomewhere("A", 0, 160)))  # type: ignore[arg-type]
    done = replay(tmp_path / "t.jsonl")
    assert done.exit_code == 0, done.output


def test_hidden_choices_are_followed_and_told(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    hidden = (*WRONG[:2], ComputeSomewhere("A", 0, 3), ev.EndStep())  # type: ignore[arg-type]
    write_trace(path, HEADER, hidden)
    done = replay(path)
    assert done.exit_code == 0
    assert "at most 12 compatible states" in done.output
    assert replay(path, "--states", "11").output.count("not decided") == 1
    assert replay(path, "--states", "11").exit_code == 3
    write_trace(path, HEADER, (*hidden, ev.Observe(free=3)))
    done = replay(path)
    assert done.exit_code == 1
    assert "none of 12 compatible states allows it" in done.output


NAMELESS: tuple[Observed, ...] = (
    ev.Add(Request("A", (0, 1, 0), 2)),  # type: ignore[arg-type]
    StartSomewhere("A"),  # type: ignore[arg-type]
    ComputeSomewhere("A", 0, 3),  # type: ignore[arg-type]
    ev.EndStep(),
    ev.Observe(free=2),
    ev.Add(Request("B", (0, 1, 1), 2)),  # type: ignore[arg-type]
    StartSomewhere("B", 2),  # type: ignore[arg-type]
)


def test_a_log_without_any_block_id_is_judged(tmp_path: Path) -> None:
    path, header = tmp_path / "t.jsonl", msgspec.structs.replace(HEADER, nameless=True)
    write_trace(path, header, (*NAMELESS, ComputeSomewhere("B", 2, 1), ev.Observe(free=1)))  # type: ignore[arg-type]
    done = replay(path)
    assert done.exit_code == 0, done.output
    assert "at most 1 compatible states" in done.output
    write_trace(path, header, (*NAMELESS, ComputeSomewhere("B", 2, 1), ev.Observe(free=0)))  # type: ignore[arg-type]
    done = replay(path)
    assert done.exit_code == 1
    assert "1 free" in done.output


def test_a_trace_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    with open_trace(written(tmp_path / "t.jsonl", FIRST, ADD, b"nonsense")) as trace:
        assert next(trace.events)[0] == 2
        with pytest.raises(TraceError, match="line 3"):
            next(trace.events)


# Size.


def test_blocks_that_nothing_touches_cost_nothing(tmp_path: Path) -> None:
    """4 M blocks: an object for each took 1.9 GB."""
    world = World(MOST_SLOTS, 1)
    asks = ev.Add(Request("A", (1,)))  # type: ignore[arg-type]
    lines = (asks, ev.Start("A"), ev.Compute("A", 0, 1, (7,)), ev.EndStep(), ev.Reset(True), ev.EndStep())  # type: ignore[arg-type]
    write_trace(tmp_path / "t.jsonl", Header.of(world, Capabilities()), lines)
    judgement = judge_file(tmp_path / "t.jsonl")
    assert judgement.refuted is not None and (judgement.line, judgement.refuted.rule) == (7, rules.PROGRESS_OR_REJECT)
    state = judgement.refuted.state
    assert len({id(block) for block in state.blocks}) == 2


def test_of_a_large_world_fewer_states_are_followed(tmp_path: Path) -> None:
    header = Header.of(World(MOST_SLOTS // 16, 1), Capabilities())
    asks = ev.Add(Request("A", (1,) * 60))  # type: ignore[arg-type]
    write_trace(tmp_path / "t.jsonl", header, (asks, StartSomewhere("A"), ComputeSomewhere("A", 0, 60)))  # type: ignore[arg-type]
    judgement = judge_file(tmp_path / "t.jsonl")
    assert (judgement.answer, judgement.widest) == (Answer.UNDECIDED, 32)


# Terminals.

OBEYED = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x7f\u202e\n\U000e0001"
"""A title, an empty screen, red, the beginning of the line, a deletion, from right to left, a line, a tag."""


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_no_name_in_a_trace_is_obeyed_by_a_terminal(arguments: tuple[str, ...], tmp_path: Path) -> None:
    header = msgspec.structs.replace(HEADER, engine=f"e{OBEYED}", engine_version=OBEYED, command=OBEYED)
    name = f"A{OBEYED}"
    wrong = (ev.Add(Request(name, (0, 1))), ev.Start(name, 99))  # type: ignore[arg-type]
    write_trace(tmp_path / "t.jsonl", header, wrong)
    done = replay(tmp_path / "t.jsonl", *arguments)
    assert done.exit_code == 1, done.output
    assert all(one.isprintable() or one == "\n" for one in done.output)
    assert not any(line.startswith("\\udb40") for line in done.output.splitlines())
    if arguments:
        told = json.loads(done.output)
        assert (told["trace"]["engine"], told["wrong"]["request"]) == (f"e{OBEYED}", name)
    else:
        assert "A\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\r\\u007f\\u202e\\n\\udb40\\udc01 hits" in done.output


def test_no_field_in_a_trace_is_obeyed_by_a_terminal(tmp_path: Path) -> None:
    field = json.dumps(OBEYED).encode()
    done = replay(written(tmp_path / "t.jsonl", FIRST, b'{"event":"EndStep",' + field + b":1}"))
    assert done.exit_code == 2
    assert all(one.isprintable() for one in done.output.rstrip("\n"))


# Pipes.


def piped(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["replay", "-", *arguments], input=path.read_bytes())


def from_pipe(data: bytes, shell: str) -> subprocess.CompletedProcess[str]:
    """What a shell gives for `shell`, in which `kvspec` is this one and standard input is a pipe with the data."""
    command = f'kvspec() {{ "{sys.executable}" -m kvconformance.cli "$@"; }}; {shell}'
    done = subprocess.run(["/bin/bash", "-c", command], input=data, capture_output=True, check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("shell", ["kvspec replay -", "kvspec replay /dev/stdin", "kvspec replay <(cat)"])
def test_a_pipe_is_judged_like_a_file(shell: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_trace(path, HEADER, WRONG)
    done = from_pipe(path.read_bytes(), shell)
    assert done.returncode == 1, done.stderr
    told, plain = (re.sub(r"\d+ events/s", "", text) for text in (done.stdout, replay(path).output))
    assert told == plain


def test_what_stands_before_the_header_in_a_file_on_standard_input_was_read_by_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_trace(path, HEADER, WRONG)
    path.write_bytes(b"a line of another program\n" + path.read_bytes())
    done = from_pipe(b"", f"{{ read -r; kvspec replay -; }} < {path}")
    assert done.returncode == 1, done.stderr
    assert "line 11    C [0 1 1] up to 2 new" in done.stdout


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pipe_that_is_no_trace_gets_one_clear_line_and_status_2(name: str, tmp_path: Path) -> None:
    lines, says = HOSTILE[name]
    done = piped(written(tmp_path / "t.jsonl", *lines))
    assert done.exit_code == 2, done.output
    assert says in done.output
    assert done.output.startswith("kvspec: standard input: ")


class Pipe(io.BytesIO):
    """Bytes that come once."""

    def seekable(self) -> bool:
        return False

    def seek(self, offset: int, whence: int = 0) -> int:
        raise io.UnsupportedOperation

    tell = seek  # type: ignore[assignment]


def test_of_a_pipe_so_much_is_kept_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_trace(tmp_path / "t.jsonl", HEADER, WRONG)
    data = (tmp_path / "t.jsonl").read_bytes()
    for most, told in ((len(data), "line 11    C [0 1 1]"), (len(data) - 1, "not told: more came through a pipe")):
        monkeypatch.setattr(files, "MOST_KEPT", most)
        with open_trace(Pipe(data)) as trace:
            judgement = judge(trace.header.begin(), trace.events)
            assert judgement.refuted is not None and judgement.line == 12
            assert told in wrong_event(trace.header, trace.again(), judgement).text()
