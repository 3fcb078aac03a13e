"""Which elements of `[tokens, kv_heads, head_dim]` share a scale, and what the group says about it.

An array is viewed as `[token groups, tokens, kv_heads, channel groups, channels]`; every granularity is a choice of
axes that share one scale. Kept in this view, shared axes have length 1; stored, scales have the shape `[token groups
or 1, kv_heads or 1, channel groups or 1]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kvreference.arrays import AnyArray, DeclarationError, check_shape
from kvreference.scheme_arithmetic import Single, subtract
from kvspec.numbers.schemes import Anchor, Granularity, NonFinite, Scheme, Zero
from kvspec.refusals import DtypeError, NonFiniteError, ScaleError, ShapeError

_SHARED = {
    Granularity.TENSOR: (0, 1, 2, 3, 4),
    Granularity.HEAD: (0, 1, 3, 4),
    Granularity.TOKEN_HEAD: (1, 3, 4),
    Granularity.CHANNEL: (1,),
    Granularity.GROUP: (4,),
}


@dataclass(frozen=True, slots=True)
class Scales:
    """One number per group, float32 `[token groups or 1, kv_heads or 1, channel groups or 1]`.

    `zero` holds zero points or minima where the scheme is not symmetric.
    """

    scale: Single
    zero: Single | None = None


def scale_shape(shape: tuple[int, ...], scheme: Scheme) -> tuple[int, int, int]:
    """The shape of the scales of an array of `shape` `(tokens, kv_heads, head_dim)`."""
    tokens, channels = _group_sizes(shape, scheme)
    full = (shape[0] // tokens if tokens else 0, tokens, shape[1], shape[2] // channels, channels)
    kept = [1 if axis in _SHARED[scheme.granularity] else size for axis, size in enumerate(full)]
    return kept[0] * kept[1], kept[2], kept[3] * kept[4]


def _group_sizes(shape: tuple[int, ...], scheme: Scheme) -> tuple[int, int]:
    """How many tokens and channels stand in a group."""
    tokens, channels, size = 1, shape[2], scheme.group_size
    if scheme.granularity is Granularity.CHANNEL:
        tokens, channels = size or max(shape[0], 1), 1
    if scheme.granularity is Granularity.GROUP:
        channels = size or shape[2]
    if shape[0] % tokens or shape[2] % channels:
        raise ShapeError(f"{scheme.name}: shape {list(shape)} is not a whole number of groups of {size}")
    return tokens, channels


def viewed(x: AnyArray, scheme: Scheme) -> AnyArray:
    """`x` `[tokens, kv_heads, head_dim]` in the view of groups. Raises `ShapeError` where no whole groups fit."""
    check_shape("x", x, (None, None, None))
    if x.size == 0:
        raise ShapeError(f"{scheme.name}: nothing to quantize in shape {list(x.shape)}")
    tokens, channels = _group_sizes(x.shape, scheme)
    return x.reshape(x.shape[0] // tokens, tokens, x.shape[1], x.shape[2] // channels, channels)


def grouped(x: AnyArray, scheme: Scheme) -> Single:
    """`viewed` in float32. Raises `DtypeError` unless `x` is float32 or float16."""
    if x.dtype not in (np.float32, np.float16):
        raise DtypeError(f"{scheme.name}: x has dtype {x.dtype}, expected float32 or float16")
    return viewed(x, scheme).astype(np.float32, copy=False)


def flat(groups: Single) -> Single:
    """Scales from the view of groups to their stored shape."""
    a, b, heads, c, d = groups.shape
    return groups.reshape(a * b, heads, c * d)


def first_true(mask: AnyArray) -> list[int]:
    """Where `mask` holds first, in the view of groups."""
    return [int(index) for index in np.argwhere(mask)[0]]


def admitted(values: Single, scheme: Scheme) -> Single:
    """`values` with NaN and infinity, where the scheme takes them, replaced by 0 so that they join no anchor.

    Raises `NonFiniteError` where the scheme refuses them.
    """
    if np.isfinite(values.max()) and np.isfinite(values.min()):
        return values
    for mask, policy, name in (
        (np.isnan(values), scheme.nan, "NaN"),
        (np.isinf(values), scheme.infinity, "infinity"),
    ):
        if policy is NonFinite.REFUSE and mask.any():
            raise NonFiniteError(f"{scheme.name} refuses {name}, found in group-wise index {first_true(mask)}")
    if scheme.anchor is Anchor.RANGE:
        raise DeclarationError(f"{scheme.name}: a range without zero cannot leave out NaN and infinity")
    return np.where(np.isfinite(values), values, np.float32(0))


def anchors(values: Single, scheme: Scheme) -> tuple[Single, Single]:
    """The anchor and the minimum of every group, shaped as groups with shared axes of length 1.

    Raises `NonFiniteError` as `admitted`.
    """
    axes = _SHARED[scheme.granularity]
    low, high = values.min(axes, keepdims=True), values.max(axes, keepdims=True)
    # Extremes show NaN and infinity, which saves ordinary values a pass.
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        values = admitted(values, scheme)
        low, high = values.min(axes, keepdims=True), values.max(axes, keepdims=True)
    if scheme.anchor is Anchor.RANGE_WITH_ZERO:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    if scheme.anchor in (Anchor.RANGE, Anchor.RANGE_WITH_ZERO):
        return subtract(high, low, scheme), low
    if scheme.anchor is Anchor.SIGNED_ABSMAX:
        return _first_largest(values, axes), low
    return np.maximum(high, -low), low


def _first_largest(values: Single, axes: tuple[int, ...]) -> Single:
    kept = [axis for axis in range(5) if axis not in axes]
    shape = [1 if axis in axes else size for axis, size in enumerate(values.shape)]
    rows = values.transpose(*kept, *axes).reshape(*(values.shape[axis] for axis in kept), -1)
    place = np.abs(rows).argmax(-1)[..., None]
    return np.take_along_axis(rows, place, -1).reshape(shape)


def checked(scales: Scales, values: AnyArray, scheme: Scheme) -> tuple[Single, Single | None]:
    """Scales and zeros in the shape of groups, after they were found to fit the scheme and the array."""
    groups = tuple(1 if axis in _SHARED[scheme.granularity] else size for axis, size in enumerate(values.shape))
    flat = (groups[0] * groups[1], groups[2], groups[3] * groups[4])
    for name, array in (("scale", scales.scale), ("zero", scales.zero)):
        if array is not None and array.shape != flat:
            raise ScaleError(f"{scheme.name}: {name} has shape {list(array.shape)}, expected {list(flat)}")
    if (scales.zero is None) != (scheme.zero is Zero.SYMMETRIC):
        raise ScaleError(
            f"{scheme.name}: zero points or minima are {'missing' if scales.zero is None else 'unexpected'}"
        )
    zero = None if scales.zero is None else scales.zero.reshape(groups)
    return scales.scale.reshape(groups), zero


def check_fixed(scales: Scales, scheme: Scheme) -> None:
    """Raise `ScaleError` unless values can be divided by the scales."""
    signed = scheme.anchor is Anchor.SIGNED_ABSMAX
    if not np.isfinite(scales.scale).all() or (not signed and (scales.scale < 0).any()):
        raise ScaleError(f"{scheme.name}: a scale is negative or not finite")
