"""Radix trees: prefix caches whose nodes hold runs of pages, are split where prefixes part, and are locked while used.

How an engine cuts the pages into nodes is its own business. The ghost therefore counts locks per page: `vocabulary` has
what an engine answers and shows, `state` the pages with their locks, `transition` judges every operation, `places`
where tokens are, `shown` what the engine says of itself afterwards, and `words` says what a finding is called.
"""

from kvspec.tree.state import TreeState
from kvspec.tree.transition import advance
from kvspec.tree.vocabulary import Found, Inserted, Node
from kvspec.tree.words import judge

__all__ = ["Found", "Inserted", "Node", "TreeState", "advance", "judge"]
