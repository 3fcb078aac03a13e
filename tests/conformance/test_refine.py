"""Refinement of whole engines: the reference is allowed everything it did, each imposter is refuted by its rule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kvconformance.adapters import load
from kvconformance.cli import app
from kvconformance.history import Add, History
from kvconformance.imposters import IMPOSTERS
from kvconformance.imposters.registry import surface_of
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.stepper.operations import Step
from kvconformance.traces import judge, open_trace
from kvconformance.traces.judging import Answer, Judgement
from kvconformance.traces.recording import Run, record
from kvconformance.traces.refining import refine_engine, refine_loaded
from kvreference.scheduler import ReferenceStepper
from kvrefine.refinement import Observed, compatible
from kvspec import rules
from kvspec.plans import StepPlan
from kvspec.rules import RULES
from kvspec.violation import Tally
from kvspec.vocabulary import Surface, World
from tests.engines.test_small import KNOWN, MODULES


@pytest.mark.parametrize("surface", [Surface.STEPPER, Surface.POOL])
def test_the_reference_refines_the_specification(surface: Surface) -> None:
    outcome = refine_engine(load("reference"), surface, seed=100, events=2_500)
    assert outcome.answer is Answer.ALLOWED, outcome.wrong
    assert outcome.events >= 2_500
    assert outcome.widest == 1
    exercised = sum((one.exercised for one in outcome.judged), start=outcome.judged[0].exercised.copy())
    assert exercised[rules.CONTENT_MATCHES_KEY] and exercised[rules.COUNT_EQUALS_HOLDERS]
    if surface == Surface.STEPPER:
        assert exercised[rules.RESUME_EQUALS_UNINTERRUPTED]


def test_the_same_seed_records_the_same_events() -> None:
    engine = load("reference")
    assert record(engine, Surface.STEPPER, 3).events == record(engine, Surface.STEPPER, 3).events
    assert record(engine, Surface.STEPPER, 3).events != record(engine, Surface.STEPPER, 4).events


def test_steps_limit_the_operations() -> None:
    short, long = (record(load("reference"), Surface.STEPPER, 0, steps).events for steps in (5, 50))
    assert 0 < len(short) < len(long)


REFUTED = (
    "UnalignedTailCountedAsStored",
    "FirstTokenAfterResumeDropped",
    "ReassignedBlockKeepsOldKey",
    "SampledTokenPublishedUnverified",
    "AdapterNotInKey",
    "SaltNotInKey",
    "FailedStepStaysMatchable",
    "HitStoredAtRefusedAdmission",
    "ChainEvictedHeadFirst",
    "WholePromptHit",
    "SuffixWrittenOverThePrefix",
    "RemovedWithTheFirstCopy",
    "WatermarkReusesLivePage",
    "StrayFreeReleasesAgain",
    "StaleMappingFreesSlots",
    "VictimStillComputes",
    "SharedBlocksLeakOnFree",
    "HitTouchedBeforeCheck",
    "BlockClaimedOneTokenLate",
    "NegativeChunk",
    "ScanSlipsAtVictims",
    "LoadsWaitForTheQueueHead",
    "NewPromptsBeforeDecodes",
    "HitsDoNotRenew",
    "HitsOfChunksNotCounted",
)
"""Imposters that plain traffic meets, one for each rule."""


@pytest.mark.parametrize("name", REFUTED)
def test_an_imposter_is_refuted_by_its_rule_from_its_events_alone(name: str) -> None:
    imposter = next(one for one in IMPOSTERS if one.__name__ == name)
    surface = surface_of(imposter)
    outcome = refine_engine(Engine(name, "imposter", {surface: imposter}), surface, seed=0, events=2_500)
    assert outcome.answer is Answer.BROKEN
    assert any(RULES[rule].covers(imposter.broken_rule) for rule in outcome.wrong), list(outcome.wrong)


# Other engines.


def of_engine(name: str, package: str) -> Engine:
    pytest.importorskip(package)
    return load(name)


def test_vllm_refines_the_specification() -> None:
    outcome = refine_engine(of_engine("vllm", "vllm"), Surface.STEPPER, seed=0, events=4_000)
    assert outcome.answer is Answer.ALLOWED, outcome.wrong
    assert outcome.widest > 1


def test_what_a_victim_of_vllm_took_unseen_is_followed_and_not_waived() -> None:
    """B takes A's tail for its next token, C takes the block before it, and then B is preempted for D."""
    engine = of_engine("vllm", "vllm")
    adds = Add((1, 1, 1, 0, 0), 5), Add((1, 1, 1, 0, 0, 0), 5, priority=2), Add((0,), 4), Add((0, 0, 0, 1))
    operations = (adds[0], Step(), adds[1], Step(), Step(), *adds[2:], *(Step() for _ in range(6)))
    options = {"chunked_prefill": False, "long_prefill_token_threshold": 2, "watermark": 0.2}
    history = History(8, 3, operations, 9, policy="priority", options=options)
    followed, shown = judged(engine, history, hides_lost_takes=True), judged(engine, history, hides_lost_takes=False)
    assert followed.answer is Answer.ALLOWED
    assert followed.widest > 1
    assert shown.refuted is not None
    assert shown.refuted.rule is rules.CONTIGUOUS_CHAIN


