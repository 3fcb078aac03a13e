"""Deliberate faults of the transition, each of which some scope must notice: how the choice of scopes is tested.

A fault either takes a guard away (what the rule forbids is allowed) or spoils an effect. `python -m
kvexamine.explorer.page` tries each in every scope whose alphabet has what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kvexamine.explorer.blind import Blind
from kvexamine.explorer.broken import Broken, Wrong
from kvexamine.explorer.paged import spoiling
from kvexamine.explorer.paged.moves import Transition
from kvexamine.explorer.paged.run import explore_one
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.results import Result
from kvspec import events as ev
from kvspec import rules
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.transition import advance
from kvspec.violation import HarnessFault, Tally

LIMIT = 3_000
"""States of a scope after which a fault counts as unnoticed."""

Effect = Callable[[State, State, ev.Event], None]
"""Spoils the state after an event, in place, given the state before it."""


@dataclass(frozen=True)
class Fault:
    """One fault. `needs` is the kind of events without which it cannot show."""

    name: str
    says: str
    transition: Transition
    needs: str = ""
    scheduler: str = ""
    """The victim that the scheduler picks instead, where the fault is the scheduler's."""

    def shows_in(self, scope: Scope) -> bool:
        """Whether the scope has what the fault needs."""
        return (not self.needs or scope.has(self.needs)) and (scope.fcfs or not self.scheduler)

    def tried(self, scope: Scope, limit: int = LIMIT) -> Result:
        """What exploring the scope says of the fault."""
        return explore_one(replace(scope, victim=self.scheduler or scope.victim), limit, transition=self.transition)


def _without(*blind: Rule) -> Transition:
    """The transition without the guards of some rules; where it then falls over, that is noticed."""
    tally = Blind(*blind)

    def transition(state: State, event: ev.Event) -> None:
        try:
            advance(state, event, tally)
        except (IndexError, KeyError, ValueError, HarnessFault) as error:
            raise Wrong(Broken(blind[0], f"the transition falls over: {error!r}")) from error

    return transition


def _spoiled(kind: type | tuple[type, ...], effect: Effect) -> Transition:
    """The transition with another effect of one kind of event."""
    tally = Tally()

    def transition(state: State, event: ev.Event) -> None:
        if not isinstance(event, kind):
            advance(state, event, tally)
            return
        before = state.copy()
        advance(state, event, tally)
        effect(before, state, event)

    return transition


_LEAVING = (ev.Preempt, ev.Finish, ev.Abort)

