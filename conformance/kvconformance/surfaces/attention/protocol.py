"""What a third party writes: a function from a call to a result, and a declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from kvconformance.surfaces.attention.formats import CacheFormat
from kvreference.arrays import AnyArray, Float, Int
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.declaration import Declaration
from kvspec.refusals import DtypeError
from kvspec.vocabulary import Capabilities, World

TOKEN_MAJOR, HEAD_MAJOR = "token-major", "head-major"
LAYOUTS = {
    TOKEN_MAJOR: "[num_blocks, block_size, kv_heads, head_dim]",
    HEAD_MAJOR: "[num_blocks, kv_heads, block_size, head_dim]",
}
_STORAGE = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16}


@dataclass(frozen=True, slots=True, eq=False)
class AttentionCall:
    """One call. `keys` and `values` are blocks in `layout` (`LAYOUTS`), strides free; nothing may be changed but `out`.

    Floats are in the storage of `dtype`: float32 (`fp32`), float16 (`fp16`), or bit patterns as uint16 (`bf16`).
    `query` `[rows, heads, head_dim]`; `tables` `[requests, max_blocks]`, `lengths` `[requests]` tokens in the cache and
    `starts` `[requests + 1]` first row of each request, int32. The rows of a request are its last positions. Rows from
    `starts[-1]` on are padding. `window` counts the query's own position; `sinks` float32 `[heads]`. The context is
    to be computed in `splits` parts. `out` `[rows, heads, head_dim]` is a buffer with old contents that may be used.

    `cache` is None, or the name of a declared `CacheFormat`, whose schemes say what codes mean. Then `keys` and
    `values` are codes: int8 or uint8 (unsigned integers, and patterns of 8-bit floats), or uint8 with two codes in a
    byte and half the width. `key_scales` and `value_scales` lie beside them, with the axes of `layout` and, last, the
    groups of a row (1 for a scale per token and head), in the format that the scheme stores; or are `[kv_heads]` or
    `[1]` where all tokens share them. So do `key_zeros` and `value_zeros`: zero points (uint8) or minima, None if none.
    """

    query: AnyArray
    keys: AnyArray
    values: AnyArray
    tables: AnyArray
    lengths: AnyArray
    starts: AnyArray
    scale: float
    dtype: str
    layout: str
    causal: bool
    window: int | None
    softcap: float | None
    sinks: AnyArray | None
    splits: int
    out: AnyArray
    cache: str | None = None
    key_scales: AnyArray | None = None
    value_scales: AnyArray | None = None
    key_zeros: AnyArray | None = None
    value_zeros: AnyArray | None = None

    def inputs(self) -> dict[str, AnyArray]:
        """The arrays that must not be changed."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "out"}
        return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """`output` `[rows, heads, head_dim]` in real numbers (exact, whatever the dtype), `lse` `[rows, heads]` or None.

    `lse` is the natural logarithm of the sum of exponentials, minus infinity where a row sees no key.
    """

    output: AnyArray
    lse: AnyArray | None = None


@dataclass(frozen=True, slots=True)
class AttentionCapabilities(Capabilities):
    """What a kernel declares: its arithmetic by dtype, and what it can do; only that is asked of it.

    `arithmetic` without a `kv_tile` is judged by certificate T1, with one by T2. `heads` are (query heads, KV heads).
    `in_place` says that the cache is read where it lies, through its strides, and never copied whole: only then is it
    shown blocks beyond 2**32 elements. `batch_invariant` promises the same bits alone, in a batch and in any chunking;
    `lse_error` is the unit roundoff of the stored LSE. `arithmetic` is that over plain caches; `caches` are quantized
    ones that are read too, by name.
    """

    arithmetic: Mapping[str, Declaration] = field(
        default_factory=lambda: MappingProxyType({"fp32": Declaration("fp32", None, exact_products=False)})
    )
    layouts: tuple[str, ...] = (TOKEN_MAJOR,)
    heads: tuple[tuple[int, int], ...] = ((1, 1), (2, 1), (2, 2), (4, 2))
    head_dims: tuple[int, ...] = (8, 16, 64)
    splits: tuple[int, ...] = (1,)
    prefill: bool = True
    noncausal: bool = True
    windows: bool = False
    softcaps: bool = False
    sinks: bool = False
    lse: bool = False
    padding_rows: bool = True
    in_place: bool = False
    batch_invariant: bool = False
    lse_error: float = 2.0**-24
    caches: Mapping[str, CacheFormat] = field(default_factory=lambda: MappingProxyType({}))

    def over(self, cache: str | None, dtype: str) -> Declaration:
        """The arithmetic for queries of `dtype` over a plain cache or a quantized one. Raises `KeyError`."""
        return (self.arithmetic if cache is None else self.caches[cache].arithmetic)[dtype]

    def holds(self, cache: str | None, dtype: str, head_dim: int) -> bool:
        """Whether a quantized cache is declared, for queries of `dtype` and rows of `head_dim`; plain ones are."""
        if cache is None:
            return True
        format = self.caches.get(cache)
        return format is not None and dtype in format.arithmetic and format.holds(head_dim)


