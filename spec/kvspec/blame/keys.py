"""How a key fails to separate two histories: parts left out, types forgotten, tokens or names cut short."""

from __future__ import annotations

from kvspec import rules
from kvspec.contexts import Element
from kvspec.rules import Rule
from kvspec.vocabulary import KeyParts

History = tuple[Element, ...]

_NARROW_WIDTHS = (8, 16)
"""Bits to which engines have cut token ids (vllm-mlx #444) or identities (LMCache #3301)."""


def blamed_part(found: History, wanted: History, ours: KeyParts, theirs: KeyParts | None) -> Rule | None:
    """The part of the key besides the tokens that failed to separate two histories; None if their tokens differ."""
    if found == wanted and theirs is not None:
        if imitates(ours, theirs):
            return rules.KEY_DOMAINS
        return rules.INVALIDATE if ours.adapter == theirs.adapter else rules.COMPLETE_KEY
    if [token for token, _ in found] != [token for token, _ in wanted]:
        return None
    media = [(a, b) for (_, a), (_, b) in zip(found, wanted, strict=True) if a != b]
    cut = all(a is not None and b is not None and a[:4] == b[:4] for a, b in media)
    return rules.KEY_DOMAINS if cut else rules.COMPLETE_KEY


def equal_when_cut(found: History, wanted: History) -> bool:
    """Whether the tokens of two histories are equal once they are cut to fewer bits."""
    return any([t & mask for t, _ in found] == [t & mask for t, _ in wanted] for mask in _masks())


def _masks() -> tuple[int, ...]:
    return tuple((1 << bits) - 1 for bits in _NARROW_WIDTHS)


def imitates(a: KeyParts, b: KeyParts) -> bool:
    """Whether two key parts differ as typed values but are equal once their types are forgotten."""
    if a == b or a.media != b.media:
        return False
    left = "".join(sorted(part for part in (a.salt, a.adapter) if part))
    right = "".join(sorted(part for part in (b.salt, b.adapter) if part))
    return bool(left) and left == right and (a.salt, a.adapter) != (b.salt, b.adapter)
