"""Checks of what is stored: codes and scales, slots, copied blocks."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.samples import DTYPES, Kind, Sample, Size, empty
from benchmarks.shapes import BLOCK_SIZE
from kvoptimized.cache import FORMATS, PADDING, PagedKVCache
from kvoptimized.copying import copy_blocks
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write
from kvreference.arrays import AnyArray
from kvreference.quantizers import Scales, encode, encode_with

WIDEST_POWER = 8
"""Rows are `2**-8` to `2**8` times a normal one: fp16 holds them, and static scales meet both of their ends."""


def codes(device: torch.device, size: Size, kind: Kind) -> bool:
    """Keys and values of many magnitudes, stored by the kernel, against the reference's codes and scales, or as is."""
    dice = torch.Generator().manual_seed(7)
    wide = (2, size.rows, size.kv_heads, size.head_dim)
    power = torch.randint(-WIDEST_POWER, WIDEST_POWER, (2, size.rows, 1, 1), generator=dice)
    rows = (torch.randn(wide, generator=dice) * torch.exp2(power)).to(DTYPES[kind.dtype])
    cache = empty(-(-size.rows // BLOCK_SIZE), device, size, kind)
    slots = torch.randperm(cache.num_slots, generator=dice)[: size.rows].to(device)
    write(cache, slots, *rows.to(device))
    if FORMATS[kind.format].scheme is None:
        return all(torch.equal(found.cpu(), wanted) for found, wanted in zip(cache.codes(slots), rows, strict=True))
    stored = zip(cache.codes(slots), cache.scales(slots), rows, strict=True)
    return all(_as_reference(cache, found, scale, x.float().numpy()) for found, scale, x in stored)


def _as_reference(cache: PagedKVCache, found: torch.Tensor, scales: torch.Tensor, rows: AnyArray) -> bool:
    """Codes `[tokens, kv_heads, head_dim]` and scales `[tokens, kv_heads]` against those of the reference, by bits."""
    mine, scale = found.cpu().numpy(), scales.cpu().numpy()
    if cache.static:
        return np.array_equal(mine, encode_with(rows, Scales(scale[:1, :, None]), cache.scheme))
    wanted = encode(rows, cache.scheme)
    return np.array_equal(mine, wanted.codes) and np.array_equal(scale, wanted.scales.scale[..., 0])


def slots(sample: Sample) -> bool:
    """Where the new tokens of a batch go, padding rows included: position by position through the block table."""
    padding = 5
    total = int(sample.starts[-1])
    found = slot_mapping(sample.tables, sample.lengths, sample.starts, block_size=BLOCK_SIZE, rows=total + padding)
    tables, lengths, starts = (x.cpu().numpy() for x in (sample.tables, sample.lengths, sample.starts))
    wanted = np.full(total + padding, PADDING, np.int64)
    for request, tokens in enumerate(lengths):
        first, stop = starts[request : request + 2]
        position = np.arange(tokens - (stop - first), tokens)
        wanted[first:stop] = tables[request, position // BLOCK_SIZE].astype(np.int64) * BLOCK_SIZE
        wanted[first:stop] += position % BLOCK_SIZE
    return np.array_equal(found.cpu().numpy(), wanted)


def copied(sample: Sample) -> bool:
    """Two blocks, with their scales; all other blocks stay as they were."""
    cache = sample.cache
    used = set(sample.tables.flatten().tolist())
    targets = [block for block in range(cache.num_blocks) if block not in used][:2]
    pairs = torch.tensor([[int(sample.tables[0, 0]), targets[0]], [int(sample.tables[1, 0]), targets[1]]])
    dynamic = (cache.key_scales, cache.value_scales) if cache.dynamic else ()
    parts = [part.view(torch.uint8) for part in (cache.keys, cache.values, *dynamic) if part is not None]
    wanted = [part.clone() for part in parts]
    for part in wanted:
        part[pairs[:, 1]] = part[pairs[:, 0]]
    copy_blocks(cache, pairs.to(sample.query.device))
    return all(torch.equal(part, same) for part, same in zip(parts, wanted, strict=True))
