"""The nouns of the specification: blocks, requests, worlds, and what an engine declares about itself.

Every layer above may import these records; none of them has behaviour beyond arithmetic on its own fields.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import NewType

BlockId = NewType("BlockId", int)
"""Index of a physical block, 0 <= id < num_blocks."""

RequestId = NewType("RequestId", str)
TokenId = NewType("TokenId", int)
StepId = NewType("StepId", int)
TransferId = NewType("TransferId", int)


class Surface(Enum):
    """A face of an engine that can be driven and judged by itself. Rules speak of these; any other name is one too."""

    POOL = "pool"
    STEPPER = "stepper"
    GROUPS = "groups"
    TREE = "tree"
    GENERATOR = "generator"
    QUANTIZER = "quantizer"
    ATTENTION = "attention"

    @classmethod
    def _missing_(cls, value: object) -> Surface | None:
        """The surface of a name that no rule speaks of, always the same object: a decoder may ask again."""
        if not isinstance(value, str):
            return None
        known = cls._value2member_map_.get(value)
        if not isinstance(known, cls):
            known = object.__new__(cls)
            known._name_ = known._value_ = value
            cls._value2member_map_[value] = known
        return known


class Phase(Enum):
    """Where a request is in its life."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


WAITING, RUNNING, DONE = Phase
"""Looked up once: on Python 3.11 a member costs 100 ns each time that it is looked up, as much as a whole guard."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image, sound or embedding that stands behind placeholder tokens.

    `digest` identifies the bytes; the placeholder tokens are at positions `position <= p < position + length`.
    """

    digest: str
    position: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class KeyParts:
    """Everything besides tokens that must separate two cached prefixes.

    `adapter`, `adapter_version`, `weights` and `media` change the keys and values themselves; `salt` separates
    tenants that would otherwise compute identical ones.
    """

    salt: str | None = None
    adapter: str | None = None
    adapter_version: int = 0
    weights: int = 0
    media: tuple[Media, ...] = ()

    @property
    def computes(self) -> tuple[str | None, int, int]:
        """The parts that change keys and values at every position."""
        return (self.adapter, self.adapter_version, self.weights)

    def media_at(self, position: int) -> str | None:
        """The digest of the media behind `position`, if any."""
        for item in self.media:
            if item.position <= position < item.position + item.length:
                return item.digest
        return None


NO_PARTS = KeyParts()


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for. `max_new_tokens >= 1`; a smaller `priority` is served first.

    Once its last new token is one of `stops` it may end with fewer.
    """

    id: RequestId
    prompt: tuple[TokenId, ...]
    max_new_tokens: int = 1
    priority: int = 0
    parts: KeyParts = NO_PARTS
    stops: frozenset[TokenId] = frozenset()

    @property
    def limit(self) -> int:
        """Most tokens the request can ever have; the last one sampled never needs keys and values."""
        return len(self.prompt) + self.max_new_tokens


@dataclass(frozen=True, slots=True)
class World:
    """The small configuration for which an engine is built. Sizes in tokens unless named blocks.

    `options` are an engine's own switches, drawn from its capabilities; `max_model_len` among them is understood here.
    """

    num_blocks: int
    block_size: int
    token_budget: int = 16
    max_running: int = 4
    policy: str = "fcfs"
    caching: bool = True
    preemption: str = "recompute"
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def max_model_len(self) -> int:
        """Most tokens of one request, prompt and new ones together: the option of that name, else no limit."""
        limit = self.options.get("max_model_len")
        return limit if isinstance(limit, int) else sys.maxsize

    def blocks_for(self, num_tokens: int) -> int:
        """Number of blocks that hold `num_tokens` tokens."""
        return -(-num_tokens // self.block_size)


@dataclass(frozen=True, slots=True)
class Freedoms:
    """What the specification leaves open, as an engine uses it: all that judging asks of its declaration.

    Undeclared freedom is a violation, declared freedom is not.
    """

    reserved_blocks: frozenset[BlockId] = frozenset()
    publishes: str = "computed"
    lookahead_blocks: int = 0
    watermark_blocks: int = 0
    remaps_duplicates: bool = False
    orders_steps: bool = False
    """On the device a step waits for the steps that were dispatched before it."""
    orders_transfers: bool = False
    """On the device a transfer waits for the steps that were dispatched before it."""
    counts_copies: bool = False
    """Published events tell of every copy of a key: it is gone after as many removals as it was stored."""
    hides_lost_takes: bool = False
    """A plan does not show the blocks that a victim took in its last step, before it was preempted in it."""
    states: str = "every"
    """A step writes the recurrent state to `every` entry that it reaches, or only to the `last`."""
    drafts_ahead: bool = False
    """The drafter runs in the step itself, with the token that it samples, not only once that token is computed."""
    idle_steps: int = 0
    preemptions: tuple[str, ...] = ("recompute",)
    profiles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Capabilities(Freedoms):
    """What an engine can do, beside the freedoms of the specification that it uses: what a driver needs to know.

    The first group bounds the worlds it can be built for, the second says which operations it has, the third how its
    answers are to be read.
    """

    block_sizes: tuple[int, ...] = (1, 2, 3, 4)
    num_blocks: tuple[int, int] = (2, 12)
    token_budgets: tuple[int, int] = (1, 12)
    max_running: tuple[int, int] = (1, 4)
    policies: tuple[str, ...] = ("fcfs",)
    options: Mapping[str, tuple[object, ...]] = field(default_factory=lambda: MappingProxyType({}))
    caching: tuple[bool, ...] = (True, False)

    salts: bool = False
    adapters: bool = False
    media: bool = False
    priorities: bool = False
    aborts: bool = True
    forks: bool = False
    resets: bool = False
    fails: bool = False
    rejects_infeasible: bool = True
    max_in_flight: int = 1

    defers_release: bool = False
    """Who leaves keeps its blocks for a while: each plan tells by `Released` whose are given back now."""
    defers_in_flight: bool = False
    """Who is aborted while a step that computes it is in flight keeps its blocks until the last of those is back."""
    not_claimed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class GroupsCapabilities(Capabilities):
    """What an engine with several groups declares: the layouts (`kvspec.layout`) and pools that it can be built with.

    `max_in_flight` says how many steps of one request may be on the device at once.
    """

    layouts: tuple[str, ...] = ("full:2 window:2:3",)
    pools: tuple[str, ...] = ("shared",)
