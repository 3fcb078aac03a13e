"""Histories of a whole engine: one or two batches of prompts."""

from __future__ import annotations

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.generator.operations import Generate
from kvconformance.surfaces.programs import book, themed
from kvspec.vocabulary import Capabilities


def generator_histories(capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for a generator with these capabilities."""
    return themed(capabilities, lambda size, _: _served(size))


def _served(block_size: int) -> st.SearchStrategy[tuple[Generate, ...]]:
    """One or two batches for a Generator, of which one costs as much as a whole program on another surface."""
    prompts = st.lists(st.sampled_from(book(block_size)), min_size=1, max_size=6).map(tuple)
    batch = st.builds(Generate, prompts, st.sampled_from((1, 2, block_size, block_size + 2)))
    return st.lists(batch, min_size=1, max_size=2).map(tuple)
