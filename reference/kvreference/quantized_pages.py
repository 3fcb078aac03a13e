"""Cache blocks of quantized rows: what belongs to a token lies in arrays of the same blocks, so it moves together."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from kvreference.arrays import AnyArray, Float, Int, check_shape
from kvreference.pages import PADDING, Layout, Pages
from kvreference.quantizers import Encoded, Scales, decode, encode, encode_with, scale_shape
from kvspec.numbers.schemes import Granularity, IntegerCodes, Scheme, Zero
from kvspec.refusals import ScaleError


class QuantizedPages:
    """Codes of a scheme with their scales: dynamic ones lie beside the codes, `static` ones are fixed for good.

    Dynamic scales exist per token and head or per group of channels; those shared by several tokens must be given.
    `kv_heads` and `head_dim` are those of the decoded rows. Raises `ScaleError` for scales of another granularity.
    """

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        scheme: Scheme,
        static: Scales | None = None,
        layout: Layout = Layout.TOKEN_MAJOR,
    ) -> None:
        self.num_blocks, self.block_size, self.kv_heads, self.width = shape
        self.scheme, self.static = scheme, static
        per_token = scheme.granularity in (Granularity.TOKEN_HEAD, Granularity.GROUP)
        one_token = scale_shape((scheme.group_size or 1, self.kv_heads, self.width), scheme)
        if per_token == (static is not None) or (static is not None and static.scale.shape != one_token):
            raise ScaleError(f"{scheme.name}: scales are {'dynamic' if per_token else f'static, {list(one_token)}'}")
        signed = isinstance(scheme.codes, IntegerCodes) and scheme.codes.lowest < 0
        self.codes = _allocate(shape, np.int8 if signed else np.uint8, layout)
        beside = (*shape[:3], one_token[2]) if per_token else (*shape[:3], 0)
        self.scales = _allocate(beside, np.float32, layout)
        symmetric = scheme.zero is Zero.SYMMETRIC
        self.zeros = _allocate((*shape[:3], 0) if symmetric else beside, np.float32, layout)

    @property
    def parts(self) -> tuple[Pages, Pages, Pages]:
        """All arrays that hold something of a block; they move together."""
        return self.codes, self.scales, self.zeros

    def prepare(self, slots: Int, rows: AnyArray) -> list[AnyArray]:
        """What is to be written for `rows` `[tokens, kv_heads, head_dim]`, one array per part. Raises as `encode`."""
        check_shape("slots", slots, (None,))
        check_shape("rows", rows, (len(slots), self.kv_heads, self.width))
        self.codes.check_rows(slots, np.zeros(rows.shape, self.codes.storage.dtype))
        real = slots != PADDING
        encoded = self._encode(rows[real]) if real.any() else None
        return [_scattered(part, real, index, encoded) for index, part in enumerate(self.parts)]

    def _encode(self, rows: AnyArray) -> Encoded:
        if self.static is None:
            return encode(rows, self.scheme)
        return Encoded(encode_with(rows, self.static, self.scheme), self.static)

    def check_rows(self, slots: Int, rows: AnyArray) -> None:
        """Raise unless `rows` can be encoded and written to `slots`."""
        self.prepare(slots, rows)

    def write(self, slots: Int, rows: AnyArray) -> None:
        """Encode `rows` and store codes and scales; padding rows are neither encoded nor stored."""
        for part, array in zip(self.parts, self.prepare(slots, rows), strict=True):
            part.write(slots, array)

    def gather(self, table: Int, start: int, stop: int) -> Float:
        """Decoded rows, float64 `[stop - start, kv_heads, head_dim]`."""
        codes, scale, zero = (part.gather(table, start, stop) for part in self.parts)
        if not len(codes):
            return np.zeros(codes.shape)
        dynamic = Scales(scale, zero if zero.shape[2] else None)
        return decode(Encoded(codes, self.static or dynamic), self.scheme)

    def copy(self, sources: Int, targets: Int) -> None:
        """Copy whole blocks, codes and scales together."""
        for part in self.parts:
            part.copy(sources, targets)

    def poison(self, slots: Int) -> None:
        """Spoil codes and scales of `slots`."""
        for part in self.parts:
            part.poison(slots)


def _allocate(shape: tuple[int, ...], dtype: DTypeLike, layout: Layout) -> Pages:
    blocks, size, heads, width = shape
    inner = (size, heads) if layout is Layout.TOKEN_MAJOR else (heads, size)
    return Pages(np.zeros((blocks, *inner, width), dtype), layout)


def _scattered(part: Pages, real: AnyArray, index: int, encoded: Encoded | None) -> AnyArray:
    array = np.zeros((len(real), part.kv_heads, part.width), part.storage.dtype)
    if encoded is not None and part.width:
        array[real] = (encoded.codes, encoded.scales.scale, encoded.scales.zero)[index]
    return array
