"""The words of the exploration of radix trees: a small world, its prefixes, and pages by what stands before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from kvspec.mirror import Content
from kvspec.tree.state import TreeState
from kvspec.tree.vocabulary import Slots
from kvspec.vocabulary import KeyParts, TokenId, World

Prefix = tuple[tuple[TokenId, ...], KeyParts]
"""Tokens that are looked up and inserted, with the parts that separate them."""


@dataclass(frozen=True)
class TreeWorld:
    """Room for `world.num_blocks` pages, the prefixes that are used, and how many lookups may be remembered at once.

    With `places` the tokens have places, and lookups and insertions tell them; with `resets` the tree may be emptied.
    """

    world: World
    prefixes: tuple[Prefix, ...]
    handles: int
    places: bool = False
    resets: bool = False

    def __str__(self) -> str:
        told = ", ".join(spelt(prefix) for prefix in self.prefixes)
        return f"{self.world.num_blocks} pages of {self.world.block_size}; {told}; {self.handles} handles"


def spelt(prefix: Prefix) -> str:
    """A prefix in one word: its tokens, and the parts that separate it."""
    tokens, parts = prefix
    apart = (("/", parts.salt), ("@", parts.adapter))
    return "".join(map(str, tokens)) + "".join(f"{mark}{part}" for mark, part in apart if part is not None)


def pages_of(prefix: Prefix, size: int) -> list[Content]:
    """The whole pages of a prefix, first page first: page i has the tokens up to (i + 1) * size behind it."""
    tokens, parts = prefix
    elements = tuple((token, parts.media_at(place)) for place, token in enumerate(tokens))
    return [Content(parts.salt, parts.computes, elements[:end]) for end in range(size, len(tokens) + 1, size)]


def cached(state: TreeState, prefix: Prefix) -> int:
    """How many pages of a prefix are in the tree, up to the first that is not."""
    pages = pages_of(prefix, state.size)
    return next((index for index, page in enumerate(pages) if page not in state.pages), len(pages))


def above(page: Content, size: int) -> Content:
    """The page before, or the empty chain."""
    return Content(page.salt, page.computes, page.elements[:-size])


def descends(page: Content, other: Content) -> bool:
    """Whether `page` is `other` or stands behind it."""
    same = (page.salt, page.computes) == (other.salt, other.computes)
    return same and page.elements[: len(other.elements)] == other.elements


def remainders(state: TreeState) -> Iterator[frozenset[Content]]:
    """What could be left of the tree: every set of its pages, torn ones among them."""
    pages = list(state.pages)
    for number in range(len(pages) + 1):
        yield from map(frozenset, combinations(pages, number))


def places(state: TreeState, pages: Iterable[Content]) -> Slots | None:
    """The places of pages in a row; None where one is not cached."""
    found: list[int] = []
    for page in pages:
        if page not in state.pages:
            return None
        found += state.pages[page].slots or ()
    return tuple(found)
