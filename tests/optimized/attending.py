"""Batches for the attention kernels: a poisoned paged cache, its twin in the NumPy reference, and the judgement."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import torch
from hypothesis import strategies as st

from kvconformance.surfaces.attention.judging.certified import lse_interval
from kvoptimized.cache import FORMATS, HEAD_MAJOR, LAYOUTS, PagedKVCache
from kvoptimized.prefilling import Arithmetic
from kvreference.arrays import Float, Int
from kvreference.attention import Row
from kvreference.nibbles import pack
from kvreference.paged_attention import Attention, Batch, rows_of
from kvreference.paged_cache import Layout, PagedCache, Pages, QuantizedPages, slots_of
from kvreference.quantizers import Scales
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.certificates import certify
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.schemes import Granularity

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
FORMATS_OF = {"bf16": ("bf16", "e4m3", "int8", "int4"), "fp16": ("fp16", "e4m3", "int8", "int4"), "fp32": ("fp32",)}
HEAD_DIMS = (64, 80, 96, 128, 256)
BLOCK_SIZES = (1, 2, 3, 7, 16, 64, 256)
LSE_ERROR = 2.0**-24
TOP = {"int8": 127.0, "int4": 7.0, "e4m3": 448.0}


@dataclass(frozen=True)
class Scenario:
    """Requests `(tokens, rows)` of a batch and what is computed; blocks are numbered by `order`."""

    requests: tuple[tuple[int, int], ...]
    dtype: str = "bf16"
    format: str = "bf16"
    static: bool = False
    layout: str = HEAD_MAJOR
    block_size: int = 16
    kv_heads: int = 2
    group: int = 2
    head_dim: int = 64
    causal: bool = True
    window: int | None = None
    softcap: float | None = None
    sinks: bool = False
    padding: int = 0
    seed: int = 0
    order: int = 0

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.requests)

    @property
    def layer(self) -> Attention:
        random = np.random.default_rng([self.seed, 2])
        heads = self.kv_heads * self.group
        sinks = tuple(float(s) for s in random.standard_normal(heads).astype(np.float32)) if self.sinks else None
        return Attention(float(np.float32(self.head_dim**-0.5)), self.causal, self.window, self.softcap, sinks)

    def tables(self) -> list[list[int]]:
        needed = [-(-tokens // self.block_size) for tokens, _ in self.requests]
        ids = np.random.default_rng([self.order, 3]).permutation(sum(needed) + 2).tolist()
        ends = np.cumsum([0, *needed]).tolist()
        return [ids[a:b] for a, b in pairwise(ends)]

    def numbers(self) -> tuple[Float, list[tuple[Float, Float]]]:
        """Queries, and keys and values of each request: the same whatever the blocks."""
        random = np.random.default_rng([self.seed, 1])
        heads = self.kv_heads * self.group
        query = random.standard_normal((self.rows + self.padding, heads, self.head_dim)) * random.choice([0.3, 1, 4])
        pairs = []
        for tokens, _ in self.requests:
            keys, values = random.standard_normal((2, tokens, self.kv_heads, self.head_dim))
            keys[..., 0] += random.choice([0, 0, 8])
            pairs.append((keys, values * random.choice([1, 1, 30])))
        return round_to(query, format_named(self.dtype)), pairs


@dataclass(frozen=True)
class Placed:
    """A scenario in memory, for the kernels and for the reference."""

    scenario: Scenario
    query: torch.Tensor
    cache: PagedKVCache
    tables: torch.Tensor
    lengths: torch.Tensor
    starts: torch.Tensor
    reference: PagedCache

    @property
    def arrays(self) -> tuple[torch.Tensor, PagedKVCache, torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.query, self.cache, self.tables, self.lengths, self.starts

    @property
    def options(self) -> dict[str, object]:
        layer = self.scenario.layer
        sinks = None if layer.sinks is None else torch.tensor(layer.sinks, dtype=torch.float32)
        return {
            "scale": layer.scale,
            "causal": layer.causal,
            "window": layer.window,
            "softcap": layer.softcap,
            "sinks": sinks,
        }

    def row_list(self) -> list[list[Row]]:
        query = self.query.double().numpy()
        batch = Batch(self.tables.numpy(), self.lengths.numpy(), self.starts.numpy())
        return rows_of(query, self.reference, batch, self.scenario.layer)

    def value_scales(self, row: int, head: int, seen: range) -> Float:
        """The scales of the values that a row sees, read from the reference."""
        request = int(np.searchsorted(self.starts.numpy(), row, side="right")) - 1
        pages = self.reference.values
        assert isinstance(pages, QuantizedPages)
        scales = pages.scales.gather(self.tables[request].numpy().astype(np.int64), seen.start, seen.stop)
        return np.asarray(scales[:, head // self.scenario.group, 0], np.float64)


def place(scenario: Scenario) -> Placed:
    """Bytes that belong to no token are NaN, or codes with a scale of NaN."""
    query, pairs = scenario.numbers()
    tables = scenario.tables()
    blocks = sum(map(len, tables)) + 2
    reference = _reference(scenario, blocks)
    owned = [slots_of(table, 0, len(keys), scenario.block_size) for table, (keys, _) in zip(tables, pairs, strict=True)]
    for slots, (keys, values) in zip(owned, pairs, strict=True):
        if len(slots):
            reference.write(slots, *(_rows(x, scenario) for x in (keys, values)))
    cache = _cache(scenario, blocks, reference, np.concatenate([*owned, np.zeros(0, np.int64)]))
    width = max((len(table) for table in tables), default=0) + 1
    padded = [table + [-1] * (width - len(table)) for table in tables]
    starts = np.cumsum([0, *(rows for _, rows in scenario.requests)])
    return Placed(
        scenario,
        torch.from_numpy(query).to(DTYPES[scenario.dtype]),
        cache,
        torch.tensor(padded, dtype=torch.int32).reshape(-1, width),
        torch.tensor([tokens for tokens, _ in scenario.requests], dtype=torch.int32),
        torch.tensor(starts, dtype=torch.int32),
        reference,
    )


def _rows(x: Float, scenario: Scenario) -> Float:
    if FORMATS[scenario.format].scheme is None:
        return round_to(x, format_named(scenario.format))
    return np.asarray(x, np.float32)  # type: ignore[return-value]


def _static_scales(scenario: Scenario) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    random = np.random.default_rng([scenario.seed, 4])
    spread = random.uniform(2, 6, (2, scenario.kv_heads)) / TOP[scenario.format]
    return spread.astype(np.float32)


def _reference(scenario: Scenario, blocks: int) -> PagedCache:
    layout = Layout.HEAD_MAJOR if scenario.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
    shape = (blocks, scenario.block_size, scenario.kv_heads, scenario.head_dim)
    stored = FORMATS[scenario.format]
    if stored.scheme is None:
        inner = (shape[2], shape[1]) if scenario.layout == HEAD_MAJOR else (shape[1], shape[2])
        return PagedCache(*(Pages(np.zeros((blocks, *inner, shape[3])), layout) for _ in range(2)))
    if not scenario.static:
        scheme = stored.scheme_per(Granularity.TOKEN_HEAD)
        return PagedCache(*(QuantizedPages(shape, scheme, None, layout) for _ in range(2)))
    scheme = stored.scheme_per(Granularity.HEAD)
    scales = _static_scales(scenario)
    return PagedCache(*(QuantizedPages(shape, scheme, Scales(s.reshape(1, -1, 1)), layout) for s in scales))


def _cache(scenario: Scenario, blocks: int, reference: PagedCache, owned: Int) -> PagedKVCache:
    static = scenario.static and FORMATS[scenario.format].scheme is not None
    given = torch.from_numpy(_static_scales(scenario)) if static else (None, None)
    cache = PagedKVCache.empty(
        blocks,
        scenario.block_size,
        scenario.kv_heads,
        scenario.head_dim,
        format=scenario.format,
        layout=scenario.layout,
        key_scales=given[0],
        value_scales=given[1],
    )
    foreign = torch.ones(cache.num_slots, dtype=torch.bool)
    foreign[torch.from_numpy(owned)] = False
    foreign = foreign.reshape(blocks, scenario.block_size)
    for storage, scales, pages in (
        (cache.keys, cache.key_scales, reference.keys),
        (cache.values, cache.value_scales, reference.values),
    ):
        if isinstance(pages, Pages):
            storage.copy_(torch.from_numpy(pages.storage))
            cache.token_major(storage)[foreign] = float("nan")
            continue
        codes = pages.codes.storage
        if scenario.format == "int4":
            codes = pack(codes, pages.scheme) ^ np.uint8(0x88)
        storage.view(torch.uint8).copy_(torch.from_numpy(codes.view(np.uint8)))
        cache.token_major(storage.view(torch.uint8))[foreign] = 0x7F  # NaN in e4m3
        if cache.dynamic and scales is not None:
            tokens = torch.from_numpy(pages.scales.storage[..., 0])
            scales.copy_(tokens if cache.layout == HEAD_MAJOR else tokens.transpose(1, 2))
            scales.transpose(1, 2)[foreign] = float("nan")
    return cache


def declaration_of(said: Arithmetic) -> Declaration:
    """What a kernel says of itself, as the reference knows it."""
    known = {field.name for field in fields(Declaration)}
    return Declaration(**{f.name: getattr(said, f.name) for f in fields(said) if f.name in known})


def require_certified(placed: Placed, said: Arithmetic, output: torch.Tensor, lse: torch.Tensor) -> None:
    """Every row lies in the interval of its certificate, T2 but for fp32, which rounds no weights; padding is empty."""
    require_certified_rows(placed, said, placed.row_list(), output, lse)


def require_certified_rows(
    placed: Placed, said: Arithmetic, rows: list[list[Row]], output: torch.Tensor, lse: torch.Tensor
) -> None:
    """The same for rows that see other keys than the scenario says."""
    declaration = declaration_of(said)
    found, logs = output.double().numpy(), lse.double().numpy()
    assert output.dtype == DTYPES[said.output]
    for row, heads in enumerate(rows):
        for head, wanted in enumerate(heads):
            if len(wanted.keys) == 0:
                assert (found[row, head] == 0).all() and np.isneginf(logs[row, head]), (row, head)
                continue
            seen = range(wanted.first, wanted.first + len(wanted.keys))
            certificate = certify(wanted, declaration, placed.value_scales(row, head, seen) if said.scaled else None)
            low, high = certificate.interval(declaration.output)
            off = ~((low <= found[row, head]) & (found[row, head] <= high))
            assert not off.any(), f"row {row} head {head}: {found[row, head][off]} not in {low[off]}, {high[off]}"
            least, most = lse_interval(wanted, declaration, LSE_ERROR)
            assert least <= logs[row, head] <= most, f"row {row} head {head}: LSE {logs[row, head]}"


@st.composite
def scenarios(draw: st.DrawFn, formats: tuple[str, ...] = ("fp32", "bf16", "fp16", "e4m3", "int8", "int4")) -> Scenario:
    """Small mixed batches: decodes, chunks, whole prompts, empty requests, and more rows than tokens."""
    format = draw(st.sampled_from(formats))
    dtype = format if format in DTYPES else draw(st.sampled_from(("bf16", "bf16", "fp16")))
    size = draw(st.sampled_from(BLOCK_SIZES))
    edges = [n for n in (size - 1, size, size + 1, 2 * size + 1, 63, 64, 65, 128, 130) if 0 < n <= 160]
    tokens = st.one_of(st.sampled_from(edges), st.integers(1, 100))
    request = st.tuples(tokens, st.sampled_from([1, 1, 2, 5, 17])).map(lambda r: (r[0], min(r)))
    unusual = st.sampled_from([(0, 0), (0, 1), (1, 3), (40, 0)])
    requests = draw(st.lists(st.one_of(request, request, request, unusual), min_size=1, max_size=3))
    return Scenario(
        tuple(requests),
        dtype=dtype,
        format=format,
        static=draw(st.booleans()),
        layout=draw(st.sampled_from(LAYOUTS)),
        block_size=size,
        kv_heads=draw(st.sampled_from((1, 2))),
        group=draw(st.sampled_from((1, 2, 3, 4))),
        head_dim=draw(st.sampled_from((16, *HEAD_DIMS))),
        causal=draw(st.sampled_from([True, True, True, False])),
        window=draw(st.sampled_from([None, None, 1, 7, size, 64, 65])),
        softcap=draw(st.sampled_from([None, None, 5.0, 30.0])),
        sinks=draw(st.booleans()),
        padding=draw(st.sampled_from([0, 0, 1, 3])),
        seed=draw(st.integers(0, 9999)),
        order=draw(st.integers(0, 99)),
    )
