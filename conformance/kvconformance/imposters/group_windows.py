"""Imposters with several groups of layers that release what a window still shows, or lose hits of a window."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from kvreference.groups import Holding, ReferenceGroups
from kvspec import rules
from kvspec.layout import Kind
from kvspec.vocabulary import BlockId, RequestId, World


class ReleasedBlocksPublished(ReferenceGroups):
    """Publishes the whole table of a request that runs on, with the blocks that its window released (SGLang #30845)."""

    bug, broken_rule = "B072", rules.EVERY_GROUP_HIT

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.released: dict[RequestId, list[tuple[int, int, BlockId]]] = {}

    def release(self, holding: Holding, number: int, end: int) -> None:
        past = enumerate(holding.tables[number][:end])
        known = self.released.setdefault(holding.request.id, [])
        known += [(number, index, block) for index, block in past if block is not None]
        super().release(holding, number, end)

    def publish(self, holding: Holding, before: int) -> None:
        super().publish(holding, before)
        for number, index, block in self.released.get(holding.request.id, ()):
            key = self.key(self.groups[number], holding.request.parts, holding.tokens, index)
            if key is not None:
                self.indexes[number].publish(key, block)


class EvictedPartRoundedUp(ReferenceGroups):
    """Releases a block as soon as one of its positions is behind the window (SGLang #29860)."""

    bug, broken_rule = "B073", rules.EVERY_GROUP_HIT

    def release(self, holding: Holding, number: int, end: int) -> None:
        group = self.groups[number]
        if group.kind is Kind.WINDOW:
            end = group.entries(max(0, self.earliest_query(holding) - group.window + 1))
        super().release(holding, number, end)


class WindowAsWideAsTheChunk(ReferenceGroups):
    """Releases what lies further back than the size of the last chunk, where the window was meant (SGLang #8649)."""

    bug, broken_rule = "B076", rules.EVERY_GROUP_HIT

    def completed(self, id: RequestId, num_computed: int) -> None:
        self.chunk = num_computed - self.holdings[id].computed
        super().completed(id, num_computed)

    def release(self, holding: Holding, number: int, end: int) -> None:
        group = self.groups[number]
        if group.kind is Kind.WINDOW:
            end = max(0, holding.computed - self.chunk + 1) // group.block_size
        super().release(holding, number, end)


class ReleasesUnderAStepInFlight(ReferenceGroups):
    """Moves the window to the tokens that are scheduled while a step in flight still reads behind it (vLLM #47728)."""

    bug, broken_rule = "B260", rules.EVERY_GROUP_HIT

    def earliest_query(self, holding: Holding) -> int:
        return holding.allocated


class OnlyTheLastWindowPublished(ReferenceGroups):
    """Publishes of a window only what the longest hit needs, so that an edited end hits nothing (vLLM #57610)."""

    bug, broken_rule = "B078", rules.LONGEST_GROUP_HIT

    def publish(self, holding: Holding, before: int) -> None:
        tables = holding.tables
        end = holding.computed // self.layout.unit * self.layout.unit
        keep = [self.first_needed(g, end) if g.kind is Kind.WINDOW else 0 for g in self.groups]
        holding.tables = [[*[None] * first, *table[first:]] for first, table in zip(keep, tables, strict=True)]
        super().publish(holding, before)
        holding.tables = tables


class HitUnitLargerThanNeeded(ReferenceGroups):
    """Hits only multiples of a unit that is larger than the groups need (vllm-ascend #16270)."""

    bug, broken_rule = "B079", rules.LONGEST_GROUP_HIT

    def hit_lengths(self, num_tokens: int) -> Iterator[int]:
        unit = prod(group.block_size for group in self.groups)
        yield from (hit for hit in super().hit_lengths(num_tokens) if hit % unit == 0)
