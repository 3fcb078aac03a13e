"""The paged KV cache of one layer as torch tensors, plain or quantized, in declared layouts.

A slot is `block * block_size + offset`, int64; slot -1 is a padding row. A block table row holds the block ids of a
request, in order. Keys and values have equal shapes and strides, so that one set of offsets serves both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch

from kvoptimized.refusals import (
    FormatError,
    StrideError,
    require_dense,
    require_device,
    require_disjoint,
    require_dtype,
    require_scales,
    require_shape,
)
from kvspec.numbers.schemes import E4M3, INT4_FP32, INT8, Granularity, IntegerCodes, Scheme
from kvspec.refusals import BlockRangeError, DtypeError, ScaleError, ShapeError

PADDING = -1
"""The slot of a padding row: it writes nothing."""

HEAD_MAJOR = "head-major"
"""`[num_blocks, kv_heads, block_size, width]`: the tokens of one head lie together, as decoding reads them."""
TOKEN_MAJOR = "token-major"  # noqa: S105 - an order of axes, not a secret
"""`[num_blocks, block_size, kv_heads, width]`: the heads of one token lie together."""
LAYOUTS = (HEAD_MAJOR, TOKEN_MAJOR)


@dataclass(frozen=True)
class Format:
    """How an element of keys and values is stored: `scheme` None stores it as it comes, `per_byte` is 2 for nibbles.

    Stored nibbles are codes in two's complement, `code & 15`: the biased ones of a scheme with the highest bit turned.
    """

    name: str
    storage: torch.dtype
    scheme: Scheme | None = None
    per_byte: int = 1

    @property
    def integer(self) -> bool:
        """Whether codes are integers, which have none for NaN and infinity."""
        return self.scheme is not None and isinstance(self.scheme.codes, IntegerCodes)

    @property
    def divisor(self) -> float | None:
        """The code that the largest magnitude of a row gets, None where there are no codes: a constant of kernels."""
        return None if self.scheme is None else float(self.scheme.divisor)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The least and greatest integer code, None where codes are no integers: constants of kernels."""
        codes = None if self.scheme is None else self.scheme.codes
        return (float(codes.lowest), float(codes.highest)) if isinstance(codes, IntegerCodes) else (None, None)

    def scheme_per(self, granularity: Granularity) -> Scheme:
        """The scheme of `kvspec` that says what codes and scales mean. Raises `FormatError` for a plain format."""
        if self.scheme is None:
            raise FormatError(f"{self.name} stores elements as they are, without codes")
        return self.scheme.per(granularity)


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        format.name: format
        for format in (
            Format("bf16", torch.bfloat16),
            Format("fp16", torch.float16),
            Format("fp32", torch.float32),
            Format("e4m3", torch.float8_e4m3fn, E4M3),
            Format("int8", torch.int8, INT8),
            Format("int4", torch.uint8, INT4_FP32, per_byte=2),
        )
    }
)
"""Formats by name."""

ROW_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
"""What may be quantized on write; a plain format takes rows of its own dtype only."""


