"""Events of a radix tree in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvexamine.explorer.tree.world import spelt
from kvspec.mirror import Content
from kvspec.tree import events as ev


def tell(event: ev.Event) -> str:
    """One event."""
    return _TELL[type(event)](event)


def _prefix(event: ev.Match | ev.Insert | ev.Refuse) -> str:
    return spelt((event.tokens, event.parts))


def _show(event: ev.Show) -> str:
    nodes = ", ".join(f"{spelt((n.prefix, n.parts))} ({n.length} its own, {n.locks} locks)" for n in event.nodes)
    sizes = f"{event.evictable} evictable, {event.protected} protected, {event.available} free"
    return f"the tree shows the nodes {nodes or 'none'}; {sizes}; {len(event.published or ())} messages"


def _left(left: frozenset[Content] | None) -> str:
    return "" if left is None else f"; left are {', '.join(sorted(map(str, left))) or 'no pages'}"


def _at(slots: tuple[int, ...] | None) -> str:
    return f" at the places {slots}" if slots else ""


_TELL: dict[type, Callable[[Any], str]] = {
    ev.Match: lambda e: (
        f"a lookup of {spelt((e.tokens, e.parts))} finds {e.hit} tokens{_at(e.slots)}: handle {e.handle}"
    ),
    ev.Insert: lambda e: (
        f"{spelt((e.tokens, e.parts))} is inserted, {e.known} tokens known{_at(e.slots)}{_left(e.left)}"
    ),
    ev.Refuse: lambda e: f"{spelt((e.tokens, e.parts))} is refused, {e.available} tokens are free{_left(e.left)}",
    ev.Lock: lambda e: f"handle {e.handle} is locked",
    ev.Unlock: lambda e: f"handle {e.handle} is unlocked",
    ev.Evict: lambda e: f"{e.told} tokens of {e.asked} are said to be evicted{_left(e.left)}",
    ev.Reset: lambda e: "the tree is emptied",
    ev.Show: _show,
}
