"""The surface Groups: a block manager for several groups of layers, with one hit length for all of them.

What is right stands in `kvspec.groups`.
"""

from kvconformance.surfaces.base import SurfaceKind
from kvconformance.surfaces.groups.driver import RAISES, GroupsDriver, grouped
from kvconformance.surfaces.groups.story import STORY
from kvconformance.surfaces.groups.strategies import group_histories
from kvspec.groups.vocabulary import GroupsCapabilities
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.GROUPS,
    required=("admit", "extend", "completed", "append", "free", "tables", "free_blocks"),
    driver=GroupsDriver,
    histories=group_histories,
    raises=RAISES,
    capabilities=GroupsCapabilities,
    declares="groups declare",
    machine=grouped,
    story=STORY,
)
