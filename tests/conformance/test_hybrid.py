"""A scheduler over several groups of layers is checked, recorded and judged again as one with a single group."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvconformance import check
from kvconformance.cli import app
from kvconformance.search.trial import play
from kvconformance.telling.report import Verdict
from kvconformance.traces.traffic import traffic
from kvreference.groups import Holding as GroupsHolding
from kvreference.groups import ReferenceGroups
from kvreference.hybrid import HybridPool, HybridStepper, hybrid
from kvreference.pool import Holding
from kvspec import Tally, rules
from kvspec import events as ev
from kvspec.layout import Layout
from kvspec.plans import BlockCopy, Rejected, Scheduled, StepPlan, SwappedOut, Trimmed
from kvspec.vocabulary import BlockId, Request, RequestId, Surface, TokenId, World

CAPABILITIES = HybridStepper.capabilities


def world(groups: str, num_blocks: int = 20, **options: object) -> World:
    return World(num_blocks, 4, token_budget=8, max_running=2, options={"groups": groups}, **options)  # type: ignore[arg-type]


def request(id: str, *tokens: int, new: int = 4) -> Request:
    return Request(RequestId(id), tuple(TokenId(token) for token in tokens), new)


def run(engine: HybridStepper, steps: int) -> list[StepPlan]:
    """So many steps, each of which samples 0 wherever all tokens are computed."""
    plans = []
    for _ in range(steps):
        plan = engine.plan()
        done = [s for s in plan.scheduled if s.start + s.count == len(engine.tasks[s.request].holding.tokens)]
        engine.complete(plan, {s.request: TokenId(0) for s in done})
        plans.append(plan)
    return plans


def test_the_reference_breaks_nothing_and_reaches_what_only_groups_can_break() -> None:
    report = check(HybridStepper, examples=120)
    assert not report.with_verdict(Verdict.BROKEN)
    reached = {line.rule: line.exercised for line in report.rules}
    for rule in (
        rules.EVERY_GROUP_HIT,
        rules.RESUME_EQUALS_UNINTERRUPTED,
        rules.IN_FLIGHT_FENCE,
        rules.CONTIGUOUS_CHAIN,
    ):
        assert reached[rule] > 10


def test_what_it_does_is_recorded_and_judged_by_the_events_alone(tmp_path: Path) -> None:
    runner, trace = CliRunner(), tmp_path / "trace.jsonl"
    assert runner.invoke(app, ["record", "hybrid", str(trace), "--seed", "1"]).exit_code == 0
    written = trace.read_text(encoding="utf-8")
    assert '"event":"Trim"' in written and '"group":1' in written and '"more":' in written
    assert runner.invoke(app, ["replay", str(trace)]).exit_code == 0
    early = written.replace('"event":"Trim"', '"event":"Trim","unknown":0', 1)
    trace.write_text(early, encoding="utf-8")
    assert runner.invoke(app, ["replay", str(trace)]).exit_code == 2


def test_a_window_is_given_back_when_a_step_is_complete() -> None:
    engine = HybridStepper(world("full:2 window:2:3"))
    engine.add(request("A", 0, 0, 0, 0, 0, 0, 0))
    run(engine, 1)
    tables = engine.tables()[RequestId("A")]
    assert [[id is not None for id in table] for table in tables] == [[True] * 4, [False, False, True, True]]


def told(seed: int) -> list[object]:
    """The events of busy traffic, all of them allowed."""
    trial = play(
        HybridStepper,
        HybridStepper.capabilities,
        Surface.STEPPER,
        traffic(Surface.STEPPER, CAPABILITIES, seed),
        Tally(),
    )
    assert trial.violation is None
    return trial.checker.events


def test_victims_are_resumed_on_hits_of_every_group_or_brought_back_without_what_nobody_reads() -> None:
    events = [event for seed in (0, 7, 11) for event in told(seed)]
    victims = {event.request for event in events if isinstance(event, ev.Preempt)}
    resumed = [event for event in events if isinstance(event, ev.Start) and event.request in victims and event.hit]
    assert resumed and all(len(event.tables) > 1 for event in resumed)
    back = [event for event in events if isinstance(event, ev.SwapIn)]
    assert any(None in table for event in back for table in event.tables)
    assert all(table[-1] is not None for event in back for table in event.tables)


def test_a_shared_state_is_copied_before_it_is_overwritten() -> None:
    engine = HybridStepper(world("full:2 state:4"))
    engine.add(request("A", 0, 0, 0, new=4))
    run(engine, 1)
    assert engine.fork(RequestId("A"), request("B", 0, 0, 0, new=4))
    copies = [action for action in engine.plan().actions if isinstance(action, BlockCopy)]
    state = engine.pool.holdings[RequestId("A")].tables[1][0]
    theirs = engine.pool.holdings[RequestId("B")].tables
    assert [copy.source for copy in copies] == [theirs[0][1], theirs[1][0]]
    assert {copy.request for copy in copies} == {"A"} and copies[1].target == state


def test_what_can_never_fit_is_rejected_and_a_holding_of_one_table_is_no_holding_here() -> None:
    engine = HybridStepper(world("full:2 window:2:3", 5))
    with pytest.raises(Rejected, match="needs 6 of 4 blocks"):
        engine.add(request("A", 0, 0, 0, 0, new=2))
    with pytest.raises(TypeError, match="A has one table"):
        hybrid(Holding(request("A", 0)))
    with pytest.raises(ValueError, match="those of its groups"):
        HybridPool(world("full:2 window:2:3")).new_holding(request("A", 0)).table = [BlockId(1)]


def test_a_plan_that_tells_one_table_of_two_is_our_fault_and_not_the_engines() -> None:
    class OneTable(HybridStepper):
        def schedule(self, step, task, count) -> None:  # type: ignore[no-untyped-def]
            super().schedule(step, task, count)
            told = step.actions[-1]
            assert isinstance(told, Scheduled)
            step.actions[-1] = Scheduled(told.request, told.start, told.count, told.table)

    report = check(OneTable, examples=5)
    assert not report.with_verdict(Verdict.BROKEN) and "tables are told" in (report.fault or "")


class Patient(ReferenceGroups):
    """Gives back what is past when it is told to, not when a step completes."""

    def release(self, holding: GroupsHolding, number: int, end: int) -> None:
        """Not yet."""

    def trim(self, holding: GroupsHolding, earliest: int) -> list[tuple[int, int]]:
        """Give back what queries from `earliest` on do not read; which entries that were, by group."""
        gone = []
        for number, group in enumerate(self.groups):
            end = self.first_needed(group, earliest)
            gone += [(number, index) for index, block in enumerate(holding.tables[number][:end]) if block is not None]
            super().release(holding, number, end)
        return gone


class PatientPool(HybridPool):
    manager_type = Patient
    manager: Patient


class TrimsFirst(HybridStepper):
    """Trims all who run before it plans; the blocks go to whomever the plan serves first.

    Who is swapped out after that shows no table: of him it is told.
    """

    pool: PatientPool
    pool_type = PatientPool
    past = 0

    def plan(self) -> StepPlan:
        told: list[Trimmed] = []
        for task in self.running:
            if task.transfer is None and not task.in_flight:
                gone = self.pool.manager.trim(hybrid(task.holding), task.holding.computed + self.past)
                told += [Trimmed(task.request.id, number, index) for number, index in gone]
        plan = super().plan()
        swapped = {action.request for action in plan.actions if isinstance(action, SwappedOut)}
        return StepPlan((*(trim for trim in told if trim.request in swapped), *plan.actions))


class TrimsTooFar(TrimsFirst):
    """Trims one position that the next query still reads."""

    past = 1


def test_what_is_trimmed_while_a_step_is_planned_may_go_to_anybody_at_once() -> None:
    report = check(TrimsFirst, examples=120)
    assert not report.with_verdict(Verdict.BROKEN)


def test_what_is_trimmed_too_early_while_a_step_is_planned_is_found() -> None:
    found = {line.rule for line in check(TrimsTooFar, examples=120).with_verdict(Verdict.BROKEN) if line.finding}
    assert rules.EVERY_GROUP_HIT in found


def test_layouts_are_read_from_the_options_of_a_world() -> None:
    assert str(Layout.of(world("full:2 state:4"))) == "full:2 state:4"
    assert str(Layout.of(World(5, 4))) == "full:4"
