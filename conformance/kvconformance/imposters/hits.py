"""Imposters that take a hit too long, too late, out of its chain, or write over what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvreference.blocks import Blocks
from kvreference.pool import Holding, ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvreference.scheduler import ReferenceStepper, Step, Task
from kvspec import rules
from kvspec.plans import Admission, BlockCopy, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, KeyParts, Request, RequestId, TokenId, World

# A full hit leaves a token to compute.


class WholePromptHit(ReferencePool):
    """Takes a hit on the whole prompt, with nothing left to run (vLLM #3239)."""

    bug, broken_rule = "B096", rules.ONE_TOKEN_LEFT

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        return super().find([*tokens, TokenId(0)], request)


class WholePromptHitOnResume(ReferenceStepper):
    """Keeps one token back from the hit of a new request but not from that of a resumed one (nano-vllm #144)."""

    bug, broken_rule = "B097", rules.ONE_TOKEN_LEFT

    def admit(self, step: Step, task: Task) -> bool:
        if not task.resumed:
            return super().admit(step, task)
        task.holding.tokens.append(TokenId(0))
        admitted = self.pool.begin(task.holding, step.left, resumed=True)
        task.holding.tokens.pop()
        if admitted is not None:
            self.schedule(step, task, min(admitted.count, task.remaining))
        return admitted is not None


class RecomputedTokenMisstated(ReferencePool):
    """Takes all blocks of a full hit and recomputes the last token in the last of them (vLLM #11186)."""

    bug, broken_rule = "B098", rules.ONE_TOKEN_LEFT

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        self.asked = len(tokens)
        return super().find([*tokens, TokenId(0)], request)

    def hit_length(self, blocks: Sequence[BlockId]) -> int:
        return min(super().hit_length(blocks), self.asked - 1)


# A hit is as fresh as its admission.


class _StoresHits(ReferencePool):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.stored: dict[RequestId, list[BlockId]] = {}

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        admission = super().begin(holding, chunk, resumed=resumed)
        if admission is not None:
            self.stored.pop(holding.request.id, None)
        return admission

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        return list(self.stored.setdefault(request.id, super().find(tokens, request)))


class HitStoredAtRefusedAdmission(ReferenceStepper):
    """Remembers the hit of a request that could not be admitted and uses it when it can (vLLM #18957)."""

    bug, broken_rule = "B099", rules.FRESH_HIT
    pool_type = _StoresHits


class LengthTakenBeforeTheHit(ReferenceStepper):
    """Decides how many tokens to run before the hit is known, and runs past the end (nano-vllm #211)."""

    bug, broken_rule = "B118", rules.FRESH_HIT

    def admit(self, step: Step, task: Task) -> bool:
        count = min(len(task.holding.tokens), step.left)
        if self.pool.begin(task.holding, step.left, resumed=task.resumed) is None:
            return False
        self.schedule(step, task, count)
        return True


# A hit is a chain.


class _FirstTokenOnly(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, tokens[:1], parts, start)


class SearchPassesPartialMatch(ReferencePool):
    """Follows the branch whose first token fits, though the rest of the block does not (TGI #3067)."""

    bug, broken_rule = "B101", rules.CONTIGUOUS_CHAIN
    cache_type = _FirstTokenOnly


class DeferredFreeChangesOrder(ReferenceStepper):
    """Frees tails first when a request ends, and heads first when its release was put off (vLLM #48489)."""

    bug, broken_rule = "B102", rules.CONTIGUOUS_CHAIN

    def complete(self, plan: StepPlan, sampled: object) -> Sequence[RequestId]:
        for scheduled in plan.scheduled:
            holding = self.pool.holdings.get(scheduled.request)
            if holding is not None and scheduled.request not in self.tasks:
                holding.table.reverse()
        return super().complete(plan, sampled)  # type: ignore[arg-type]


class _HeadsFirst(Blocks):
    def release(self, table: Sequence[BlockId]) -> None:
        super().release(table[::-1])


class ChainEvictedHeadFirst(ReferencePool):
    """Releases a chain in its own order, so that its head is evicted first (llm-d-inference-sim #704)."""

    bug, broken_rule = "B103", rules.CONTIGUOUS_CHAIN
    blocks_type = _HeadsFirst


# Shared bytes never change.


class SuffixWrittenOverThePrefix(ReferenceStepper):
    """Writes what follows a hit from the first slot of the table on (tt-xla #4190)."""

    bug, broken_rule = "B104", rules.SHARED_BYTES_NEVER_CHANGE

    def admit(self, step: Step, task: Task) -> bool:
        if not super().admit(step, task):
            return False
        planned, size = step.actions[-1], self.world.block_size
        if isinstance(planned, Scheduled):
            slots = tuple((task.holding.table[p // size], p % size) for p in range(planned.count))
            step.actions[-1] = replace(planned, slots=slots)
        return True


class SecondForkIsNotSeparated(ReferencePool):
    """Copies before a write only once per request, though a later fork shares its blocks again (vLLM #417)."""

    bug, broken_rule = "B106", rules.SHARED_BYTES_NEVER_CHANGE

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.separated: set[RequestId] = set()

    def make_private(self, holding: Holding, index: int) -> BlockCopy:
        self.separated.add(holding.request.id)
        return super().make_private(holding, index)

    def shared_entries(self, holding: Holding, start: int, end: int) -> list[int]:
        return [] if holding.request.id in self.separated else super().shared_entries(holding, start, end)
