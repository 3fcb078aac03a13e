"""A block manager for several groups of layers: one table per group, one hit length for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kvreference.blocks import Blocks
from kvspec.layout import OWN, SHARED, Group, Kind, Layout, Tables
from kvspec.plans import GroupAdmission, Rejected
from kvspec.vocabulary import BlockId, GroupsCapabilities, KeyParts, Request, RequestId, TokenId, World

Key = tuple[KeyParts, tuple[TokenId, ...]]
"""Everything that the content of a block depends on: the tokens up to its end, and for a drafter those after it."""


class GroupIndex:
    """The blocks of one group by key. Two requests may compute one key at the same time: each of its blocks counts."""

    def __init__(self) -> None:
        self.blocks: dict[Key, dict[BlockId, None]] = {}
        self.key_of: dict[BlockId, Key] = {}

    def find(self, key: Key) -> BlockId | None:
        """A block with this key, the one published first."""
        return next(iter(self.blocks.get(key, ())), None)

    def publish(self, key: Key, block: BlockId) -> None:
        """Make a full, computed block findable."""
        self.blocks.setdefault(key, {})[block] = None
        self.key_of[block] = key

    def withdraw(self, block: BlockId) -> None:
        """The block is about to hold something else."""
        key = self.key_of.pop(block, None)
        if key is not None:
            del self.blocks[key][block]

    def clear(self) -> None:
        """Forget every key."""
        self.blocks.clear()
        self.key_of.clear()


class Holding:
    """A request: its tokens, a table per group, and how far its steps have come."""

    def __init__(self, request: Request, tables: list[list[BlockId | None]], hit: int) -> None:
        self.request = request
        self.tokens: list[TokenId] = list(request.prompt)
        self.tables = tables
        self.allocated = self.computed = hit
        """Tokens that have slots, and those of which the step has finished: between them is what is in flight."""


class ReferenceGroups:
    """The manager. Every operation either happens whole or changes nothing."""

    capabilities = GroupsCapabilities(
        num_blocks=(4, 40),
        reserved_blocks=frozenset({BlockId(0)}),
        max_in_flight=2,
        profiles=frozenset({"longest-hit"}),
        layouts=(
            "full:2 window:2:3",
            "full:2 window:2:4",
            "full:4 window:2:5",
            "full:2 window:4:3",
            "full:2 window:3:4",
            "full:1 window:2:1",
            "full:2 state:4",
            "full:2 state:2 window:2:4",
            "full:2 draft:2:1",
            "full:4 window:2:4 draft:2:1",
            "window:2:3 window:2:6",
        ),
        pools=(SHARED, OWN),
    )

    def __init__(self, world: World) -> None:
        self.world, self.layout = world, Layout.of(world)
        self.groups = self.layout.groups
        self.pools = [Blocks(world.num_blocks, self.capabilities.reserved_blocks) for _ in range(self.layout.num_pools)]
        self.indexes = [GroupIndex() for _ in self.groups]
        self.holdings: dict[RequestId, Holding] = {}

    # Hits.

    def longest_hit(self, request: Request, tokens: Sequence[TokenId]) -> tuple[int, list[list[BlockId | None]]]:
        """The longest hit that is valid for every group, and the tables that it gives."""
        for hit in self.hit_lengths(len(tokens)):
            tables = [self.cached(number, request.parts, tokens, hit) for number in range(len(self.groups))]
            found = [table for table in tables if table is not None]
            if len(found) == len(tables):
                return hit, found
        return 0, [[] for _ in self.groups]

    def hit_lengths(self, num_tokens: int) -> Iterator[int]:
        """Lengths to try, longest first: whole blocks in every group, and one token is left to compute."""
        if self.world.caching:
            yield from range((num_tokens - 1) // self.layout.unit * self.layout.unit, 0, -self.layout.unit)

    def cached(self, number: int, parts: KeyParts, tokens: Sequence[TokenId], hit: int) -> list[BlockId | None] | None:
        """The table with which a group goes on from a hit, or None if a block that it needs is not there."""
        group = self.groups[number]
        first, end = self.first_needed(group, hit), hit // group.block_size
        table: list[BlockId | None] = [None] * first
        for index in range(first, end):
            key = self.key(group, parts, tokens, index)
            block = self.indexes[number].find(key) if key else None
            if block is None:
                return None
            table.append(block)
        return table

    def first_needed(self, group: Group, start: int) -> int:
        """The first table entry that a query at position `start` reads; nobody later reads an earlier one."""
        if group.kind is Kind.WINDOW:
            return max(0, start - group.window + 1) // group.block_size
        if group.kind is Kind.STATE:
            return max(0, start - 1) // group.block_size
        return 0

    def key(self, group: Group, parts: KeyParts, tokens: Sequence[TokenId], index: int) -> Key | None:
        """The key of a full block, or None if the tokens that it depends on are not all known."""
        end = (index + 1) * group.block_size + group.lag
        return (parts, tuple(tokens[:end])) if end <= len(tokens) else None

    # Admission and growth.

    def admit(self, request: Request, chunk: int) -> GroupAdmission | None:
        """Share the longest hit and schedule the next `chunk` tokens; None if they do not fit now.

        Raises `Rejected` if the request could never finish in these pools.
        """
        usable = self.world.num_blocks - len(self.capabilities.reserved_blocks)
        if max(self.layout.most_blocks(request.limit)) > usable:
            raise Rejected(request.id)
        hit, tables = self.longest_hit(request, request.prompt)
        count = min(chunk, len(request.prompt) - hit)
        if not self.fits(self.new_entries(tables, hit + count), tables):
            return None
        self.hold(tables)
        self.holdings[request.id] = holding = Holding(request, tables, hit)
        self.grow(holding, count)
        return GroupAdmission(hit, count)

    def hold(self, tables: Sequence[Sequence[BlockId | None]]) -> None:
        """Share a hit in all groups, before any of them takes a new block that might be another's hit."""
        for number, table in enumerate(tables):
            for block in table:
                if block is not None:
                    self.pool(number).share(block)

    def extend(self, id: RequestId, count: int) -> bool:
        """Schedule the next `count` tokens; False if they do not fit now."""
        holding = self.holdings[id]
        if not self.fits(self.new_entries(holding.tables, holding.allocated + count), []):
            return False
        self.grow(holding, count)
        return True

    def new_entries(self, tables: Sequence[Sequence[BlockId | None]], end: int) -> list[int]:
        """Per group, how many entries the first `end` tokens need beyond those that are there."""
        needed = [group.entries(max(0, end - group.lag)) for group in self.groups]
        return [max(0, need - len(table)) for need, table in zip(needed, tables, strict=True)]

    def fits(self, new: Sequence[int], hit: Sequence[Sequence[BlockId | None]]) -> bool:
        """Whether every pool has the new blocks once the idle blocks of the hit are taken."""
        need = list(new)
        for number, table in enumerate(hit):
            need[number] += sum(1 for block in table if block is not None and not self.pool(number).count[block])
        return all(wanted <= pool.num_idle for wanted, pool in self.per_pool(need))

    def grow(self, holding: Holding, count: int) -> None:
        """Take blocks for the next tokens."""
        new = self.new_entries(holding.tables, holding.allocated + count)
        for number, wanted in enumerate(new):
            taken = self.pool(number).take(wanted)
            for block in taken:
                self.recycle(number, block)
            holding.tables[number] += taken
        holding.allocated += count

    def recycle(self, number: int, block: BlockId) -> None:
        """A block changes hands, perhaps between groups: whatever it cached is forgotten."""
        for other, index in enumerate(self.indexes):
            if self.pool(other) is self.pool(number):
                index.withdraw(block)

    # Progress and release.

    def completed(self, id: RequestId, num_computed: int) -> None:
        """The step that computes up to `num_computed` has finished: publish what became full, release what is past."""
        holding = self.holdings[id]
        before, holding.computed = holding.computed, num_computed
        if self.world.caching:
            self.publish(holding, before)
        for number, group in enumerate(self.groups):
            self.release(holding, number, self.first_needed(group, self.earliest_query(holding)))

    def earliest_query(self, holding: Holding) -> int:
        """The first position that is in flight or still to come."""
        return holding.computed

    def publish(self, holding: Holding, before: int) -> None:
        """Make the blocks findable that became full since `before` tokens were computed."""
        tokens = holding.tokens[: holding.computed]
        for number, group in enumerate(self.groups):
            full = max(0, holding.computed - group.lag) // group.block_size
            for index in range(max(0, before - group.lag) // group.block_size, full):
                key, block = self.key(group, holding.request.parts, tokens, index), holding.tables[number][index]
                if key is not None and block is not None:
                    self.indexes[number].publish(key, block)

    def release(self, holding: Holding, number: int, end: int) -> None:
        """Give back the entries before `end`: no query in flight or to come reads them."""
        table = holding.tables[number]
        past = [block for block in table[:end] if block is not None]
        self.pool(number).release(past)
        table[:end] = [None] * min(end, len(table))

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.holdings[id].tokens.append(token)

    def free(self, id: RequestId) -> None:
        """Give back every block of every group."""
        holding = self.holdings.pop(id)
        for number, table in enumerate(holding.tables):
            self.pool(number).release([block for block in table if block is not None])

    # Pools and observations.

    def pool(self, number: int) -> Blocks:
        """The pool of a group."""
        return self.pools[self.layout.pool_of(number)]

    def per_pool(self, need: Sequence[int]) -> list[tuple[int, Blocks]]:
        """Numbers of blocks per group, added up per pool."""
        sums = [0] * len(self.pools)
        for number, wanted in enumerate(need):
            sums[self.layout.pool_of(number)] += wanted
        return list(zip(sums, self.pools, strict=True))

    def free_blocks(self) -> tuple[int, ...]:
        """Per pool, how many blocks a new request could get."""
        return tuple(pool.num_idle for pool in self.pools)

    def tables(self, id: RequestId) -> Tables:
        """The block tables of a request, empty where it holds nothing."""
        holding = self.holdings.get(id)
        return tuple(tuple(table) for table in holding.tables) if holding else tuple(() for _ in self.groups)

    def ref_counts(self) -> tuple[Mapping[BlockId, int], ...]:
        """Per pool, the number of holders of each held block."""
        return tuple({BlockId(b): n for b, n in enumerate(pool.count) if n} for pool in self.pools)
