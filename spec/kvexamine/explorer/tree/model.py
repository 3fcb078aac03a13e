"""Radix trees as a model to explore: states up to the names of handles and places, checked by what a tree is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.telling import history
from kvexamine.explorer.transition import Transition, honest
from kvexamine.explorer.tree.checks import broken_move, broken_state
from kvexamine.explorer.tree.lawful import lawful
from kvexamine.explorer.tree.moves import proposals
from kvexamine.explorer.tree.world import TreeWorld
from kvexamine.telling.tree import tell
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId, Page, TreeState
from kvspec.vocabulary import Capabilities


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

    def play(self, state: TreeState, event: ev.Event) -> tuple[ev.Event, TreeState]:
        """An event and the state after it, if it is allowed."""
        after = copied(state)
        self.transition(after, event)
        return event, after

    def broken_state(self, state: TreeState) -> Broken | None:
        """What is wrong with the pages, their locks or their places."""
        return broken_state(state)

    def broken_move(self, before: TreeState, event: ev.Event, after: TreeState) -> Broken | None:
        """What is wrong with a step, or with what would be published of it."""
        return broken_move(before, event, after)

    def broken_choice(self, events: Sequence[ev.Event]) -> Broken | None:
        """Nothing: what is refused is judged event by event."""
        return None

    def finished(self, state: TreeState) -> bool:
        """Nothing is ever left to do: lookups and insertions go on for ever, so that a state without moves is wrong."""
        return False

    def history(self, events: Iterable[ev.Event], state: TreeState) -> tuple[str, ...]:
        """The history in words, and the pages at its end."""
        pages = (
            f"{page}, {held.locks} locks" + (f", at {held.slots}" if held.slots else "")
            for page, held in state.pages.items()
        )
        return history(str(self.small), map(tell, events), pages)


def _multiset(handles: Mapping[HandleId, Content]) -> Hashable:
    return frozenset(Counter(handles.values()).items())
