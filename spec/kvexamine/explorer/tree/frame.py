"""What an event leaves alone in a radix tree: pages, places, locks and handles that it does not speak of."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.tree.world import above, descends, pages_of
from kvspec import rules
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId, TreeState


def disturbed(before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
    """The first thing that is another than before, and that the event does not say."""
    for check in (_pages, _places, _locks, _locked, _found):
        for broken in check(before, event, after):
            return broken
    return None


def _pages(before: TreeState, event: ev.Event, after: TreeState) -> Iterator[Broken]:
    """Pages come in insertions only, and go only where what is left is said."""
    new = after.pages.keys() - before.pages.keys()
    said = pages_of((event.tokens, event.parts), before.size) if isinstance(event, ev.Insert) else []
    for page in new.difference(said):
        yield Broken(rules.CONSERVATION, f"{page} is cached, and nobody has inserted it")
    for page in before.pages.keys() - after.pages.keys():
        if not _may_go(event, page):
            yield Broken(rules.CONSERVATION, f"{page} goes, and nobody has evicted it")


def _may_go(event: ev.Event, page: Content) -> bool:
    match event:
        case ev.Reset():
            return True
        case ev.Evict() | ev.Insert() | ev.Refuse():
            return event.remaining is not None and page not in event.remaining
    return False


def _places(before: TreeState, event: ev.Event, after: TreeState) -> Iterator[Broken]:
    """Places are for ever; a page that has none gets them from a lookup that tells them."""
    told = pages_of((event.tokens[: event.hit], event.parts), before.size) if isinstance(event, ev.Match) else []
    for page in before.pages.keys() & after.pages.keys():
        old, new = before.pages[page].slots, after.pages[page].slots
        if old != new and not (old is None and page in told):
            yield Broken(rules.SHARED_BYTES_NEVER_CHANGE, f"{page} moves from the places {old} to {new}")


def _locks(before: TreeState, event: ev.Event, after: TreeState) -> Iterator[Broken]:
    """One lock more on the pages that are locked, one less on those that are unlocked, none on a new page."""
    by, end = 0, None
    if isinstance(event, ev.Lock):
        by, end = 1, before.found[event.handle]
    elif isinstance(event, ev.Unlock):
        by, end = -1, before.locked[event.handle]
    for page, held in after.pages.items():
        old = before.pages[page].locks if page in before.pages else 0
        right = old + (by if end is not None and descends(end, page) else 0)
        if held.locks != right:
            yield Broken(rules.SYMMETRIC_LOCKS, f"{page} counts {held.locks} locks, {right} are right after {old}")


def _locked(before: TreeState, event: ev.Event, after: TreeState) -> Iterator[Broken]:
    """A lock makes of what was found what is locked, and an unlock ends that."""
    right = dict(before.locked)
    if isinstance(event, ev.Lock):
        right[event.handle] = before.found[event.handle]
    elif isinstance(event, ev.Unlock):
        del right[event.handle]
    if after.locked != right:
        yield Broken(rules.SYMMETRIC_LOCKS, f"{_told(after.locked)} are locked where {_told(right)} are right")


def _found(before: TreeState, event: ev.Event, after: TreeState) -> Iterator[Broken]:
    """What was found stays so as long as all its pages are there; a lookup that finds something is remembered."""
    right = {handle: end for handle, end in before.found.items() if _whole(after, end)}
    found = after.found
    match event:
        case ev.Lock():
            right.pop(event.handle, None)
        case ev.Match() if event.hit:
            right[event.handle] = pages_of((event.tokens[: event.hit], event.parts), before.size)[-1]
        case ev.Match() if event.handle not in found:
            right.pop(event.handle, None)  # a lookup that finds nothing may end what its handle named
    if found != right:
        yield Broken(rules.CONTENT_MATCHES_KEY, f"{_told(found)} are found where {_told(right)} are right")


def _whole(state: TreeState, end: Content) -> bool:
    """Whether every page of a prefix is cached."""
    page = end
    while page.elements and page in state.pages:
        page = above(page, state.size)
    return not page.elements


def _told(handles: dict[HandleId, Content]) -> str:
    return ", ".join(f"{handle}: {end}" for handle, end in sorted(handles.items())) or "none"
