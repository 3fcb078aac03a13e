"""A radix tree over pages: nodes hold runs of pages, are split where prefixes part, and are locked while in use.

A lock lies on a node and all its ancestors. A split gives the new parent the locks of the node it is cut from, since
whoever holds the lower half came through the upper one; so an unlock finds what its lock has counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvspec.tree.vocabulary import Found, Inserted, Node
from kvspec.vocabulary import Capabilities, KeyParts, TokenId, World


class Run:
    """A node of the tree: a run of pages behind its parent. Children are found by the tokens of their first page."""

    def __init__(
        self, parent: Run | None, tokens: tuple[TokenId, ...], slots: tuple[int, ...], parts: KeyParts
    ) -> None:
        self.parent = parent
        self.tokens = tokens
        self.slots = slots
        self.parts = parts
        self.children: dict[tuple[TokenId, ...], Run] = {}
        self.locks = 0
        self.used = 0

    def way(self) -> Iterator[Run]:
        """The node and its ancestors, without the root."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent

    def prefix(self) -> tuple[TokenId, ...]:
        """Every token from the root to the end of the node."""
        return tuple(token for node in reversed(list(self.way())) for token in node.tokens)

    def places(self) -> tuple[int, ...]:
        """The slots of these tokens."""
        return tuple(slot for node in reversed(list(self.way())) for slot in node.slots)


class ReferenceTree:
    """A prefix cache as a radix tree, with the pages that it hands out for what is new."""

    capabilities = Capabilities(salts=True, adapters=True, resets=True)

    def __init__(self, world: World) -> None:
        self.page = world.block_size
        self.free = list(range(world.num_blocks))
        self.roots: dict[KeyParts, Run] = {}
        self.evictable = 0
        self.protected = 0
        self.clock = 0

    # Lookups and insertions.

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        """The longest cached prefix in whole pages. A node of which only a part matches is split at the end of it."""
        node = self.descend(tuple(tokens), parts)
        places = node.places()
        return Found(len(places), node, places)

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        """Cache a prefix in whole pages; None, and nothing changed, where the pages for what is new are not free."""
        whole = tuple(tokens[: len(tokens) // self.page * self.page])
        node = self.descend(whole, parts)
        known = len(node.prefix())
        new = whole[known:]
        if len(new) // self.page > len(self.free):
            return None
        slots = self.take(len(new) // self.page)
        if new:
            self.attach(Run(node, new, slots, parts))
        return Inserted(known, slots)

    def descend(self, tokens: tuple[TokenId, ...], parts: KeyParts) -> Run:
        """The node at the end of the longest cached prefix, split off where it ends within one."""
        node = self.roots.setdefault(self.namespace(parts), Run(None, (), (), parts))
        self.clock += 1
        at = 0
        while (child := node.children.get(tokens[at : at + self.page])) is not None:
            child.used = self.clock
            shared = self.shared(child.tokens, tokens[at:])
            node = child if shared == len(child.tokens) else self.split(child, shared)
            at += shared
            if node is not child:
                break
        return node

    def namespace(self, parts: KeyParts) -> KeyParts:
        """The parts that separate one tree from another."""
        return parts

    def shared(self, ours: tuple[TokenId, ...], theirs: tuple[TokenId, ...]) -> int:
        """How many tokens in whole pages are common."""
        count = 0
        while count < len(ours) and ours[count : count + self.page] == theirs[count : count + self.page]:
            count += self.page
        return count

    def split(self, node: Run, at: int) -> Run:
        """Cut a node in two. The node itself keeps the lower half, so that those who hold it need not know."""
        upper = Run(node.parent, node.tokens[:at], node.slots[:at], node.parts)
        upper.used = node.used
        upper.locks = node.locks  # every lock on the lower half came through the upper one
        self.children_of(node)[node.tokens[: self.page]] = upper
        node.parent, node.tokens, node.slots = upper, node.tokens[at:], node.slots[at:]
        upper.children[node.tokens[: self.page]] = node
        return upper

    def attach(self, node: Run) -> None:
        """A new leaf, which nobody has locked yet."""
        self.children_of(node)[node.tokens[: self.page]] = node
        node.used = self.clock
        self.evictable += len(node.tokens)

    def children_of(self, node: Run) -> dict[tuple[TokenId, ...], Run]:
        """The table in which the node stands."""
        parent = node.parent or node
        return parent.children

    # Locks.

    def lock(self, node: Run) -> None:
        """Protect a node and its ancestors."""
        for locked in node.way():
            if locked.locks == 0:
                self.evictable -= len(locked.tokens)
                self.protected += len(locked.tokens)
            locked.locks += 1

    def unlock(self, node: Run) -> None:
        """Take one lock from a node and its ancestors."""
        for locked in node.way():
            locked.locks -= 1
            if locked.locks == 0:
                self.evictable += len(locked.tokens)
                self.protected -= len(locked.tokens)

    # Eviction.

    def evict(self, count: int) -> int:
        """Remove leaves that nobody has locked, least recently used first, until `count` tokens are free or none is."""
        gone = 0
        while gone < count and (leaf := self.victim()) is not None:
            gone += len(leaf.tokens)
            self.detach(leaf)
        return gone

    def victim(self) -> Run | None:
        """The next leaf to go."""
        leaves = [node for node in self.all() if not node.children and self.may_go(node)]
        return min(leaves, key=lambda node: node.used, default=None)

    def may_go(self, node: Run) -> bool:
        """Whether nobody needs the node."""
        return node.locks == 0

    def detach(self, leaf: Run) -> None:
        """A leaf leaves the tree; its pages are free."""
        del self.children_of(leaf)[leaf.tokens[: self.page]]
        self.evictable -= len(leaf.tokens)
        self.free += [slot // self.page for slot in leaf.slots[:: self.page]]

    def take(self, pages: int) -> tuple[int, ...]:
        """The slots of so many free pages."""
        taken, self.free = self.free[:pages], self.free[pages:]
        return tuple(page * self.page + offset for page in taken for offset in range(self.page))

    def reset(self) -> bool:
        """Forget everything; refused while anything is locked."""
        if self.protected:
            return False
        self.free += [slot // self.page for node in self.all() for slot in node.slots[:: self.page]]
        self.roots.clear()
        self.evictable = 0
        return True

    # Observations.

    def all(self) -> Iterator[Run]:
        """Every node but the roots, parents first."""
        stack = [node for root in self.roots.values() for node in root.children.values()]
        while stack:
            yield (node := stack.pop())
            stack += node.children.values()

    def nodes(self) -> tuple[Node, ...]:
        """Every node with its locks."""
        return tuple(Node(node.prefix(), len(node.tokens), node.locks, node.parts) for node in self.all())

    def evictable_size(self) -> int:
        """Tokens that an eviction could free."""
        return self.evictable

    def protected_size(self) -> int:
        """Tokens under a lock."""
        return self.protected

    def available_size(self) -> int:
        """Tokens for which there is room."""
        return len(self.free) * self.page
