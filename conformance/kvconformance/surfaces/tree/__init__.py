"""The surface Tree: a prefix cache as a radix tree of pages, whose nodes are split, locked and evicted."""

from types import MappingProxyType

from kvconformance.surfaces.base import SurfaceKind
from kvconformance.surfaces.tree.driver import PERFORM, RAISES, TreeDriver, radix
from kvconformance.surfaces.tree.story import STORY
from kvconformance.surfaces.tree.strategies import tree_histories
from kvspec.rules import MIRROR_EQUALS_INDEX
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.TREE,
    operations=tuple(PERFORM),
    required=("match", "insert", "lock", "unlock", "evict", "nodes", "evictable_size", "protected_size"),
    driver=TreeDriver,
    histories=tree_histories,
    raises=RAISES,
    needs=MappingProxyType({MIRROR_EQUALS_INDEX: "take_events"}),
    machine=radix,
    story=STORY,
)
