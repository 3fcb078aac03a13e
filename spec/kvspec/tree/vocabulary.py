"""What an engine answers when its radix tree is driven, and what it shows of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvspec.vocabulary import NO_PARTS, KeyParts, TokenId

Slots = tuple[int, ...]
"""The places of tokens in the physical cache, one for each."""


@dataclass(frozen=True, slots=True)
class Found:
    """The longest prefix of a lookup that is cached: `tokens` of it, reached by `handle`, a thing of the engine's own.

    `slots` are the places of these tokens, where the engine tells them.
    """

    tokens: int
    handle: Any
    slots: Slots | None = None


@dataclass(frozen=True, slots=True)
class Inserted:
    """`known` tokens of the inserted prefix were there before; `slots` are the places of those that were not."""

    known: int
    slots: Slots | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One node: `prefix` is every token from the root to its end, of which the last `length` are the node's own.

    `locks` is how many locks protect it, those of its descendants included.
    """

    prefix: tuple[TokenId, ...]
    length: int
    locks: int
    parts: KeyParts = NO_PARTS
