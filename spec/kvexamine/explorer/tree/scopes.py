"""The small worlds of radix trees that are explored, each chosen by the faults that it kills."""

from __future__ import annotations

import re

from kvexamine.explorer.scope import WorldScope
from kvexamine.explorer.tree.world import Prefix, TreeWorld
from kvspec.vocabulary import NO_PARTS, KeyParts, TokenId, World


def _prefixes(text: str) -> tuple[Prefix, ...]:
    """Prefixes, written `tokens`, `tokens/salt` or `tokens@adapter`."""
    told = (re.split("([/@])", word) for word in text.split())
    return tuple((tuple(TokenId(int(token)) for token in tokens), _parts(*apart)) for tokens, *apart in told)


def _parts(kind: str = "", name: str | None = None) -> KeyParts:
    return {"": NO_PARTS, "/": KeyParts(salt=name), "@": KeyParts(adapter=name)}[kind]


_ALL = (
    WorldScope(
        "tree",
        "prefixes that part at once and later, with two lookups at a time, in a tree that is too small",
        TreeWorld(World(3, 1), _prefixes("00 01 1"), 2, resets=True),
    ),
    WorldScope(
        "tree-locks",
        "three lookups at a time along one chain of pages and its branch",
        TreeWorld(World(3, 1), _prefixes("000 01"), 3),
    ),
    WorldScope(
        "tree-pages",
        "pages of two tokens, lookups and insertions that end inside a page",
        TreeWorld(World(3, 2), _prefixes("0001 00 0011 000"), 2),
    ),
    WorldScope(
        "tree-tenants",
        "equal tokens under another salt and another adapter",
        TreeWorld(World(3, 1), _prefixes("00 00/x 0@a"), 2),
    ),
    WorldScope(
        "tree-places",
        "every token has its place: the right ones, one twice, another page's, too few",
        TreeWorld(World(2, 2), _prefixes("0001 00 0100"), 2, places=True),
    ),
    WorldScope(
        "tree-large",
        "room for four pages, and three lookups at a time",
        TreeWorld(World(4, 1), _prefixes("000 001 01 1"), 3, resets=True),
        large=True,
    ),
)

TREES: dict[str, WorldScope[TreeWorld]] = {scope.name: scope for scope in _ALL}
