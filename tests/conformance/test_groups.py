"""The surface Groups: the reference passes, each kind of fault has its history, and nothing wrong is a traceback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from typer.testing import CliRunner

from kvconformance.adapters import NotAnAdapter, as_engine, load
from kvconformance.claims import claimed, unclaimed
from kvconformance.cli import app
from kvconformance.history import Add, Commit, Free, Grow, History, Operation
from kvconformance.imposters import IMPOSTERS, group_hits, group_windows, surface_of
from kvconformance.search.check import check_here, replay
from kvconformance.search.examples import Plan, search
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.groups import SURFACE
from kvconformance.surfaces.groups.strategies import group_histories
from kvconformance.telling.report import SurfaceResult, Verdict
from kvreference.groups import Holding, ReferenceGroups
from kvspec import rules
from kvspec.plans import GroupAdmission
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

NAMED = {imposter.__name__: imposter for imposter in IMPOSTERS if surface_of(imposter) == Surface.GROUPS}
LONG, DONE = Add((0,) * 7), (Commit(-1), Free(-1))
KILLS: list[tuple[str, str, int, tuple[Operation, ...]]] = [
    ("DraftKeyForgetsTheTokenBehind", "full:2 draft:2:1", 30, (Add((0, 0, 1, 1)), Commit(), Add((0, 0, 0)))),
    ("StateEntryCountedInOtherBlocks", "full:4 state:2", 30, (LONG, *DONE, LONG)),
    ("StateHoldsTheRecomputedToken", "full:2 state:4", 30, (Add((0,) * 4), *DONE, Add((0,) * 4))),
    ("EvictedPartRoundedUp", "full:2 window:4:3", 30, (Add((0,) * 5), Commit())),
    ("WindowAsWideAsTheChunk", "full:2 window:2:4", 30, (Add((0,) * 4, chunk=3), Commit(), Grow(0, 1), Commit())),
    ("ReleasesUnderAStepInFlight", "full:2 window:2:3", 30, (Add((0,) * 8, chunk=4), Grow(0, 4), Commit())),
    ("OnlyTheLastWindowPublished", "full:2 window:2:3", 30, (LONG, *DONE, Add((0, 0, 0, 1)))),
    ("HitUnitLargerThanNeeded", "full:2 window:2:3", 30, (Add((0,) * 3), *DONE, Add((0,) * 3))),
    ("RefusalKeepsTheState", "full:2 state:2", 11, (Add((0,) * 3), Commit(), Add((1,) * 5), Add((0,) * 5))),
]


def judged(manager: object, operations: tuple[Operation, ...], groups: str, num_blocks: int = 30) -> SurfaceResult:
    engine = Engine("manager", "0", {Surface.GROUPS: manager})  # type: ignore[dict-item]
    history = History(num_blocks, 1, operations, options={"groups": groups, "pool": "shared"})
    return replay(engine, Surface.GROUPS, history, Plan(), "manager")


@pytest.mark.parametrize(("name", "groups", "blocks", "operations"), KILLS, ids=[kill[0] for kill in KILLS])
def test_a_fault_is_found_and_the_reference_passes(
    name: str, groups: str, blocks: int, operations: tuple[Operation, ...]
) -> None:
    result = judged(NAMED[name], operations, groups, blocks)
    assert [finding.rule_id for finding in result.findings] == [NAMED[name].broken_rule.id]
    honest = judged(ReferenceGroups, operations, groups, blocks)
    assert not honest.findings and not honest.fault


def test_the_reference_passes_and_every_rule_is_reached() -> None:
    report = check_here(load("reference"), Plan(examples=600, seconds=300), surfaces=[Surface.GROUPS])
    assert not report.fault and not report.findings
    held = {line.rule for line in report.with_verdict(Verdict.HELD)}
    assert held == set(claimed(load("reference"), Surface.GROUPS))
    assert {rules.EVERY_GROUP_HIT, rules.DRAFT_GROUP_HIT, rules.LONGEST_GROUP_HIT} <= held


def test_what_an_engine_does_not_declare_is_not_claimed() -> None:
    class Plain(ReferenceGroups):
        capabilities = replace(ReferenceGroups.capabilities, layouts=("full:2 window:2:3",), profiles=frozenset())

    engine = as_engine(Plain)
    assert list(engine.factories) == [Surface.GROUPS]
    assert unclaimed(engine, Surface.GROUPS, rules.DRAFT_GROUP_HIT) == "has no draft group"
    assert "longest-hit" in (unclaimed(engine, Surface.GROUPS, rules.LONGEST_GROUP_HIT) or "")
    assert unclaimed(engine, Surface.GROUPS, rules.EVERY_GROUP_HIT) is None


class Sweeps(ReferenceGroups):
    """Gives back what has passed behind a window only in one method, for whichever request that is called, of all."""

    method, too_far = "", 0

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.due: dict[tuple[RequestId, int], int] = {}

    def release(self, holding: Holding, number: int, end: int) -> None:
        self.due[holding.request.id, number] = end + self.too_far

    def sweep(self, method: str) -> None:
        for (id, number), end in self.due.items() if method == self.method else ():
            if id in self.holdings:
                super().release(self.holdings[id], number, end)

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        self.sweep("admit")
        return super().admit(request, chunk)

    def extend(self, id: RequestId, count: int) -> bool:
        self.sweep("extend")
        return super().extend(id, count)

    def completed(self, id: RequestId, num_computed: int) -> None:
        self.sweep("completed")
        super().completed(id, num_computed)


SWEPT: list[tuple[str, tuple[Operation, ...]]] = [
    ("admit", (LONG, Commit(0), Add((1,)), Add((1,)))),
    ("admit", (LONG, Commit(0), Add((1,) * 6))),
    ("extend", (Add((1, 1), chunk=1), Commit(0), LONG, Commit(1), Grow(0))),
    ("extend", (Add((1, 1), 2, chunk=1), Commit(0), LONG, Commit(1), Grow(0), Commit(0), Grow(0), Grow(0))),
    ("completed", (LONG, Commit(0), Add((1,)), Commit(1))),
]


@pytest.mark.parametrize(("method", "operations"), SWEPT)
def test_what_has_passed_may_go_in_a_call_for_another_request_and_no_more(
    method: str, operations: tuple[Operation, ...]
) -> None:
    for too_far, broken in ((0, []), (1, [rules.EVERY_GROUP_HIT])):
        engine = type("Sweeping", (Sweeps,), {"method": method, "too_far": too_far})
        result = judged(engine, operations, "full:2 window:2:3", 12)
        assert [finding.rule for finding in result.findings] == broken and not result.fault


def test_an_engine_that_gives_back_under_pressure_lives() -> None:
    engine = as_engine(type("Sweeping", (Sweeps,), {"method": "admit"}))
    assert not search(engine, Surface.GROUPS, Plan(150, 0, 300), claimed(engine, Surface.GROUPS)).found


def test_the_last_token_that_is_sampled_is_not_computed() -> None:
    asked = []

    class Told(ReferenceGroups):
        def extend(self, id: RequestId, count: int) -> bool:
            asked.append(count)
            return super().extend(id, count)

        def append(self, id: RequestId, token: TokenId) -> None:
            asked.append("append")
            super().append(id, token)

    assert not judged(Told, (Add((0,) * 3, 2), Commit(), *[Grow()] * 5), "full:2 window:2:3").findings
    assert asked == ["append", 1, "append"]


class DraftsAhead(ReferenceGroups):
    """A drafter in the step itself, with a home for what it drafts from a sampled token where `allocated` says so."""

    capabilities = replace(
        ReferenceGroups.capabilities, layouts=("full:1 draft:1:1",), drafts_ahead=True, profiles=frozenset()
    )

    def allocated(self, request: Request, known: int) -> bool:
        return known + 1 < request.limit

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        self.now = request, len(request.prompt)
        return super().admit(request, chunk)

    def extend(self, id: RequestId, count: int) -> bool:
        holding = self.holdings[id]
        self.now = holding.request, len(holding.tokens)
        return super().extend(id, count)

    def new_entries(self, tables: Sequence[Sequence[BlockId | None]], end: int) -> list[int]:
        request, known = self.now
        drafted = end if end < known or self.allocated(request, known) else end - 1
        return [max(0, need - len(table)) for need, table in zip((end, drafted), tables, strict=True)]


class NoHomeAhead(DraftsAhead):
    """Forgets that the next step reads what is drafted from the sampled token."""

    def allocated(self, request: Request, known: int) -> bool:
        return False


def test_a_drafter_needs_a_home_for_what_the_next_step_reads_and_not_behind_the_last_token() -> None:
    engine = as_engine(DraftsAhead)
    assert not search(engine, Surface.GROUPS, Plan(150, 0, 300), claimed(engine, Surface.GROUPS)).found
    for new, broken in ((1, []), (2, [rules.COVERAGE_AND_LIMIT])):
        result = judged(NoHomeAhead, (Add((0, 0), new), Commit(), Grow(), Commit()), "full:1 draft:1:1")
        assert [finding.rule for finding in result.findings] == broken and not result.fault


def test_an_adapter_without_groups_is_one_clear_line() -> None:
    class Undeclared(ReferenceGroups):
        capabilities = Capabilities()  # type: ignore[assignment]

    with pytest.raises(NotAnAdapter, match="groups declare GroupsCapabilities"):
        as_engine(Undeclared)


@pytest.mark.parametrize("groups", ["", "full", "ring:2", "window:2:0"])
def test_a_history_with_a_wrong_layout_is_a_harness_fault(groups: str) -> None:
    result = judged(ReferenceGroups, (LONG,), groups)
    assert "not a" in result.fault and not result.findings


def test_an_engine_that_raises_is_a_finding() -> None:
    class Raises(ReferenceGroups):
        def extend(self, id: object, count: int) -> bool:
            raise IndexError("list index out of range")

    (finding,) = judged(Raises, (Add((0,) * 4, chunk=1), Grow()), "full:2 window:2:3").findings
    assert finding.rule_id == "alloc/fit-agrees-with-allocate"
    assert "IndexError" in finding.seen


def test_a_finding_tells_groups_tables_and_what_a_block_holds() -> None:
    name, groups, blocks, operations = KILLS[0]
    (finding,) = judged(NAMED[name], operations, groups, blocks).findings
    text = finding.text()
    assert "30 blocks for all groups, groups full:2 draft:2:1" in text
    assert "A is given blocks [1 2] [3 4] for 4 tokens" in text
    assert "B [0 0 0] up to 1 new; B starts on a hit of 2 tokens: blocks [1] [3]" in text
    assert "B hits block 3, which holds (0 0 1) of A, in group 1 (draft:2:1)" in text
    assert "block 3: [A's 1-2: 0 1 (step 0)]  held by A" in text
    assert "--surface groups --history" in text


@given(group_histories(ReferenceGroups.capabilities))
def test_a_history_says_all_that_is_needed_to_run_it_again(history: History) -> None:
    again = SURFACE.read(history.to_json())
    assert again == history
    engine = load("reference")
    assert not replay(engine, Surface.GROUPS, again, Plan(), "reference").fault


def test_a_drafter_two_tokens_behind_keeps_its_finding() -> None:
    """Once known, the fault goes on to a read of a position that the request does not have."""
    far = replace(ReferenceGroups.capabilities, layouts=("full:2 draft:2:2", "full:2 draft:3:2"))
    blind = type("Blind", (NAMED["DraftKeyForgetsTheTokenBehind"],), {"capabilities": far})
    engine = Engine("blind", "0", {Surface.GROUPS: blind})  # type: ignore[dict-item]
    outcome = search(engine, Surface.GROUPS, Plan(300, 0, 300, 0.5), claimed(engine, Surface.GROUPS))
    assert [found.rule for found in outcome.found] == [rules.DRAFT_GROUP_HIT]
    history = History(30, 1, (Add((0,) * 9), Commit(), Free(), Add((0,) * 7)), options={"groups": "full:2 draft:3:2"})
    known = Tally((rules.DRAFT_GROUP_HIT,))
    assert play(blind, far, Surface.GROUPS, history, known).violation is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("admit", 3, "admit() answers int 3, not GroupAdmission"),
        ("tables", None, "tables() answers None, not a sequence"),
        ("tables", (None, None), "tables() answers None, not a sequence"),
        ("free_blocks", 3, "free_blocks() answers int 3, not a sequence"),
        ("ref_counts", None, "ref_counts() answers None, not a sequence"),
        ("ref_counts", ([0, 1],), "ref_counts() answers list [0, 1], not a mapping"),
        ("ref_counts", ({1: "one"},), "ref_counts() answers str 'one', not a whole number"),
        ("free_blocks", (None,), "free_blocks() answers None, not a whole number"),
        ("free_blocks", (), "pools with free blocks: 0 are told of 1"),
        ("free_blocks", (29, 29), "pools with free blocks: 2 are told of 1"),
        ("ref_counts", (), "pools with reference counts: 0 are told of 1"),
        ("ref_counts", ({}, {}), "pools with reference counts: 2 are told of 1"),
        ("tables", ((1, 2),), "tables of A: 1 are told of 2"),
        ("tables", ((1,), (2,), (3,)), "tables of A: 3 are told of 2"),
        ("admit", GroupAdmission(-1, 7), "A is admitted on a hit of -1 tokens"),
        ("admit", GroupAdmission(None, 7), "admit().hit is None, not a whole number"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_of_another_shape_is_one_harness_fault_that_names_the_method(
    method: str, answer: object, said: str
) -> None:
    result = judged(type("Shapeless", (ReferenceGroups,), {method: lambda *_: answer}), (LONG,), "full:2 window:2:3")
    assert result.fault == said and not result.findings


def test_the_command_judges_one_history() -> None:
    history = History(30, 1, KILLS[0][3], options={"groups": "full:2 window:2:3"})
    arguments = ["check", "reference", "--surface", "groups", "--history", history.to_json().decode()]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "prefix/every-group-hit" in done.output


def test_every_imposter_of_these_modules_is_driven_on_this_surface() -> None:
    modules = {group_hits.__name__, group_windows.__name__}
    assert {one.__name__ for one in IMPOSTERS if one.__module__ in modules} == set(NAMED)
