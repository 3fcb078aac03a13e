"""A history: a small world and the operations that a client and a device perform on an engine, as plain data.

Histories are what Hypothesis generates and shrinks, what a finding prints and what a rerun replays. An operation names
a request by its index among those it can apply to, modulo their number, so that every sub-list of a history is one.
"""

from __future__ import annotations

from typing import Any

import msgspec
from kvspec.vocabulary import KeyParts, Media, World

MAX_OPERATIONS = 10_000
MAX_PROMPT = 100_000


class Operation(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """One thing that a client or the device does."""


class Add(Operation, frozen=True, tag=True, omit_defaults=True):
    """A client sends a prompt; `chunk` limits what a Pool is asked to allocate at once."""

    prompt: tuple[int, ...]
    max_new_tokens: int = 1
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


class Step(Operation, frozen=True, tag=True, omit_defaults=True):
    """The engine plans a step, the device runs it, the engine takes the result."""


class Begin(Operation, frozen=True, tag=True, omit_defaults=True):
    """The engine plans a step and dispatches it; the result comes later."""


class End(Operation, frozen=True, tag=True, omit_defaults=True):
    """The result of the oldest step in flight arrives."""


class Fail(Operation, frozen=True, tag=True, omit_defaults=True):
    """The engine plans a step, and the device fails."""


class Transfer(Operation, frozen=True, tag=True, omit_defaults=True):
    """A pending transfer between host and device finishes."""

    which: int = 0


class Abort(Operation, frozen=True, tag=True, omit_defaults=True):
    """The client of a live request cancels."""

    which: int = 0


class Fork(Operation, frozen=True, tag=True, omit_defaults=True):
    """A running request is continued twice."""

    which: int = 0


class Reset(Operation, frozen=True, tag=True, omit_defaults=True):
    """The prefix cache is told to forget everything."""


class Grow(Operation, frozen=True, tag=True, omit_defaults=True):
    """Pool: a request gets homes for its next tokens, sampling one if none is left."""

    which: int = 0
    count: int = 1


class Commit(Operation, frozen=True, tag=True, omit_defaults=True):
    """Pool: what a request was given homes for is computed."""

    which: int = 0


class Free(Operation, frozen=True, tag=True, omit_defaults=True):
    """Pool: a request ends."""

    which: int = 0


class FreeAgain(Operation, frozen=True, tag=True, omit_defaults=True):
    """Pool: a request that has ended is released once more."""

    which: int = 0


class Lookup(Operation, frozen=True, tag=True, omit_defaults=True):
    """Pool: the prefix hit of a prompt is asked for and not used."""

    prompt: tuple[int, ...]
    salt: str | None = None
    adapter: str | None = None


AnyOperation = (
    Add | Step | Begin | End | Fail | Transfer | Abort | Fork | Reset | Grow | Commit | Free | FreeAgain | Lookup
)


class History(msgspec.Struct, frozen=True, omit_defaults=True):
    """A world and what happens in it."""

    num_blocks: int
    block_size: int
    operations: tuple[AnyOperation, ...]
    token_budget: int = 16
    max_running: int = 4
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
    def from_json(cls, data: bytes | str) -> History:
        """Read a history written by `to_json`; raises `ValueError` that says what is wrong and where."""
        try:
            history = msgspec.json.decode(data, type=cls)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a history: {error}") from error
        _require_small(history)
        return history


def _require_small(history: History) -> None:
    sizes = {
        "num_blocks": (history.num_blocks, 1 << 20),
        "block_size": (history.block_size, 1 << 16),
        "token_budget": (history.token_budget, 1 << 30),
        "max_running": (history.max_running, 1 << 30),
        "number of operations": (len(history.operations), MAX_OPERATIONS),
    }
    for name, (value, most) in sizes.items():
        if not (0 if name.startswith("number") else 1) <= value <= most:
            raise ValueError(f"not a history: {name} is {value}, not between 1 and {most}")
    for number, operation in enumerate(history.operations):
        if isinstance(operation, Add | Lookup) and not 0 < len(operation.prompt) <= MAX_PROMPT:
            raise ValueError(f"not a history: operation {number} has a prompt of {len(operation.prompt)} tokens")
