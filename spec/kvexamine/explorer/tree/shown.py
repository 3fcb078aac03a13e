"""What a radix tree in some state would truthfully show and publish, and lies that must not pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kvexamine.explorer.tree.world import above, descends
from kvspec.mirror import Content, Entry, Index
from kvspec.published import DEVICE, AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.tree.vocabulary import Node
from kvspec.vocabulary import KeyParts, TokenId

STRANGE = TokenId(9)
"""A token of no prefix."""


def truth(state: TreeState, *, whole: bool) -> ev.Observe:
    """A node for each page, or (`whole`) nodes as long as branches and locks allow; sizes; and every page published."""
    locks = {page: sum(descends(end, page) for end in state.locked.values()) for page in state.pages}
    nodes = tuple(_node(run, locks[run[0]], state.size) for run in _runs(state, locks, whole))
    protected = sum(1 for number in locks.values() if number) * state.size
    cached = len(locks) * state.size
    free = state.world.num_blocks * state.size - cached
    return ev.Observe(nodes, cached - protected, protected, free, stored(state, state.pages))


def lies(state: TreeState) -> Iterator[ev.Observe]:
    """The truth with one thing wrong: a size, a node, a lock or a message."""
    right = truth(state, whole=False)
    yield replace(right, evictable=right.evictable + state.size)
    yield replace(right, evictable=right.evictable + state.size, protected=right.protected - state.size)
    yield replace(right, available=(right.available or 0) + 1)
    for index, node in enumerate(right.nodes):
        others = right.nodes[:index] + right.nodes[index + 1 :]
        yield replace(right, nodes=others)
        yield replace(right, nodes=(*right.nodes, node))
        yield from (replace(right, nodes=(*others, replace(node, locks=node.locks + off))) for off in (-1, 1))
    told, size = right.published or (), state.size
    for page in state.pages:
        yield replace(right, published=(*told, BlockRemoved((page,))))
        yield replace(right, published=(*told, _store(page.extend([STRANGE] * size, parts_of(page)), size)))


def messages(before: TreeState, event: ev.Event, after: TreeState) -> tuple[Published, ...]:
    """What a tree that publishes tells of a step: removals from the leaves on, then what is new, parents first."""
    if isinstance(event, ev.Reset):
        return (AllBlocksCleared(),)
    gone = sorted(before.pages.keys() - after.pages.keys(), key=_depth, reverse=True)
    return (*(BlockRemoved((page,)) for page in gone), *stored(after, after.pages.keys() - before.pages.keys()))


def stored(state: TreeState, pages: Iterable[Content]) -> tuple[Published, ...]:
    """The messages that tell of these pages, one by one, each behind its parent."""
    return tuple(_store(page, state.size) for page in sorted(pages, key=_depth))


def index_of(state: TreeState) -> Index:
    """What a subscriber knows who has followed everything: each page under its own content as key."""
    return {(DEVICE, page): Entry(page) for page in state.pages}


def parts_of(page: Content) -> KeyParts:
    """The parts in whose namespace a page stands."""
    adapter, version, weights = page.computes
    return KeyParts(page.salt, adapter, version, weights)


def _depth(page: Content) -> int:
    return len(page.elements)


def _store(page: Content, size: int) -> BlockStored:
    parent, tokens = above(page, size), tuple(token for token, _ in page.elements[-size:])
    return BlockStored((page,), parent if parent.elements else None, tokens, size, parts_of(page))


def _runs(state: TreeState, locks: dict[Content, int], whole: bool) -> Iterator[Sequence[Content]]:
    """The pages of each node: one page, or as many as stand behind each other alone and are locked alike."""
    behind = {page: [other for other in state.pages if above(other, state.size) == page] for page in state.pages}
    joined = {p for p, some in behind.items() if whole and len(some) == 1 and locks[some[0]] == locks[p]}
    for page in state.pages:
        if above(page, state.size) in joined:
            continue
        run = [page]
        while run[-1] in joined:
            run += behind[run[-1]]
        yield run


def _node(run: Sequence[Content], locks: int, size: int) -> Node:
    tokens = tuple(token for token, _ in run[-1].elements)
    return Node(tokens, len(run) * size, locks, parts_of(run[-1]))
