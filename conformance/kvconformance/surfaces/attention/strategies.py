"""Operations that the search tries: lengths at block boundaries, windows at equality, GQA groups, empty requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.attention.formats import CacheFormat
from kvconformance.surfaces.attention.merges import STATES
from kvconformance.surfaces.attention.operations import MAX_SEED, Attend, Merge, WriteRows
from kvconformance.surfaces.attention.probes import PROBES
from kvconformance.surfaces.attention.problems.numbers import PATTERNS
from kvconformance.surfaces.attention.protocol import AttentionCapabilities

LONGEST = 96
"""Most tokens of a request in a small world; rarely a request is longer."""
LONG = 300


def attention_histories(capabilities: AttentionCapabilities) -> st.SearchStrategy[h.History]:
    """Histories of one to three operations on one kernel object."""

    @cache
    def of(size: int) -> st.SearchStrategy[h.History]:
        operations = st.lists(_operations(capabilities, size), min_size=1, max_size=3).map(tuple)
        return st.builds(_history, st.just(size), operations, st.integers(1, 4))

    return st.sampled_from(capabilities.block_sizes).flatmap(of)


def _history(block_size: int, operations: tuple[Any, ...], spare: int) -> h.History:
    needed = max((_blocks(o, block_size) for o in operations), default=1)
    return h.History(needed + spare, block_size, operations, token_budget=1, max_running=1, caching=True)


def _blocks(operation: Any, block_size: int) -> int:
    if isinstance(operation, Attend):
        return sum(-(-tokens // block_size) for tokens, _ in operation.lengths)
    return max(operation.slots, default=0) // block_size + 1 if isinstance(operation, WriteRows) else 1


def _operations(capabilities: AttentionCapabilities, size: int) -> st.SearchStrategy[Any]:
    """All that can be asked, half of it over quantized caches where there are any; others draw as they ever did."""
    kinds: list[st.SearchStrategy[Any]] = []
    if capabilities.arithmetic:
        kinds += [_attends(capabilities, size, probe) for probe in _probes(capabilities)] * 2
    if capabilities.arithmetic and capabilities.lse:
        kinds.append(_merges(capabilities))
    if capabilities.arithmetic:
        kinds.append(_writes(capabilities, size))
    return st.one_of(*kinds, *_over_caches(capabilities, size))


def _probes(capabilities: AttentionCapabilities) -> list[str]:
    without = set() if capabilities.prefill else {"chunks", "later"}
    without |= set() if capabilities.lse and capabilities.noncausal else {"cascade"}
    without |= set() if capabilities.in_place else {"far"}
    return [probe for probe in PROBES if probe not in without]


def _over_caches(capabilities: AttentionCapabilities, size: int) -> list[st.SearchStrategy[Any]]:
    """What can be asked over quantized caches, in groups of those that are alike."""
    caches = capabilities.caches
    kinds: list[st.SearchStrategy[Any]] = []
    for probe in _probes(capabilities):
        groups = _alike(capabilities, [name for name in caches if caches[name].in_place or probe != "far"])
        kinds += [_attends(able, size, probe, names) for able, names in groups] * (1 if len(groups) > 1 else 2)
    # Writes are cheap, and few of a minute's histories would hold one.
    written = _alike(capabilities, [name for name in caches if caches[name].writes])
    return kinds + [_writes(able, size, names) for able, names in written] * (1 if len(written) > 1 else 2)


def _alike(capabilities: AttentionCapabilities, names: Sequence[str]) -> list[tuple[AttentionCapabilities, list[str]]]:
    """Quantized caches over which the kernel can do the same, with what that is: a strategy is dear to build."""
    found: dict[Any, list[str]] = defaultdict(list)
    for name in sorted(names):
        format = capabilities.caches[name]
        found[_dims(capabilities, format), tuple(sorted(format.arithmetic))].append(name)
    return [(_with_cache(capabilities, members[0]), members) for members in found.values()]


def _with_cache(capabilities: AttentionCapabilities, name: str) -> AttentionCapabilities:
    """What a kernel can do over one of its quantized caches."""
    format = capabilities.caches[name]
    return replace(capabilities, arithmetic=format.arithmetic, head_dims=_dims(capabilities, format))


def _dims(capabilities: AttentionCapabilities, format: CacheFormat) -> tuple[int, ...]:
    """The head dims that a cache can hold, as often as the kernel has them."""
    return tuple(dim for dim in format.head_dims or capabilities.head_dims if format.holds(dim))


def _attends(
    capabilities: AttentionCapabilities, size: int, probe: str, caches: Sequence[str] = ()
) -> st.SearchStrategy[Attend]:
    able = capabilities
    quantized: dict[str, Any] = {"cache": st.sampled_from(caches)} if caches else {}
    window = st.sampled_from([None, None, 1, 2, size, size + 1, 2 * size, 7]) if able.windows else st.none()
    simple = probe in ("cascade", "chunks")
    return st.builds(
        _attend,
        lengths=_batches(size, able.prefill, 2 if probe == "alone" else 1),
        probe=st.just(probe),
        seed=st.integers(0, MAX_SEED),
        heads=_shapes(tuple(able.heads), tuple(able.head_dims)),
        dtype=st.sampled_from(sorted(able.arithmetic)),
        layout=st.sampled_from(able.layouts),
        order=st.one_of(st.none(), st.integers(0, 99)),
        pattern=st.sampled_from(PATTERNS),
        causal=st.sampled_from([True, True, True, False]) if able.noncausal and not simple else st.just(True),
        window=st.none() if probe == "cascade" else window,
        softcap=st.sampled_from([None, None, 5.0, 30.0]) if able.softcaps else st.none(),
        sinks=st.booleans() if able.sinks and probe != "cascade" else st.just(False),
        padding=st.sampled_from([0, 0, 1, 3]) if able.padding_rows else st.just(0),
        splits=st.sampled_from(able.splits),
        shared=st.sampled_from([0, 0, 1, 2]),
        **quantized,
    )


def _attend(**given: Any) -> Attend:
    """Hypothesis evaluates the annotations of what it builds each time, and those of a record are many."""
    return Attend(**given)


@cache
def _batches(size: int, prefill: bool, least: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Batches of requests (tokens in the cache, query rows): decodes, chunks of prefill, empty ones."""
    edges = [n for k in (1, 2, 3) for n in (k * size - 1, k * size, k * size + 1) if 0 < n <= LONGEST]
    tokens = st.one_of(st.sampled_from(edges), st.sampled_from(edges), st.integers(1, LONGEST), st.just(LONG))
    queries = st.sampled_from([1, 1, 2, 3, size, size + 1]) if prefill else st.just(1)
    request = st.builds(_request, tokens, queries)
    unusual = [st.just((0, 1)), st.just((0, 0))] + ([st.just((1, 3))] if prefill else [])
    one = st.one_of(request, request, request, request, *unusual)
    # Who shares a prefix with whom shows only among three or more that have one.
    several = st.lists(request, min_size=3, max_size=4)
    return st.one_of(*[st.lists(one, min_size=least, max_size=4)] * 3, several).map(tuple)


