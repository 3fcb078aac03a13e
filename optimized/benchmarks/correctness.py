"""Are the kernels right on this very device? Codes bit for bit, outputs by certificate, bits whatever the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, partial

import numpy as np
import torch

from kvoptimized.cache import FORMATS, PagedKVCache
from kvoptimized.cascade import cascade
from kvoptimized.copying import copy_blocks
from kvoptimized.decoding import arithmetic as decode_arithmetic
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import Arithmetic, arithmetic, prefill
from kvoptimized.writing import write
from kvreference.arrays import Float
from kvreference.attention import Row, State
from kvreference.attention import merge as merge_states
from kvreference.quantizers import encode
from kvreference.tolerance.certificates import certify
from kvreference.tolerance.declaration import Declaration

BLOCK_SIZE = 16
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is checked: `requests` (tokens, rows), and `rows` of keys that are quantized."""

    requests: tuple[tuple[int, int], ...]
    rows: int
    heads: int
    kv_heads: int
    head_dim: int


TINY = Size(((70, 3), (33, 1), (20, 20)), 24, 4, 2, 64)
"""For the interpreter."""
FULL = Size(((1500, 40), (4100, 1), (300, 300), (17, 1), (2048, 3)), 4096, 32, 8, 128)
"""For a GPU: several parts of a decode, several tiles of rows and keys."""


@dataclass(frozen=True)
class Sample:
    """A batch over a cache that the kernels have written, and what that cache means.

    `keys` and `values` `[tokens, kv_heads, head_dim]` of each request and `scales` `[tokens, kv_heads]` of its values
    (1 in a plain cache) are float64 and exact.
    """

    query: torch.Tensor
    cache: PagedKVCache
    tables: torch.Tensor
    lengths: torch.Tensor
    starts: torch.Tensor
    keys: list[Float]
    values: list[Float]
    scales: list[Float]
    scale: float

    def certified(self, said: Arithmetic, row: int, head: int, output: torch.Tensor) -> bool:
        """Whether one output lies in the interval of its certificate T2."""
        known = {field.name for field in fields(Declaration)}
        declaration = Declaration(**{f.name: getattr(said, f.name) for f in fields(said) if f.name in known})
        request = int(torch.searchsorted(self.starts, row, right=True)) - 1
        seen = int(self.lengths[request]) - int(self.starts[request + 1]) + row + 1
        kv_head = head // (self.query.shape[1] // self.cache.kv_heads)
        query = self.query[row, head].double().cpu().numpy()
        wanted = Row(query, self.keys[request][:seen, kv_head], self.values[request][:seen, kv_head], self.scale)
        certificate = certify(wanted, declaration, self.scales[request][:seen, kv_head] if said.scaled else None)
        return certificate.allows(output.double().cpu().numpy(), declaration.output)


def checks(device: torch.device, size: Size) -> Iterator[tuple[str, Callable[[], bool]]]:
    """What is checked, by name; each answers whether it is so."""
    for format in ("bf16", "e4m3", "int8", "int4"):
        if format != "bf16":
            yield f"codes and scales of {format} equal the reference", partial(codes, device, size, format)
        given = cache(partial(sample, device, size, format))
        yield f"prefill over {format} lies in T2", partial(_of, prefilled, given)
        yield f"decode over {format} lies in T2", partial(_of, decoded, given)
        yield f"prefill over {format} has the same bits in chunks", partial(_of, chunked, given)
        yield f"decode over {format} has the same bits alone", partial(_of, alone, given)
        yield f"copied blocks of {format} are equal", partial(_of, copied, given)
    plain = cache(partial(sample, device, size, "bf16"))
    yield "cascade agrees with prefill", partial(_of, cascaded, plain)
    yield "a merge with an empty state is the other state", partial(_of, merged, plain)


def _of(check: Callable[[Sample], bool], given: Callable[[], Sample]) -> bool:
    return check(given())


