"""The first-come-first-served scheduler of the liveness rules, as a filter on the moves of the relation."""

from __future__ import annotations

from kvspec import events as ev
from kvspec.state import Live, State
from kvspec.vocabulary import Phase


def allowed(state: State, event: ev.Event, victim: str = "youngest") -> bool:
    """Whether the scheduler would do this now.

    Those that run come before those that wait, the oldest first; when it finds no block, the youngest that runs is
    preempted; a newcomer starts when everybody who runs is scheduled (that it comes first is for the rule to say);
    what can never fit is rejected before anything starts; a step ends when nothing else can be done.
    """
    pending = [live for live in _running(state) if not live.ran and state.left > 0]
    match event:
        case ev.Compute():
            return bool(pending) and event.request == pending[0].request.id
        case ev.Preempt():
            chosen = _running(state)[-1 if victim == "youngest" else 0]
            return bool(pending) and _starved(state, pending[0]) and event.request == chosen.request.id
        case ev.Reject():
            return not state.feasible(state.requests[event.request].request)
        case ev.Start() | ev.EndStep() if any(not state.feasible(live.request) for live in _waiting(state)):
            return False
        case ev.Start():
            overtakes = not state.requests[event.request].started
            return not pending and state.left > 0 and (overtakes or event.request == _next(state))
        case ev.EndStep():
            return not pending and (state.left == 0 or not any(_may_start(state, live) for live in _waiting(state)))
        case _:
            return True


def _running(state: State) -> list[Live]:
    return [live for live in state.requests.values() if live.phase is Phase.RUNNING]


def _waiting(state: State) -> list[Live]:
    return [live for live in state.requests.values() if live.phase is Phase.WAITING]


def _next(state: State) -> str | None:
    """The oldest that waits; a victim of this step waits for the next, and so do those behind it."""
    first = next(iter(_waiting(state)), None)
    return first.request.id if first is not None and _may_start(state, first) else None


def _may_start(state: State, live: Live) -> bool:
    return live is _waiting(state)[0] and live.preempted_in != state.step


def _starved(state: State, live: Live) -> bool:
    """Whether not even one more token of the request finds a slot."""
    return state.world.blocks_for(live.computed + 1) - len(live.table) > state.available_in(0)
