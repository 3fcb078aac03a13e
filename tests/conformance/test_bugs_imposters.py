"""What surrounds the imposters: those that no other test kills, their honest twins, the check taken out, the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvconformance.claims import claimed
from kvconformance.cli import app
from kvconformance.engines.reference_attention import ReferenceAttention
from kvconformance.history import History
from kvconformance.imposters import IMPOSTERS, Imposter, Kill, kernel_offsets, kernel_paths, try_imposter, waiting
from kvconformance.imposters.alone import other_killer
from kvconformance.imposters.page import COMMAND, page
from kvconformance.imposters.show import read_kills, sole_killers, summary
from kvconformance.imposters.trial import try_without
from kvconformance.search.check import replay
from kvconformance.search.examples import Plan, search
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention.operations import Attend
from kvexamine.explorer.blind import Blind
from kvreference.scheduler import ReferenceStepper
from kvspec import rules
from kvspec.violation import Violation
from kvspec.vocabulary import Surface

ROOT = Path(__file__).parents[2]
PAGE, KEPT = ROOT / "conformance" / "IMPOSTERS.md", ROOT / "conformance" / "imposters.json"
NAMED = {imposter.__name__: imposter for imposter in IMPOSTERS}
KILLS: list[tuple[str, tuple[Attend, ...]]] = [
    ("KeySlotIn32Bits", (Attend(((5, 1),), "far"),)),
    ("PageProductWraps", (Attend(((5, 1),), "far"),)),
    ("DescriptorTooSmall", (Attend(((5, 1),), "far"),)),
    ("SecondListStartsUnaligned", (Attend(((5, 1), (9, 1))),)),
    ("StagedTableOfTheCallBefore", (Attend(((9, 1),), "again"),)),
    ("MaskBuiltOnlyForSplits", (Attend(((9, 1),), window=2), Attend(((9, 1),), window=5))),
    ("HitTakenForAColdPrompt", (Attend(((9, 3),)),)),
    ("HitPathLacksTheFormat", (Attend(((9, 3),), dtype="fp16"),)),
    ("KeysReadAsValues", (Attend(((9, 1),), softcap=5.0),)),
    ("InvarianceEndsAtFourRows", (Attend(((40, 8),), "chunks", pattern="peaked"),)),
]


def judged(kernel: object, *operations: Attend) -> list[str]:
    """The ids of the rules that one history breaks."""
    engine = Engine("kernel", "0", {Surface.ATTENTION: kernel})  # type: ignore[dict-item]
    result = replay(engine, Surface.ATTENTION, History(40, 4, operations), Plan(), "kernel")
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


def test_every_imposter_of_these_kernels_has_a_history_that_kills_it() -> None:
    modules = {kernel_offsets.__name__, kernel_paths.__name__}
    assert {name for name, one in NAMED.items() if one.__module__ in modules} == {name for name, _ in KILLS}


@pytest.mark.parametrize(("name", "operations"), KILLS, ids=[name for name, _ in KILLS])
def test_a_kernel_is_killed_by_its_rule_and_the_reference_lives(name: str, operations: tuple[Attend, ...]) -> None:
    assert judged(NAMED[name], *operations) == [NAMED[name].broken_rule.id]
    assert judged(ReferenceAttention, *operations) == []


@pytest.mark.parametrize(
    "imposter",
    [one for one in IMPOSTERS if one.broken_rule is rules.LRU_ORDER],
    ids=lambda imposter: imposter.__name__,
)
def test_an_eviction_in_another_order_is_found(imposter: Imposter) -> None:
    kill = try_imposter(imposter, seed=1)
    assert kill.by == "evict/lru-order"


def test_an_honest_engine_that_declares_decode_first_lives() -> None:
    """Without it the imposters of the rule might be killed for what is no fault."""

    class Honest(ReferenceStepper):
        capabilities = waiting.DECODE_FIRST

    engine = Engine("honest", "0", {Surface.STEPPER: Honest})
    plan = Plan(examples=300, seed=1, seconds=300)
    outcome = search(engine, Surface.STEPPER, plan, claimed(engine, Surface.STEPPER))
    assert not outcome.found
    assert outcome.exercised[rules.BOUNDED_DECODE_GAP] > 100


def test_a_blind_tally_passes_over_one_rule_only() -> None:
    tally = Blind(rules.STEP_BUDGET)
    tally.require(False, rules.STEP_BUDGET, lambda: ("seen", "expected"))
    with pytest.raises(Violation):
        tally.require(False, rules.ONE_QUEUE, lambda: ("seen", "expected"))


def test_an_imposter_that_two_checks_see_dies_without_either() -> None:
    imposter = NAMED["WatermarkReusesLivePage"]
    other = other_killer(imposter, rules.CONSERVATION, examples=100)
    assert other is not None and other is not rules.CONSERVATION


def test_an_imposter_that_one_check_sees_lives_without_it() -> None:
    imposter = NAMED["WholePromptHit"]
    assert other_killer(imposter, rules.ONE_TOKEN_LEFT, examples=100) is None
    assert other_killer(imposter, rules.STEP_BUDGET, examples=100) is rules.ONE_TOKEN_LEFT


def test_who_lives_is_not_tried_without_its_check() -> None:
    alive = replace(kill_of(NAMED["WholePromptHit"]), killed=False, by=None)
    assert try_without(NAMED["WholePromptHit"], alive) == alive


def kill_of(imposter: Imposter, *, alone: bool | None = None) -> Kill:
    rule = imposter.broken_rule.id
    return Kill(imposter.__name__, imposter.bug, rule, "pool", True, rule, 5, 2, 0.1, alone)


def test_the_last_lines_name_what_only_one_check_kills() -> None:
    kills = [kill_of(NAMED["WholePromptHit"], alone=True), kill_of(NAMED["PrefillNeverCounts"], alone=False)]
    assert sole_killers(kills) == {"prefix/one-token-left": ["WholePromptHit"]}
    first, last = summary(kills, 0).splitlines()
    assert first == "only prefix/one-token-left kills WholePromptHit"
    assert last.startswith("2 of 2 imposters killed; median 2 steps, 5 examples")
    assert "1 of them by one check alone" in last


def test_the_command_says_what_kills_without_the_check(tmp_path: Path) -> None:
    path = tmp_path / "kills.json"
    done = CliRunner().invoke(app, ["imposters", "--name", "B001", "--alone", "--json", str(path)])
    assert done.exit_code == 0, done.output
    assert "without it" in done.output
    (kill,) = json.loads(path.read_text("utf-8"))["imposters"]
    assert kill["alone"] is False and kill["without"]
    assert read_kills(path).imposters[0].bug == "B001"


def test_what_is_kept_has_every_imposter_killed_and_the_page_says_so() -> None:
    kept, again = read_kills(KEPT), f"make it again: {COMMAND}"
    assert {kill.name for kill in kept.imposters if kill.killed} == set(NAMED), again
    assert page(kept.imposters, kept.made) == PAGE.read_text("utf-8"), again


def test_what_is_kept_is_shown_without_trying_anything() -> None:
    done = CliRunner().invoke(app, ["imposters", "--kept", "--name", "B001"])
    assert done.exit_code == 0 and read_kills(KEPT).made in done.output
    assert all(one.__name__ in done.output for one in IMPOSTERS if one.bug == "B001")
    refused = CliRunner().invoke(app, ["imposters", "--kept", "--alone"])
    assert refused.exit_code == 2 and "it goes with --name alone" in refused.output
