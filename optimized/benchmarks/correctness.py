"""Are the kernels right on this very device? Codes bit for bit, outputs by certificate, bits whatever the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
import torch

from benchmarks import stored
from benchmarks.certified import Allowed, allowed, merged
from benchmarks.samples import KINDS, TIMED, Kind, Options, Sample, Size, sample
from benchmarks.shapes import BLOCK_SIZE
from kvoptimized.cascade import cascade
from kvoptimized.decoding import arithmetic as decode_arithmetic
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import arithmetic, prefill
from kvreference.attention import State
from kvreference.attention import merge as merge_states

PLAIN = Options()
Check = Callable[[], bool]


def checks(device: torch.device, size: Size) -> Iterator[tuple[str, Check]]:
    """What is checked, by name; each answers whether it is so."""
    for kind in KINDS:
        yield (
            f"codes and scales of keys and values equal the reference: {kind}",
            partial(stored.codes, device, size, kind),
        )
        yield from _of_kind(kind, cache(partial(sample, device, size, kind)))
    plain = cache(partial(sample, device, size, KINDS[0]))
    yield "slots are those of the block tables", partial(_of, stored.slots, plain)
    yield "a merge with an empty state is the other state, and of two the reference's", partial(_of, joined, plain)


def _of_kind(kind: Kind, given: Callable[[], Sample]) -> Iterator[tuple[str, Check]]:
    """Attention over one kind of cache; what is timed is also cut, shared and copied."""
    yield f"prefill lies in T2, LSE in its bound: {kind}", partial(_of, prefilled, given)
    yield f"decode lies in T2, LSE in its bound: {kind}", partial(_of, decoded, given)
    dressed = "with a window, a softcap and sinks"
    yield f"prefill {dressed} lies in T2: {kind}", partial(_of, partial(prefilled, dressed=True), given)
    yield f"decode {dressed} lies in T2: {kind}", partial(_of, partial(decoded, dressed=True), given)
    if kind in TIMED:
        yield f"prefill has the same bits in chunks: {kind}", partial(_of, chunked, given)
        yield f"decode has the same bits alone: {kind}", partial(_of, alone, given)
        yield f"cascade lies in the merge of T2: {kind}", partial(_of, cascaded, given)
        also = partial(cascaded, decoding=True)
        yield f"cascade of decodes with a softcap and sinks lies in the merge of T2: {kind}", partial(_of, also, given)
        yield f"copied blocks are equal: {kind}", partial(_of, stored.copied, given)


def _of(check: Callable[[Sample], bool], given: Callable[[], Sample]) -> bool:
    return check(given())


def prefilled(sample: Sample, dressed: bool = False) -> bool:
    """All rows of the mixed batch."""
    options = sample.dressed if dressed else PLAIN
    said = arithmetic(sample.query.dtype, sample.cache.head_dim, dynamic=sample.cache.dynamic)
    output, lse = _prefill(sample, options)

    def fine(row: int, head: int) -> bool:
        request, end = sample.request_of(row)
        bounds = allowed(*sample.row(row, head, request, _seen(end, options), options), said)
        return bounds.holds(*_numbers(output, lse, row, head))

    return all(fine(row, head) for row, head in _some(output, 120))


def decoded(sample: Sample, dressed: bool = False) -> bool:
    """The last row of every request."""
    options = sample.dressed if dressed else PLAIN
    said = decode_arithmetic(sample.query.dtype, sample.cache, sample.query.shape[1])
    last = (sample.starts[1:] - 1).long()
    output, lse = _decode(sample, options)

    def fine(request: int, head: int) -> bool:
        seen = _seen(int(sample.lengths[request]), options)
        bounds = allowed(*sample.row(int(last[request]), head, request, seen, options), said)
        return bounds.holds(*_numbers(output, lse, request, head))

    return all(fine(request, head) for request, head in _some(output))


def _seen(end: int, options: Options) -> range:
    return range(0 if options.window is None else max(0, end - options.window), end)


def _numbers(output: torch.Tensor, lse: torch.Tensor, row: int, head: int) -> tuple[np.ndarray, float]:
    return output[row, head].double().cpu().numpy(), float(lse[row, head])


def _some(output: torch.Tensor, most: int = 40) -> list[tuple[int, int]]:
    """Rows and heads, all of them or a sample that spreads over both: a row of 4,000 keys takes a tenth of a second."""
    rows, heads = output.shape[:2]
    every = [(row, head) for row in range(rows) for head in range(heads)]
    step = max(1, len(every) // most) | 1
    return every[::step]


def _prefill(sample: Sample, options: Options = PLAIN) -> tuple[torch.Tensor, torch.Tensor]:
    return prefill(
        sample.query,
        sample.cache,
        sample.tables,
        sample.lengths,
        sample.starts,
        scale=sample.scale,
        window=options.window,
        softcap=options.softcap,
        sinks=options.sinks,
    )


def _decode(sample: Sample, options: Options = PLAIN) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the last row of every request."""
    return decode(
        sample.query[(sample.starts[1:] - 1).long()],
        sample.cache,
        sample.tables,
        sample.lengths,
        scale=sample.scale,
        window=options.window,
        softcap=options.softcap,
        sinks=options.sinks,
    )


