"""What `check` finds, the recorded events alone say too: by the same rule, or nothing where no event shows it.

A judge of recorded events (`kvspec replay`) has neither the engine nor the driver. So the specification may know
nothing that only the driver does: whatever decides how a finding is called must follow from the events.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

import kvconformance
from kvconformance.checker import Checker
from kvconformance.history import History
from kvconformance.imposters import IMPOSTERS, Imposter
from kvconformance.imposters.registry import surface_of
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces.registry import histories
from kvconformance.traces.judging import judge
from kvconformance.traces.traffic import traffic
from kvrefine.refinement import compatible
from kvspec import Tally
from kvspec import events as ev
from kvspec.blame import begin
from kvspec.blame import judge as follow
from kvspec.blame.judging import finding
from kvspec.rules import Rule
from kvspec.transition import advance
from kvspec.violation import Broken, Violation
from kvspec.vocabulary import Capabilities, Surface

HARNESS = Path(kvconformance.__file__).parent
HISTORIES, BUSY = 25, 2
RECORDED = frozenset({Surface.POOL, Surface.STEPPER, Surface.GROUPS})
SHOWN_BY_EVENTS = [one for one in IMPOSTERS if surface_of(one) in RECORDED]


def trial_of(imposter: Imposter, history: History) -> Trial:
    """The imposter lives through a history as in a check."""
    return play(imposter, imposter.capabilities, surface_of(imposter), history, Tally())


def rule_of_events(checker: Checker) -> Rule | None:
    """The rule that the events break when nobody drives, as `kvspec replay` judges them."""
    events = [event for event in checker.events if type(event).__module__ == ev.__name__]
    state = checker.state
    judgement = judge(compatible(state.world, state.capabilities), enumerate(events))  # type: ignore[arg-type]
    return judgement.refuted.rule if judgement.refuted else None


def shown_by_an_event(violation: Violation | None) -> bool:
    """Whether the specification found it in an event, and not the driver in what the engine answered or failed to."""
    frames: list[Any] = []
    step = violation.__traceback__ if violation else None
    while step is not None:
        frames.append(step.tb_frame.f_globals["__name__"])
        step = step.tb_next
    return "kvspec.transition" in frames


def rule_before(checker: Checker) -> Rule:
    """What blame makes of the last event out of a copy of the state before it, untouched by what the event does."""
    *events, last = (event for event in checker.events if type(event).__module__ == ev.__name__)
    judged = begin(checker.state.world, checker.state.capabilities)
    for event in events:
        follow(judged, event, Tally())  # type: ignore[arg-type]
    before = judged.copy()
    try:
        advance(judged.state, last, Tally())  # type: ignore[arg-type]
    except Broken as broken:
        before.past.before(before.state, last)  # type: ignore[arg-type]
        return finding(before.state, before.past, last, broken).rule  # type: ignore[arg-type]
    except Violation as violation:  # of what is published the mirror says the rule itself
        return violation.rule
    raise AssertionError("nothing is broken")


def require_same_rule(trial: Trial) -> None:
    """What the trial found in an event, its events alone break too; and nothing where it found nothing there."""
    found = trial.violation.rule if trial.violation and shown_by_an_event(trial.violation) else None
    assert rule_of_events(trial.checker) is found


def require_same_rule_before(trial: Trial) -> None:
    """The same, and blame names it out of what was before the event too."""
    require_same_rule(trial)
    if trial.violation and shown_by_an_event(trial.violation):
        assert rule_before(trial.checker) is trial.violation.rule


DRAWN: list[tuple[Surface, Capabilities, list[History], list[History]]] = []


def drawn(surface: Surface, capabilities: Capabilities) -> tuple[list[History], list[History]]:
    """Small histories and busy ones, the same for all imposters with these capabilities."""
    for known, same, small, busy in DRAWN:
        if (known, same) == (surface, capabilities):
            return small, busy
    small, busy = [], [traffic(surface, capabilities, n) for n in range(BUSY if surface != Surface.GROUPS else 0)]

    @settings(max_examples=HISTORIES, database=None, derandomize=True, deadline=None, phases=(Phase.generate,))
    @given(histories(surface, capabilities))
    def draw(history: History) -> None:
        small.append(history)

    draw()
    DRAWN.append((surface, capabilities, small, busy))
    return small, busy


@pytest.mark.parametrize("imposter", SHOWN_BY_EVENTS, ids=lambda imposter: imposter.__name__)
def test_the_events_of_an_imposter_alone_break_the_same_rule(imposter: Imposter) -> None:
    """In any histories, the busy ones among them; those that kill are judged where it is killed."""
    small, busy = drawn(surface_of(imposter), imposter.capabilities)
    for history in small:
        require_same_rule(trial_of(imposter, history))
    for history in busy:
        require_same_rule_before(trial_of(imposter, history))


def written_states(path: Path) -> list[str]:
    """What a module writes of anything that it calls a state."""
    assigned = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign | ast.AugAssign)
    ]
    targets = [one for node in assigned for one in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    owned = [(one, one.value) for one in targets if isinstance(one, ast.Attribute | ast.Subscript)]
    return [
        ast.unparse(one)
        for one, owner in owned
        if any("state" in {getattr(part, "attr", ""), getattr(part, "id", "")} for part in ast.walk(owner))
    ]


@pytest.mark.parametrize("path", sorted(HARNESS.rglob("*.py")), ids=lambda path: str(path.relative_to(HARNESS)))
def test_the_harness_writes_nothing_of_a_state(path: Path) -> None:
    assert written_states(path) == []
