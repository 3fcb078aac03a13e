"""The transition `step(state, event) -> state`: one short function per event, in the order guards, effect, publication.

A guard that fails raises `Broken` with the rule it stands for; what a finding is called, `kvspec.blame` says. Each
function names in its docstring the rules that it raises. The specification is a relation: it judges what an engine
chose (order, chunk, victim, evicted block) and never chooses itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec import events as ev
from kvspec.claims import observe
from kvspec.state import State
from kvspec.transition import admission, computing, exits, steps, transfers
from kvspec.violation import Tally


def step(state: State, event: ev.Event, tally: Tally | None = None) -> State:
    """The state after `event`. Raises `Broken` where the event is not allowed; `state` is never changed."""
    after = state.copy()
    advance(after, event, tally or Tally())
    return after


def advance(state: State, event: ev.Event, tally: Tally) -> None:
    """Apply `event` to `state` in place: `step` without the copy, for a checker that keeps only the newest state."""
    _TRANSITIONS[type(event)](state, event, tally)
    if state.shown is not None and type(event) not in _LEAVES_INDEX:
        state.shown = state.kept = None


_LEAVES_INDEX = frozenset({ev.Reset, ev.Observe})
"""Events after which the index is what they left or told; a reset says itself what it does to it.

A step that ends is none of them: an engine may evict in the background."""

_TRANSITIONS: dict[type, Callable[[State, Any, Tally], None]] = {
    ev.Add: admission.add,
    ev.Reject: admission.reject,
    ev.Refuse: admission.refuse,
    ev.Decline: admission.decline,
    ev.Lookup: admission.lookup,
    ev.Start: admission.start,
    ev.Reserve: computing.reserve,
    ev.Trim: computing.trim,
    ev.Compute: computing.compute,
    ev.Waste: computing.waste,
    ev.Copy: computing.copy,
    ev.Remap: computing.remap,
    ev.Fork: admission.fork,
    ev.Sample: computing.sample,
    ev.Preempt: exits.preempt,
    ev.SwapOut: transfers.swap_out,
    ev.SwapIn: transfers.swap_in,
    ev.TransferDone: transfers.transfer_done,
    ev.Finish: exits.finish,
    ev.Abort: exits.abort,
    ev.Release: exits.release_held,
    ev.ReleaseAgain: exits.release_again,
    ev.Reset: steps.reset,
    ev.FailStep: steps.fail_step,
    ev.EndStep: steps.end_step,
    ev.Dispatch: steps.dispatch,
    ev.Complete: steps.complete,
    ev.Observe: observe,
}
