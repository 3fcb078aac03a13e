"""The reference quantizer behind the surface: encode, decode, a paged cache, and sequences that grow."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvconformance.surfaces.quantizer.expected import per_token
from kvreference.pages import PADDING
from kvreference.quantized_pages import QuantizedPages
from kvreference.quantizers import Encoded as Quantized
from kvreference.quantizers import Scales, decode, encode, encode_with, scale_shape
from kvspec.numbers.schemes import SCHEMES, Scheme
from kvspec.vocabulary import World

NAMES = (
    "int8/token-head", "int8/tensor", "int8/head", "int8/channel", "int8/group-32", "int4/group-32", "int4/token-head",
    "uint8/token-head", "uint4/group-32", "e4m3/tensor", "e4m3/token-head", "e4m3-nan/token-head", "e5m2/head",
    "e5m2-inf/token-head", "q8_0", "q4_0", "q5_0", "q4_1", "kivi-key", "kivi-value",
)  # fmt: skip


class ReferenceQuantizer:
    """NumPy quantizers of `kvreference` under the schemes of `NAMES`."""

    capabilities = QuantizerCapabilities(
        block_sizes=(2, 1, 3),
        num_blocks=(2, 4),
        max_running=(1, 3),
        schemes=MappingProxyType({name: Declaration(SCHEMES[name]) for name in NAMES}),
        head_dims=(2, 1, 3, 8, 32),
        specials=True,
        given_scales=True,
        blocks=True,
        sequences=True,
    )

    def __init__(self, world: World) -> None:
        self.world, self.setting = world, Setting.of(world)
        self.scheme: Scheme = self.capabilities.schemes[self.setting.name].scheme
        self.pages = self.new_pages() if per_token(self.scheme) else None
        self.held: list[Quantized] = []

    def new_pages(self) -> QuantizedPages:
        """Empty blocks."""
        world, setting = self.world, self.setting
        return QuantizedPages((world.num_blocks, world.block_size, setting.kv_heads, setting.head_dim), self.scheme)

    # One array.

    def encode(self, x: Single) -> Encoded:
        """Codes and scales of `x`."""
        return shown(encode(x, self.scheme))

    def encode_with(self, x: Single, scales: Single, zeros: Single | None) -> Encoded:
        """Codes under given scales."""
        fixed = given(x.shape, scales, zeros, self.scheme)
        return shown(Quantized(encode_with(x, fixed, self.scheme), fixed))

    def decode(self, encoded: Encoded) -> Array:
        """What codes mean."""
        return decode(hidden(encoded, self.scheme), self.scheme)

    # A paged cache.

    def write(self, slots: Array, x: Single) -> None:
        """Store rows with their scales."""
        self.blocks.write(slots, x)

    def read(self, slots: Array) -> Array:
        """Decoded rows."""
        size = self.world.block_size
        rows = [self.blocks.gather(np.array([slot // size]), slot % size, slot % size + 1) for slot in slots.tolist()]
        return np.concatenate(rows)

    def copy(self, source: int, target: int) -> None:
        """Copy a block."""
        self.blocks.copy(np.array([source]), np.array([target]))

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        """Decode, turn, encode again."""
        self.write(slots, turned(self.read(slots).astype(np.float32), cosine, sine))

    @property
    def blocks(self) -> QuantizedPages:
        """The paged cache of a scheme whose scales belong to one token."""
        if self.pages is None:
            raise TypeError(f"{self.scheme.name} has scales that tokens share")
        return self.pages

    # Sequences.

    def append(self, x: Single) -> None:
        """Encode a chunk; where tokens share scales, what is stored is encoded again together with it."""
        if not self.held:
            self.held = [encode(row, self.scheme) for row in x]
            return
        if per_token(self.scheme):
            self.held = [joined(old, encode(row, self.scheme)) for old, row in zip(self.held, x, strict=True)]
            return
        rows = zip(self.contents().astype(np.float32), x, strict=True)
        self.held = [encode(np.concatenate([old, new]), self.scheme) for old, new in rows]

    def contents(self) -> Array:
        """All sequences, decoded."""
        return np.array([decode(sequence, self.scheme) for sequence in self.held])

    def crop(self, count: int) -> None:
        """The last tokens go. Raises `ShapeError` where they are a part of a group of tokens."""
        self.held = [shorter(sequence, count, self.scheme) for sequence in self.held]

    def reorder(self, order: Array) -> None:
        """Sequences take each other's place."""
        self.held = [self.held[index] for index in order.tolist()]

    def restart(self) -> None:
        """Nothing is held."""
        self.held = []


def shown(encoded: Quantized) -> Encoded:
    """Scales flat, one for each group."""
    zero = encoded.scales.zero
    return Encoded(encoded.codes, encoded.scales.scale.ravel(), None if zero is None else zero.ravel())


def hidden(encoded: Encoded, scheme: Scheme) -> Quantized:
    """Scales in the shape of the reference."""
    if encoded.codes is None or encoded.scales is None:
        raise TypeError("the reference decodes only what it encoded")
    return Quantized(encoded.codes, given(encoded.codes.shape, encoded.scales, encoded.zeros, scheme))


def given(shape: tuple[int, ...], scales: Array, zeros: Array | None, scheme: Scheme) -> Scales:
    """Flat scales and zeros in the shape of the reference."""
    wanted = scale_shape(shape, scheme)
    return Scales(scales.reshape(wanted), None if zeros is None else zeros.reshape(wanted))


def joined(old: Quantized, new: Quantized) -> Quantized:
    """Two chunks of rows with scales of their own."""
    zeros = [part.scales.zero for part in (old, new)]
    zero = None if zeros[0] is None or zeros[1] is None else np.concatenate([zeros[0], zeros[1]])
    scales = Scales(np.concatenate([old.scales.scale, new.scales.scale]), zero)
    return Quantized(np.concatenate([old.codes, new.codes]), scales)


def shorter(whole: Quantized, count: int, scheme: Scheme) -> Quantized:
    """A sequence without its last `count` tokens and the scales that were theirs alone."""
    codes, scale, zero = whole.codes[: len(whole.codes) - count], whole.scales.scale, whole.scales.zero
    groups = scale_shape(codes.shape, scheme)[0]
    return Quantized(codes, Scales(scale[:groups], None if zero is None else zero[:groups]))


def turned(rows: Single, cosine: Single, sine: Single) -> Single:
    """Pairs (2i, 2i + 1) of `[tokens, kv_heads, head_dim]` turned, in fp32."""
    pairs = 2 * cosine.shape[1]
    even, odd = rows[..., :pairs:2], rows[..., 1:pairs:2]
    c, s = cosine[:, None, :], sine[:, None, :]
    out = rows.copy()
    out[..., :pairs:2], out[..., 1:pairs:2] = even * c - odd * s, even * s + odd * c
    return out


__all__ = ["PADDING", "ReferenceQuantizer"]
