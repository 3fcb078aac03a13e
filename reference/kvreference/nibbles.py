"""Two 4-bit codes in a byte, in the layouts that schemes declare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kvreference.arrays import AnyArray, DeclarationError
from kvspec.numbers.schemes import IntegerCodes, Layout, Scheme
from kvspec.refusals import DtypeError, ShapeError


def pack(codes: AnyArray, scheme: Scheme) -> NDArray[np.uint8]:
    """Codes `[..., head_dim]` as bytes `[..., head_dim / 2]`, the scheme's bias added.

    With `Layout.HALVES` and a group size, halves are those of each group. Raises `ShapeError`, `DtypeError` for
    codes outside the scheme, and `DeclarationError` for a scheme without a layout.
    """
    kind = _packable(scheme)
    width = _row_width(codes.shape[-1], scheme)
    if codes.dtype.kind not in "iu" or (codes.size and (codes.min() < kind.lowest or codes.max() > kind.highest)):
        raise DtypeError(f"{scheme.name}: codes must be integers from {kind.lowest} to {kind.highest}")
    rows = (codes.astype(np.int16) + kind.bias).astype(np.uint8).reshape(*codes.shape[:-1], -1, width)
    low, high = _nibbles(rows, scheme)
    return np.asarray(low | (high << np.uint8(4)), np.uint8).reshape(*codes.shape[:-1], codes.shape[-1] // 2)


def unpack(packed: NDArray[np.uint8], scheme: Scheme) -> AnyArray:
    """The codes `[..., head_dim]` of bytes `[..., head_dim / 2]`. Raises as `pack`."""
    kind = _packable(scheme)
    if packed.dtype != np.uint8:
        raise DtypeError(f"packed codes have dtype {packed.dtype}, expected uint8")
    size = 2 * packed.shape[-1]
    width = _row_width(size, scheme)
    rows = np.empty((*packed.shape[:-1], size // width, width), np.uint8)
    low, high = _nibbles(rows, scheme)
    bytes_ = packed.reshape(low.shape)
    low[...], high[...] = bytes_ & np.uint8(15), bytes_ >> np.uint8(4)
    signed = rows.reshape(*packed.shape[:-1], size).astype(np.int16) - kind.bias
    return signed.astype(np.int8 if kind.lowest < 0 else np.uint8)


def _packable(scheme: Scheme) -> IntegerCodes:
    if scheme.layout is None or not isinstance(scheme.codes, IntegerCodes):
        raise DeclarationError(f"{scheme.name} declares no layout of nibbles")
    return scheme.codes


def _row_width(size: int, scheme: Scheme) -> int:
    width = scheme.group_size if scheme.layout is Layout.HALVES and scheme.group_size else size
    if size == 0 or size % 2 or size % width:
        raise ShapeError(f"{scheme.name}: {size} codes do not fill rows of {width}")
    return width


def _nibbles(rows: NDArray[np.uint8], scheme: Scheme) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Views of `rows` `[..., width]` on the codes of low and of high nibbles."""
    half = rows.shape[-1] // 2
    if scheme.layout is Layout.HALVES:
        return rows[..., :half], rows[..., half:]
    return rows[..., 0::2], rows[..., 1::2]
