"""The layout of a cache: what each group of layers keeps of the past, and the pools from which blocks come.

An ordinary cache has one group, `full`. Blocks are numbered through all pools: pool k has the ids from
`k * num_blocks` on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import lcm
from sys import maxsize

from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, World

Table = tuple[BlockId | None, ...]
"""A block table; None where nothing is held: trimmed, or never needed."""

Tables = tuple[Table, ...]
"""Per group, the block table of one request."""

SHARED, OWN = "shared", "own"
"""One pool of blocks for all groups, or one for each."""


class Kind(Enum):
    """What the layers of a group keep of the past."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"
    DRAFT = "draft"


@dataclass(frozen=True)
class Group:
    """Layers that share one block table per request. All sizes are in tokens.

    `full`: keys and values of every position. `window`: of those that a query still sees; the query at position p sees
    `p - window < q <= p`, its own included. `state`: entry i is the recurrent state after `(i + 1) * block_size`
    tokens, the last entry that after the tokens so far. `draft`: a drafter of which slot p depends on the `lag` tokens
    after it too, so that after n tokens it has n - lag slots.
    """

    kind: Kind
    block_size: int
    window: int = 0
    lag: int = 0

    def __post_init__(self) -> None:
        """Raise `HarnessFault` for sizes that mean nothing."""
        wrong = self.block_size < 1 or self.lag < 0
        if wrong or (self.window > 0) != (self.kind is Kind.WINDOW) or (self.lag and self.kind is not Kind.DRAFT):
            raise HarnessFault(f"not a group of caches: {self}")

    def __str__(self) -> str:
        extra = f":{self.window or self.lag}" if self.kind in {Kind.WINDOW, Kind.DRAFT} else ""
        return f"{self.kind.value}:{self.block_size}{extra}"

    @cached_property
    def recurs(self) -> bool:
        """Whether its layers are recurrent: a block holds one state, which the next token overwrites."""
        return self.kind is Kind.STATE

    @cached_property
    def drafts(self) -> bool:
        """Whether it is a drafter's: what it lacks costs no token."""
        return self.kind is Kind.DRAFT

    @cached_property
    def slots(self) -> int:
        """Number of contexts that one block holds."""
        return 1 if self.recurs else self.block_size

    @cached_property
    def reach(self) -> int:
        """How many slots before its own a query reads."""
        return {Kind.WINDOW: self.window - 1, Kind.STATE: 1}.get(self.kind, maxsize)

    @property
    def trims(self) -> bool:
        """Whether entries are given back while the request runs on."""
        return self.reach < maxsize

    def entries(self, num_tokens: int) -> int:
        """Number of table entries that cover `num_tokens` tokens."""
        return -(-num_tokens // self.block_size)

    def least_kept(self, num_tokens: int) -> int:
        """The fewest tokens of `num_tokens` that have to lie in the cache at once, whoever trims as he may."""
        if self.kind is Kind.WINDOW:
            return min(num_tokens, self.window)
        return min(num_tokens, 1) if self.recurs else max(0, num_tokens - self.lag)


@dataclass(frozen=True)
class Layout:
    """The groups of a model and where their blocks come from. Written `full:2 window:2:5`, and a pool."""

    groups: tuple[Group, ...]
    pool: str = SHARED

    @classmethod
    def of(cls, world: World) -> Layout:
        """Read from the options `groups` and `pool` of a world; without groups, one that keeps everything.

        Raises `HarnessFault` where they are no layout.
        """
        pool = world.options.get("pool", SHARED)
        if pool not in {SHARED, OWN}:
            raise HarnessFault(f"a pool is {SHARED} or {OWN}, not {pool!r}")
        written = str(world.options.get("groups", f"{Kind.FULL.value}:{world.block_size}"))
        return cls(read_groups(written), str(pool))

    def __str__(self) -> str:
        return " ".join(str(group) for group in self.groups)

    @cached_property
    def unit(self) -> int:
        """The least hit length but 0 that is a whole number of blocks in every group."""
        return lcm(*(group.block_size for group in self.groups))

    @cached_property
    def several(self) -> bool:
        """Whether there is more than one group."""
        return len(self.groups) > 1

    @cached_property
    def trims(self) -> bool:
        """Whether what a request keeps may shrink while it runs."""
        return any(group.trims for group in self.groups)

    @cached_property
    def num_pools(self) -> int:
        """Number of pools of blocks."""
        return 1 if self.pool == SHARED else len(self.groups)

    def pool_of(self, group: int) -> int:
        """The pool from which the group with this number takes its blocks."""
        return 0 if self.pool == SHARED else group

    def most_blocks(self, num_tokens: int) -> list[int]:
        """Per pool, the most blocks that one request of so many tokens can hold."""
        counts = [0] * self.num_pools
        for number, group in enumerate(self.groups):
            counts[self.pool_of(number)] += group.entries(num_tokens)
        return counts

    def least_blocks(self, num_tokens: int) -> list[int]:
        """Per pool, the fewest blocks that one request must hold to reach so many tokens."""
        counts = [0] * self.num_pools
        for number, group in enumerate(self.groups):
            counts[self.pool_of(number)] += group.entries(group.least_kept(num_tokens))
        return counts


_GROUP = re.compile(r"(full|state):(\d+)|(window|draft):(\d+):(\d+)")


def read_groups(text: str) -> tuple[Group, ...]:
    """The groups of a layout such as `full:2 window:2:5 state:4 draft:2:1`. Raises `HarnessFault` for anything else."""
    found = [(word, _GROUP.fullmatch(word)) for word in text.split()]
    if not found or any(match is None for _, match in found):
        raise HarnessFault(
            f"not a layout of cache groups: {text!r}; one is written 'full:2 window:2:5 state:4 draft:2:1'"
        )
    return tuple(_group(*word.split(":")) for word, _ in found)


def _group(kind: str, block_size: str, extra: str = "0") -> Group:
    name = {"window": "window", "draft": "lag"}.get(kind)
    return Group(Kind(kind), int(block_size), **({name: int(extra)} if name else {}))
