"""Deliberate faults of the transition of radix trees, each of which some small world must notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kvexamine.explorer.spoiling import Fault, after, around, forbidding, without
from kvexamine.explorer.transition import Transition, honest
from kvexamine.explorer.tree.world import above
from kvspec import rules
from kvspec.tree import events as ev
from kvspec.tree.state import Page, TreeState
from kvspec.tree.transition import forget


@contextmanager
def _end_only(state: TreeState, event: ev.Lock | ev.Unlock) -> Iterator[None]:
    """Only the last page of the chain is locked, or unlocked."""
    locks = {content: page.locks for content, page in state.pages.items()}
    end = (state.found if isinstance(event, ev.Lock) else state.locked).get(event.handle)
    yield
    for content, number in locks.items():
        if content != end:
            state.pages[content].locks = number


@contextmanager
def _roomier(state: TreeState, event: ev.Insert) -> Iterator[None]:
    """As if there were room for one page more."""
    world = state.world
    state.world = replace(world, num_blocks=world.num_blocks + 1)
    yield
    state.world = world


@contextmanager
def _unforgetting(state: TreeState, event: ev.Evict | ev.Reset) -> Iterator[None]:
    """What was found of pages that are gone is found still."""
    found = dict(state.found)
    yield
    state.found = found


def _relocked(state: TreeState, event: ev.Insert) -> None:
    """Pages that were known are put there anew, without their locks."""
    for content in state.chain(event.tokens, event.parts):
        state.pages[content] = Page(0, state.pages[content].slots)


def _same_places(state: TreeState, event: ev.Insert) -> None:
    """A page has the places of the one before it."""
    for content in state.chain(event.tokens, event.parts):
        up = state.pages.get(above(content, state.size))
        if up is not None:
            state.pages[content].slots = up.slots


def _placeless(state: TreeState, event: ev.Event) -> None:
    """Nobody looks at the places that a lookup tells."""
    honest(state, replace(event, slots=None) if isinstance(event, ev.Match) else event)


def _loses_leaf(state: TreeState, event: ev.Event) -> None:
    """A page without locks goes that has nothing behind it."""
    parents = {above(page, state.size) for page in state.pages}
    leaf = next((page for page, held in state.pages.items() if not held.locks and page not in parents), None)
    if leaf is not None:
        del state.pages[leaf]
        forget(state)


def _loses_idle(state: TreeState, event: ev.Event) -> None:
    """Every page without locks goes."""
    state.pages = {content: page for content, page in state.pages.items() if page.locks}
    forget(state)


def _remembers_less(state: TreeState, event: ev.Match) -> None:
    """What is found is the page before the last."""
    if event.hit > state.size:
        state.found[event.handle] = above(state.found[event.handle], state.size)


def _forgets_found(state: TreeState, event: ev.Event) -> None:
    """What others have found is found no more."""
    state.found.clear()


def _forgets_others(state: TreeState, event: ev.Match) -> None:
    """Only what this lookup has found is found."""
    state.found = {handle: end for handle, end in state.found.items() if handle == event.handle}


def _moves(state: TreeState, event: ev.Lock) -> None:
    """The tokens of the pages are elsewhere."""
    for page in state.pages.values():
        page.slots = None if page.slots is None else tuple(slot + 100 for slot in page.slots)


def _fault(name: str, says: str, transition: Transition) -> Fault:
    return Fault("tree", name, says, transition)


FAULTS = (
    _fault("half-page-hit", "a hit ends inside a page", without(ev.Match, rules.CONTIGUOUS_CHAIN)),
    _fault(
        "stale-hit",
        "a hit on pages that are not cached",
        without(ev.Match, rules.CONTENT_MATCHES_KEY, rules.COMPLETE_KEY),
    ),
    _fault("tenant-hit", "a hit on pages of another tenant", without(ev.Match, rules.ISOLATION)),
    _fault("lock-at-end", "a lock is counted by the last page only", around(ev.Lock, _end_only)),
    _fault("unlock-at-end", "an unlock is counted by the last page only", around(ev.Unlock, _end_only)),
    _fault("locked-evicted", "a locked page is evicted", without(ev.Evict, rules.SYMMETRIC_LOCKS)),
    _fault("locked-makes-room", "a locked page makes room", without(ev.Insert, rules.SYMMETRIC_LOCKS)),
    _fault("parent-first", "a page is evicted before its leaf", without(ev.Evict, rules.CONTIGUOUS_CHAIN)),
    _fault("parent-makes-room", "a page makes room before its leaf", without(ev.Refuse, rules.CONTIGUOUS_CHAIN)),
    _fault("evicts-less", "less is evicted than can be", without(ev.Evict, rules.FIT_AGREES_WITH_ALLOCATE)),
    _fault("miscounted-eviction", "more is said to be evicted than was", without(ev.Evict, rules.CONSERVATION)),
    _fault("unknown-known", "an insertion knows what is not there", without(ev.Insert, rules.CONSERVATION)),
    _fault("no-room", "a page more is cached than there is room for", around(ev.Insert, _roomier)),
    _fault("places-twice", "a place is given to two pages", after(ev.Insert, _same_places)),
    _fault("foreign-places", "a lookup tells other places", _placeless),
    _fault("inserted-unlocked", "pages that are inserted again lose their locks", after(ev.Insert, _relocked)),
    _fault("found-for-ever", "what was found stays found when its pages go", around(ev.Evict, _unforgetting)),
    _fault("found-after-reset", "what was found stays found when the tree is emptied", around(ev.Reset, _unforgetting)),
    _fault("lookup-evicts", "a lookup evicts a page", after(ev.Match, _loses_leaf)),
    _fault("lock-evicts", "a lock evicts a page", after(ev.Lock, _loses_leaf)),
    _fault("unlock-evicts", "an unlock evicts a page", after(ev.Unlock, _loses_leaf)),
    _fault("unlock-drops-idle", "an unlock drops all pages without locks", after(ev.Unlock, _loses_idle)),
    _fault("found-one-less", "a lookup remembers one page less than it has found", after(ev.Match, _remembers_less)),
    _fault("lookup-forgets", "a lookup forgets what others have found", after(ev.Match, _forgets_others)),
    _fault("insertion-forgets", "an insertion forgets what others have found", after(ev.Insert, _forgets_found)),
    _fault("refusal-forgets", "a refusal forgets what others have found", after(ev.Refuse, _forgets_found)),
    _fault("lock-moves", "what a page holds is elsewhere after a lock", after(ev.Lock, _moves)),
    _fault("refuses-what-fits", "what fits is refused", without(ev.Refuse, rules.FIT_AGREES_WITH_ALLOCATE)),
    _fault("locks-not-shown", "nodes may show other locks", without(ev.Observe, rules.SYMMETRIC_LOCKS)),
    _fault("sizes-not-shown", "sizes need not add up", without(ev.Observe, rules.CONSERVATION)),
    _fault("mirror-unchecked", "what is published need not be so", without(ev.Observe, rules.MIRROR_EQUALS_INDEX)),
    _fault(
        "longest-hit-only",
        "false alarm: a lookup must find all that there is",
        forbidding(ev.Match, rules.CONTIGUOUS_CHAIN, lambda s, e: e.hit < s.known(e.tokens, e.parts) * s.size),
    ),
    _fault(
        "no-more-than-asked",
        "false alarm: no more must be evicted than was asked for",
        forbidding(ev.Evict, rules.CONSERVATION, lambda state, event: event.told > event.asked),
    ),
    _fault(
        "never-reset",
        "false alarm: a tree must not be emptied",
        forbidding(ev.Reset, rules.CONSERVATION, lambda state, event: True),
    ),
    _fault(
        "lookup-without-places",
        "false alarm: a lookup must not tell places, right ones neither",
        forbidding(ev.Match, rules.CONTENT_MATCHES_KEY, lambda state, event: bool(event.slots)),
    ),
    _fault(
        "insertion-without-places",
        "false alarm: an insertion must not tell places, right ones neither",
        forbidding(ev.Insert, rules.CONSERVATION, lambda state, event: bool(event.slots)),
    ),
)
