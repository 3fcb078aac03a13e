"""A history: a small world and the operations that a client and a device perform on an engine, as plain data.

Histories are what Hypothesis generates and shrinks, what a finding prints and what a rerun replays. An operation names
a request by its index among those it can apply to, modulo their number, so that every sub-list of a history is one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from kvspec.vocabulary import KeyParts, Media, World

MAX_OPERATIONS = 10_000
MAX_PROMPT = 100_000
MAX_NEW_TOKENS = 1_000_000
MAX_EXPONENT = 200
MAX_SLOTS = 1 << 22
"""Blocks times block size."""


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


class Prefix(Operation, frozen=True, tag=True, omit_defaults=True):
    """Tree: something is done with a prefix; not an operation by itself."""

    prompt: tuple[int, ...]
    salt: str | None = None
    adapter: str | None = None
    adapter_version: int = 0
    weights: int = 0

    def parts(self) -> KeyParts:
        """The key parts besides the tokens."""
        return KeyParts(self.salt, self.adapter, self.adapter_version, self.weights)


class Match(Prefix, frozen=True, tag=True, omit_defaults=True):
    """Tree: a prefix is looked up."""


class Insert(Prefix, frozen=True, tag=True, omit_defaults=True):
    """Tree: the whole pages of a prefix are cached."""


class Lock(Operation, frozen=True, tag=True, omit_defaults=True):
    """Tree: what a lookup found is going to be used."""

    which: int = 0


class Unlock(Operation, frozen=True, tag=True, omit_defaults=True):
    """Tree: the operation that used a prefix is over."""

    which: int = 0


class Evict(Operation, frozen=True, tag=True, omit_defaults=True):
    """Tree: room is wanted for so many tokens."""

    count: int = 1


class Generate(Operation, frozen=True, tag=True, omit_defaults=True):
    """Generator: prompts are served together, each with the same number of new tokens."""

    prompts: tuple[tuple[int, ...], ...]
    max_new_tokens: int = 1


class Values(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers `[tokens, kv_heads, head_dim]` by a recipe of the surface Quantizer, times 2**exponent.

    `at` is the channel of the largest magnitude, modulo the head dim, where the pattern has one.
    """

    pattern: str = "noise"
    tokens: int = 1
    seed: int = 0
    exponent: int = 0
    at: int = 0


