"""The writing, copying and slot-mapping kernels as a quantizer: everything passes through a `PagedKVCache`.

Rows are written as keys, and their negatives as values, so that a kernel which mixes the two up is found.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

import numpy as np
import torch

from kvconformance.engines.reference_quantizer import turned
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvoptimized.cache import FORMATS, HEAD_MAJOR, TOKEN_MAJOR, PagedKVCache
from kvoptimized.copying import copy_blocks
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from kvspec.numbers.schemes import Granularity, IntegerCodes
from kvspec.vocabulary import World

QUANTIZED = {
    stored.scheme_per(Granularity.TOKEN_HEAD).name: stored for stored in FORMATS.values() if stored.scheme is not None
}
"""Formats by the name of the scheme that they obey."""

CAPACITY = 96
"""Tokens that a growing sequence may hold: more than any history appends."""


class KernelQuantizer:
    """Scales per token and head; given scales are static ones, for which every token gets a cache of its own.

    Histories with an even number of blocks have the head-major layout, the others the token-major one.
    """

    capabilities = QuantizerCapabilities(
        block_sizes=(2, 1, 3, 16),
        num_blocks=(2, 4),
        max_running=(1, 3),
        schemes=MappingProxyType(
            {name: Declaration(stored.scheme_per(Granularity.TOKEN_HEAD)) for name, stored in QUANTIZED.items()}
        ),
        head_dims=(2, 8, 16, 80),
        specials=True,
        given_scales=True,
        blocks=True,
        sequences=True,
    )

    def __init__(self, world: World) -> None:
        self.world, self.setting = world, Setting.of(world)
        self.format = QUANTIZED[self.setting.name].name
        self.layout = TOKEN_MAJOR if world.num_blocks % 2 else HEAD_MAJOR
        self.blocks = self.new_cache(world.num_blocks)
        self.sequences: Sequences | None = None

    def new_cache(self, num_blocks: int, scales: torch.Tensor | None = None) -> PagedKVCache:
        """An empty cache; `scales` `[kv_heads]` are static."""
        return PagedKVCache.empty(
            num_blocks,
            self.world.block_size,
            self.setting.kv_heads,
            self.setting.head_dim,
            format=self.format,
            layout=self.layout,
            device=device(),
            key_scales=scales,
            value_scales=scales,
        )

    # One array.

    def encode(self, x: Single) -> Encoded:
        """Codes and scales of `x` in a cache that holds nothing else."""
        return self.stored([self.new_cache(self.world.blocks_for(len(x)))], [x])

    def encode_with(self, x: Single, scales: Single, zeros: Single | None) -> Encoded:
        """Codes under given scales, one for each token and head."""
        given = tensor(scales.reshape(x.shape[:2]))
        return self.stored([self.new_cache(1, row) for row in given], [row[None] for row in x])

    def stored(self, caches: list[PagedKVCache], parts: list[Single]) -> Encoded:
        """Each part written to a cache of its own; the caches are kept, because reading is their business."""
        codes, scales = [], []
        for one, rows in zip(caches, parts, strict=True):
            slots = torch.arange(len(rows), device=one.device)
            write(one, slots, tensor(rows), tensor(-rows))
            codes.append(one.codes(slots)[0].cpu().numpy())
            scales.append(one.scales(slots)[0].cpu().numpy())
        handle = [(one, len(rows)) for one, rows in zip(caches, parts, strict=True)]
        return Encoded(np.concatenate(codes), np.concatenate(scales).ravel(), handle=handle)

    def decode(self, encoded: Encoded) -> Array:
        """What is read from the caches."""
        parts = [read(one, torch.arange(count, device=one.device)) for one, count in encoded.handle]
        return np.concatenate(parts)

    # A paged cache.

    def write(self, slots: Array, x: Single) -> None:
        """Store rows with their scales."""
        write(self.blocks, tensor(slots), tensor(x), tensor(-x))

    def read(self, slots: Array) -> Array:
        """Decoded rows."""
        return read(self.blocks, tensor(slots))

    def copy(self, source: int, target: int) -> None:
        """Copy a block."""
        copy_blocks(self.blocks, tensor(np.array([[source, target]], np.int64)))

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        """Read, turn on the host, write again."""
        self.write(slots, turned(self.read(slots).astype(np.float32), cosine, sine))

    # Sequences that grow.

    def append(self, x: Single) -> None:
        """A chunk for every sequence, through block tables and a slot mapping."""
        if self.sequences is None:
            self.sequences = Sequences(self, len(x))
        self.sequences.append(x)

    def contents(self) -> Array:
        """All that the sequences hold."""
        return self.held.contents()

    def crop(self, count: int) -> None:
        """The last tokens go."""
        self.held.length -= count

    def reorder(self, order: Array) -> None:
        """Sequences take each other's place: their blocks are copied."""
        self.held.reorder(order)

    def restart(self) -> None:
        """Blocks are recycled as they are."""
        self.held.length = 0

    @property
    def held(self) -> Sequences:
        """The sequences, once there are some."""
        if self.sequences is None:
            raise LookupError("nothing has been appended yet")
        return self.sequences