class Attention(Protocol):
    """An attention kernel; the object is built once per history and may keep plans and workspaces between calls."""

    capabilities: AttentionCapabilities

    def attend(self, call: AttentionCall) -> Attended:
        """Attention of every row over the positions that it sees."""


class AttentionExtras(Protocol):
    """Optional methods. Floats are in the storage of the dtype, LSE in float32."""

    def merge(self, a: Attended, b: Attended, dtype: str) -> Attended:
        """Attention over the union of two disjoint sets of keys."""

    def write(self, cache: AttentionCall, slots: Int, keys: AnyArray, values: AnyArray) -> None:
        """Store rows `[tokens or more, kv_heads, head_dim]` at `slots` `[tokens]`; -1 writes nothing.

        Into a quantized cache codes are written, and scales and zeros where a token has its own. All other slots,
        scales that tokens share, and the arguments stay as they are.
        """


Attend = Callable[[AttentionCall], Attended]


def attention(
    capabilities: AttentionCapabilities, merge: Any = None, write: Any = None
) -> Callable[[Attend], type[Any]]:
    """Make a function an adapter: `@attention(AttentionCapabilities(...))`, or `attention(...)(my_kernel)`.

    `merge(a, b, dtype)` and `write(cache, slots, keys, values)` are the optional methods. A kernel that reads fp8 with
    a scale per KV head, and multiplies logits and outputs by it, declares
    `caches={"fp8": CacheFormat.of(SCHEMES["e4m3/head"], {"bf16": Declaration("bf16", "bf16")}, Reads.FACTORED)}`.
    """

    def adapt(attend: Attend) -> type[Any]:
        def build(self: object, world: World) -> None: ...

        methods: dict[str, Any] = {"__init__": build, "capabilities": capabilities, "attend": staticmethod(attend)}
        optional = {"merge": merge, "write": write}
        methods |= {name: staticmethod(method) for name, method in optional.items() if method is not None}
        return type(getattr(attend, "__name__", "attend"), (), methods)

    return adapt


def stored(values: Float, dtype: str) -> AnyArray:
    """Real numbers in the storage of `dtype`, correctly rounded. Raises `DtypeError` for a dtype without storage."""
    if dtype not in _STORAGE:
        raise DtypeError(f"no storage for dtype {dtype!r}, expected one of {sorted(_STORAGE)}")
    rounded = round_to(np.asarray(values, np.float64), format_named(dtype))
    if dtype != "bf16":
        return rounded.astype(_STORAGE[dtype])
    return (rounded.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def loaded(array: AnyArray, dtype: str) -> Float:
    """Storage of `dtype` as float64, exactly. Raises `DtypeError` where the array is no such storage."""
    if dtype not in _STORAGE or array.dtype != _STORAGE[dtype]:
        raise DtypeError(f"storage of {dtype} is {_STORAGE.get(dtype, 'unknown')}, not {array.dtype}")
    if dtype != "bf16":
        return array.astype(np.float64)
    return (array.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def storage(dtype: str) -> Any:
    """The NumPy type that stores `dtype`."""
    return _STORAGE[dtype]
