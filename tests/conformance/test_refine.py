"""Refinement of whole engines: the reference is allowed everything it did, each imposter is refuted by its rule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kvconformance.adapters import load
from kvconformance.cli import app
from kvconformance.history import Add, History, Step
from kvconformance.imposters import IMPOSTERS
from kvconformance.imposters.registry import surface_of
from kvconformance.surfaces import Engine
from kvconformance.traces import judge, open_trace
from kvconformance.traces.judging import Answer, Judgement
from kvconformance.traces.recording import record
from kvconformance.traces.refining import refine_engine
from kvconformance.trial import play
from kvspec import rules
from kvspec.refinement import Observed, compatible
from kvspec.rules import RULES
from kvspec.violation import Tally
from kvspec.vocabulary import Surface


@pytest.mark.parametrize("surface", [Surface.STEPPER, Surface.POOL])
def test_the_reference_refines_the_specification(surface: Surface) -> None:
    outcome = refine_engine(load("reference"), surface, seed=100, events=2_500)
    assert outcome.answer is Answer.ALLOWED, outcome.wrong
    assert outcome.events >= 2_500
    assert outcome.widest == 1
    exercised = sum((one.exercised for one in outcome.judged), start=outcome.judged[0].exercised.copy())
    assert exercised[rules.CONTENT_MATCHES_KEY] and exercised[rules.COUNT_EQUALS_HOLDERS]
    if surface is Surface.STEPPER:
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


# Commands.


def kvspec(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def test_a_recorded_engine_replays(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    done = kvspec("record", "reference", str(path), "--seed", "7", "--steps", "60")
    assert done.exit_code == 0, done.output
    told = open_trace(path).header
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
    told = json.loads(path.read_text())
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
