"""How requests leave, for a while or for good: preempt, finish, abort, release."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.transition.blocks import forget_flights, forget_release_order, give_back
from kvspec.transition.guards import live_of, require_present, require_victim
from kvspec.violation import Tally
from kvspec.vocabulary import DONE, WAITING


def preempt(state: State, event: ev.Preempt, tally: Tally) -> None:
    """A running request that this step has not scheduled gives everything back and waits; its tokens stay.

    Between two plans nobody is scheduled, and who gives way then may start in the next plan.

    It is progress (L1) even where the victim holds nothing yet: an honest scheduler may try each victim once. Who
    starts and preempts for ever is found by the bound on all steps of a run, not here.

    Raises sched/one-queue, and what `require_victim` raises.
    """
    live = live_of(state, event.request)
    require_victim(tally, live)
    if event.between and state.planned:
        tally.fail(rules.ONE_QUEUE, "between", request=event.request, planned=", ".join(state.planned))
    if state.capabilities.hides_lost_takes:
        forget_release_order(state)
    give_back(state, live)
    forget_flights(state, live)
    live.phase, live.computed, live.resumed = WAITING, 0, True
    live.preempted_in = -1 if event.between else state.step
    live.filled = [0 for _ in live.tables]
    state.progressed = True


def finish(state: State, event: ev.Finish, tally: Tally) -> None:
    """A request leaves with all its tokens, or with one that stops it.

    Raises sched/chunk-independence, and what `require_present` raises.
    """
    live = live_of(state, event.request)
    require_present(tally, live)
    generated, most = live.generated, live.request.max_new_tokens
    if generated < most and not live.stopped:
        tally.fail(rules.CHUNK_INDEPENDENCE, "finished", request=event.request, generated=generated, most=most)
    _leave(state, live, event.deferred)


def abort(state: State, event: ev.Abort, tally: Tally) -> None:
    """A request leaves when its client says so.

    Raises what `require_present` raises.
    """
    live = live_of(state, event.request)
    require_present(tally, live)
    _leave(state, live, event.deferred)


def release_held(state: State, event: ev.Release, tally: Tally) -> None:
    """The blocks that a request kept when it left are given back.

    Raises alloc/no-dangling-reference.
    """
    live = live_of(state, event.request)
    tally.met(rules.NO_DANGLING_REFERENCE)
    if live.phase is not DONE:
        tally.fail(rules.NO_DANGLING_REFERENCE, "released", request=event.request, phase=live.phase.value)
    give_back(state, live)
    live.left_in = state.step
    state.progressed = True


def release_again(state: State, event: ev.ReleaseAgain, tally: Tally) -> None:
    """A second release changes nothing."""
    live_of(state, event.request)
    tally.met(rules.COUNT_EQUALS_HOLDERS)


def _leave(state: State, live: Live, deferred: bool) -> None:
    live.phase, live.left_in = DONE, state.step
    live.swapped = None
    if not deferred:
        give_back(state, live)
    state.progressed = True
