"""What a radix tree that works may do in a state: the transition must forbid none of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from kvexamine.explorer.tree.shown import truth
from kvexamine.explorer.tree.world import Prefix, TreeWorld, cached, descends, pages_of, remainders
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId, TreeState
from kvspec.tree.vocabulary import Slots


def lawful(small: TreeWorld, state: TreeState) -> Iterator[ev.Event]:
    """Hits on all that is cached or less, insertions of what fits, evictions of loose subtrees, and the plain truth.

    Both with their places where tokens have them, and the tree emptied while nothing is locked.
    """
    loose = [left for left in remainders(state) if _may_be_left(state, left)]
    for prefix in small.prefixes:
        tokens, parts = prefix
        for pages in range(cached(state, prefix) + 1):
            yield ev.Match(HandleId(-1), tokens, parts, pages * state.size)
            if small.places:
                yield ev.Match(HandleId(-1), tokens, parts, pages * state.size, _places(state, prefix, pages))
        for insertion in _insertions(state, prefix, loose):
            yield insertion
            if small.places and isinstance(insertion, ev.Insert):
                yield replace(insertion, slots=_new_places(state, insertion))
    yield from (ev.Lock(handle) for handle in state.found)
    yield from (ev.Unlock(handle) for handle in state.locked)
    if not state.locked:
        yield ev.Reset()
    most = sum(not any(descends(end, page) for end in state.locked.values()) for page in state.pages)
    for left in loose:
        gone = len(state.pages) - len(left)
        for asked in {0, gone * state.size, *([] if gone < most else [gone * state.size + 1])}:
            yield ev.Evict(asked, gone * state.size, left)
    yield from (truth(state, whole=whole) for whole in (False, True))


def _insertions(state: TreeState, prefix: Prefix, loose: list[frozenset[Content]]) -> Iterator[ev.Event]:
    """What fits is inserted; what does not is refused, or others make room, who are not of the same chain."""
    tokens, parts = prefix
    known, chain = cached(state, prefix), pages_of(prefix, state.size)
    need, room = len(chain) - known, state.world.num_blocks - len(state.pages)
    if need <= room:
        yield ev.Insert(tokens, parts, known * state.size)
        yield ev.Insert(tokens, parts, known * state.size, None, frozenset({*state.pages, *chain}))
        return
    yield ev.Refuse(tokens, parts, room * state.size)
    for left in loose:
        if need <= state.world.num_blocks - len(left) and left.issuperset(chain[:known]):
            yield ev.Insert(tokens, parts, known * state.size, None, left.union(chain))
        if need > state.world.num_blocks - len(left) and left.issuperset(chain[:known]):
            yield ev.Refuse(tokens, parts, room * state.size, left)


def _places(state: TreeState, prefix: Prefix, pages: int) -> Slots:
    """Where the first pages of a prefix are; what has told no places yet may be wherever nothing else is."""
    unused, told = _unused(state, state.pages), list[int]()
    for page in pages_of(prefix, state.size)[:pages]:
        told += state.pages[page].slots or islice(unused, state.size)
    return tuple(told)


def _new_places(state: TreeState, event: ev.Insert) -> Slots:
    """Places for the pages that are new, where nothing is that stays in the tree."""
    stays = state.pages if event.remaining is None else state.pages.keys() & event.remaining
    count = len(pages_of((event.tokens, event.parts), state.size)) * state.size - event.known
    return tuple(islice(_unused(state, stays), count))


def _unused(state: TreeState, pages: Iterable[Content]) -> Iterator[int]:
    """The places of the pool that none of these pages has."""
    taken = {slot for page in pages for slot in state.pages[page].slots or ()}
    return (slot for slot in range(state.world.num_blocks * state.size) if slot not in taken)


def _may_be_left(state: TreeState, left: frozenset[Content]) -> bool:
    """Whether what is gone then was not locked and has nothing behind it any more."""
    gone = state.pages.keys() - left
    held = any(descends(end, page) for page in gone for end in state.locked.values())
    return not held and not any(descends(page, other) for page in left for other in gone)
