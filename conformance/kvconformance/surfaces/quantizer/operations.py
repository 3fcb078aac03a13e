"""What is done with a quantizer."""

from __future__ import annotations

from typing import Annotated

import msgspec

from kvconformance.history import MAX_PROMPT, Operation

MAX_EXPONENT = 200


class Values(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers `[tokens, kv_heads, head_dim]` by a recipe of `recipes`, times 2**exponent.

    `at` is the channel of the largest magnitude, modulo the head dim, where the pattern has one.
    """

    pattern: str = "noise"
    tokens: Annotated[int, msgspec.Meta(ge=1, le=MAX_PROMPT)] = 1
    seed: int = 0
    exponent: Annotated[int, msgspec.Meta(ge=-MAX_EXPONENT, le=MAX_EXPONENT)] = 0
    at: int = 0


class Encode(Operation, frozen=True):
    """Values are encoded with scales of their own, and decoded."""

    values: Values


class EncodeFixed(Operation, frozen=True):
    """Values are encoded with given scales, and decoded; `scale` picks them from a short list."""

    values: Values
    scale: int = 0


class Put(Operation, frozen=True):
    """Rows are written to the slots from `start` on; every `padding`-th row is padding full of garbage."""

    values: Values
    start: int = 0
    padding: int = 0


class CopyBlock(Operation, frozen=True):
    """A block is copied to another, numbers modulo the blocks that there are."""

    source: int = 0
    target: int = 1


class Rotate(Operation, frozen=True):
    """The rows that are stored are rotated by `turns` sixteenths of a circle, as after a shift."""

    turns: int = 1


class Append(Operation, frozen=True):
    """A chunk is appended to every sequence."""

    values: Values


class Crop(Operation, frozen=True):
    """The last tokens of every sequence are removed, but never all, and no group of tokens is cut."""

    count: int = 1


class Reorder(Operation, frozen=True):
    """Sequence i becomes what sequence i + `by` was; `keep` names only one, for all."""

    by: int = 1
    keep: bool = False


class Restart(Operation, frozen=True):
    """Every sequence is emptied."""


OPERATIONS = (Encode, EncodeFixed, Put, CopyBlock, Rotate, Append, Crop, Reorder, Restart)
