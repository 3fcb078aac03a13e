"""Imposters with several groups of layers that take a hit which one of the groups cannot go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvreference.groups import Holding, Key, ReferenceGroups
from kvspec import rules
from kvspec.layout import Group, Kind
from kvspec.plans import GroupAdmission
from kvspec.vocabulary import BlockId, KeyParts, Request, TokenId, World

Entries = list[BlockId | None]

DRAFTS = replace(ReferenceGroups.capabilities, layouts=("full:2 draft:2:1", "full:4 window:2:4 draft:2:1"))
STATES = replace(
    ReferenceGroups.capabilities, layouts=("full:2 state:4", "full:2 state:2 window:2:4", "full:1 state:1")
)


class DraftNotAskedForTheHit(ReferenceGroups):
    """Takes a hit that the drafter lacks, and gives the drafter blocks that nobody has written (vLLM #47926)."""

    bug, broken_rule = "B071", rules.DRAFT_GROUP_HIT
    capabilities = DRAFTS

    def cached(self, number: int, parts: KeyParts, tokens: Sequence[TokenId], hit: int) -> Entries | None:
        table = super().cached(number, parts, tokens, hit)
        return [] if table is None and self.groups[number].kind is Kind.DRAFT else table


class DraftKeyForgetsTheTokenBehind(ReferenceGroups):
    """Keys a draft block by its own tokens, although its last slot needs the token behind it (SGLang #34870)."""

    bug, broken_rule = "B074", rules.DRAFT_GROUP_HIT
    capabilities = DRAFTS

    def key(self, group: Group, parts: KeyParts, tokens: Sequence[TokenId], index: int) -> Key | None:
        return super().key(replace(group, lag=0), parts, tokens, index)


class ShortestOfTheGroupsHits(ReferenceGroups):
    """Asks each group for its longest hit, takes the shortest and cuts the other tables to it (vLLM #46453)."""

    bug, broken_rule = "B261", rules.EVERY_GROUP_HIT

    def longest_hit(self, request: Request, tokens: Sequence[TokenId]) -> tuple[int, list[Entries]]:
        found = [self.longest_of(number, request.parts, tokens) for number in range(len(self.groups))]
        hit = min(length for length, _ in found)
        sizes = [group.block_size for group in self.groups]
        return hit, [table[: hit // size] for (_, table), size in zip(found, sizes, strict=True)]

    def longest_of(self, number: int, parts: KeyParts, tokens: Sequence[TokenId]) -> tuple[int, Entries]:
        """The longest hit of one group."""
        for hit in self.hit_lengths(len(tokens)):
            table = self.cached(number, parts, tokens, hit)
            if table is not None:
                return hit, table
        return 0, []


class StateEntryCountedInOtherBlocks(ReferenceGroups):
    """Restores the recurrent state from an entry that it counts in the blocks of another group (vLLM #55601)."""

    bug, broken_rule = "B262", rules.EVERY_GROUP_HIT
    capabilities = replace(STATES, layouts=("full:4 state:2",))

    def cached(self, number: int, parts: KeyParts, tokens: Sequence[TokenId], hit: int) -> Entries | None:
        group, other = self.groups[number], max(group.block_size for group in self.groups)
        if group.kind is not Kind.STATE:
            return super().cached(number, parts, tokens, hit)
        key = self.key(group, parts, tokens, (hit - 1) // other)
        block = self.indexes[number].find(key) if key else None
        return None if block is None else [*[None] * (hit // group.block_size - 1), block]


class StateHoldsTheRecomputedToken(ReferenceGroups):
    """Recomputes the last token of a full hit on a recurrent state that has taken it in already (LMCache #5249)."""

    bug, broken_rule = "B263", rules.EVERY_GROUP_HIT
    capabilities = STATES

    def longest_hit(self, request: Request, tokens: Sequence[TokenId]) -> tuple[int, list[Entries]]:
        hit, tables = super().longest_hit(request, [*tokens, TokenId(0)])
        return min(hit, len(tokens) - 1), tables


class NewBlockBeforeTheNextGroupsHit(ReferenceGroups):
    """Takes the new blocks of one group before it holds the hit of the next, which it may thus evict (vLLM #44409)."""

    bug, broken_rule = "B264", rules.CONSERVATION

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.to_hold: list[Entries] = []

    def hold(self, tables: Sequence[Sequence[BlockId | None]]) -> None:
        self.to_hold = [list(table) for table in tables]

    def grow(self, holding: Holding, count: int) -> None:
        new = self.new_entries(holding.tables, holding.allocated + count)
        for number, wanted in enumerate(new):
            hit, self.to_hold = self.to_hold[:1], self.to_hold[1:]
            super().hold([*([] for _ in range(number)), *hit])
            taken = self.pool(number).take(wanted)
            for block in taken:
                self.recycle(number, block)
            holding.tables[number] += taken
        holding.allocated += count


class RefusalKeepsTheState(ReferenceGroups):
    """Holds the recurrent state of a hit when the request finds no room for its tokens (SGLang #16067)."""

    bug, broken_rule = "B265", rules.FAILURE_IS_ATOMIC
    capabilities = STATES

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        admission = super().admit(request, chunk)
        if admission is None:
            _, tables = self.longest_hit(request, request.prompt)
            self.hold([table if g.kind is Kind.STATE else [] for table, g in zip(tables, self.groups, strict=True)])
        return admission
