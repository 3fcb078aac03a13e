"""Exhaustive checks of engines: histories counted by hand, honest claims, shortest kills, the table and its reasons."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvconformance import history as h
from kvconformance.checker import Checker
from kvconformance.claims import claimed
from kvconformance.cli import app
from kvconformance.engines.reference import engine as reference
from kvconformance.exhaust import reasons
from kvconformance.exhaust.covered import Covered
from kvconformance.exhaust.kills import Row, row
from kvconformance.exhaust.kills import tried as triable
from kvconformance.exhaust.page import imposters_tables, kept
from kvconformance.exhaust.reasons import LISTED, Lack, require_reasons
from kvconformance.exhaust.scopes import OWN, everyday, find
from kvconformance.exhaust.search import Exhaustive, exhaust
from kvconformance.exhaust.telling import console, show_covered
from kvconformance.exhaust.worlds import arrivals, chosen, empty, lacks, mistaken
from kvconformance.history import History
from kvconformance.imposters import IMPOSTERS, surface_of
from kvconformance.search.examples import Outcome, Plan
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.pool.operations import FreeAgain
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step
from kvconformance.telling.report import SurfaceResult
from kvexamine.explorer import SCOPES as SPEC_SCOPES
from kvexamine.explorer import Scope
from kvreference.scheduler import ReferenceStepper
from kvspec import events as ev
from kvspec.plans import StepPlan
from kvspec.rules import PROGRESS_OR_REJECT, REPRODUCIBLE_KEY
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, World

POOL, STEPPER = Surface.POOL, Surface.STEPPER
BY_NAME = {imposter.__name__: imposter for imposter in IMPOSTERS}
SCOPES = tuple(everyday())


def tiny(*prompts: str, may: str = "", new: int = 1) -> Scope:
    requests = tuple(
        Request(RequestId(str(place)), tuple(TokenId(int(token)) for token in prompt), new)
        for place, prompt in enumerate(prompts)
    )
    return Scope("tiny", "", World(4, 2, 2), requests, may=frozenset(may.split()))


def tried(
    scope: Scope, surface: Surface, depth: int = 20, histories: int = 2_000, engine: Engine | None = None
) -> tuple[Outcome, list[History]]:
    """The outcome, and every history that was played."""
    engine, played = engine or reference(), []
    bounds, judged = Exhaustive((scope,), depth, histories), claimed(engine, surface)
    outcome = exhaust(engine, surface, Plan(seconds=1e9), judged, bounds, journal=played.append)
    return outcome, played


@pytest.mark.parametrize(
    ("scope", "surface", "depth", "histories"),
    [
        (tiny("0"), STEPPER, 20, 7),  # s; a, as, in which it finishes, and ass; the same three after s
        (tiny("0", may="abort"), STEPPER, 20, 11),  # s; a, as, ass, ax, axs; the same five after s
        (tiny("0", "0"), STEPPER, 20, 25),  # s; a, aa, aas, aass, and as, ass with or without a, as, ass; all after s
        (tiny("0", "1"), STEPPER, 20, 49),  # the same with either request first
        (tiny("0", may="reset"), STEPPER, 1, 3),  # step, add, reset
        (tiny("0", may="dispatch"), STEPPER, 2, 5),  # s, a, sa, as, ab: with nobody there a step is not left in flight
        (tiny("0", may="dispatch"), STEPPER, 4, 17),  # and sas, sab, ass, abs, abb (abe is as); sass, sabs, sabb, abss,
        # abbs, abbb, abbe
        (tiny("0"), POOL, 2, 4),  # add; and grow, commit or free
        (tiny("0"), POOL, 3, 9),  # agg, agc, agf, acg, acf; nothing after af
        (tiny("0", may="abort"), POOL, 3, 10),  # and a second release
        (tiny("0", may="fail"), POOL, 2, 5),  # and a failure
        (tiny("01", may="fork", new=2), POOL, 2, 5),  # and a fork
    ],
)
def test_the_histories_of_a_tiny_scope_are_as_many_as_counted_by_hand(
    scope: Scope, surface: Surface, depth: int, histories: int
) -> None:
    outcome, _ = tried(scope, surface, depth)
    (covered,) = outcome.covered
    assert covered.histories == outcome.examples == histories
    assert covered.complete
    assert not outcome.found


def behaviour(trial: Trial) -> tuple[str, ...]:
    """What the operations did, whatever they are called; a step with nobody there is told by its dispatch."""
    told = [event for event in trial.checker.events if not isinstance(event, h.Operation | ev.EndStep | ev.Observe)]
    return tuple(re.sub(r"step=\d+", "", str(event)) for event in told)


class Resting(Checker):
    """Notices what is left out with nobody there: a step that is not ended, and a second step in a row."""

    left_out = rests = False

    def note(self, operation: object) -> None:
        state = self.state
        nobody = not (state.live() or state.in_flight or any(one.table for one in state.requests.values()))
        steps = nobody and isinstance(operation, Step) and "drain" not in self.events
        self.left_out |= steps and self.rests
        self.left_out |= nobody and isinstance(operation, Begin)
        self.rests, self.steps = steps or self.rests, steps
        super().note(operation)

    def feed(self, event: ev.Event) -> None:
        self.rests &= self.steps or isinstance(event, ev.Observe)
        super().feed(event)


@pytest.mark.parametrize(
    ("surface", "others"),
    [
        (STEPPER, (Step(), Begin(), End(), Abort(0), Abort(1), h.Reset())),
        (POOL, (h.Grow(0, 2), h.Grow(1, 2), h.Commit(0), h.Commit(1), h.Free(0), h.Free(1), FreeAgain(), h.Reset())),
    ],
)
def test_whatever_sequences_of_operations_do_some_history_does(surface: Surface, others: Sequence[h.Operation]) -> None:
    scope = tiny("0", "01", may="abort reset dispatch")
    engine = reference()
    factory, capabilities = engine.factories[surface], engine.capabilities(surface)

    def lived(history: History) -> Trial:
        return play(factory, capabilities, surface, history, Tally(), checked_by=Resting)

    def left_out(trial: Trial) -> bool:
        return isinstance(trial.checker, Resting) and trial.checker.left_out

    _, played = tried(scope, surface, 3)
    seen = {behaviour(lived(history)) for history in played}
    first, second = arrivals(scope, surface)
    sequences = [
        word
        for word in itertools.product((first, second, *others), repeat=3)
        if max(map(word.count, (first, second))) < 2
    ]
    start = empty(scope, capabilities)
    trials = [lived(History(start.num_blocks, 2, word, 2)) for word in sequences]  # type: ignore[arg-type]
    every = {behaviour(trial) for trial in trials if not left_out(trial)}
    assert len(every) > 20
    assert every <= seen | {behaviour(play(factory, capabilities, surface, start, Tally()))}


def test_every_history_comes_after_its_beginning_and_none_twice() -> None:
    _, played = tried(find("exact-hit"), STEPPER, 5)
    programs = [history.operations for history in played]
    lengths = [len(program) for program in programs]
    assert lengths == sorted(lengths)
    assert len(set(programs)) == len(programs)
    assert {program[:-1] for program in programs} <= {(), *programs}


def test_a_bound_that_is_met_is_not_called_complete() -> None:
    scope = tiny("0", "1")
    whole, short = (tried(scope, STEPPER, 20, histories)[0].covered[0] for histories in (49, 48))
    assert (whole.complete, whole.longest) == (True, 7)
    assert (short.complete, short.longest, short.depth) == (False, None, 6)
    deep = tried(scope, STEPPER, 3)[0].covered[0]
    assert (deep.complete, deep.depth, deep.longest) == (True, 3, None)


def test_time_that_is_up_is_told() -> None:
    engine = reference()
    bounds = Exhaustive((tiny("0"),))
    outcome = exhaust(engine, POOL, Plan(seconds=0.0), claimed(engine, POOL), bounds)
    assert not outcome.complete
    assert not outcome.covered[0].complete
    assert outcome.covered[0].depth == 0


@pytest.mark.parametrize("surface", [POOL, STEPPER], ids=lambda surface: surface.value)
@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.name)
def test_an_honest_engine_passes_every_scope(scope: Scope, surface: Surface) -> None:
    outcome, _ = tried(scope, surface, histories=100)
    assert not outcome.found
    assert outcome.covered[0].cut == 0
    assert outcome.examples or outcome.covered[0].skipped


@pytest.mark.parametrize(
    ("name", "scope", "operations"),
    [
        ("NewBlocksStartAtZero", "prefix", 1),  # any admission
        ("SuffixWrittenOverThePrefix", "prefix", 2),  # two requests of one prefix, and what drains them
        ("StrayFreeReleasesAgain", "fork", 3),  # add, free, free again
        ("SaltNotInKey", "tenants", 3),  # add, compute, add under another salt
        ("WholePromptHit", "exact-hit", 3),  # add, compute, add the same
        ("FailedStepStaysMatchable", "failure", 2),  # add, fail
        ("AbortFreesUnderStep", "in-flight", 3),  # add, begin, abort
        ("OversizedRequestAccepted", "fcfs-four", 1),  # the request that never fits
        ("FreeWalksCopiedEntriesAgain", "fork", 3),  # add, fork, and a token that needs a copy
        ("TokensCutToEightBits", "tokens", 3),  # add, compute, add what is equal in eight bits
        ("AdapterNotInKey", "adapters", 3),  # add, compute, add under another adapter
        ("ImageCountedWhole", "media", 1),  # an image that the budget cuts
        ("OneOfTwoLimitsApplied", "alone", 2),  # two that may not run at once
        ("AdmissionCappedByWindow", "full", 2),  # one, and another for which there is no room
        ("FailureRemovesOnlyTheFirst", "batch-fails", 3),  # two, and a step that fails
    ],
)
def test_a_fault_dies_by_its_rule_in_the_fewest_operations(name: str, scope: str, operations: int) -> None:
    imposter = BY_NAME[name]
    surface = surface_of(imposter)
    outcome, played = tried(find(scope), surface, histories=300, engine=Engine(name, "", {surface: imposter}))
    found = [one for one in outcome.found if one.rule.covers(imposter.broken_rule)]
    assert min(len(one.trial.history.operations) for one in found) == operations
    assert found[0].trial.history in played


def test_what_breaks_is_not_carried_on_and_is_counted() -> None:
    imposter = BY_NAME["NewBlocksStartAtZero"]
    outcome, played = tried(tiny("0"), POOL, engine=Engine("imposter", "", {POOL: imposter}))
    assert len(played) == outcome.covered[0].cut == 1
    assert outcome.covered[0].broken == (imposter.broken_rule.id,)
    assert outcome.covered[0].longest is None


@pytest.mark.parametrize(
    ("scope", "surface", "changed", "why"),
    [
        ("prefix", POOL, {"block_sizes": (16,)}, "takes blocks of 16 tokens only"),
        ("prefix", POOL, {"num_blocks": (8, 12)}, "takes 8 to 12 blocks only"),
        ("prefix", STEPPER, {"token_budgets": (8, 12)}, "takes budgets of 8 to 12 tokens only"),
        ("prefix", POOL, {"token_budgets": (8, 12)}, ""),
        ("fork", POOL, {}, "cannot fork"),
        ("fork", POOL, {"forks": True}, ""),
        ("reset", STEPPER, {}, "cannot reset"),
        ("failure", STEPPER, {}, "cannot fail"),
        ("tenants", POOL, {}, "has no salts"),
        ("swap", STEPPER, {}, "does not swap"),
        ("swap", STEPPER, {"preemptions": ("recompute", "swap")}, ""),
        ("swap", POOL, {"preemptions": ("recompute", "swap")}, "does not swap"),
    ],
)
def test_a_scope_that_an_engine_cannot_live_in_is_skipped_with_the_reason(
    scope: str, surface: Surface, changed: dict[str, object], why: str
) -> None:
    assert ", ".join(lacks(find(scope), replace(Capabilities(), **changed), surface)) == why  # type: ignore[arg-type]


def test_reserved_blocks_come_on_top_and_every_request_fits() -> None:
    reserving = Capabilities(reserved_blocks=frozenset({BlockId(0)}), options={"block": (4, 8)}, caching=(False,))
    world = empty(find("any-block"), reserving)
    assert world.num_blocks == 3 + 1 + 1  # 01+2 with blocks of one token asks for four
    assert world.options == {"block": 4}
    assert not world.caching
    assert world.max_running == 4


def test_every_scope_of_ours_has_a_name_and_a_subject_of_its_own() -> None:
    assert not {scope.name for scope in OWN} & set(SPEC_SCOPES)
    assert len({scope.name for scope in OWN}) == len({scope.about for scope in OWN}) == len(OWN)
    assert all(find(scope.name) is scope for scope in OWN)


ROWS = kept().rows
KILLED = {one.name: one.killed for one in ROWS if one.killed}


def test_every_imposter_is_kept_and_why_those_live_that_do() -> None:
    of_ours = [(one.__name__, one.bug, one.broken_rule.id, surface_of(one)) for one in triable()]
    assert [(one.name, one.bug, one.rule, one.surface) for one in ROWS] == of_ours
    assert set(LISTED) <= {one.name for one in ROWS if not one.killed}
    require_reasons(ROWS)
    for one in ROWS:
        fit = [scope.name for scope in SCOPES if not lacks(scope, BY_NAME[one.name].capabilities, one.surface)]
        assert [name for name in fit if name in one.killed] == list(one.killed)
        assert [name for name in fit if name not in one.killed] == list(one.lived)


def test_every_scope_kills_some_imposter_and_most_of_ours_one_that_no_other_does() -> None:
    kill = {scope.name: {name for name, numbers in KILLED.items() if scope.name in numbers} for scope in SCOPES}
    assert all(kill.values())
    alone = {scope for scope in kill if any(set(numbers) == {scope} for numbers in KILLED.values())}
    assert len(alone & {scope.name for scope in OWN}) > len(OWN) / 2


@pytest.mark.parametrize("name", ["SaltNotInKey", "FullCacheIsAnError", "ForkFailsHalfWay", "TableFrozenAfterTransfer"])
def test_the_numbers_that_are_kept_come_out_again(name: str) -> None:
    soon = {scope: number for scope, number in KILLED[name].items() if number <= 3}
    again = row(BY_NAME[name], map(find, soon), 150)
    assert again.killed == soon


def test_a_reason_is_wanted_where_an_imposter_lives_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    living = Row("Nobody", "B000", "alloc/conservation", POOL, {}, ("prefix",))
    with pytest.raises(ValueError, match="Nobody lives, and no reason is listed"):
        require_reasons([living])
    monkeypatch.setattr(reasons, "LISTED", {"Nobody": (Lack.LONGER, "some")})
    require_reasons([living])
    with pytest.raises(ValueError, match="Nobody has a reason to live, and does not"):
        require_reasons([replace(living, killed={"prefix": 3})])
    with pytest.raises(ValueError, match="Nobody has a reason to live, and does not"):
        require_reasons([])
    assert reasons.reason(replace(living, rule=REPRODUCIBLE_KEY.id)) is not None


def test_the_tables_tell_who_is_killed_where_and_by_what_alone() -> None:
    rows = [
        Row("One", "B001", "alloc/conservation", POOL, {"prefix": 3, "fork": 2}),
        Row("Two", "B002", "alloc/conservation", STEPPER, {"fork": 4}, ("prefix",)),
        Row("Keys", "B003", REPRODUCIBLE_KEY.id, POOL, {}, ("prefix",)),
    ]
    told = imposters_tables(rows, [find("prefix"), find("fork"), find("swap")], "made")
    assert "2 of 3 killed; made." in told
    assert "| `prefix` | 1 | 0 |  |" in told
    assert "| `fork` | 1 | 1 | Two |" in told
    assert "| `swap` |  |  |  |" in told
    assert "| One | pool | `fork` 2, `prefix` 3 |" in told
    assert "| Keys | pool | two processes |" in told


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["exhaust", *arguments])
    return done.exit_code, done.output


def test_the_command_says_how_far_it_went_and_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code, said = run("reference", "--scope", "chains", "--scope", "swap", "--depth", "3", "--json", str(path))
    assert code == 0, said
    assert "3 operations" in said
    assert "Skipped on the pool, which does not swap: swap." in said
    assert "--examples" not in said
    told = json.loads(path.read_text("utf-8"))
    assert {(one["scope"], one["surface"]) for one in told["scopes"]} == {
        (scope, surface) for scope in ("chains", "swap") for surface in ("pool", "stepper")
    }
    assert told["verdicts"]["pool"]["held"] > 5


def test_the_command_tells_a_finding_as_check_does() -> None:
    name = "kvconformance.imposters.hits:WholePromptHit"
    code, said = run(name, "--scope", "exact-hit", "--histories", "50")
    assert code == 1
    assert f"kvspec check {name} --surface pool --history" in said
    assert "not complete: --histories ends it before 5 operations" in " ".join(said.split())


def test_an_engine_that_ends_its_process_is_told_with_the_history() -> None:
    code, said = run("tests.conformance.hostile:Exiting", "--scope", "exact-hit", "--depth", "2")
    assert code == 1
    assert "ends its process with exit status 17" in said
    assert "The search on the stepper is not complete: the engine ended its process." in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("reference", "--scope", "chians"), "did you mean chains?"),
        (("reference", "--scope", "tree"), "'tree' is explored only (kvspec explore --scope tree)"),
        (("reference", "--scope", "groups-any"), "'groups-any' is explored only"),
        (("reference", "--option", "chunk"), "--option wants NAME=VALUE, not 'chunk'"),
        (("reference", "--option", "chunk=1"), "it has no option 'chunk'; it has none"),
        (("tests.conformance.hostile:Optional", "--option", "chunk=1"), "option chunk is not '1'; it is one of 0, 4"),
        (("kvconformance.engines.reference_quantizer:ReferenceQuantizer",), "has neither a pool nor a stepper"),
        (("reference", "--surface", "tree"), "on the surfaces pool and stepper, not on 'tree'"),
        (("reference", "--rule", "nonsense"), "nonsense"),
        (("nobody",), "no engine is called 'nobody'"),
        (("contiguous", "--scope", "swap"), "fits none of these scopes"),
        (("reference", "--json", "/nowhere/x.json"), "cannot write /nowhere/x.json"),
    ],
)
def test_mistakes_of_usage_are_one_clear_line(arguments: tuple[str, ...], said: str) -> None:
    code, told = run(*arguments)
    assert code == 2, told
    assert said in " ".join(told.split())


class TroubledWithNobodyThere(ReferenceStepper):
    """Raises when a step is planned before anybody has come, or right after all have left."""

    def plan(self) -> StepPlan:
        if not self.tasks:
            raise RuntimeError("nobody is there")
        return super().plan()


def test_a_step_with_nobody_there_is_tried_at_the_start_and_after_the_last_has_left() -> None:
    engine = Engine("troubled", "", {STEPPER: TroubledWithNobodyThere})
    outcome, played = tried(tiny("0"), STEPPER, engine=engine)
    assert [one.trial.history.operations for one in outcome.found] == [(Step(),)]
    add = arrivals(tiny("0"), STEPPER)[0]
    assert (add, Step(), Step()) in {history.operations for history in played}
    assert outcome.covered[0].cut_at == (PROGRESS_OR_REJECT.id,)
    assert outcome.covered[0].cut == 2


def test_options_that_are_not_named_have_their_first_values() -> None:
    can = Capabilities(options={"chunk": (0, 4), "order": ("fifo", "lifo")})
    assert chosen(can) == {"chunk": 0, "order": "fifo"}
    assert chosen(can, (("chunk", "4"), ("elsewhere", "1"))) == {"chunk": 4, "order": "fifo"}
    assert empty(find("prefix"), can, (("order", "lifo"),)).options == {"chunk": 0, "order": "lifo"}
    assert mistaken([Capabilities(), can], (("chunk", "4"),)) == ""
    assert mistaken([can], (("chunk", "5"),)) == "its option chunk is not '5'; it is one of 0, 4"
    assert mistaken([can], (("chnk", "4"),)) == "it has no option 'chnk'; it has chunk, order"
    assert mistaken([Capabilities()], (("chunk", "4"),)) == "it has no option 'chunk'; it has none"


@pytest.mark.parametrize(("given", "value"), [((), 0), (("--option", "chunk=4"), 4)])
def test_the_options_of_an_engine_are_told_and_written(given: tuple[str, ...], value: int, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code, said = run(
        "tests.conformance.hostile:Optional", "--scope", "prefix", "--depth", "2", "--json", str(path), *given
    )
    assert code == 0, said
    assert f"On the stepper with chunk={value} (--option tries another value)." in said
    assert [one["options"] for one in json.loads(path.read_text("utf-8"))["scopes"]] == [{"chunk": value}]


def told(result: SurfaceResult, *scopes: str) -> str:
    with console.capture() as caught:
        show_covered([result], Exhaustive(tuple(map(find, scopes))))
    return " ".join(caught.get().split())


def test_what_is_skipped_is_told_in_one_line_for_each_reason() -> None:
    forks = [Covered(name, POOL, skipped=("cannot fork",)) for name in ("fork", "forks")]
    fails = Covered("failure", POOL, skipped=("cannot fail",))
    done = Covered("prefix", POOL, 3, 1, True)
    said = told(SurfaceResult(POOL, {}, covered=(done, *forks, fails)), "prefix")
    assert "Skipped on the pool, which cannot fork: fork, forks. " in said
    assert "Skipped on the pool, which cannot fail: failure." in said


def test_a_surface_that_no_scope_fits_has_one_line_with_what_all_lack() -> None:
    blocks, fork = "takes blocks of 16 tokens only", "cannot fork"
    none = (Covered("prefix", POOL, skipped=(blocks,)), Covered("fork", POOL, skipped=(blocks, fork)))
    assert told(SurfaceResult(POOL, {}, covered=none)) == f"No scope fits the pool: it {blocks}."
    mixed = (Covered("prefix", POOL, skipped=(blocks,)), Covered("fork", POOL, skipped=(fork,)))
    assert told(SurfaceResult(POOL, {}, covered=mixed)) == f"No scope fits the pool: it {blocks}, {fork}."


def test_where_histories_end_early_the_rule_is_named() -> None:
    rule = PROGRESS_OR_REJECT.id
    cut = Covered("prefix", POOL, 3, 1, True, cut=2, cut_at=(rule,))
    assert f"2 histories end early, at {rule}, which is broken or not claimed" in told(
        SurfaceResult(POOL, {}, covered=(cut,)), "prefix"
    )


def test_what_was_found_before_a_death_is_kept_and_what_was_not_begun_is_named(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    scopes = ("--scope", "fcfs", "--scope", "any-block", "--scope", "prefix")
    code, said = run("tests.conformance.hostile:BreakingThenExiting", *scopes, "--depth", "2", "--json", str(path))
    assert code == 1
    assert "alloc/conservation" in said and "ends its process with exit status 17" in said
    assert "not complete: the engine ended its process" in " ".join(said.split())
    assert "The search on the stepper is not complete: the engine ended its process. Not begun: prefix." in said
    report = json.loads(path.read_text("utf-8"))
    first, second = report["scopes"]
    assert first["complete"] and first["broken"] == ["alloc/conservation"]
    assert not second["complete"] and second["histories"]
    assert {rule["id"] for rule in report["rules"] if rule["finding"]} == {
        "alloc/conservation",
        "sched/progress-or-reject",
    }
    assert report["examples"]["stepper"] == first["histories"] + second["histories"] + 1  # and the fatal one
    assert report["verdicts"]["stepper"]["held"] > 3


def test_what_was_found_before_a_harness_fault_is_kept() -> None:
    scopes = ("--scope", "fcfs", "--scope", "any-block", "--scope", "prefix")
    code, said = run("tests.conformance.hostile:BreakingThenLying", *scopes, "--depth", "2")
    assert code == 3
    assert "alloc/conservation" in said and "broken after" in said
    assert "The search on the stepper is not complete: a harness fault ended it. Not begun: prefix." in said


def test_a_scope_that_is_named_twice_is_tried_once() -> None:
    code, said = run("reference", "--scope", "chains", "--scope", "chains", "--depth", "1", "--surface", "pool")
    assert code == 0
    assert said.count("chains") == 1


def test_the_help_says_how_many_scopes_of_its_own_there_are_and_how_many_requests_they_have() -> None:
    said = " ".join(run("--help")[1].split())
    assert len(OWN) == 18 and "eighteen of its own" in said
    assert {len(scope.requests) for scope in SCOPES} == {1, 2, 3, 4, 5} and "one to five requests" in said
