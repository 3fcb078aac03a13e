"""The surface Groups: a block manager for several groups of layers, with one hit length for all of them.

`surface` is what a third party writes, `strategies` the histories that the search tries, `driver` the road through one,
`story` tells what happened. What is right stands in `kvspec.groups`.
"""

from kvconformance.groups.surface import GroupedPool
from kvspec.groups.vocabulary import Group, GroupAdmission, GroupsCapabilities, Kind, Layout

__all__ = ["Group", "GroupAdmission", "GroupedPool", "GroupsCapabilities", "Kind", "Layout"]
