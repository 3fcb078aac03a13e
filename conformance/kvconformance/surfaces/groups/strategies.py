"""Histories of a block manager with several groups, biased to where hits and releases go wrong.

A history deals in three prompts: a long one, one with the same beginning, and one with another, which drives out what
the first two left behind. Lengths are a few units (whole blocks in every group) and windows, and one token either side;
pools have a few blocks more than one request needs; requests end, come again, grow past their window, and grow while a
step is in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from kvconformance import history as h
from kvspec.layout import Layout, read_groups
from kvspec.vocabulary import GroupsCapabilities

MANY = 1_000_000
MOST_PHRASES = 8
SPARE_BLOCKS = (0, 1, 2, 3, 5, 8)
DEALT = (0, 0, 0, 1, 1, 2, 2)
"""Which prompt of the three a request has; the long one comes again most often."""

Phrase = tuple[Any, ...]
Prompt = tuple[int, ...]


def group_histories(capabilities: GroupsCapabilities) -> st.SearchStrategy[h.History]:
    """Histories for an engine with these layouts."""
    # What is wrong with a drafter shows only where three requests meet: such layouts are tried more often.
    layouts = [text for text in capabilities.layouts for _ in range(3 if "draft" in text else 1)]
    choices = [(text, pool) for text in layouts for pool in capabilities.pools]

    @cache
    def build(choice: tuple[str, str]) -> st.SearchStrategy[h.History]:
        return _histories(capabilities, Layout(read_groups(choice[0]), choice[1]))

    return st.sampled_from(choices).flatmap(build)


def _histories(capabilities: GroupsCapabilities, layout: Layout) -> st.SearchStrategy[h.History]:
    long, related, foreign = book(layout)
    low, high = capabilities.num_blocks
    options = {"groups": str(layout), "pool": layout.pool}

    def build(prompts: tuple[Prompt, ...], spare: int, caching: bool, phrases: list[Phrase]) -> h.History:
        need = max(layout.most_blocks(max(map(len, prompts)) + 2)) + len(capabilities.reserved_blocks)
        operations = tuple(_dealt(operation, prompts) for phrase in phrases for operation in phrase)
        return h.History(min(max(need + spare, low), high), 1, operations, caching=caching, options=dict(options))

    return st.builds(
        build,
        st.tuples(st.sampled_from(long), st.sampled_from(related), st.sampled_from(foreign)),
        st.sampled_from(SPARE_BLOCKS),
        st.sampled_from(capabilities.caching),
        st.lists(st.sampled_from(_phrases(layout)), min_size=1, max_size=MOST_PHRASES),
    )


def _dealt(operation: Any, prompts: Sequence[Prompt]) -> Any:
    """A request with the prompt whose number stands in its place."""
    if not isinstance(operation, h.Add):
        return operation
    return msgspec.structs.replace(operation, prompt=prompts[operation.prompt[0]])


def book(layout: Layout) -> tuple[list[Prompt], list[Prompt], list[Prompt]]:
    """Long prompts, prompts that begin like them and end sooner or otherwise, and prompts that begin otherwise."""
    unit, window = layout.unit, max(group.window for group in layout.groups)
    around = {k * unit + more for k in (1, 2, 3) for more in (-1, 0, 1)} | {window - 1, window, window + 1}
    lengths = sorted(length for length in around if length > 0)
    edited = [
        (0,) * (n - m) + (1,) * m for n in (unit + 1, 2 * unit, 2 * unit + 1, 3 * unit + 1) for m in (1, 2) if n > m
    ]
    long = [(0,) * (k * unit + more) for k in (2, 3) for more in (1, 0)]
    return long, [(0,) * length for length in lengths] + edited, [(1,) * (k * unit + 1) for k in (1, 2, 3)] + edited


def _phrases(layout: Layout) -> list[Phrase]:
    """Operations that belong together: a request and what becomes of it, or something that happens to those there."""
    unit = layout.unit
    step, grown = h.Commit(-1), (h.Grow(-1, unit), h.Commit(-1))
    after: list[Phrase] = [(), (step,), (step, h.Free(-1)), (step, h.Free(-1)), (step, h.Grow(-1), step)]
    after += [(h.Grow(-1, unit), h.Grow(-1, unit), step), (step, *grown, h.Free(-1))]
    after += [(step, *(h.Grow(-1), step) * (unit + 1), h.Free(-1))]
    adds = [h.Add((number,), new, chunk=chunk) for number in DEALT for new, chunk in _shapes(unit)]
    alone: list[Phrase] = [(h.Free(which),) for which in (0, -1)] + [(h.Commit(which),) for which in (0, -1)]
    alone += [(h.Grow(which, count),) for which in (0, -1) for count in (1, unit, unit + 1)]
    return [(add, *then) for then in after for add in adds] + alone * (len(after) * len(adds) // (4 * len(alone)))


def _shapes(unit: int) -> list[tuple[int, int]]:
    """New tokens, the last of which is never computed, and the chunk in which the prompt is first asked for."""
    return [(2, MANY)] * 5 + [(unit + 3, MANY), (3, 1), (2, unit), (unit + 1, unit + 1)]