class Encode(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: values are encoded with scales of their own, and decoded."""

    values: Values


class EncodeFixed(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: values are encoded with given scales, and decoded; `scale` picks them from a short list."""

    values: Values
    scale: int = 0


class Put(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: rows are written to the slots from `start` on; every `padding`-th row is padding full of garbage."""

    values: Values
    start: int = 0
    padding: int = 0


class CopyBlock(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: a block is copied to another, numbers modulo the blocks that there are."""

    source: int = 0
    target: int = 1


class Rotate(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: the rows that are stored are rotated by `turns` sixteenths of a circle, as after a shift."""

    turns: int = 1


class Append(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: a chunk is appended to every sequence."""

    values: Values


class Crop(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: the last tokens of every sequence are removed, but never all, and no group of tokens is cut."""

    count: int = 1


class Reorder(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: sequence i becomes what sequence i + `by` was; `keep` names only one, for all."""

    by: int = 1
    keep: bool = False


class Restart(Operation, frozen=True, tag=True, omit_defaults=True):
    """Quantizer: every sequence is emptied."""


MAX_SEED = 1 << 16
"""The largest seed of random numbers in an operation: as large as those that the search draws."""
Small = Annotated[int, msgspec.Meta(ge=0, le=1 << 14)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=MAX_SEED)]
Size = Annotated[int, msgspec.Meta(ge=1, le=1 << 12)]
Dtype = Literal["fp32", "bf16", "fp16"]
Axes = Literal["token-major", "head-major"]


class Attend(Operation, frozen=True, tag=True, omit_defaults=True):
    """Attention: a batch is attended and one thing about it varied (`kvconformance.surfaces.attention.probes`).

    `lengths` holds (tokens in the cache, query rows) per request, `heads` is (query heads, KV heads, head dim); `order`
    seeds the numbering of blocks, `padding` rows follow, the first `shared` blocks are common to all requests. `cache`
    names a quantized cache that the kernel declares.
    """

    lengths: tuple[tuple[Small, Small], ...]
    probe: Literal["plain", "relabel", "poison", "later", "alone", "chunks", "cascade", "again", "far"] = "plain"
    seed: Seed = 0
    heads: tuple[Size, Size, Size] = (1, 1, 8)
    dtype: Dtype = "fp32"
    layout: Axes = "token-major"
    order: Small | None = None
    pattern: Literal["normal", "outlier", "repeated", "peaked", "large"] = "normal"
    causal: bool = True
    window: Size | None = None
    softcap: Annotated[float, msgspec.Meta(gt=0)] | None = None
    sinks: bool = False
    padding: Small = 0
    splits: Size = 1
    shared: Small = 0
    cache: str | None = None


class Merge(Operation, frozen=True, tag=True, omit_defaults=True):
    """Attention: two partial results are merged, row by row of these kinds; `heads` is (query heads, head dim)."""

    states: tuple[tuple[Literal["normal", "empty", "low", "high"], Literal["normal", "empty", "low", "high"]], ...]
    seed: Seed = 0
    heads: tuple[Size, Size] = (1, 8)
    dtype: Dtype = "fp32"


class WriteRows(Operation, frozen=True, tag=True, omit_defaults=True):
    """Attention: rows are written to `slots`, -1 for padding; `extra` more rows of keys and values than slots.

    `cache` names a quantized cache that the kernel declares and writes.
    """

    slots: tuple[Annotated[int, msgspec.Meta(ge=-1)], ...]
    extra: Small = 0
    seed: Seed = 0
    heads: tuple[Size, Size, Size] = (1, 1, 8)
    dtype: Dtype = "fp32"
    layout: Axes = "token-major"
    cache: str | None = None


AnyOperation = (
    Add
    | Step
    | Begin
    | End
    | Fail
    | Transfer
    | Abort
    | Fork
    | Reset
    | Grow
    | Commit
    | Free
    | FreeAgain
    | Lookup
    | Match
    | Insert
    | Lock
    | Unlock
    | Evict
    | Generate
    | Encode
    | EncodeFixed
    | Put
    | CopyBlock
    | Rotate
    | Append
    | Crop
    | Reorder
    | Restart
    | Attend
    | Merge
    | WriteRows
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
        except (msgspec.MsgspecError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else error
            raise ValueError(f"not a history: {why}") from error
        _require_small(history)
        return history


def _require_small(history: History) -> None:
    sizes = {
        "num_blocks": (history.num_blocks, 1 << 20),
        "block_size": (history.block_size, 1 << 16),
        "token_budget": (history.token_budget, 1 << 30),
        "max_running": (history.max_running, 1 << 30),
        "num_blocks times block_size": (history.num_blocks * history.block_size, MAX_SLOTS),
        "number of operations": (len(history.operations), MAX_OPERATIONS),
    }
    for name, (value, most) in sizes.items():
        if not (0 if name.startswith("number") else 1) <= value <= most:
            raise ValueError(f"not a history: {name} is {value}, not between 1 and {most}")
    for number, operation in enumerate(history.operations):
        _require_small_values(number, operation)
        new = operation.max_new_tokens if isinstance(operation, Add | Generate) else 1
        if not 1 <= new <= MAX_NEW_TOKENS:
            raise ValueError(f"not a history: operation {number} asks for {new} new tokens")
        for prompt in _prompts(operation):
            if not 0 < len(prompt) <= MAX_PROMPT:
                raise ValueError(f"not a history: operation {number} has a prompt of {len(prompt)} tokens")


def _require_small_values(number: int, operation: Operation) -> None:
    values = getattr(operation, "values", None)
    if isinstance(values, Values) and not (0 < values.tokens <= MAX_PROMPT and abs(values.exponent) <= MAX_EXPONENT):
        raise ValueError(f"not a history: operation {number} has {values.tokens} tokens times 2**{values.exponent}")


def _prompts(operation: Operation) -> tuple[tuple[int, ...], ...]:
    if isinstance(operation, Generate):
        return operation.prompts
    return (operation.prompt,) if isinstance(operation, Add | Lookup | Prefix) else ()
