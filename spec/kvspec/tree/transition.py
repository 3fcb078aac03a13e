"""The relation of a radix tree: one short function per event, in the order guards, effect.

A guard that fails raises `Broken` with the rule it stands for; what a finding is called, `words` says.
A lookup may find less than there is. Which leaves are evicted, and how many more than asked for, the engine chooses;
an insertion without room may evict too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvspec import rules
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.places import by_page, require_free, require_own
from kvspec.tree.shown import observe
from kvspec.tree.state import Page, TreeState
from kvspec.violation import HarnessFault, Tally

Remaining = frozenset[Content] | None


def advance(state: TreeState, event: ev.Event, tally: Tally) -> None:
    """Apply `event` in place. Raises `Broken` where it is not allowed."""
    _TRANSITIONS[type(event)](state, event, tally)


def match(state: TreeState, event: ev.Match, tally: Tally) -> None:
    """A hit is whole pages, each of them inserted under the same parts and not evicted since, at its own places.

    Raises prefix/contiguous-chain, prefix/content-matches-key, and what `require_own` raises.
    """
    tally.met(rules.CONTIGUOUS_CHAIN)
    if event.hit % state.size or not 0 <= event.hit <= len(event.tokens):
        tally.fail(rules.CONTIGUOUS_CHAIN, "pages", tokens=len(event.tokens), hit=event.hit, size=state.size)
    path = list(state.chain(event.tokens[: event.hit], event.parts))
    _count_twins(state, event, tally)
    for index, content in enumerate(path):
        tally.met(rules.CONTENT_MATCHES_KEY)
        if index:
            tally.met(rules.COMPLETE_KEY)  # a later page is the same only behind the same pages
        if content not in state.pages:
            tally.fail(rules.CONTENT_MATCHES_KEY, "found", content=content)
    require_own(state, path, event.slots, tally)
    if path:
        state.found[event.handle] = path[-1]


def insert(state: TreeState, event: ev.Insert, tally: Tally) -> None:
    """What is new gets places that no other page has; what is known keeps its own.

    Raises alloc/conservation, and what `_make_room`, `by_page` and `require_free` raise.
    """
    chain, known = list(state.chain(event.tokens, event.parts)), state.known(event.tokens, event.parts)
    tally.met(rules.CONSERVATION)
    if event.known != known * state.size:
        facts = {"content": chain[-1] if chain else "nothing", "known": event.known}
        tally.fail(rules.CONSERVATION, "known", right=known * state.size, **facts)
    new = chain[known:]
    _make_room(state, len(new), event.remaining, set(chain), tally)
    tally.met(rules.CONSERVATION)
    if len(state.pages) + len(new) > state.world.num_blocks:
        tally.fail(rules.CONSERVATION, "room", cached=len(state.pages), new=len(new), most=state.world.num_blocks)
    for content, places in by_page(state, new, event.slots, tally):
        require_free(state, content, places, tally)
        state.pages[content] = Page(slots=places)
        state.seen.add(content)


def refuse(state: TreeState, event: ev.Refuse, tally: Tally) -> None:
    """Only what does not fit is refused.

    Raises alloc/fit-agrees-with-allocate, and what `_make_room` raises.
    """
    pages = len(event.tokens) // state.size
    evicted = _make_room(state, pages - state.known(event.tokens, event.parts), event.remaining, set(), tally)
    need, free = pages - state.known(event.tokens, event.parts), event.available + evicted * state.size
    tally.met(rules.FIT_AGREES_WITH_ALLOCATE)
    if need * state.size <= free:
        tally.fail(rules.FIT_AGREES_WITH_ALLOCATE, "refused", need=need, free=free)


def lock(state: TreeState, event: ev.Lock, tally: Tally) -> None:
    """One more lock on every page from the root to what was found."""
    path = state.found.get(event.handle)
    if path is None:
        raise HarnessFault(f"handle {event.handle} is locked but was not found, or its pages are gone")
    tally.met(rules.SYMMETRIC_LOCKS)
    for content in state.path(path):
        state.pages[content].locks += 1
    state.locked[event.handle] = state.found.pop(event.handle)


def unlock(state: TreeState, event: ev.Unlock, tally: Tally) -> None:
    """One lock fewer on the same pages, into whatever nodes they have been cut meanwhile."""
    if event.handle not in state.locked:
        raise HarnessFault(f"handle {event.handle} is unlocked but was not locked")
    tally.met(rules.SYMMETRIC_LOCKS)
    for content in state.path(state.locked.pop(event.handle)):
        state.pages[content].locks -= 1


def evict(state: TreeState, event: ev.Evict, tally: Tally) -> None:
    """Pages go from the leaves on, never a locked one, and as many as were asked for if so many can.

    Raises alloc/conservation, alloc/fit-agrees-with-allocate, and what `_require_unlocked` and `_require_leaves_first`
    raise.
    """
    gone = {content for content in state.pages if content not in event.remaining}
    _require_unlocked(state, gone, tally)
    _require_leaves_first(state, gone, event.remaining, tally)
    tokens, can = len(gone) * state.size, min(event.asked, state.evictable * state.size)
    tally.met(rules.CONSERVATION)
    if event.told != tokens:
        tally.fail(rules.CONSERVATION, "evicted", told=event.told, tokens=tokens)
    if can:
        tally.met(rules.FIT_AGREES_WITH_ALLOCATE)
    if tokens < can:
        tally.fail(rules.FIT_AGREES_WITH_ALLOCATE, "evicted", tokens=tokens, asked=event.asked, can=can)
    for content in gone:
        del state.pages[content]
    forget(state)


def reset(state: TreeState, event: ev.Reset, tally: Tally) -> None:
    """Nothing is cached any more."""
    if state.locked:
        raise HarnessFault("a tree is reset while something is locked")
    state.pages.clear()
    forget(state)


def forget(state: TreeState) -> None:
    """A prefix of which a page has left is no longer found."""
    state.found = {handle: path for handle, path in state.found.items() if path in state.pages}


def _make_room(state: TreeState, need: int, remaining: Remaining, kept: set[Content], tally: Tally) -> int:
    """Where `need` new pages do not fit, others may go as in an eviction, but none of `kept`; their number.

    What goes while they fit was not evicted: it is missing when the tree shows its nodes.

    Raises what `_require_unlocked` and `_require_leaves_first` raise.
    """
    if remaining is None or need <= state.world.num_blocks - len(state.pages):
        return 0
    gone = {content for content in state.pages if content not in remaining and content not in kept}
    _require_unlocked(state, gone, tally)
    _require_leaves_first(state, gone, remaining, tally)
    for content in gone:
        del state.pages[content]
    forget(state)
    return len(gone)


def _require_unlocked(state: TreeState, gone: set[Content], tally: Tally) -> None:
    """A locked page stays.

    Raises prefix/symmetric-locks.
    """
    for content in sorted(gone, key=lambda content: len(content.elements)):
        if locks := state.pages[content].locks:
            tally.fail(rules.SYMMETRIC_LOCKS, "evicted", content=content, locks=locks)
    if state.locked:
        tally.met(rules.SYMMETRIC_LOCKS)


def _require_leaves_first(state: TreeState, gone: set[Content], remaining: frozenset[Content], tally: Tally) -> None:
    """No page stays behind one that goes.

    Raises prefix/contiguous-chain.
    """
    if not gone:
        return
    orphan = next((content for content in remaining if any(up in gone for up in state.path(content))), None)
    tally.met(rules.CONTIGUOUS_CHAIN)
    if orphan is not None:
        tally.fail(rules.CONTIGUOUS_CHAIN, "orphan", content=orphan)


def _count_twins(state: TreeState, event: ev.Match, tally: Tally) -> None:
    """Count the rules of namespaces where another has the tokens of the first page that is not cached."""
    missing = next((page for page in state.chain(event.tokens, event.parts) if page not in state.pages), None)
    if missing is None:
        return
    for other in twins(state, missing):
        tally.met(rules.ISOLATION if other.computes == missing.computes else rules.COMPLETE_KEY)


def twins(state: TreeState, content: Content) -> list[Content]:
    """What is cached of the tokens of a page that is not, in other namespaces."""
    return [other for other in state.pages if other.elements == content.elements]


_TRANSITIONS: dict[type, Callable[[TreeState, Any, Tally], None]] = {
    ev.Match: match,
    ev.Insert: insert,
    ev.Refuse: refuse,
    ev.Lock: lock,
    ev.Unlock: unlock,
    ev.Evict: evict,
    ev.Reset: reset,
    ev.Observe: observe,
}
