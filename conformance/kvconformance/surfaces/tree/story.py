"""Tells what happened to a radix tree, and which pages it should hold under which locks."""

from __future__ import annotations

from types import MappingProxyType
from typing import get_args

from kvconformance.telling.story import Story
from kvexamine.telling.tree import tell
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.violation import Violation


def ghost(state: TreeState, _: Violation) -> list[str]:
    """The pages that are cached, with the locks on them."""
    rows = sorted(state.pages.items(), key=lambda item: (str(item[0].salt), item[0].computes, item[0].elements))
    return [f"page {content}" + (f"  {page.locks} locks" if page.locks else "") for content, page in rows]


STORY = Story(tell=MappingProxyType({kind: lambda event, _: tell(event) for kind in get_args(ev.Event)}), ghost=ghost)
