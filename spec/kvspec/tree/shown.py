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


def observe(state: TreeState, event: ev.Observe, tally: Tally) -> None:
    """The nodes hold every page once, each with the locks that lie on it, and the sizes are those of the pages.

    Raises what `_pages`, `_locks` and `_sizes` raise; of what is published, the mirror judges.
    """
    _pages(state, event, tally)
    _locks(state, event, tally)
    _sizes(state, event, tally)
    if event.published is not None:
        _published(state, event.published, tally)


def _pages(state: TreeState, event: ev.Observe, tally: Tally) -> None:
    """Every page stands in one node, and nothing else does.

    Raises alloc/conservation, prefix/symmetric-locks.
    """
    seen: set[Content] = set()
    for node in event.nodes:
        for content in pages_of(state, node):
            tally.met(rules.CONSERVATION)
            if content in seen:
                tally.fail(rules.CONSERVATION, "two nodes", content=content)
            seen.add(content)
    for content, page in state.pages.items():
        if content not in seen and page.locks:
            tally.fail(rules.SYMMETRIC_LOCKS, "lost", content=content, locks=page.locks)
        elif content not in seen:
            tally.fail(rules.CONSERVATION, "lost", content=content)
    tally.met(rules.CONSERVATION)
    if strange := seen - state.pages.keys():
        tally.fail(rules.CONSERVATION, "strange", content=min(strange, key=str))


def _locks(state: TreeState, event: ev.Observe, tally: Tally) -> None:
    """Each node counts the locks that lie on its pages.

    Raises prefix/symmetric-locks.
    """
    for node in event.nodes:
        tally.met(rules.SYMMETRIC_LOCKS)
        for content in pages_of(state, node):
            locks = state.pages[content].locks
            if node.locks != locks:
                tally.fail(rules.SYMMETRIC_LOCKS, "counted", content=content, counted=node.locks, locks=locks)


def _sizes(state: TreeState, event: ev.Observe, tally: Tally) -> None:
    """The sizes are those of the pages.

    Raises alloc/conservation.
    """
    evictable, protected = state.evictable * state.size, state.protected * state.size
    tally.met(rules.CONSERVATION)
    if (event.evictable, event.protected) != (evictable, protected):
        facts = {"evictable": event.evictable, "protected": event.protected}
        tally.fail(rules.CONSERVATION, "sizes", right=f"{evictable} and {protected}", **facts)
    if event.available is not None:
        cached, total = evictable + protected, state.world.num_blocks * state.size
        tally.met(rules.CONSERVATION)
        if event.available + cached != total:
            tally.fail(rules.CONSERVATION, "available", free=event.available, cached=cached, total=total)


def _published(state: TreeState, messages: Sequence[Published], tally: Tally) -> None:
    counts = state.capabilities.counts_copies
    state.mirror = mirror.replay(messages, state.mirror, counts_copies=counts, tally=tally)
    mirror.compare(state.mirror, state.pages, tally, exact=True, counts_copies=counts)