def test_the_finding_in_vllm_is_refuted_though_unseen_takes_are_followed() -> None:
    """V is given the block that its last chunk would fill, is preempted in the same step, and resumes on that block."""
    engine = of_engine("vllm", "vllm")
    operations = (Add((0,) * 14, 2, priority=1), Step(), Add((1,) * 2, 3))
    options = {"long_prefill_token_threshold": 3}
    history = History(9, 2, operations, 8, 2, policy="priority", options=options)
    refuted = judged(engine, history).refuted
    assert refuted is not None
    assert refuted.rule is rules.PUBLISH_ONLY_COMPUTED


def judged(engine: Engine, history: History, **capabilities: bool) -> Judgement:
    """The events of one history, judged as those of an engine that declares these capabilities."""
    declared = engine.capabilities(Surface.STEPPER)
    trial = play(engine.factories[Surface.STEPPER], declared, Surface.STEPPER, history, Tally())
    events = [event for event in trial.checker.events if isinstance(event, Observed)]
    return judge(compatible(history.world(), replace(declared, **capabilities)), enumerate(events, 2))


def test_transformers_breaks_only_what_is_known() -> None:
    outcome = refine_engine(of_engine("transformers", "transformers"), Surface.STEPPER, seed=0, events=2_000)
    assert set(outcome.wrong) == {"sched/step-budget"}


def test_mini_infer_breaks_only_what_is_known() -> None:
    engine = of_engine("mini-infer", "mini_infer")
    stepped = refine_engine(engine, Surface.STEPPER, seed=0, events=300)
    assert set(stepped.wrong) == {"sched/step-budget", "prefix/shared-bytes-never-change"}
    assert "prefix/one-token-left" in refine_engine(engine, Surface.POOL, seed=0, events=400).wrong


SMALL = {
    ("smol-vllm", Surface.STEPPER): ({"alloc/coverage-and-limit", "sched/chunk-independence"}, 1_500),
    ("smol-vllm", Surface.POOL): ({"prefix/shared-bytes-never-change"}, 1_500),
    ("kvstream", Surface.STEPPER): ({"alloc/coverage-and-limit", "sched/one-queue"}, 1_500),
    ("kvstream", Surface.POOL): ({"alloc/fit-agrees-with-allocate", "prefix/one-token-left"}, 1_500),
    ("bllm", Surface.STEPPER): ({"sched/chunk-independence"}, 300),
}
"""What the traffic of small engines surely breaks, and in how many events."""


@pytest.mark.parametrize(
    ("name", "surface"),
    [pytest.param(*one, marks=pytest.mark.engine(one[0]), id=f"{one[0]} {one[1].value}") for one in SMALL],
)
def test_a_small_engine_breaks_only_what_is_known(name: str, surface: Surface) -> None:
    sure, events = SMALL[name, surface]
    outcome = refine_engine(of_engine(name, MODULES[name]), surface, seed=0, events=events)
    assert sure <= set(outcome.wrong) <= KNOWN[name]
    assert outcome.answer is Answer.BROKEN
    assert not outcome.endings


