"""Imposters with a second tier: a host that a transfer fills, or a store with keys of its own."""

from __future__ import annotations

from collections.abc import Sequence

from kvconformance.imposters.key_parts import NoAdapter
from kvreference.pool import ReferencePool
from kvreference.scheduler import ReferenceStepper, Task
from kvspec import rules
from kvspec.vocabulary import BlockId, Request, RequestId, TokenId, TransferId, World

# What a transfer reads stays until it is done.


class FirstBufferReusedMidCopy(ReferenceStepper):
    """Hands the first buffer of a transfer to the next caller while the copy may still read it (LMCache #4830)."""

    bug, broken_rule = "B279", rules.IN_FLIGHT_FENCE

    def swap_out(self, task: Task) -> TransferId:
        id = super().swap_out(task)
        self.pool.blocks.unfence(task.holding.table[:1])
        self.transfers[id] = (task, tuple(task.holding.table[1:]))
        return id


class LockEndsAtSubmission(ReferenceStepper):
    """Fences blocks until their transfer is submitted, not until it is done (SGLang #31427)."""

    bug, broken_rule = "B069", rules.IN_FLIGHT_FENCE

    def swap_out(self, task: Task) -> TransferId:
        id = super().swap_out(task)
        self.pool.blocks.unfence(task.holding.table)
        self.transfers[id] = (task, ())
        return id


# What comes back is what was asked for.


class MatchedBlockSwappedWithTheHead(ReferencePool):
    """Takes the cached block at the head of the idle queue for the one that matched (TensorRT-LLM #8830)."""

    bug, broken_rule = "B052", rules.CONTENT_MATCHES_KEY

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        blocks = super().find(tokens, request)
        head = next(iter(self.blocks.idle), None)
        if head in self.cache.key_of and blocks and blocks[-1] in self.blocks.idle and head not in blocks:
            blocks[-1] = head
        return blocks


class SecondTierIgnoresAdapter(ReferencePool):
    """Looks in a second tier, whose keys have no adapter, for what the first does not have (vLLM #44250)."""

    bug, broken_rule = "B236", rules.COMPLETE_KEY

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.tier = NoAdapter(world.block_size)

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        near = super().find(tokens, request)
        far = self.tier.longest_hit(tokens, request.parts)
        return near if len(near) >= len(far) else far

    def computed(self, id: RequestId, num_computed: int) -> None:
        super().computed(id, num_computed)
        holding = self.holdings[id]
        if self.world.caching:
            for index, key in enumerate(self.tier.chain(self.publishable(holding), holding.request.parts)):
                self.tier.publish(key, holding.table[index])

    def recycle(self, block: BlockId) -> None:
        super().recycle(block)
        self.tier.withdraw(block)

    def reset(self) -> bool:
        if done := super().reset():
            self.tier.clear()
        return done
