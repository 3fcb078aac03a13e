"""Tells what happened to a radix tree, and which pages it should hold under which locks."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from kvconformance.telling.story import Story, Teller
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.violation import Violation
from kvspec.vocabulary import KeyParts


def ghost(state: TreeState, _: Violation) -> list[str]:
    """The pages that are cached, with the locks on them."""
    rows = sorted(state.pages.items(), key=lambda item: (str(item[0].salt), item[0].computes, item[0].elements))
    return [f"page {content}" + (f"  {page.locks} locks" if page.locks else "") for content, page in rows]


def _prefix(tokens: tuple[int, ...], parts: KeyParts) -> str:
    names = ("salt", "adapter", "adapter_version", "weights")
    said = "".join(f" {name}={getattr(parts, name)}" for name in names if getattr(parts, name))
    return f"({' '.join(map(str, tokens))}){said}"


def _node(node: Any) -> str:
    own = node.prefix[len(node.prefix) - node.length :]
    return f"{len(node.prefix) - node.length}+({' '.join(map(str, own))})" + (f" ×{node.locks}" if node.locks else "")


_TELL: dict[type, Teller] = {
    ev.Match: lambda e, _: f"{_prefix(e.tokens, e.parts)}: {e.hit} tokens are found, handle {e.handle}",
    ev.Insert: lambda e, _: f"{_prefix(e.tokens, e.parts)}: {e.known} tokens are known",
    ev.Refuse: lambda e, _: f"{_prefix(e.tokens, e.parts)} is refused",
    ev.Lock: lambda e, _: f"handle {e.handle}",
    ev.Unlock: lambda e, _: f"handle {e.handle}",
    ev.Evict: lambda e, _: f"{e.asked} tokens asked for, {e.told} evicted",
    ev.Reset: lambda _, __: "the tree is emptied",
    ev.Show: lambda e, _: "nodes " + (", ".join(_node(node) for node in e.nodes) or "none"),
}

STORY = Story(tell=MappingProxyType(_TELL), ghost=ghost)
