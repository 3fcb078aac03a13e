"""How requests leave, for a while or for good: preempt, finish, abort, release."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.state import Live, State
from kvspec.transition.blocks import forget_release_order, give_back
from kvspec.transition.guards import live_of, require_present, require_victim
from kvspec.violation import Tally
from kvspec.vocabulary import Phase


def preempt(state: State, event: ev.Preempt, tally: Tally) -> None:
    """A running request that this step has not scheduled gives everything back and waits; its tokens stay.

    It is progress (L1) even where the victim holds nothing yet: an honest scheduler may try each victim once. Who
    starts and preempts for ever is found by the bound on all steps of a run, not here.
    """
    live = live_of(state, event.request)
    require_victim(state, tally, live)
    if state.capabilities.hides_lost_takes:
        forget_release_order(state)
    give_back(state, live)
    live.phase, live.computed, live.resumed, live.preempted_in = Phase.WAITING, 0, True, state.step
    live.waits_since = state.step
    state.progressed, state.last = True, "exit"


def finish(state: State, event: ev.Finish, tally: Tally) -> None:
    """A request leaves with all its tokens."""
    live = live_of(state, event.request)
    require_present(tally, live, "finishes")
    rule = rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE
    tally.require(
        live.generated >= live.request.max_new_tokens,
        rule,
        lambda: (
            f"{event.request} finishes with {live.generated} of {live.request.max_new_tokens} new tokens",
            "no token is lost",
        ),
        request=event.request,
    )
    _leave(state, live, event.deferred)


def abort(state: State, event: ev.Abort, tally: Tally) -> None:
    """A request leaves when its client says so."""
    live = live_of(state, event.request)
    require_present(tally, live, "is aborted")
    before = state.last
    _leave(state, live, event.deferred)
    if before in {"refusal", "lookup"} and not live.started:
        state.last = before  # who only asked has nothing to give back: what it was told is what happened last


def release_held(state: State, event: ev.Release, tally: Tally) -> None:
    """The blocks that a request kept when it left are given back."""
    live = live_of(state, event.request)
    tally.require(
        live.phase is Phase.DONE,
        rules.NO_DANGLING_REFERENCE,
        lambda: (f"the blocks of {event.request} are given back while it is {live.phase.value}", "it keeps its blocks"),
        request=event.request,
    )
    give_back(state, live)
    live.left_in = state.step
    state.progressed, state.last = True, "exit"


def release_again(state: State, event: ev.ReleaseAgain, tally: Tally) -> None:
    """A second release changes nothing."""
    live_of(state, event.request)
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    state.last = "stray release"


def _leave(state: State, live: Live, deferred: bool) -> None:
    live.phase, live.left_in = Phase.DONE, state.step
    live.swapped = None
    if not deferred:
        give_back(state, live)
    state.progressed, state.last = True, "exit"
