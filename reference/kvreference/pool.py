"""The block manager: gives requests slots for their tokens, shares cached prefixes, copies before it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kvreference.blocks import Blocks, OutOfBlocks
from kvreference.prefix_cache import PrefixCache
from kvspec.plans import Admission, BlockCopy, Extension, Hit, Rejected
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class Holding:
    """A request in the manager's eyes: its tokens, its table, and how many positions have keys and values."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.tokens: list[TokenId] = list(request.prompt)
        self.table: list[BlockId] = []
        self.allocated = 0
        self.computed = 0

    def fork(self, child: Request) -> Holding:
        """A second holder of the same blocks with the same tokens."""
        other = Holding(child)
        other.tokens, other.table = self.tokens[:], self.table[:]
        other.allocated, other.computed = self.allocated, self.computed
        return other


class ReferencePool:
    """A paged pool with a prefix cache. Every operation either happens whole or changes nothing."""

    capabilities = Capabilities(
        salts=True,
        adapters=True,
        media=True,
        forks=True,
        resets=True,
        fails=True,
        reserved_blocks=frozenset({BlockId(0)}),
        profiles=frozenset({"lru"}),
    )

    blocks_type: type[Blocks] = Blocks
    cache_type: type[PrefixCache] = PrefixCache

    def __init__(self, world: World) -> None:
        self.world = world
        self.blocks = self.blocks_type(world.num_blocks, self.capabilities.reserved_blocks)
        self.cache = self.cache_type(world.block_size)
        self.holdings: dict[RequestId, Holding] = {}
        self.queries = 0
        self.hits = 0

    # Admission.

    def new_holding(self, request: Request) -> Holding:
        """A request that holds nothing yet."""
        return Holding(request)

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now."""
        blocks = self.find(list(request.prompt), request)
        return Hit(self.hit_length(blocks), tuple(blocks))

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Share the longest hit and give slots to the next `chunk` tokens; None if they do not fit.

        Raises `Rejected` if the request could never finish in this pool.
        """
        self.reject_infeasible(request)
        return self.begin(Holding(request), chunk)

    def begin(self, holding: Holding, chunk: int, *, resumed: bool = False) -> Admission | None:
        """Admit a holding that owns no blocks yet. A resumed one is not counted among the queries."""
        blocks = self.find(holding.tokens, holding.request)
        hit = self.hit_length(blocks)
        count = min(chunk, len(holding.tokens) - hit)
        new = self.new_blocks(blocks, hit, hit + count)
        if not self.fits(new, blocks):
            return None
        for block in blocks:
            self.blocks.share(block)
        holding.table = blocks + self.take(new)
        holding.computed, holding.allocated = hit, hit + count
        self.holdings[holding.request.id] = holding
        if not resumed:
            self.count_query(len(holding.tokens), hit)
        return Admission(hit, count, tuple(holding.table))

    def find(self, tokens: Sequence[TokenId], request: Request) -> list[BlockId]:
        """The blocks of the longest hit, or none where caching is off."""
        return self.cache.longest_hit(tokens, request.parts) if self.world.caching else []

    def hit_length(self, blocks: Sequence[BlockId]) -> int:
        """Tokens in a hit of whole blocks."""
        return len(blocks) * self.world.block_size

    def new_blocks(self, table: Sequence[BlockId], start: int, end: int) -> int:
        """How many blocks positions `start` to `end` need beyond those of the table."""
        return self.world.blocks_for(end) - len(table)

    def fits(self, new: int, hit: Sequence[BlockId]) -> bool:
        """Whether `new` blocks are left once the idle blocks of the hit are taken."""
        idle_hits = sum(1 for block in hit if self.blocks.count[block] == 0)
        return new + idle_hits <= self.blocks.num_idle

    def reject_infeasible(self, request: Request) -> None:
        """Raise `Rejected` for a request that the empty pool could not hold."""
        usable = self.world.num_blocks - len(self.blocks.reserved)
        if self.world.blocks_for(request.limit) > usable:
            raise Rejected(f"{request.id} needs {self.world.blocks_for(request.limit)} of {usable} blocks")

    # Growth.

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Give slots to the next `count` tokens, making the block that they continue private; None if not."""
        holding = self.holdings[id]
        total = holding.allocated + count
        new = self.new_blocks(holding.table, holding.allocated, total)
        shared = self.shared_entries(holding, holding.allocated, total)
        if new + len(shared) > self.blocks.num_idle:
            return None
        copies = tuple(self.make_private(holding, index) for index in shared)
        holding.table += self.take(new)
        holding.allocated = total
        return Extension(tuple(holding.table), copies)

    def shared_entries(self, holding: Holding, start: int, end: int) -> list[int]:
        """Entries of the table that positions `start` to `end` would write and somebody else holds too."""
        size = self.world.block_size
        last = min(-(-end // size), len(holding.table))
        return [i for i in range(start // size, last) if self.blocks.count[holding.table[i]] > 1]

    def make_private(self, holding: Holding, index: int) -> BlockCopy:
        """Copy-on-write of one entry."""
        source = holding.table[index]
        (target,) = self.take(1)
        holding.table[index] = target
        self.blocks.release((source,))
        return BlockCopy(holding.request.id, source, target, self.copy_extent(holding, index))

    def copy_extent(self, holding: Holding, index: int) -> int | None:
        """How many tokens of a block a copy moves: the whole block."""
        return None

    def take(self, number: int) -> list[BlockId]:
        """Blocks for new content; whatever they cached is forgotten."""
        taken = self.blocks.take(number)
        for block in taken:
            self.recycle(block)
        return taken

    def recycle(self, block: BlockId) -> None:
        """A block changes hands."""
        self.cache.withdraw(block)

    # Progress.

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Positions below `num_computed` now have keys and values: publish the blocks that became full."""
        holding = self.holdings[id]
        holding.computed = num_computed
        if self.world.caching:
            for index, key in enumerate(self.cache.chain(self.publishable(holding), holding.request.parts)):
                self.cache.publish(key, holding.table[index])

    def publishable(self, holding: Holding) -> list[TokenId]:
        """The tokens whose blocks may be found by others."""
        return holding.tokens[: holding.computed]

    def append(self, id: RequestId, token: TokenId) -> None:
        """A token was sampled."""
        self.holdings[id].tokens.append(token)

    def failed(self, id: RequestId) -> None:
        """The step failed: what it wrote is garbage. Nothing of it was published, so nothing is withdrawn."""

    # Endings.

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        """A second holder of the parent's blocks; writes copy first."""
        holding = self.holdings[parent].fork(child)
        for block in holding.table:
            self.blocks.share(block)
        self.holdings[child.id] = holding
        return tuple(holding.table)

    def free(self, id: RequestId) -> None:
        """Give back all blocks of a request. A request that holds nothing is left alone."""
        holding = self.holdings.pop(id, None)
        if holding is not None:
            self.blocks.release(holding.table)

    def reset(self) -> bool:
        """Forget every cached prefix; refused while any block is held."""
        if any(self.blocks.count):
            return False
        self.cache.clear()
        return True

    # Observations.

    def count_query(self, queried: int, hit: int) -> None:
        """Count a first admission; resumed requests are recomputation and are not counted."""
        if self.world.caching:
            self.queries += queried
            self.hits += hit

    def free_blocks(self) -> int:
        """Blocks that a new request could get: free or idle and cached."""
        return self.blocks.num_idle

    def free_set(self) -> tuple[BlockId, ...]:
        """The ids of those blocks."""
        return tuple(self.blocks.idle)

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The number of holders of each held block."""
        return {BlockId(b): n for b, n in enumerate(self.blocks.count) if n}

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return {id: tuple(holding.table) for id, holding in self.holdings.items()}

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""
        return frozenset(self.cache.index.values())

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit) of first admissions."""
        return (self.queries, self.hits)

    def block_keys(self, request: Request) -> Sequence[bytes]:
        """The keys of the full blocks of a prompt, as another process would have to compute them."""
        return list(self.cache.chain(list(request.prompt), request.parts))


__all__ = ["Holding", "OutOfBlocks", "ReferencePool"]
