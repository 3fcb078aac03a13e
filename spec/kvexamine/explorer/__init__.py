"""The exhaustive explorer: every state that small worlds can reach under the transition, and what holds in all of them.

There are three models, each with its moves, its checks and its deliberate faults: `paged`, the paged cache, with a
search of its own over packed keys; `groups`, caches with several groups; `tree`, radix trees with locks. The latter two
go through the breadth-first `search` of any `Model`; `scopes` names their worlds, `spoiling` and `faults` break their
transitions. `catalogue` has the scopes of all three. `spec/explorer.md` says what is left out of a state and why
nothing is lost by it.
"""

from kvexamine.explorer.catalogue import ALL, AnyScope, everyday, explore, find
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import SCOPES
from kvexamine.explorer.results import Result

__all__ = ["ALL", "SCOPES", "AnyScope", "Result", "Scope", "everyday", "explore", "find"]
