"""The radix tree with a voice: it publishes the pages that enter and leave it."""

from __future__ import annotations

from kvreference.radix import ReferenceTree, Run
from kvspec.keys import key_chain
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.vocabulary import World


class PublishingTree(ReferenceTree):
    """A reference tree that tells of every page. A split moves no page in or out, and is no news."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.messages: list[Published] = []

    def attach(self, node: Run) -> None:
        """One message for the pages of a new node."""
        super().attach(node)
        keys, first = self.keys(node)
        parent = keys[first - 1] if first else None
        self.messages.append(BlockStored(tuple(keys[first:]), parent, node.tokens, self.page, node.parts))

    def detach(self, leaf: Run) -> None:
        """One message for the pages of a leaf, the last one first."""
        keys, first = self.keys(leaf)
        super().detach(leaf)
        self.messages.append(BlockRemoved(tuple(reversed(keys[first:]))))

    def reset(self) -> bool:
        """Everything leaves at once."""
        if done := super().reset():
            self.messages.append(AllBlocksCleared())
        return done

    def keys(self, node: Run) -> tuple[list[bytes], int]:
        """The keys of the chain up to the end of the node, and how many of them come before it."""
        prefix = node.prefix()
        return key_chain(prefix, self.page, node.parts), (len(prefix) - len(node.tokens)) // self.page

    def take_events(self) -> tuple[Published, ...]:
        """What was published since the last call."""
        taken, self.messages = tuple(self.messages), []
        return taken
