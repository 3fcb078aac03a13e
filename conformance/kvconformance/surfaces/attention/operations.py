"""What is done with an attention kernel."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from kvconformance.history import Operation

MAX_SEED = 1 << 16
"""The largest seed of random numbers in an operation: as large as those that the search draws."""
Small = Annotated[int, msgspec.Meta(ge=0, le=1 << 14)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=MAX_SEED)]
Size = Annotated[int, msgspec.Meta(ge=1, le=1 << 12)]
Dtype = Literal["fp32", "bf16", "fp16"]
Axes = Literal["token-major", "head-major"]


class Attend(Operation, frozen=True):
    """A batch is attended and one thing about it varied (`probes`).

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


class Merge(Operation, frozen=True):
    """Two partial results are merged, row by row of these kinds; `heads` is (query heads, head dim)."""

    states: tuple[tuple[Literal["normal", "empty", "low", "high"], Literal["normal", "empty", "low", "high"]], ...]
    seed: Seed = 0
    heads: tuple[Size, Size] = (1, 8)
    dtype: Dtype = "fp32"


class WriteRows(Operation, frozen=True):
    """Rows are written to `slots`, -1 for padding; `extra` more rows of keys and values than slots.

    `cache` names a quantized cache that the kernel declares and writes.
    """

    slots: tuple[Annotated[int, msgspec.Meta(ge=-1)], ...]
    extra: Small = 0
    seed: Seed = 0
    heads: tuple[Size, Size, Size] = (1, 1, 8)
    dtype: Dtype = "fp32"
    layout: Axes = "token-major"
    cache: str | None = None
