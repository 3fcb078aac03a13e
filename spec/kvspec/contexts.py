"""Contexts: what a slot of the cache holds, as an exact value that compares in one machine word.

The keys and values at position p are a function of every token up to p and of the parts that change them (adapter,
weights, media). A `Contexts` trie gives each such history one small integer, so that two slots hold the same context
exactly when their integers are equal: no hash, hence no collision to argue about.
"""

from __future__ import annotations

from collections.abc import Sequence

from kvspec.vocabulary import KeyParts, TokenId

Element = tuple[TokenId, str | None]
"""A token and the digest of the media behind it."""


class Contexts:
    """An append-only trie of token histories. Ids are never reused and mean the same for the trie's whole life."""

    def __init__(self) -> None:
        self._roots: dict[tuple[str | None, int, int], int] = {}
        self._children: dict[tuple[int, Element], int] = {}
        self._parents: list[int] = []
        self._elements: list[Element | None] = []

    def root(self, parts: KeyParts) -> int:
        """The empty history under the adapter and weights of `parts`."""
        found = self._roots.get(parts.computes)
        if found is None:
            found = self._roots[parts.computes] = self._new(-1, None)
        return found

    def extend(self, parent: int, token: TokenId, media: str | None = None) -> int:
        """The history `parent` followed by one more token."""
        edge = (parent, (token, media))
        found = self._children.get(edge)
        if found is None:
            found = self._children[edge] = self._new(parent, (token, media))
        return found

    def chain(self, parts: KeyParts, tokens: Sequence[TokenId]) -> list[int]:
        """The context at each position of `tokens`."""
        return self.continue_chain(self.root(parts), 0, parts, tokens)

    def continue_chain(self, parent: int, start: int, parts: KeyParts, tokens: Sequence[TokenId]) -> list[int]:
        """The contexts of `tokens` standing at positions `start`, `start + 1`, … after the history `parent`."""
        result = []
        for offset, token in enumerate(tokens):
            parent = self.extend(parent, token, parts.media_at(start + offset) if parts.media else None)
            result.append(parent)
        return result

    def tokens(self, context: int) -> tuple[TokenId, ...]:
        """The tokens of a history, oldest first."""
        return tuple(token for token, _ in self.elements(context))

    def elements(self, context: int) -> tuple[Element, ...]:
        """The tokens of a history with their media, oldest first."""
        reverse, elements, parents = [], self._elements, self._parents
        while (element := elements[context]) is not None:
            reverse.append(element)
            context = parents[context]
        return tuple(reversed(reverse))

    def _new(self, parent: int, element: Element | None) -> int:
        self._parents.append(parent)
        self._elements.append(element)
        return len(self._parents) - 1