def chunked(sample: Sample) -> bool:
    """Every request by itself, its rows in two chunks."""
    whole, log = _prefill(sample)
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
            output, lse = _prefill(part)
            same &= bool(torch.equal(output, whole[start:stop]) and torch.equal(lse, log[start:stop]))
    return same


def alone(sample: Sample) -> bool:
    """Each decode in a batch of its own, under a wider table."""
    whole, log = _decode(sample)
    wide = torch.nn.functional.pad(sample.tables, (0, 64))
    same = True
    for request in range(len(whole)):
        own = slice(request, request + 1)
        last = (sample.starts[request + 1 : request + 2] - 1).long()
        output, lse = decode(sample.query[last], sample.cache, wide[own], sample.lengths[own], scale=sample.scale)
        same &= bool(torch.equal(output, whole[own]) and torch.equal(lse, log[own]))
    return same


def cascaded(sample: Sample, decoding: bool = False) -> bool:
    """Requests behind a prefix that they share: one row each by decode, with softcap and sinks, or two by prefill."""
    shared, per_request = sample.shared, 1 if decoding else 2
    options = replace(sample.dressed, window=None) if decoding else PLAIN
    long = [r for r, tokens in enumerate(sample.lengths.tolist()) if tokens >= shared + per_request]
    tables, lengths = sample.tables[long].clone(), sample.lengths[long]
    tables[:, : shared // BLOCK_SIZE] = sample.tables[0, : shared // BLOCK_SIZE]
    starts = torch.arange(len(long) + 1, dtype=torch.int32, device=tables.device) * per_request
    query = sample.query[: per_request * len(long)]
    output, lse = cascade(
        query,
        sample.cache,
        tables[0, : shared // BLOCK_SIZE],
        shared,
        tables,
        lengths,
        starts,
        scale=sample.scale,
        softcap=options.softcap,
        sinks=options.sinks,
        decoding=decoding,
    )

    def fine(row: int, head: int) -> bool:
        request = long[row // per_request]
        end = int(sample.lengths[request]) - per_request + row % per_request + 1
        bounds = _cascade_bounds(sample, row, head, request, end, options, decoding)
        return bounds.holds(*_numbers(output, lse, row, head))

    return all(fine(row, head) for row, head in _some(output))


def _cascade_bounds(
    sample: Sample, row: int, head: int, request: int, end: int, options: Options, decoding: bool
) -> Allowed:
    """The merge of the prefix, which is that of request 0 and has no sinks, and of what follows it."""
    dtype, cache_ = sample.query.dtype, sample.cache
    said = arithmetic(dtype, cache_.head_dim, dynamic=cache_.dynamic)
    kept = said.output if decoding else "fp32"
    before = sample.row(row, head, 0, range(sample.shared), replace(options, sinks=None))
    behind = sample.row(row, head, request, range(sample.shared, end), options, first=0 if decoding else None)
    own = decode_arithmetic(dtype, cache_, sample.query.shape[1]) if decoding else said
    return merged(allowed(*before, said, kept), allowed(*behind, own, kept), said.output)


def joined(sample: Sample) -> bool:
    """The identity, and two states against the reference's merge."""
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
