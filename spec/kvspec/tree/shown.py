"""Judging what a radix tree shows of itself: the pages and locks of its nodes, its sizes, its published events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvspec import mirror, rules
from kvspec.mirror import Content
from kvspec.published import Published
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.tree.vocabulary import Node
from kvspec.violation import Tally


def pages_of(state: TreeState, node: Node) -> Iterator[Content]:
    """The contents of the node's own pages."""
    first = (len(node.prefix) - node.length) // state.size
    for number, content in enumerate(state.chain(node.prefix, node.parts)):
        if number >= first:
            yield content


def show(state: TreeState, event: ev.Show, tally: Tally) -> None:
    """The nodes hold every page once, each with the locks that lie on it, and the sizes are those of the pages."""
    _pages(state, event, tally)
    _locks(state, event, tally)
    _sizes(state, event, tally)
    if event.published is not None:
        _published(state, event.published, tally)


def _pages(state: TreeState, event: ev.Show, tally: Tally) -> None:
    seen: set[Content] = set()
    for node in event.nodes:
        for content in pages_of(state, node):
            tally.require(
                content not in seen,
                rules.CONSERVATION,
                lambda content=content: (f"{content} stands in two nodes", "once"),  # type: ignore[misc]
            )
            seen.add(content)
    for content in state.pages:
        if content not in seen:
            locks = state.pages[content].locks
            rule = rules.SYMMETRIC_LOCKS if locks else rules.CONSERVATION
            tally.broken(
                rule, f"{content} is no longer in the tree", f"it was not evicted, and {locks} locks lie on it"
            )
    strange = next((content for content in seen if content not in state.pages), None)
    tally.require(
        strange is None,
        rules.CONSERVATION,
        lambda: (f"{strange} is in the tree", "only what was inserted and not evicted"),
    )


def _locks(state: TreeState, event: ev.Show, tally: Tally) -> None:
    for node in event.nodes:
        tally.met(rules.SYMMETRIC_LOCKS)
        for content in pages_of(state, node):
            locks = state.pages[content].locks
            if node.locks != locks:
                tally.broken(
                    rules.SYMMETRIC_LOCKS,
                    f"the node that ends in {content} counts {node.locks} locks",
                    f"{locks}: as many handles through it are locked and not yet unlocked",
                )


def _sizes(state: TreeState, event: ev.Show, tally: Tally) -> None:
    evictable, protected = state.evictable * state.size, state.protected * state.size
    tally.require(
        (event.evictable, event.protected) == (evictable, protected),
        rules.CONSERVATION,
        lambda: (
            f"{event.evictable} tokens are said to be evictable and {event.protected} protected",
            f"{evictable} and {protected}",
        ),
    )
    if event.available is not None:
        total = state.world.num_blocks * state.size
        tally.require(
            event.available + evictable + protected == total,
            rules.CONSERVATION,
            lambda: (f"{event.available} free and {evictable + protected} cached tokens", f"{total} together"),
        )


def _published(state: TreeState, messages: Sequence[Published], tally: Tally) -> None:
    counts = state.capabilities.counts_copies
    state.mirror = mirror.replay(messages, state.mirror, counts_copies=counts, tally=tally)
    mirror.compare(state.mirror, state.pages, tally, exact=True, counts_copies=counts)
