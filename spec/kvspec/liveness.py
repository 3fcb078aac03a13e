"""That every request finishes (L2), made finite: within how many steps somebody is served, whatever the order."""

from __future__ import annotations

from kvspec.state import State
from kvspec.vocabulary import DONE

ROUNDS = 4
"""How often an engine may compute everything that waits, and throw it away, before anybody is served."""
SOME = 5
"""Steps for which no request is the reason."""


def served(state: State) -> int:
    """Tokens sampled and requests that have left: it only grows, and grows until all have left."""
    requests = state.requests.values()
    return sum(live.generated + (live.phase is DONE) for live in requests)


def most_steps(state: State) -> int:
    """Steps within which `served` grows, while nothing but steps and transfers happens.

    A step computes a token, frees a block or rejects a request, but for the idle steps that are declared. As many
    steps as there are tokens compute them all, one more for each request preempts it, and of that there are `ROUNDS`.
    The tokens that a victim computes anew after each one that it samples are granted again: all in all a bound that
    grows as the square of the lengths, as recomputation does.
    """
    waiting = state.live()
    tokens = sum(len(live.tokens) for live in waiting)
    return ROUNDS * (tokens + len(waiting) + SOME) * (1 + state.capabilities.idle_steps)