# Engines that raise, hang, die or make no sense.


class Unbuilt(ReferenceStepper):
    """Raises when it is built."""

    def __init__(self, world: World) -> None:
        raise RuntimeError("out of order")


class Leaving(ReferenceStepper):
    """Ends Python, as a script would."""

    def plan(self) -> StepPlan:
        raise SystemExit(0)


class Wordy(ReferenceStepper):
    """Says a number in words."""

    def free_blocks(self) -> int:
        return "three"  # type: ignore[return-value]


class Planless(ReferenceStepper):
    """Has no plan."""

    def plan(self) -> StepPlan:
        return None  # type: ignore[return-value]


class Guessing(ReferenceStepper):
    """Counts in halves, which no trace can hold and every comparison allows."""

    def free_blocks(self) -> int:
        return float(super().free_blocks())  # type: ignore[return-value]


DEATHS = {
    "tests.conformance.test_refine:Unbuilt": "building the engine raises RuntimeError: out of order",
    "tests.conformance.hostile:Raising": "planning a step raises RuntimeError: two are too many",
    "tests.conformance.test_refine:Leaving": "the engine ends its process with exit status 0",
    "tests.conformance.hostile:Exiting": "the engine ends its process with exit status 17",
    "tests.conformance.hostile:Crashing": "the engine kills its process with SIGSEGV",
    "tests.conformance.hostile:Hanging": "the engine does not answer within 1 seconds and was killed",
    "tests.conformance.hostile:HangingDeaf": "the engine does not answer within 1 seconds and was killed",
}
SENSELESS = {
    "tests.conformance.test_refine:Wordy": "free_blocks() answers str 'three', not a whole number",
    "tests.conformance.test_refine:Planless": "plan() answers None, not StepPlan",
    "tests.conformance.test_refine:Guessing": "free_blocks() answers float 8.0, not a whole number",
}


