"""The specification's own transitions, of paged caches and of radix trees, as the models are explored under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec.state import State
from kvspec.transition import advance as advance_paged
from kvspec.tree import judge as judge_tree
from kvspec.violation import Tally

Transition = Callable[[Any, Any], None]
"""Applies an event to a state in place; raises `Broken` or `Violation` where it is refused."""

_TALLY = Tally()


def honest(state: Any, event: Any, tally: Tally = _TALLY) -> None:
    """The specification's own transition of either kind of state."""
    (advance_paged if isinstance(state, State) else judge_tree)(state, event, tally)
