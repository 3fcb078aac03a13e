"""Every action by name, the events that have none, and where the model demands more than the transition."""

from __future__ import annotations

from kvexamine.proofs.cache import admission, computing, exits, reserving
from kvspec import events as ev

MAKERS = (
    *(admission.add, admission.start, admission.fork),
    *(reserving.reserve, computing.compute, computing.copy, computing.remap, computing.sample),
    *(exits.preempt, exits.leave, exits.release, exits.reset, exits.fail_step),
    *(exits.end_step, exits.dispatch, exits.complete, exits.told),
)
ACTIONS = {action.name: action for action in (make() for make in MAKERS)}

NOT_MODELLED = {
    ev.Trim: "of one full group nothing may be trimmed; of several the explorer searches what may",
    ev.Waste: "what is written behind the tokens that are known is no content of the model",
    ev.SwapOut: "what lies on the host is not in the model; the explorer and the histories search it",
    ev.SwapIn: "likewise",
    ev.TransferDone: "likewise; `fenced` is in the state, and every action here leaves it alone",
}
"""Events without a relation, and why."""

STRICTER: dict[tuple[str, str], str] = {}
"""Guards of the model that the transition lacks, with what they say: none is left."""
