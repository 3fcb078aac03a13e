"""What a radix tree is for, said of its pages and handles alone: in every state, and from one state to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.tree.frame import disturbed
from kvexamine.explorer.tree.shown import index_of, messages
from kvexamine.explorer.tree.world import above, cached, descends, pages_of, places
from kvspec import mirror, rules
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.violation import Violation


def broken_state(state: TreeState) -> Broken | None:
    """The first thing that is wrong with the pages, their locks or their places."""
    found = (next(check(state), None) for check in (_pages, _handles, _places))
    return next((broken for broken in found if broken is not None), None)


def _pages(state: TreeState) -> Iterator[Broken]:
    if len(state.pages) > state.world.num_blocks:
        yield Broken(rules.CONSERVATION, f"{len(state.pages)} pages are cached where {state.world.num_blocks} fit")
    for page in state.pages:
        up = above(page, state.size)
        if up.elements and up not in state.pages:
            yield Broken(rules.CONTIGUOUS_CHAIN, f"{page} is cached, and the page before it is not")


def _handles(state: TreeState) -> Iterator[Broken]:
    """Every page of what is locked is there, and counts as many locks as there are handles through it."""
    for handle, end in (*state.found.items(), *state.locked.items()):
        page = end
        while page.elements and page in state.pages:
            page = above(page, state.size)
        if page.elements:
            how = "locked" if handle in state.locked else "found"
            yield Broken(rules.SYMMETRIC_LOCKS, f"{end} is {how}, and its page {page} is not cached")
    for page, held in state.pages.items():
        locks = sum(descends(end, page) for end in state.locked.values())
        if held.locks != locks:
            yield Broken(rules.SYMMETRIC_LOCKS, f"{page} counts {held.locks} locks, and {locks} handles go through it")


def _places(state: TreeState) -> Iterator[Broken]:
    slots = Counter(slot for page in state.pages.values() for slot in page.slots or ())
    twice = next((slot for slot, number in slots.items() if number > 1), None)
    if twice is not None:
        yield Broken(rules.CONSERVATION, f"place {twice} is that of {slots[twice]} tokens")
    for content, page in state.pages.items():
        if page.slots is not None and len(page.slots) != state.size:
            yield Broken(rules.CONSERVATION, f"{content} has {len(page.slots)} places for {state.size} tokens")


def broken_move(before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
    """What is wrong with a step: what it says of itself, what a subscriber makes of it, or what else it does."""
    return _said(before, event, after) or disturbed(before, event, after)


def _said(before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
    """The first thing that a step says of itself and that is not so."""
    match event:
        case ev.Match():
            return _match(before, event)
        case ev.Insert():
            return _insert(before, event, after) or _mirror(before, event, after)
        case ev.Refuse():
            return _refuse(event, after) or _mirror(before, event, after)
        case ev.Evict():
            return _evict(before, event, after) or _mirror(before, event, after)
        case ev.Reset():
            return _mirror(before, event, after)
        case ev.Observe():
            return Broken(rules.CONSERVATION, "what a tree shows is not so, and passes")
    return None


def _match(before: TreeState, event: ev.Match) -> Broken | None:
    """A hit is whole pages that are cached, at their own places."""
    there = cached(before, (event.tokens, event.parts)) * before.size
    if event.hit % before.size or event.hit > there:
        return Broken(rules.CONTENT_MATCHES_KEY, f"a hit of {event.hit} tokens where {there} are cached")
    own = places(before, pages_of((event.tokens[: event.hit], event.parts), before.size))
    if event.slots is not None and own and event.slots != own:
        return Broken(rules.CONTENT_MATCHES_KEY, f"a hit at the places {event.slots}, where {own} are right")
    return None


def _insert(before: TreeState, event: ev.Insert, after: TreeState) -> Broken | None:
    """All whole pages are cached then; what was known stays where it was, and nothing goes for want of nothing."""
    prefix = (event.tokens, event.parts)
    chain, known = pages_of(prefix, before.size), cached(before, prefix)
    if event.known != known * before.size:
        return Broken(rules.CONSERVATION, f"{event.known} tokens are said to be known of {known * before.size}")
    if cached(after, prefix) < len(chain):
        return Broken(rules.CONSERVATION, "what is inserted is not cached then")
    if any(after.pages[page].slots != before.pages[page].slots for page in chain[:known]):
        return Broken(rules.SHARED_BYTES_NEVER_CHANGE, "a page that was known has moved")
    gone = before.pages.keys() - after.pages.keys()
    if gone and len(chain) - known <= before.world.num_blocks - len(before.pages):
        return Broken(rules.CONSERVATION, "pages go while there is room")
    return None


def _refuse(event: ev.Refuse, after: TreeState) -> Broken | None:
    """What is refused has no room in what is left."""
    prefix = (event.tokens, event.parts)
    need = len(pages_of(prefix, after.size)) - cached(after, prefix)
    if need <= after.world.num_blocks - len(after.pages):
        return Broken(rules.FIT_AGREES_WITH_ALLOCATE, f"{need} pages are refused where there is room for them")
    return None


def _evict(before: TreeState, event: ev.Evict, after: TreeState) -> Broken | None:
    """What is told has gone, and no less than asked for where so much is not locked."""
    gone = (len(before.pages) - len(after.pages)) * before.size
    loose = sum(not any(descends(end, page) for end in before.locked.values()) for page in before.pages) * before.size
    if event.told != gone:
        return Broken(rules.CONSERVATION, f"{event.told} tokens are said to be evicted, {gone} have gone")
    if gone < min(event.asked, loose):
        return Broken(rules.FIT_AGREES_WITH_ALLOCATE, f"{gone} tokens go of {event.asked}, and {loose} are not locked")
    return None


def _mirror(before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
    """A subscriber who knew the tree before, and hears what is published, knows it after."""
    try:
        known = mirror.replay(messages(before, event, after), index_of(before))
    except Violation as violation:
        return Broken(violation.rule, f"what a tree publishes cannot be followed: {violation}")
    if known != index_of(after):
        return Broken(rules.MIRROR_EQUALS_INDEX, "a subscriber knows another tree than there is")
    return None
