"""The explorer of the two smaller specifications: caches with several groups, and radix trees with locks.

`search` goes breadth first through any `Model`; `groups` and `tree` are the two models: what is proposed, what is
checked from the definitions and not from the transition's own words; `scopes` names the worlds, `faults` spoils the
transitions. `spec/explorer.md` has the tables.
"""

from kvexamine.explorer.small.run import explore_small
from kvexamine.explorer.small.scopes import SMALL, Small

__all__ = ["SMALL", "Small", "explore_small"]
