"""The exhaustive explorer: every state that small worlds can reach under the transition, and what holds in all of them.

`scopes` names the worlds, `moves` proposes what may happen next, the specification's own transition accepts or
refuses it, `packing` writes a state down up to the names of blocks, `search` goes breadth first, `liveness` looks for
runs that never end, `faults` breaks the transition on purpose to show which scope would notice. `small` does the same
for caches with several groups and for radix trees, and `catalogue` has the scopes of all three. `spec/explorer.md`
says what is left out of a state and why nothing is lost by it.
"""

from kvexamine.explorer.catalogue import ALL, AnyScope, everyday, explore, find
from kvexamine.explorer.run import Result
from kvexamine.explorer.scope import Scope
from kvexamine.explorer.scopes import SCOPES

__all__ = ["ALL", "SCOPES", "AnyScope", "Result", "Scope", "everyday", "explore", "find"]