@dataclass(frozen=True, eq=False)
class PagedKVCache:
    """Keys and values of one layer.

    `keys` and `values` are `[num_blocks, kv_heads, block_size, width]` in the head-major layout and
    `[num_blocks, block_size, kv_heads, width]` in the token-major one; the width is `head_dim`, or half of it for int4,
    whose byte d holds channel d in its low nibble and channel `d + head_dim / 2` in its high nibble. Scales are fp32
    `[num_blocks, kv_heads, block_size]`, one per token and head, written with the codes; or static, `[kv_heads]`; or
    None for a plain format. Blocks are dense; their stride is free, so a view into a larger buffer will do.

    Raises `FormatError`, `ShapeError`, `DtypeError`, `DeviceError`, `StrideError` or `ScaleError` where tensors do not
    fit each other.
    """

    keys: torch.Tensor
    values: torch.Tensor
    key_scales: torch.Tensor | None
    value_scales: torch.Tensor | None
    format: str
    layout: str
    block_size: int
    kv_heads: int
    head_dim: int

    def __post_init__(self) -> None:
        stored = format_named(self.format, self.head_dim).storage
        inner = _inner(self.layout, self.kv_heads, self.block_size)
        for name, tensor in (("keys", self.keys), ("values", self.values)):
            require_shape(name, tensor, (None, *inner, self.width))
            require_dtype(name, tensor, stored)
            require_dense(name, tensor)
        require_device(self.keys.device, values=self.values, key_scales=self.key_scales, value_scales=self.value_scales)
        _require_alike("keys and values", self.keys, self.values)
        require_disjoint("keys and values", self.keys, self.values)
        self._require_scales()

    def _require_scales(self) -> None:
        scales = (self.key_scales, self.value_scales)
        if FORMATS[self.format].scheme is None:
            if scales != (None, None):
                raise ScaleError(f"{self.format} has no scales; leave key_scales and value_scales out")
            return
        if self.key_scales is None or self.value_scales is None:
            raise ScaleError(f"{self.format} needs key_scales and value_scales")
        granularities = ((self.kv_heads,), (self.num_blocks, self.kv_heads, self.block_size))
        for name, tensor in (("key_scales", self.key_scales), ("value_scales", self.value_scales)):
            require_dtype(name, tensor, torch.float32)
            if tuple(tensor.shape) not in granularities:
                raise ScaleError(
                    f"{name} has shape {list(tensor.shape)}, expected {list(granularities[0])} (static, per head) "
                    f"or {list(granularities[1])} (per token and head)"
                )
            if tensor.dim() == 1 and not tensor.is_contiguous():
                raise StrideError(f"static {name} has stride {tensor.stride(0)}, expected 1; call contiguous()")
            if tensor.dim() == 3:
                require_dense(name, tensor)
        if self.key_scales.dim() != self.value_scales.dim():
            raise ScaleError("key_scales and value_scales have different granularities")
        _require_alike("key_scales and value_scales", self.key_scales, self.value_scales)
        if self.dynamic:
            require_disjoint("key_scales and value_scales", self.key_scales, self.value_scales)

    @classmethod
    def empty(
        cls,
        num_blocks: int,
        block_size: int,
        kv_heads: int,
        head_dim: int,
        *,
        format: str = "bf16",
        layout: str = HEAD_MAJOR,
        device: torch.device | str = "cpu",
        key_scales: torch.Tensor | float | None = None,
        value_scales: torch.Tensor | float | None = None,
    ) -> PagedKVCache:
        """A cache of zeros. Scales that are given are static: one number, or one per KV head `[kv_heads]`.

        Without them a quantized format has a scale per token and head. Raises as the class, and `ScaleError` for
        static scales that are not positive and finite.
        """
        for name, size in (("num_blocks", num_blocks), ("block_size", block_size), ("kv_heads", kv_heads)):
            if size < 1:
                raise ShapeError(f"{name} is {size}, it must be positive")
        stored = format_named(format, head_dim)
        shape = (num_blocks, *_inner(layout, kv_heads, block_size), head_dim // stored.per_byte)
        keys, values = (torch.zeros(shape, dtype=stored.storage, device=device) for _ in range(2))
        if (key_scales is None) != (value_scales is None):
            raise ScaleError("static scales are given for one of keys and values only; give both or neither")
        scales: list[torch.Tensor | None] = [None, None]
        if key_scales is not None and value_scales is not None:
            scales = [
                _static(name, given, kv_heads, keys.device)
                for name, given in (("key_scales", key_scales), ("value_scales", value_scales))
            ]
        elif stored.scheme is not None:
            scales = [
                torch.zeros((num_blocks, kv_heads, block_size), dtype=torch.float32, device=device) for _ in range(2)
            ]
        return cls(keys, values, scales[0], scales[1], format, layout, block_size, kv_heads, head_dim)

    @classmethod
    def around(
        cls,
        keys: torch.Tensor,
        values: torch.Tensor,
        key_scales: torch.Tensor | None = None,
        value_scales: torch.Tensor | None = None,
        *,
        format: str,
        layout: str = HEAD_MAJOR,
    ) -> PagedKVCache:
        """A cache around tensors that exist already; sizes are read from their shapes. Raises as the class."""
        require_shape("keys", keys, (None, None, None, None))
        per_byte = FORMATS[format].per_byte if format in FORMATS else 1
        _, second, third, width = keys.shape
        heads, size = (second, third) if layout == HEAD_MAJOR else (third, second)
        return cls(keys, values, key_scales, value_scales, format, layout, size, heads, width * per_byte)

    @property
    def num_blocks(self) -> int:
        """Blocks of the cache."""
        return int(self.keys.shape[0])

    @property
    def num_slots(self) -> int:
        """Slots of the cache: tokens that it can hold."""
        return self.num_blocks * self.block_size

    @property
    def width(self) -> int:
        """Stored elements per token and head: `head_dim`, or half of it for int4."""
        return self.head_dim // FORMATS[self.format].per_byte

    @property
    def device(self) -> torch.device:
        """Where the tensors lie."""
        return self.keys.device

    @property
    def dynamic(self) -> bool:
        """Whether there is a scale for each token and head, written together with the codes."""
        return self.key_scales is not None and self.key_scales.dim() == 3

    @property
    def static(self) -> bool:
        """Whether scales were given, one for each head."""
        return self.key_scales is not None and self.key_scales.dim() == 1

    @property
    def scheme(self) -> Scheme:
        """The scheme of `kvspec` that codes and scales obey. Raises `FormatError` for a plain format."""
        return FORMATS[self.format].scheme_per(Granularity.TOKEN_HEAD if self.dynamic else Granularity.HEAD)

    @property
    def strides(self) -> tuple[int, int, int]:
        """Elements from one block, head and token to the next in keys and values; neighbouring channels are 1 apart."""
        block, second, third, _ = self.keys.stride()
        head, token = (second, third) if self.layout == HEAD_MAJOR else (third, second)
        return int(block), int(head), int(token)

    @property
    def scale_strides(self) -> tuple[int, int, int]:
        """Elements from one block, head and token to the next in scales: static ones have only a head's."""
        if self.key_scales is None:
            return 0, 0, 0
        if self.key_scales.dim() == 1:
            return 0, 1, 0
        block, head, token = self.key_scales.stride()
        return int(block), int(head), int(token)

    @property
    def bytes_per_token(self) -> int:
        """Bytes of keys, values and their own scales for one token."""
        scales = 2 * 4 * self.kv_heads if self.dynamic else 0
        return 2 * self.kv_heads * self.width * int(self.keys.element_size()) + scales

    def token_major(self, storage: torch.Tensor) -> torch.Tensor:
        """`keys` or `values` viewed as `[num_blocks, block_size, kv_heads, width]`, whatever the layout."""
        return storage.transpose(1, 2) if self.layout == HEAD_MAJOR else storage

    def codes(self, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Codes of keys and values `[tokens, kv_heads, head_dim]`: int8, patterns of e4m3 in uint8, or plain elements.

        Raises `BlockRangeError` for a slot that the cache does not have; a padding row has no codes.
        """
        blocks, offsets = self._places(slots)
        both = []
        for storage in (self.keys, self.values):
            bytes_ = storage.view(torch.uint8) if self.format in ("e4m3", "int4") else storage
            rows = self.token_major(bytes_)[blocks, offsets]
            both.append(_unpacked(rows) if self.format == "int4" else rows)
        return both[0], both[1]

    def scales(self, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scales of keys and values `[tokens, kv_heads]`, static ones repeated. Raises as `codes`, and `ScaleError`."""
        if self.key_scales is None or self.value_scales is None:
            raise ScaleError(f"{self.format} has no scales")
        blocks, offsets = self._places(slots)
        if self.static:
            return self.key_scales.expand(len(blocks), -1), self.value_scales.expand(len(blocks), -1)
        return self.key_scales[blocks, :, offsets], self.value_scales[blocks, :, offsets]

    def dequantized(self, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values `[tokens, kv_heads, head_dim]`, fp32: code times scale, rounded once. Raises as `codes`."""
        keys, values = self.codes(slots)
        if self.format == "e4m3":
            keys, values = keys.view(torch.float8_e4m3fn), values.view(torch.float8_e4m3fn)
        keys, values = keys.float(), values.float()
        if self.key_scales is None:
            return keys, values
        key_scales, value_scales = self.scales(slots)
        return keys * key_scales[..., None], values * value_scales[..., None]

    def _places(self, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        require_shape("slots", slots, (None,))
        outside = slots[(slots < 0) | (slots >= self.num_slots)]
        if outside.numel():
            raise BlockRangeError(f"slot {int(outside[0])} is none of the {self.num_slots} slots of the cache")
        wide = slots.to(torch.int64)
        return wide // self.block_size, wide % self.block_size


def format_named(name: str, head_dim: int) -> Format:
    """The format, if it can hold heads of `head_dim`. Raises `FormatError`."""
    if name not in FORMATS:
        raise FormatError(f"no format is called {name!r}; there are {', '.join(FORMATS)}")
    if head_dim < 1 or head_dim % FORMATS[name].per_byte:
        raise FormatError(
            f"{name} cannot hold a head dim of {head_dim}; it takes positive multiples of {FORMATS[name].per_byte}"
        )
    return FORMATS[name]


def _inner(layout: str, kv_heads: int, block_size: int) -> tuple[int, int]:
    if layout not in LAYOUTS:
        raise FormatError(f"no layout is called {layout!r}; there are {', '.join(LAYOUTS)}")
    return (kv_heads, block_size) if layout == HEAD_MAJOR else (block_size, kv_heads)


def _require_alike(what: str, one: torch.Tensor, other: torch.Tensor) -> None:
    if one.shape != other.shape:
        raise ShapeError(f"{what} have shapes {list(one.shape)} and {list(other.shape)}, expected equal ones")
    if one.stride() != other.stride():
        raise StrideError(f"{what} have strides {list(one.stride())} and {list(other.stride())}, expected equal ones")


def _static(name: str, given: torch.Tensor | float, kv_heads: int, device: torch.device) -> torch.Tensor:
    if isinstance(given, torch.Tensor) and given.dtype != torch.float32:
        raise DtypeError(f"{name} has dtype {given.dtype}, expected torch.float32")
    scales = torch.as_tensor(given, dtype=torch.float32, device=device)
    if scales.numel() == 1:
        scales = scales.reshape(1).repeat(kv_heads)
    if tuple(scales.shape) != (kv_heads,):
        raise ScaleError(f"static {name} has shape {list(scales.shape)}, expected one number or [{kv_heads}]")
    require_scales(name, scales)
    return scales.contiguous()


def _unpacked(rows: torch.Tensor) -> torch.Tensor:
    """Bytes `[..., head_dim / 2]` as int8 codes `[..., head_dim]`, low nibbles first."""
    nibbles = torch.cat([rows & 15, rows >> 4], dim=-1).to(torch.int8)
    return torch.where(nibbles >= 8, nibbles - 16, nibbles)