class Sequences:
    """Growing sequences of equal length: each has a row in the block tables, and spare blocks to be copied to."""

    def __init__(self, owner: KernelQuantizer, count: int) -> None:
        self.size, self.count, self.length = owner.world.block_size, count, 0
        each = -(-CAPACITY // self.size)
        self.cache = owner.new_cache(2 * count * each)
        # Blocks of neighbouring positions are far apart.
        blocks = np.arange(2 * count * each, dtype=np.int32).reshape(each, 2, count)
        self.tables, self.spare = np.ascontiguousarray(blocks.transpose(1, 2, 0))

    def slots(self, each: int) -> torch.Tensor:
        """The slots of the last `each` tokens of every sequence."""
        lengths = np.full(self.count, self.length, np.int32)
        starts = np.arange(self.count + 1, dtype=np.int32) * np.int32(each)
        return slot_mapping(
            tensor(self.tables),
            tensor(lengths),
            tensor(starts),
            block_size=self.size,
            rows=self.count * each,
            num_blocks=self.cache.num_blocks,
        )

    def append(self, x: Single) -> None:
        """A chunk `[sequences, tokens, kv_heads, head_dim]`."""
        self.length += x.shape[1]
        rows = x.reshape(-1, *x.shape[2:])
        write(self.cache, self.slots(x.shape[1]), tensor(rows), tensor(-rows))

    def contents(self) -> Array:
        """`[sequences, tokens, kv_heads, head_dim]`."""
        rows = read(self.cache, self.slots(self.length))
        return rows.reshape(self.count, self.length, *rows.shape[1:])

    def reorder(self, order: Array) -> None:
        """Sequence i becomes what `order[i]` was, in the spare blocks."""
        used = -(-self.length // self.size)
        pairs = np.stack([self.tables[order, :used], self.spare[:, :used]], axis=-1).reshape(-1, 2)
        copy_blocks(self.cache, tensor(pairs.astype(np.int64)))
        self.tables, self.spare = self.spare, self.tables


def read(cache: PagedKVCache, slots: torch.Tensor) -> Array:
    """Decoded keys `[tokens, kv_heads, head_dim]`. Raises `ValueError` where values are not their negatives."""
    keys, values = (both.cpu().numpy() for both in cache.dequantized(slots))
    if not (_opposite(cache, slots) | (keys == -values) | (np.isnan(keys) & np.isnan(values))).all():
        raise ValueError("values are not read as the negatives of the keys, which they were written as")
    return np.asarray(keys)


def _opposite(cache: PagedKVCache, slots: torch.Tensor) -> Array:
    """Where one has the lowest code and the other the highest: it saturated, because the negative of one is no code."""
    codes = cache.scheme.codes
    if not isinstance(codes, IntegerCodes) or codes.lowest == -codes.highest:
        return np.zeros((), np.bool_)
    keys, values = (both.cpu().numpy() for both in cache.codes(slots))
    ends = (codes.lowest, codes.highest)
    return np.asarray(((keys == ends[0]) & (values == ends[1])) | ((keys == ends[1]) & (values == ends[0])))


def tensor(array: Array) -> torch.Tensor:
    """A tensor of these elements where the kernels run."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device())


@cache
def device() -> str:
    """A GPU where there is one. Asked in the process that runs the kernels, which may be a fork."""
    return "cuda" if torch.cuda.is_available() else "cpu"
