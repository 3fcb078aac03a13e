"""What is done to a radix tree: prefixes that part within a node, locks that outlive splits, evictions in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.programs import Phrase, Theme, book, programs, themed
from kvconformance.surfaces.tree.operations import Evict, Insert, Lock, Match, Unlock
from kvspec.vocabulary import Capabilities

Prompt = tuple[int, ...]


def tree_histories(capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for a tree with these capabilities."""
    return themed(capabilities, lambda size, theme: programs(_phrases(capabilities, size, theme)))


def _phrases(capabilities: Capabilities, block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    """Phrases about one prefix, under parts of the theme, and phrases about whatever is there."""
    prompts = book(block_size)
    keys = [{name: value for name, value in parts.items() if name != "media"} for parts in theme]
    about = st.builds(
        _about,
        st.sampled_from(prompts),
        st.sampled_from(prompts),
        st.sampled_from(keys),
        st.sampled_from(_LIVES),
    )
    return st.one_of(about, about, st.sampled_from(_between(block_size, capabilities.resets)))


def _about(prompt: Prompt, more: Prompt, key: Mapping[str, Any], life: str) -> Phrase:
    """What a request does, letter by letter: match, lock, insert, insert more, unlock, evict a page."""
    perform: dict[str, h.Operation] = {
        "m": Match(prompt, **key),
        "M": Match(prompt + more, **key),
        "l": Lock(-1),
        "i": Insert(prompt, **key),
        "I": Insert(prompt + more, **key),
        "u": Unlock(-1),
        "e": Evict(1),
    }
    return tuple(perform[letter] for letter in life)


_LIVES = ("i", "i", "I", "m", "iml", "IMl", "Iml", "mlIu", "mlI", "mleIu", "IMlm", "IMli", "IMlmu", "mlie")
"""Looked up and left alone, used to its end, used and kept, and split under a lock by a shorter prefix."""


def _between(size: int, resets: bool) -> list[Phrase]:
    some: list[Phrase] = [(Lock(0),), (Lock(-1),), (Unlock(0),), (Unlock(-1),), (Unlock(1),)]
    some += [(Evict(count),) for count in (1, size, size + 1, 3 * size)]
    return [*some, (h.Reset(),)] if resets else some
