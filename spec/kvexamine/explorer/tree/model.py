"""Radix trees as a model to explore: states up to the names of handles and places, checked by what a tree is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.tree.checks import broken_move, broken_state
from kvexamine.explorer.tree.lawful import lawful
from kvexamine.explorer.tree.moves import proposals
from kvexamine.explorer.tree.tell import tell
from kvexamine.explorer.tree.world import TreeWorld
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId, Page, TreeState
from kvspec.tree.words import judge
from kvspec.violation import Tally
from kvspec.vocabulary import Capabilities

Transition = Callable[[TreeState, ev.Event], None]
"""Applies one event in place; raises `Violation` where it is refused."""

_TALLY = Tally()


def honest(state: TreeState, event: ev.Event) -> None:
    """The specification's own transition."""
    judge(state, event, _TALLY)


def copied(state: TreeState) -> TreeState:
    """An independent copy."""
    pages = {content: Page(page.locks, page.slots) for content, page in state.pages.items()}
    found, locked = dict(state.found), dict(state.locked)
    return TreeState(state.world, state.capabilities, pages, found, locked, set(state.seen), state.mirror)


class TreeModel:
    """One small world of a radix tree, under one transition."""

    def __init__(self, small: TreeWorld, transition: Transition = honest) -> None:
        self.small, self.transition = small, transition

    def start(self) -> TreeState:
        """An empty tree."""
        return TreeState(self.small.world, Capabilities(salts=True, adapters=True))

    def key(self, state: TreeState) -> Hashable:
        """The pages with their locks and places, and what is found and locked, however often.

        `seen` only chooses the rule that is blamed, and `mirror` is replayed move by move.
        """
        names: dict[int, int] = {}
        pages = []
        for content in sorted(state.pages, key=str):
            page = state.pages[content]
            slots = tuple(names.setdefault(slot, len(names)) for slot in page.slots or ())
            pages.append((content, page.locks, slots))
        return tuple(pages), _multiset(state.found), _multiset(state.locked)

    def proposals(self, state: TreeState) -> Iterable[ev.Event]:
        """Events lawful and unlawful."""
        return proposals(self.small, state)

    def permitted(self, state: TreeState) -> Iterator[ev.Event]:
        """What a tree that works may do."""
        return lawful(self.small, state)

    def play(self, state: TreeState, event: ev.Event) -> TreeState:
        """The state after an event, if it is allowed."""
        after = copied(state)
        self.transition(after, event)
        return after

    def broken_state(self, state: TreeState) -> Broken | None:
        """What is wrong with the pages, their locks or their places."""
        return broken_state(state)

    def broken_move(self, before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
        """What is wrong with a step, or with what would be published of it."""
        return broken_move(before, event, after)

    def finished(self, state: TreeState) -> bool:
        """Nothing is ever left to do: lookups and insertions go on for ever, so that a state without moves is wrong."""
        return False

    def told(self, events: Iterable[ev.Event], state: TreeState) -> tuple[str, ...]:
        """The history in words, and the pages at its end."""
        lines = (f"{number:3}  {tell(event)}" for number, event in enumerate(events, 1))
        pages = (
            f"     {page}, {held.locks} locks" + (f", at {held.slots}" if held.slots else "")
            for page, held in state.pages.items()
        )
        return (f"world: {self.small}", *lines, *pages)


def _multiset(handles: Mapping[HandleId, Content]) -> Hashable:
    return frozenset(Counter(handles.values()).items())
