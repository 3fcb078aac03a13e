"""The surface Groups: a block manager for several groups of layers, with one hit length for all of them.

The machine is that of the cache with one group; the world says which groups there are (`kvspec.layout`).
"""

from types import MappingProxyType

from kvconformance.surfaces.base import SurfaceKind
from kvconformance.surfaces.groups.driver import PERFORM, RAISES, GroupsDriver
from kvconformance.surfaces.groups.story import STORY
from kvconformance.surfaces.groups.strategies import group_histories
from kvconformance.surfaces.pool.driver import stepless
from kvspec import rules
from kvspec.vocabulary import GroupsCapabilities, Surface

SURFACE = SurfaceKind(
    surface=Surface.GROUPS,
    operations=tuple(PERFORM),
    required=("admit", "extend", "completed", "append", "free", "tables", "free_blocks"),
    driver=GroupsDriver,
    histories=group_histories,
    raises=RAISES,
    capabilities=GroupsCapabilities,
    declares="groups declare",
    wants=MappingProxyType(
        {rules.DRAFT_GROUP_HIT: ("has no draft group", lambda c: any("draft" in text for text in c.layouts))}
    ),
    setting=stepless,
    story=STORY,
)