_ALL = (
    Fault("full-hit", "a hit on all tokens leaves none to compute", _without(rules.ONE_TOKEN_LEFT)),
    Fault(
        "shared-write",
        "a shared block is written without a copy",
        _without(rules.SHARED_BYTES_NEVER_CHANGE),
        "fork",
    ),
    Fault("held-block", "a block that somebody holds is handed out", _without(rules.CONSERVATION)),
    Fault("over-budget", "a step computes more than its budget", _without(rules.STEP_BUDGET)),
    Fault("empty-step", "a step ends in which nothing has happened", _without(rules.PROGRESS_OR_REJECT)),
    Fault(
        "rejects-what-fits",
        "a request that fits is rejected",
        _without(rules.PROGRESS_OR_REJECT),
        "reject",
    ),
    Fault(
        "early-finish",
        "a request finishes before it has all its tokens",
        _without(rules.CHUNK_INDEPENDENCE, rules.RESUME_EQUALS_UNINTERRUPTED),
        "finish",
    ),
    Fault("unfenced", "a block is taken while a step or a transfer may touch it", _without(rules.IN_FLIGHT_FENCE)),
    Fault(
        "unfinished-hit",
        "a hit on blocks of a step that is not finished",
        _without(rules.PUBLISH_ONLY_COMPUTED),
        "fail",
    ),
    Fault("tenant-hit", "a hit on blocks of another tenant", _without(rules.ISOLATION)),
    Fault(
        "refuses-what-fits",
        "blocks are refused that are free",
        _without(rules.FIT_AGREES_WITH_ALLOCATE),
        "refuse",
    ),
    Fault(
        "block-too-many",
        "a table grows by more blocks than it needs",
        _without(rules.ONE_PAGE_ROUNDING, rules.COVERAGE_AND_LIMIT),
    ),
    Fault(
        "block-too-few",
        "a table has no home for what is computed, nor for what is read",
        _without(rules.COVERAGE_AND_LIMIT, rules.EVERY_GROUP_HIT),
    ),
    Fault("overtaking", "a newcomer starts before an older one", _without(rules.FCFS_ORDER)),
    Fault("forward-release", "blocks are released from the head of the table on", _spoiled(_LEAVING, spoiling.forward)),
    Fault("unreferenced-hit", "a shared block is not counted", _spoiled(ev.Start, spoiling.unreferenced)),
    Fault(
        "unreferenced-fork",
        "the blocks of a fork are not counted",
        _spoiled(ev.Fork, spoiling.unreferenced),
        "fork",
    ),
    Fault(
        "hit-stays-idle", "a block that is hit stays in the order of eviction", _spoiled(ev.Start, spoiling.stays_idle)
    ),
    Fault("evicted-key", "an evicted block keeps its key", _spoiled(ev.Compute, spoiling.keeps_key)),
    Fault("half-published", "a block is keyed before it is full", _spoiled(ev.Compute, spoiling.publishes_half)),
    Fault("hit-too-far", "a hit counts one token too many", _spoiled(ev.Start, spoiling.hits_too_far)),
    Fault("next-slot", "what is computed goes into the next slot", _spoiled(ev.Compute, spoiling.next_slot)),
    Fault(
        "copy-omitted",
        "a private block is taken and nothing copied",
        _spoiled(ev.Copy, spoiling.copies_nothing),
        "copy",
    ),
    Fault("copy-short", "the last valid token is not copied", _spoiled(ev.Copy, spoiling.copies_less), "copy"),
    Fault(
        "empty-fork",
        "the private block of a fork receives no copy",
        _spoiled(ev.Fork, spoiling.forks_empty),
        "fork",
    ),
    Fault(
        "reset-keeps-keys",
        "the cache is reset and keeps its keys",
        _spoiled(ev.Reset, spoiling.keeps_keys),
        "reset",
    ),
    Fault(
        "failed-keeps-keys",
        "blocks of a failed step stay keyed",
        _spoiled(ev.FailStep, spoiling.keeps_keys),
        "fail",
    ),
    Fault("finish-leaks", "a finished request never gives its blocks back", _spoiled(ev.Finish, spoiling.leaks)),
    Fault(
        "double-release",
        "an aborted request gives its blocks back twice",
        _spoiled(ev.Abort, spoiling.twice),
        "abort",
    ),
    Fault(
        "victim-keeps-table",
        "a victim waits and keeps its table",
        _spoiled(ev.Preempt, spoiling.keeps_table),
        "preempt",
    ),
    Fault(
        "victim-loses-tokens",
        "a victim forgets what it has sampled",
        _spoiled(ev.Preempt, spoiling.loses_tokens),
        "preempt",
    ),
    Fault("budget-not-restored", "the next step begins with what was left", _spoiled(ev.EndStep, spoiling.keeps_left)),
    Fault(
        "progress-forgotten",
        "what is computed does not count as progress",
        _spoiled(ev.Compute, spoiling.forgets_progress),
    ),
    Fault(
        "swap-short",
        "the last slot is not copied to the host",
        _spoiled(ev.SwapOut, spoiling.swaps_less),
        "swap",
    ),
    Fault(
        "fence-stays",
        "blocks stay fenced after their transfer",
        _spoiled(ev.TransferDone, spoiling.stays_fenced),
        "swap",
    ),
    Fault(
        "oldest-victim",
        "the oldest request is preempted for a younger one",
        _spoiled(ev.Add, spoiling.keeps_left),
        "preempt",
        "oldest",
    ),
)

FAULTS: dict[str, Fault] = {fault.name: fault for fault in _ALL}
