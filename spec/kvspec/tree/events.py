"""What can happen to a radix tree, as immutable records."""

from __future__ import annotations

from dataclasses import dataclass

from kvspec.mirror import Content
from kvspec.published import Published
from kvspec.tree.state import HandleId
from kvspec.tree.vocabulary import Node, Slots
from kvspec.vocabulary import KeyParts, TokenId


@dataclass(frozen=True, slots=True)
class Match:
    """A lookup of `tokens` finds `hit` of them, at `slots`; `handle` names what it found."""

    handle: HandleId
    tokens: tuple[TokenId, ...]
    parts: KeyParts
    hit: int
    slots: Slots | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """The whole pages of `tokens` are inserted: `known` tokens, says the engine, were there, the rest is at `slots`.

    Only the pages `remaining` are in the tree after that (None: all that were, and the new ones).
    """

    tokens: tuple[TokenId, ...]
    parts: KeyParts
    known: int
    slots: Slots | None = None
    remaining: frozenset[Content] | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """An insertion does not fit: the pages that are not in the tree need more than the `available` free tokens.

    Only the pages `remaining` are in the tree after that (None: all that were).
    """

    tokens: tuple[TokenId, ...]
    parts: KeyParts
    available: int
    remaining: frozenset[Content] | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lookup found will be used, and stays until the unlock."""

    handle: HandleId


@dataclass(frozen=True, slots=True)
class Unlock:
    """The operation that used it is over."""

    handle: HandleId


@dataclass(frozen=True, slots=True)
class Evict:
    """Room for `asked` tokens was wanted; the engine says that it evicted `told`. Only `remaining` pages are left."""

    asked: int
    told: int
    remaining: frozenset[Content]


@dataclass(frozen=True, slots=True)
class Reset:
    """The tree was emptied while nothing was locked."""


@dataclass(frozen=True, slots=True)
class Observe:
    """What the engine says of itself: its nodes, and sizes in tokens. Fields left None were not said."""

    nodes: tuple[Node, ...]
    evictable: int
    protected: int
    available: int | None = None
    published: tuple[Published, ...] | None = None


Event = Match | Insert | Refuse | Lock | Unlock | Evict | Reset | Observe