def sample(device: torch.device, size: Size, format: str) -> Sample:
    """Random rows, written by the kernel into blocks in no order, and read back for the reference."""
    generator = torch.Generator().manual_seed(len(format) + size.head_dim)
    counts = [-(-tokens // BLOCK_SIZE) for tokens, _ in size.requests]
    cache = PagedKVCache.empty(sum(counts) + 4, BLOCK_SIZE, size.kv_heads, size.head_dim, format=format, device=device)
    ids = torch.randperm(sum(counts) + 4, generator=generator).to(torch.int32)
    tables = torch.zeros(len(counts), max(counts), dtype=torch.int32)
    for table, own in zip(tables, ids[: sum(counts)].split(counts), strict=True):
        table[: len(own)] = own
    slots = torch.cat([_slots(table, tokens) for table, (tokens, _) in zip(tables, size.requests, strict=True)])
    shape = (2, len(slots), size.kv_heads, size.head_dim)
    keys, values = torch.randn(shape, generator=generator).to(torch.bfloat16).to(device)
    write(cache, slots.to(device), keys, values)
    starts = torch.tensor([0, *(rows for _, rows in size.requests)]).cumsum(0).to(torch.int32)
    query = torch.randn(int(starts[-1]), size.heads, size.head_dim, generator=generator).to(torch.bfloat16)
    lengths = torch.tensor([tokens for tokens, _ in size.requests], dtype=torch.int32)
    meant = [_decoded(cache, own.to(device)) for own in slots.split(lengths.tolist())]
    parts = [list(part) for part in zip(*meant, strict=True)]
    tables, lengths, starts = (x.to(device) for x in (tables, lengths, starts))
    scale = float(np.float32(size.head_dim**-0.5))
    return Sample(query.to(device), cache, tables, lengths, starts, parts[0], parts[1], parts[2], scale)


def _slots(table: torch.Tensor, tokens: int) -> torch.Tensor:
    position = torch.arange(tokens)
    return table.long()[position // BLOCK_SIZE] * BLOCK_SIZE + position % BLOCK_SIZE


def _decoded(cache: PagedKVCache, slots: torch.Tensor) -> tuple[Float, Float, Float]:
    """Keys, values and the scales of values of some slots."""
    both = cache.codes(slots)
    if cache.format == "e4m3":
        both = both[0].view(torch.float8_e4m3fn), both[1].view(torch.float8_e4m3fn)
    keys, values = (codes.double() for codes in both)
    scales = torch.ones(keys.shape[:2])
    if FORMATS[cache.format].scheme is not None:
        key_scales, scales = cache.scales(slots)
        keys, values = keys * key_scales.double()[..., None], values * scales.double()[..., None]
    return keys.cpu().numpy(), values.cpu().numpy(), scales.double().cpu().numpy()


def codes(device: torch.device, size: Size, format: str) -> bool:
    """Rows of all magnitudes, quantized by the kernel and by the reference."""
    generator = torch.Generator().manual_seed(7)
    rows = torch.randn(size.rows, size.kv_heads, size.head_dim, generator=generator)
    rows = (rows * torch.exp2(torch.randint(-20, 20, (size.rows, 1, 1), generator=generator))).to(torch.bfloat16)
    cache = PagedKVCache.empty(
        -(-size.rows // BLOCK_SIZE), BLOCK_SIZE, size.kv_heads, size.head_dim, format=format, device=device
    )
    slots = torch.randperm(cache.num_slots, generator=generator)[: size.rows].to(device)
    write(cache, slots, rows.to(device), -rows.to(device))
    wanted = encode(rows.float().numpy(), cache.scheme)
    found, scales = cache.codes(slots)[0], cache.scales(slots)[0]
    same = np.array_equal(found.cpu().numpy(), wanted.codes)
    return same and np.array_equal(scales.cpu().numpy(), wanted.scales.scale[..., 0])


def prefilled(sample: Sample) -> bool:
    """All rows of the mixed batch."""
    said = arithmetic(sample.query.dtype, sample.cache.head_dim, dynamic=sample.cache.dynamic)
    output, _ = _prefill(sample)
    return all(sample.certified(said, row, head, output[row, head]) for row, head in _some(output))


def decoded(sample: Sample) -> bool:
    """The last row of every request."""
    said = decode_arithmetic(sample.query.dtype, sample.cache, sample.query.shape[1])
    last = (sample.starts[1:] - 1).long()
    output, _ = decode(sample.query[last], sample.cache, sample.tables, sample.lengths, scale=sample.scale)
    return all(
        sample.certified(said, int(last[request]), head, output[request, head]) for request, head in _some(output)
    )


def _some(output: torch.Tensor, most: int = 160) -> list[tuple[int, int]]:
    """Rows and heads, all of them or a sample that spreads over both."""
    rows, heads = output.shape[:2]
    every = [(row, head) for row in range(rows) for head in range(heads)]
    step = max(1, len(every) // most) | 1
    return every[::step]


def _prefill(sample: Sample) -> tuple[torch.Tensor, torch.Tensor]:
    return prefill(sample.query, sample.cache, sample.tables, sample.lengths, sample.starts, scale=sample.scale)


def chunked(sample: Sample) -> bool:
    """Every request by itself, its rows in two chunks."""
    whole, _ = _prefill(sample)
    same = True
    for request, tokens in enumerate(sample.lengths.tolist()):
        first, end = sample.starts[request : request + 2].tolist()
        for start, stop in ((first, (first + end) // 2), ((first + end) // 2, end)):
            part = replace(
                sample,
                query=sample.query[start:stop],
                tables=sample.tables[request : request + 1],
                lengths=torch.tensor([tokens - (end - stop)], dtype=torch.int32, device=sample.query.device),
                starts=torch.tensor([0, stop - start], dtype=torch.int32, device=sample.query.device),
            )
            same &= bool(torch.equal(_prefill(part)[0], whole[start:stop]))
    return same


def alone(sample: Sample) -> bool:
    """Each decode in a batch of its own, under a wider table."""
    last = (sample.starts[1:] - 1).long()
    whole, _ = decode(sample.query[last], sample.cache, sample.tables, sample.lengths, scale=sample.scale)
    wide = torch.nn.functional.pad(sample.tables, (0, 64))
    return all(
        torch.equal(
            decode(
                sample.query[last][r : r + 1],
                sample.cache,
                wide[r : r + 1],
                sample.lengths[r : r + 1],
                scale=sample.scale,
            )[0],
            whole[r : r + 1],
        )
        for r in range(len(last))
    )


def cascaded(sample: Sample) -> bool:
    """A prefix that two requests share: as close to the exact merge of exact parts as bf16 can be told apart."""
    shared = BLOCK_SIZE
    tables = sample.tables.clone()
    tables[:, 0] = tables[0, 0]
    own = torch.arange(len(tables), device=tables.device)
    rows = torch.ones(len(tables), dtype=torch.int32, device=tables.device)
    starts = torch.cat([rows.new_zeros(1), rows.cumsum(0).to(torch.int32)])
    query = sample.query[own]
    lengths = torch.maximum(sample.lengths, rows * (shared + 1))
    found, lse = cascade(query, sample.cache, tables[0], shared, tables, lengths, starts, scale=sample.scale)
    wanted, log = prefill(query, sample.cache, tables, lengths, starts, scale=sample.scale)
    close = torch.allclose(found.float(), wanted.float(), rtol=2.0**-6, atol=2.0**-6)
    return bool(close and torch.allclose(lse, log, rtol=2.0**-18, atol=2.0**-18))


def merged(sample: Sample) -> bool:
    """The identity, and two halves against the reference's merge."""
    output, lse = _prefill(sample)
    nothing, none = torch.full_like(output, torch.nan), torch.full_like(lse, -torch.inf)
    same = torch.equal(merge(output, lse, nothing, none)[0], output)
    flipped = merge(output, lse, output.flip(0), lse.flip(0))
    states = [
        State(x.double().cpu().numpy(), y.double().cpu().numpy())
        for x, y in ((output, lse), (output.flip(0), lse.flip(0)))
    ]
    exact = merge_states(*states).output
    unit = 2.0**-8 * (np.abs(states[0].output) + np.abs(states[1].output)) + 2.0**-30
    return bool(same and (np.abs(flipped[0].double().cpu().numpy() - exact) <= unit).all())


def copied(sample: Sample) -> bool:
    """Two blocks, with their scales."""
    used = set(sample.tables.flatten().tolist())
    targets = [block for block in range(sample.cache.num_blocks) if block not in used][:2]
    pairs = torch.tensor([[int(sample.tables[0, 0]), targets[0]], [int(sample.tables[1, 0]), targets[1]]])
    copy_blocks(sample.cache, pairs.to(sample.query.device))
    parts = [sample.cache.keys, sample.cache.values, sample.cache.key_scales, sample.cache.value_scales]
    return all(torch.equal(x[pairs[:, 0]], x[pairs[:, 1]]) for x in parts if x is not None)
