"""Events of a radix tree in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec.mirror import Content
from kvspec.tree import Node
from kvspec.tree import events as ev
from kvspec.vocabulary import KeyParts, TokenId


def tell(event: ev.Event) -> str:
    """One event."""
    return _TELL[type(event)](event)


def prefix(tokens: tuple[TokenId, ...], parts: KeyParts) -> str:
    """A prefix: its tokens, and the parts that separate it."""
    names = ("salt", "adapter", "adapter_version", "weights")
    said = "".join(f" {name}={getattr(parts, name)}" for name in names if getattr(parts, name))
    return f"({' '.join(map(str, tokens))}){said}"


def _node(node: Node) -> str:
    before = len(node.prefix) - node.length
    return f"{before}+({' '.join(map(str, node.prefix[before:]))})" + (f" ×{node.locks}" if node.locks else "")


def _observed(event: ev.Observe) -> str:
    told = f"nodes {', '.join(map(_node, event.nodes)) or 'none'}; {event.evictable} evictable"
    told += f", {event.protected} protected" + ("" if event.available is None else f", {event.available} free")
    return told + (f"; {len(event.published)} messages" if event.published else "")


def _remaining(remaining: frozenset[Content] | None) -> str:
    return "" if remaining is None else f"; left are {', '.join(sorted(map(str, remaining))) or 'no pages'}"


def _at(slots: tuple[int, ...] | None) -> str:
    return f" at the places {slots}" if slots else ""


_TELL: dict[type, Callable[[Any], str]] = {
    ev.Match: lambda e: f"{prefix(e.tokens, e.parts)}: {e.hit} tokens are found{_at(e.slots)}, handle {e.handle}",
    ev.Insert: lambda e: (
        f"{prefix(e.tokens, e.parts)} is inserted: {e.known} tokens are known{_at(e.slots)}{_remaining(e.remaining)}"
    ),
    ev.Refuse: lambda e: (
        f"{prefix(e.tokens, e.parts)} is refused: {e.available} tokens are free{_remaining(e.remaining)}"
    ),
    ev.Lock: lambda e: f"handle {e.handle} is locked",
    ev.Unlock: lambda e: f"handle {e.handle} is unlocked",
    ev.Evict: lambda e: f"{e.asked} tokens are asked for, {e.told} evicted{_remaining(e.remaining)}",
    ev.Reset: lambda _: "the tree is emptied",
    ev.Observe: _observed,
}
