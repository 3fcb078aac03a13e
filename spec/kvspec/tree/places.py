"""Where the tokens of pages are: one place for each token, which no other token has and which does not change."""

from __future__ import annotations

from collections.abc import Sequence

from kvspec import rules
from kvspec.mirror import Content
from kvspec.tree.state import TreeState
from kvspec.tree.vocabulary import Slots
from kvspec.violation import Tally


def by_page(
    state: TreeState, pages: Sequence[Content], slots: Slots | None, tally: Tally
) -> list[tuple[Content, Slots | None]]:
    """Each page with its places (None: they were not told). As many are told as there are tokens.

    Raises alloc/conservation.
    """
    if slots is None:
        return [(page, None) for page in pages]
    size = state.size
    tally.met(rules.CONSERVATION)
    if len(slots) != len(pages) * size:
        tally.fail(rules.CONSERVATION, "places", places=len(slots), tokens=len(pages) * size)
    return [(page, slots[index * size : (index + 1) * size]) for index, page in enumerate(pages)]


def require_own(state: TreeState, path: Sequence[Content], slots: Slots | None, tally: Tally) -> None:
    """Every page is at its own places; the first lookup that tells them binds where no insertion did.

    Raises prefix/content-matches-key, and what `by_page` and `require_free` raise.
    """
    for content, places in by_page(state, path, slots, tally):
        page = state.pages[content]
        if page.slots is None:
            require_free(state, content, places, tally)
            page.slots = places
        elif places is not None and places != page.slots:
            tally.fail(rules.CONTENT_MATCHES_KEY, "elsewhere", content=content, places=places, own=page.slots)


def require_free(state: TreeState, content: Content, places: Slots | None, tally: Tally) -> None:
    """No two tokens of a page have one place, and no page has one of these already.

    Raises alloc/conservation.
    """
    if places is None:
        return
    tally.met(rules.CONSERVATION, rules.CONSERVATION)
    if len(set(places)) != len(places):
        tally.fail(rules.CONSERVATION, "twice", content=content, places=places)
    if owner := next((own for slot in places if (own := state.owner(slot)) is not None), None):
        tally.fail(rules.CONSERVATION, "held", content=content, places=places, owner=owner)
