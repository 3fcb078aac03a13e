"""Tells what happens to a cache with several groups: as for one group, with its pools, groups and steps."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from kvconformance.history import History
from kvconformance.telling.story import PAGED, TELL
from kvexamine.telling.paged import tell
from kvspec import events as ev
from kvspec.layout import Layout
from kvspec.violation import HarnessFault


def world(history: History) -> str:
    """The pools and the groups of a world, in one line."""
    try:
        layout = Layout.of(history.world())
    except HarnessFault:
        return f"{history.num_blocks} blocks"
    own = "for each group" if layout.num_pools > 1 else "for all groups"
    return ", ".join(
        [f"{history.num_blocks} blocks {own}", f"groups {layout}", *([] if history.caching else ["no prefix cache"])]
    )


STORY = replace(
    PAGED,
    world=world,
    verbs=MappingProxyType({"add": "admit", "commit": "complete"}),
    tell=MappingProxyType({**TELL, ev.Complete: tell}),
)
