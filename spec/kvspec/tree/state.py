"""The ghost of a radix tree: every cached page by its exact content, with the locks that lie on it and its places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NewType

from kvspec.mirror import EMPTY, Content, Index
from kvspec.tree.vocabulary import Slots
from kvspec.vocabulary import Freedoms, KeyParts, TokenId, World

HandleId = NewType("HandleId", int)
"""Names the prefix that a lookup found, from the lookup to the unlock."""


@dataclass(slots=True)
class Page:
    """One cached page: how many locks lie on it, and where its tokens are."""

    locks: int = 0
    slots: Slots | None = None


@dataclass(slots=True)
class TreeState:
    """Everything the rules speak about. A page is named by the content of its whole chain."""

    world: World
    capabilities: Freedoms
    pages: dict[Content, Page] = field(default_factory=dict)
    found: dict[HandleId, Content] = field(default_factory=dict)
    """The prefixes that lookups found and that are still whole."""
    locked: dict[HandleId, Content] = field(default_factory=dict)
    seen: set[Content] = field(default_factory=set)
    """Every page that was ever inserted."""
    mirror: Index = field(default_factory=lambda: EMPTY)

    @property
    def size(self) -> int:
        """Tokens of a page."""
        return self.world.block_size

    @property
    def protected(self) -> int:
        """Number of pages on which a lock lies."""
        return sum(1 for page in self.pages.values() if page.locks)

    @property
    def evictable(self) -> int:
        """Number of pages on which none does."""
        return len(self.pages) - self.protected

    def chain(self, tokens: Sequence[TokenId], parts: KeyParts) -> Iterator[Content]:
        """The contents of the whole pages of a prefix, first page first."""
        content = Content.root(parts)
        for start in range(0, len(tokens) - self.size + 1, self.size):
            content = content.extend(tokens[start : start + self.size], parts)
            yield content

    def path(self, end: Content) -> Iterator[Content]:
        """The pages from the root to `end`."""
        for stop in range(self.size, len(end.elements) + 1, self.size):
            yield Content(end.salt, end.computes, end.elements[:stop])

    def known(self, tokens: Sequence[TokenId], parts: KeyParts) -> int:
        """How many pages of a prefix are cached."""
        number = 0
        for content in self.chain(tokens, parts):
            if content not in self.pages:
                break
            number += 1
        return number

    def owner(self, slot: int) -> Content | None:
        """The page that has its tokens at this place, if any."""
        return next((content for content, page in self.pages.items() if page.slots and slot in page.slots), None)
