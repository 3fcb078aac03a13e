"""A history: a small world and the operations that a client and a device perform on an engine, as plain data.

Histories are what Hypothesis generates and shrinks, what a finding prints and what a rerun replays. An operation names
a request by its index among those it can apply to, modulo their number, so that every sub-list of a history is one.
Here are the operations of every cache of blocks; a surface has its own beside its driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Union

import msgspec

from kvspec.vocabulary import KeyParts, Media, World

MAX_OPERATIONS = 10_000
MAX_PROMPT = 100_000
MAX_NEW_TOKENS = 1_000_000
MAX_SLOTS = 1 << 22
"""Blocks times block size."""

Prompt = Annotated[tuple[int, ...], msgspec.Meta(min_length=1, max_length=MAX_PROMPT)]
NewTokens = Annotated[int, msgspec.Meta(ge=1, le=MAX_NEW_TOKENS)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1 << 30)]


class Operation(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """One thing that a client or the device does. A surface says which there are on it."""

    def tokens(self) -> int:
        """How many tokens a person has to read in it."""
        return 0

    def simpler(self) -> Iterator[Operation]:
        """The same with less to read."""
        yield from ()


class Add(Operation, frozen=True):
    """A client sends a prompt; `chunk` limits what a Pool is asked to allocate at once."""

    prompt: Prompt
    max_new_tokens: NewTokens = 1
    priority: int = 0
    salt: str | None = None
    adapter: str | None = None
    adapter_version: int = 0
    weights: int = 0
    media: tuple[tuple[str, int, int], ...] = ()
    chunk: int = 1_000_000

    def parts(self) -> KeyParts:
        """The key parts besides the tokens."""
        media = tuple(Media(*item) for item in self.media)
        return KeyParts(self.salt, self.adapter, self.adapter_version, self.weights, media)

    def tokens(self) -> int:
        """Those of the prompt, and the new ones."""
        return len(self.prompt) + self.max_new_tokens

    def simpler(self) -> Iterator[Operation]:
        """A shorter prompt, fewer new tokens, no key parts, no limit."""
        for length in range(1, len(self.prompt)):
            yield msgspec.structs.replace(self, prompt=self.prompt[:length])
        for fewer in range(1, self.max_new_tokens):
            yield msgspec.structs.replace(self, max_new_tokens=fewer)
        plain = Add(self.prompt, self.max_new_tokens, chunk=self.chunk)
        if plain != self:
            yield plain
        if self.chunk < Add(self.prompt).chunk:
            yield msgspec.structs.replace(self, chunk=Add(self.prompt).chunk)


class Fork(Operation, frozen=True):
    """A running request is continued twice."""

    which: int = 0


class Reset(Operation, frozen=True):
    """The prefix cache is told to forget everything."""


class Fail(Operation, frozen=True):
    """The engine plans a step, and the device fails."""


class Grow(Operation, frozen=True):
    """A request gets slots for its next tokens, sampling one if none is left."""

    which: int = 0
    count: int = 1


class Commit(Operation, frozen=True):
    """What a request was given slots for is computed."""

    which: int = 0


class Free(Operation, frozen=True):
    """A request ends."""

    which: int = 0


class History(msgspec.Struct, frozen=True, omit_defaults=True):
    """A world and what happens in it."""

    num_blocks: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    block_size: Annotated[int, msgspec.Meta(ge=1, le=1 << 16)]
    operations: tuple[Operation, ...]
    token_budget: Limit = 16
    max_running: Limit = 4
    policy: str = "fcfs"
    caching: bool = True
    preemption: str = "recompute"
    options: dict[str, Any] = {}

    def world(self) -> World:
        """The configuration to build an engine for."""
        return World(
            self.num_blocks,
            self.block_size,
            self.token_budget,
            self.max_running,
            self.policy,
            self.caching,
            self.preemption,
            self.options,
        )

    def to_json(self) -> bytes:
        """One line of JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes | str, operations: tuple[type[Operation], ...]) -> History:
        """Read a history of these operations, as `to_json` writes it.

        Raises `ValueError` that says what is wrong and where.
        """
        try:
            history = cls(**msgspec.structs.asdict(_decoder(operations).decode(data)))
        except (msgspec.MsgspecError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else error
            raise ValueError(f"not a history: {why}") from error
        if (slots := history.num_blocks * history.block_size) > MAX_SLOTS:
            raise ValueError(f"not a history: num_blocks times block_size is {slots}, more than {MAX_SLOTS}")
        return history


@cache
def _decoder(operations: tuple[type[Operation], ...]) -> msgspec.json.Decoder[Any]:
    known: Any = Union[operations]  # noqa: UP007 # known at run time
    some = Annotated[tuple[known, ...], msgspec.Meta(max_length=MAX_OPERATIONS)]
    return msgspec.json.Decoder(msgspec.defstruct("Written", [("operations", some)], bases=(History,), frozen=True))
