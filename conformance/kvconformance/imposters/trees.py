"""Imposters whose radix tree forgets locks, keeps them for good, or counts its pages wrong."""

from __future__ import annotations

from collections.abc import Sequence

from kvreference.radix import ReferenceTree, Run
from kvspec import rules
from kvspec.tree.vocabulary import Found, Inserted
from kvspec.vocabulary import KeyParts, TokenId

# A lock and its unlock cover the same pages.


class SplitPrefixLosesItsLock(ReferenceTree):
    """Gives the upper half of a split no lock, though whoever locked the node came through it (SGLang #38480)."""

    bug, broken_rule = "B068", rules.SYMMETRIC_LOCKS

    def split(self, node: Run, at: int) -> Run:
        upper = super().split(node, at)
        if upper.locks:
            upper.locks = 0
            self.protected -= len(upper.tokens)
            self.evictable += len(upper.tokens)
        return upper

    def unlock(self, node: Run) -> None:
        for locked in node.way():
            if locked.locks:
                locked.locks -= 1
                self.protected -= 0 if locked.locks else len(locked.tokens)
                self.evictable += 0 if locked.locks else len(locked.tokens)


class LockSkipsItsOwnNode(ReferenceTree):
    """Goes to the parent before it counts, so that the node of the handle is never locked (mini-sglang #52)."""

    bug, broken_rule = "B273", rules.SYMMETRIC_LOCKS

    def lock(self, node: Run) -> None:
        if node.parent is not None:
            super().lock(node.parent)

    def unlock(self, node: Run) -> None:
        if node.parent is not None:
            super().unlock(node.parent)


class MatchDoesNotSplit(ReferenceTree):
    """Finds a part of a node and hands out the whole of it to be locked (bytedance-iaas/sglang #508)."""

    bug, broken_rule = "B274", rules.SYMMETRIC_LOCKS

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        node, at = self.roots.get(parts), 0
        places: tuple[int, ...] = ()
        while node is not None and (child := node.children.get(tuple(tokens[at : at + self.page]))) is not None:
            shared = self.shared(child.tokens, tuple(tokens[at:]))
            node, at, places = child, at + shared, places + child.slots[:shared]
            if shared < len(child.tokens):
                break
        return Found(at, node or Run(None, (), (), parts), places)


class UnlockReleasesAnotherHoldersLock(ReferenceTree):
    """Locks up to what somebody else has locked already, and unlocks up to the root (SGLang #36848)."""

    bug, broken_rule = "B275", rules.SYMMETRIC_LOCKS

    def lock(self, node: Run) -> None:
        for locked in node.way():
            if locked.locks:
                break
            locked.locks = 1
            self.evictable -= len(locked.tokens)
            self.protected += len(locked.tokens)


class LookupKeepsItsLock(ReferenceTree):
    """Locks what a lookup finds until a fetch, which never comes for what is not used (vLLM #35931)."""

    bug, broken_rule = "B067", rules.SYMMETRIC_LOCKS

    def match(self, tokens: Sequence[TokenId], parts: KeyParts) -> Found:
        found = super().match(tokens, parts)
        super().lock(found.handle)
        return found

    def lock(self, node: Run) -> None:
        """The lookup has done it."""


class EvictAllDetachesLockedNodes(ReferenceTree):
    """Empties the whole tree when as much is asked for, locked nodes included (SGLang #29291, a guess)."""

    bug, broken_rule = "B276", rules.SYMMETRIC_LOCKS

    def evict(self, count: int) -> int:
        total = self.evictable + self.protected
        if count < total:
            return super().evict(count)
        self.evictable, self.protected = total, 0
        for node in self.all():
            node.locks = 0
        return super().evict(count)


# What is evicted and how much that is.


class EvictableSizeCountsThePartialPage(ReferenceTree):
    """Adds the length of a key to the evictable size, not that of the whole pages that it caches (SGLang #10637)."""

    bug, broken_rule = "B277", rules.CONSERVATION

    def insert(self, tokens: Sequence[TokenId], parts: KeyParts) -> Inserted | None:
        inserted = super().insert(tokens, parts)
        if inserted is not None and inserted.slots:
            self.evictable += len(tokens) % self.page
        return inserted


class ParentsAreNotReconsidered(ReferenceTree):
    """Collects the leaves once, and does not look at parents that become leaves (SGLang #5499)."""

    bug, broken_rule = "B278", rules.FIT_AGREES_WITH_ALLOCATE

    def evict(self, count: int) -> int:
        gone = 0
        for leaf in [node for node in self.all() if not node.children and self.may_go(node)]:
            if gone < count:
                gone += len(leaf.tokens)
                self.detach(leaf)
        return gone
