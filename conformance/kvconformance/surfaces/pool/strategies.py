"""Histories of a block manager alone."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.pool.operations import FreeAgain, Lookup
from kvconformance.surfaces.programs import (
    MANY,
    TOLD,
    Phrase,
    Theme,
    book,
    pick,
    programs,
    request_phrase,
    requests,
    resets_and_failures,
    themed,
)
from kvspec.vocabulary import Capabilities


def pool_histories(capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for a pool with these capabilities."""
    return themed(capabilities, lambda size, theme: programs(_phrases(capabilities, size, theme)))


def _phrases(capabilities: Capabilities, block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    chunks = (MANY, MANY, MANY, 1, block_size, block_size + 1)
    choices = {**requests(capabilities, block_size, theme), "chunk": chunks}
    request = pick({**choices, "after": _after_add(capabilities), "told": TOLD}).map(request_phrase)
    between = st.sampled_from(_between(capabilities, block_size))
    return st.one_of(between, request, between, request, _lookups(block_size, theme))


def _after_add(capabilities: Capabilities) -> list[Phrase]:
    commit, grow, free = h.Commit(-1), h.Grow(-1), h.Free(-1)
    after: list[Phrase] = [(), (), (commit,), (commit,), (commit, free), (commit, free)]
    after += [(commit, grow), (commit, grow, grow, free)]
    return after + ([(commit, h.Fork(-1), h.Grow(-2), grow, commit)] if capabilities.forks else [])


def _between(capabilities: Capabilities, block_size: int) -> list[Phrase]:
    some = (0, 1, -1)
    phrases: list[Phrase] = [(h.Grow(which, count),) for which in some for count in (1, block_size, block_size + 1)]
    phrases += [(h.Commit(which),) for which in some] + [(h.Free(which),) for which in some] * 2
    phrases += [(FreeAgain(which),) for which in (0, -1)]
    if capabilities.forks:
        phrases += [(h.Fork(which),) for which in (0, -1)] + [(h.Fork(0), h.Grow(0), h.Grow(-1))]
        phrases += [(h.Fork(0), h.Grow(0), h.Fork(0), h.Grow(0)), (h.Fork(0), h.Grow(-1), h.Commit(0), h.Free(0))]
    return phrases + resets_and_failures(capabilities)


def _lookups(block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    """A prompt to look up and not use, under the parts of the theme that a lookup knows."""
    known = [{k: v for k, v in parts.items() if k in {"salt", "adapter"}} for parts in theme]
    return pick({"prompt": book(block_size), "key": known}).map(lambda p: (Lookup(p["prompt"], **p["key"]),))


def usually(capabilities: Capabilities, dice: Random, which: int) -> h.Operation:
    """In busy traffic a request grows, is computed, or ends."""
    usual: tuple[h.Operation, ...] = (h.Grow(which, dice.randint(1, 4)), h.Commit(which), h.Free(which))
    return dice.choices(usual, (6, 2, 1))[0]


def rarely(capabilities: Capabilities, dice: Random, which: int) -> list[h.Operation]:
    """Now and then one is released twice, or a prefix asked for."""
    return [FreeAgain(which), Lookup((0,) * dice.randint(1, 9))]
