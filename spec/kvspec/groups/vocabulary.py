"""The nouns of a cache with several groups: what each group keeps, a layout of groups, what an engine declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import lcm

from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, Capabilities, World

Table = tuple[BlockId | None, ...]
"""A block table; None where nothing is held: released, or never needed."""

SHARED, OWN = "shared", "own"
"""One pool of blocks for all groups, or one for each."""


class Kind(Enum):
    """What the layers of a group keep of the past."""

    FULL = "full"
    WINDOW = "window"
    STATE = "state"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
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

    @property
    def slots(self) -> int:
        """Number of contexts that one block holds."""
        return 1 if self.kind is Kind.STATE else self.block_size

    def entries(self, num_tokens: int) -> int:
        """Number of table entries that cover `num_tokens` tokens."""
        return -(-num_tokens // self.block_size)


@dataclass(frozen=True, slots=True)
class Layout:
    """The groups of a model and where their blocks come from. Written `full:2 window:2:5`, and a pool."""

    groups: tuple[Group, ...]
    pool: str = SHARED

    @classmethod
    def of(cls, world: World) -> Layout:
        """Read from the options `groups` and `pool` of a world. Raises `HarnessFault` where they are no layout."""
        pool = world.options.get("pool", SHARED)
        if pool not in {SHARED, OWN}:
            raise HarnessFault(f"a pool is {SHARED} or {OWN}, not {pool!r}")
        return cls(read_groups(str(world.options.get("groups", ""))), str(pool))

    def __str__(self) -> str:
        return " ".join(str(group) for group in self.groups)

    @property
    def unit(self) -> int:
        """The least hit length but 0 that is a whole number of blocks in every group."""
        return lcm(*(group.block_size for group in self.groups))

    @property
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


@dataclass(frozen=True, slots=True)
class GroupsCapabilities(Capabilities):
    """What an engine with several groups declares: the layouts and pools that it can be built with.

    `max_in_flight` says how many steps of one request may be on the device at once. `states` is `every` where a step
    writes the recurrent state to each entry that it reaches, `last` where only to the last. `drafts_ahead` says that
    the drafter runs in the step itself, with the token that it samples, and not only once that token is computed.
    """

    layouts: tuple[str, ...] = ("full:2 window:2:3",)
    pools: tuple[str, ...] = (SHARED,)
    states: str = "every"
    drafts_ahead: bool = False


@dataclass(frozen=True, slots=True)
class GroupAdmission:
    """A request was admitted on a hit of `hit` tokens, valid for all groups, with homes for the next `count`."""

    hit: int
    count: int


Free = tuple[int, ...]
"""Per pool, how many blocks a new request could get."""

Tables = tuple[Table, ...]
"""Per group, the block table of one request."""

Held = Mapping[BlockId, int]
"""The reference counts of the held blocks of one pool."""