def _request(tokens: int, queries: int) -> tuple[int, int]:
    return tokens, min(tokens, queries, 17)


def _merges(capabilities: AttentionCapabilities) -> st.SearchStrategy[Merge]:
    state = st.sampled_from(STATES)
    return st.builds(
        Merge,
        states=st.lists(st.tuples(state, state), min_size=1, max_size=6).map(tuple),
        seed=st.integers(0, MAX_SEED),
        heads=st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from(capabilities.head_dims)),
        dtype=st.sampled_from(sorted(capabilities.arithmetic)),
    )


def _writes(capabilities: AttentionCapabilities, size: int, caches: Sequence[str] = ()) -> st.SearchStrategy[WriteRows]:
    quantized: dict[str, Any] = {"cache": st.sampled_from(caches)} if caches else {}
    slots = st.lists(st.integers(0, 4 * size + 3), unique=True, max_size=6)
    return st.builds(
        WriteRows,
        slots=st.builds(_padded, slots, st.integers(0, 2)),
        extra=st.sampled_from([0, 0, 1, 3]) if capabilities.padding_rows else st.just(0),
        seed=st.integers(0, MAX_SEED),
        heads=_shapes(tuple(capabilities.heads), tuple(capabilities.head_dims)),
        dtype=st.sampled_from(sorted(capabilities.arithmetic)),
        layout=st.sampled_from(capabilities.layouts),
        **quantized,
    )


@cache
def _shapes(heads: tuple[tuple[int, int], ...], dims: tuple[int, ...]) -> st.SearchStrategy[tuple[int, int, int]]:
    return st.builds(lambda heads, dim: (*heads, dim), st.sampled_from(heads), st.sampled_from(dims))


def _padded(slots: list[int], padding: int) -> tuple[int, ...]:
    return (*slots[:1], *(-1,) * min(padding, 1), *slots[1:], *(-1,) * max(padding - 1, 0))
