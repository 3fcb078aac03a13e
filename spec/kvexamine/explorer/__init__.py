"""The exhaustive explorer: every state that small worlds can reach under the transition, and what holds in all of them.

There are three models, each with its scopes, its moves, its checks and its deliberate faults: `paged`, the ordinary
cache, whose states are packed; `groups`, caches with several groups; `tree`, radix trees with locks. One breadth-first
`search` goes through any `Model`; `spoiling` breaks the transitions, and `catalogue` has the scopes of all three.
`spec/explorer.md` says what is left out of a state and why nothing is lost by it.
"""

from kvexamine.explorer.catalogue import ALL, everyday, explore, find
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.paged.scopes import SCOPES
from kvexamine.explorer.results import Result
from kvexamine.explorer.run import AnyScope

__all__ = ["ALL", "SCOPES", "AnyScope", "Result", "Scope", "everyday", "explore", "find"]