@pytest.mark.parametrize("engine", DEATHS)
def test_an_engine_that_raises_hangs_or_dies_is_not_allowed(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    done = kvspec("refine", engine, "--events", "400", "--patience", "1", "--json", str(path))
    assert done.exit_code == 1, done.output
    told = json.loads(path.read_text("utf-8"))
    assert told["answer"] == "broken"
    ended = told["ended"]["sched/progress-or-reject"]
    assert ended["seen"] == DEATHS[engine]
    assert ended["worlds"] >= 1
    assert f"the engine ends {ended['worlds']} of {told['worlds']} recordings early" in done.output
    assert f"seen      {DEATHS[engine]}" in done.output
    assert f"rerun   kvspec record {engine} t.jsonl --surface stepper --seed {ended['seed']}\n" in done.output
    assert "allowed" not in done.output


@pytest.mark.parametrize("engine", DEATHS)
def test_what_an_engine_did_before_it_raised_hung_or_died_is_written(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    done = kvspec("record", engine, str(path), "--patience", "1")
    assert done.exit_code == 1, done.output
    assert f"the engine ended it: sched/progress-or-reject: {DEATHS[engine]}" in done.output
    with open_trace(path) as trace:
        events = list(trace.events)
    assert f"{len(events)} events written" in done.output
    assert bool(events) is not engine.endswith("Unbuilt")
    assert kvspec("replay", str(path)).exit_code == (0 if events else 3)


@pytest.mark.parametrize("command", ["refine", "record"])
@pytest.mark.parametrize("engine", SENSELESS)
def test_an_answer_of_a_wrong_type_is_a_fault_in_one_line(engine: str, command: str, tmp_path: Path) -> None:
    done = kvspec(command, engine, *([str(tmp_path / "t.jsonl")] if command == "record" else []))
    assert done.exit_code == 3, done.output
    assert f"harness fault: {SENSELESS[engine]}" in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert isinstance(done.exception, SystemExit)


class Numbering(ReferenceStepper):
    """Counts with the numbers of another library."""

    def free_blocks(self) -> int:
        return Whole(super().free_blocks())  # type: ignore[return-value]


class Whole:
    """A whole number that is no `int`, as numpy's are."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.value)


def test_a_whole_number_of_another_library_is_a_whole_number() -> None:
    done = kvspec("refine", "tests.conformance.test_refine:Numbering", "--events", "50")
    assert done.exit_code == 0, done.output


def test_a_module_that_ends_the_process_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaving_module.py").write_text("raise SystemExit(5)")
    monkeypatch.syspath_prepend(tmp_path)
    done = kvspec("refine", "leaving_module:Engine")
    assert done.exit_code == 3, done.output
    assert "importing the engine ends its process with exit status 5" in done.output


def test_a_hang_ends_the_run_of_the_engine() -> None:
    outcome = refine_loaded(lambda: load("tests.conformance.hostile:Hanging"), events=20_000, patience=0.5)
    assert len(outcome.judged) == 1
    assert outcome.events > 0


def test_an_engine_that_shows_no_event_is_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "drive", lambda self, told: None)
    outcome = refine_engine(load("reference"), Surface.STEPPER, events=250)
    assert (outcome.answer, outcome.events, len(outcome.judged)) == (Answer.NOTHING, 0, 3)
    done = kvspec("refine", "reference", "--events", "1")
    assert done.exit_code == 3, done.output
    assert "0 events in 1 worlds, nothing to judge" in done.output


# Commands.


def kvspec(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def test_a_recorded_engine_replays(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    done = kvspec("record", "reference", str(path), "--seed", "7", "--steps", "60")
    assert done.exit_code == 0, done.output
    with open_trace(path) as trace:
        told = trace.header
    assert (told.engine, told.surface) == ("reference", "stepper")
    assert told.command == "kvspec record reference --surface stepper --seed 7 --steps 60"
    done = kvspec("replay", str(path))
    assert done.exit_code == 0, done.output
    assert "all allowed" in done.output
    assert "rules exercised" in done.output


IMPOSTER = "kvconformance.imposters.scheduling:NegativeChunk"


def test_a_wrong_engine_is_told_with_the_commands_that_show_it_again(tmp_path: Path) -> None:
    path, trace = tmp_path / "r.json", tmp_path / "t.jsonl"
    done = kvspec("refine", IMPOSTER, "--events", "600", "--json", str(path))
    assert done.exit_code == 1, done.output
    told = json.loads(path.read_text("utf-8"))
    first = told["broken"]["sched/step-budget"]
    assert told["answer"] == "broken"
    assert f"rerun   kvspec record {IMPOSTER} t.jsonl --surface stepper --seed {first['seed']}" in done.output
    assert kvspec("record", IMPOSTER, str(trace), "--seed", str(first["seed"])).exit_code == 0
    again = kvspec("replay", str(trace), "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout)["wrong"]["line"] == first["first"]["line"]


def test_a_clean_engine_refines_with_status_0() -> None:
    done = kvspec("refine", "reference", "--surface", "pool", "--events", "300")
    assert done.exit_code == 0, done.output
    assert "all allowed" in done.output
    assert "events/s" in done.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("refine", "nonesuch"), "no engine is called 'nonesuch'"),
        (("refine", "gguf"), "gguf has quantizer; events are recorded from a stepper or a pool"),
        (("refine", "reference", "--surface", "tree"), "events are recorded from a stepper or a pool"),
        (("record", "contiguous", "x.jsonl", "--surface", "stepper"), "contiguous has pool"),
        (("record", "reference", "/nowhere/x.jsonl", "--steps", "1"), "cannot write /nowhere/x.jsonl"),
        (("refine", "reference", "--events", "1", "--json", "/nowhere/x.json"), "cannot write /nowhere/x.json"),
    ],
)
def test_bad_input_gets_one_clear_line_and_status_2(arguments: tuple[str, ...], says: str) -> None:
    if "gguf" in arguments:
        pytest.importorskip("gguf")
    done = kvspec(*arguments)
    assert done.exit_code == 2, done.output
    assert says in done.output
