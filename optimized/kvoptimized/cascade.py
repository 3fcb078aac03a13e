"""Cascade attention: a prefix that all requests share is read once for all of them, and the states are merged."""

from __future__ import annotations

import torch

from kvoptimized.cache import PagedKVCache
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.operators import has_data, operator
from kvoptimized.prefilling import attend, require_fit, require_rising, results
from kvoptimized.refusals import LengthError, require_device, require_dtype, require_rows, require_shape, require_tables
from kvoptimized.requirements import DECODE_GROUP, ParameterError, require_heads, require_numbers, require_parameters


def cascade(
    query: torch.Tensor,
    cache: PagedKVCache,
    shared_table: torch.Tensor,
    shared_length: int,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    *,
    scale: float,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
    decoding: bool = False,
    checked: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Causal attention as `prefill`, whose first `shared_length` positions are those of `shared_table` in all requests.

    `shared_table` is int32 `[blocks]`. `block_tables` and `lengths` are those of whole requests, the prefix included,
    though only what follows it is read through them. All query rows must stand behind the prefix; there is no window,
    which would hide it. Output `[rows, heads, head_dim]` in the dtype of `query`, LSE `[rows, heads]`: the two parts
    are attended in tiles at absolute positions, kept in fp32 and merged, so they depend on `shared_length` and not on
    the batch.

    `decoding` says that every request has one row and the prefix whole blocks: then what follows it is attended by
    split-KV decode, in parts that run in parallel, and both states are kept in the dtype of `query`.

    Raises as `prefill`; `LengthError` for rows within the prefix, and for other than one row per request where
    `decoding`; `ParameterError` for a prefix that is then no whole number of blocks.
    """
    output, lse = _cascade(
        query,
        cache.keys,
        cache.values,
        cache.key_scales,
        cache.value_scales,
        shared_table,
        shared_length,
        block_tables,
        lengths,
        starts,
        sinks,
        cache.format,
        cache.layout,
        scale,
        softcap,
        decoding,
        checked,
    )
    return output, lse


@operator()
def _cascade(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    key_scales: torch.Tensor | None,
    value_scales: torch.Tensor | None,
    shared_table: torch.Tensor,
    shared_length: int,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    starts: torch.Tensor,
    sinks: torch.Tensor | None,
    format: str,
    layout: str,
    scale: float,
    softcap: float | None,
    decoding: bool,
    checked: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    cache = PagedKVCache.around(keys, values, key_scales, value_scales, format=format, layout=layout)
    require_fit(query, cache, block_tables, lengths, starts, sinks)
    require_parameters(scale, None, softcap, 0)
    _require_prefix(cache, shared_table, shared_length)
    if decoding:
        require_heads(query, cache, DECODE_GROUP)
        _require_decodes(query, block_tables, cache.block_size, shared_length)
    if not has_data(query):
        return results(query, partial=False)
    table = shared_table[None]
    length = shared_table.new_full((1,), shared_length)
    if checked:
        require_tables(table, length, cache.block_size, cache.num_blocks)
        require_tables(block_tables, lengths, cache.block_size, cache.num_blocks, shared_length)
        require_rising(starts, len(query))
        require_behind(starts, lengths, shared_length)
        require_numbers(cache, sinks)
        if decoding and starts.tolist() != list(range(len(query) + 1)):
            raise LengthError(f"starts {starts.tolist()} are not those of one row per request; set decoding to False")
    # All rows but padding, as if they were of one request.
    rows = torch.stack([starts.new_zeros(()), starts[-1]])
    shared = attend(
        query,
        cache,
        table,
        length,
        rows,
        scale=scale,
        softcap=softcap,
        causal=False,
        partial=not decoding,
        checked=False,
    )
    if decoding:
        behind = block_tables[:, shared_length // cache.block_size :]
        own_lengths = lengths - shared_length
        own = decode(query, cache, behind, own_lengths, scale=scale, softcap=softcap, sinks=sinks, checked=False)
    else:
        own = attend(
            query,
            cache,
            block_tables,
            lengths,
            starts,
            scale=scale,
            softcap=softcap,
            sinks=sinks,
            first_key=shared_length,
            partial=True,
            checked=False,
        )
    return merge(*shared, *own, dtype=query.dtype)


def _require_prefix(cache: PagedKVCache, shared_table: torch.Tensor, shared_length: int) -> None:
    require_device(cache.device, shared_table=shared_table)
    require_shape("shared_table", shared_table, (None,))
    require_dtype("shared_table", shared_table, torch.int32)
    require_rows("shared_table", shared_table)
    if shared_length < 0:
        raise ParameterError(f"shared_length is {shared_length}; it counts tokens")


def _require_decodes(query: torch.Tensor, block_tables: torch.Tensor, block_size: int, shared_length: int) -> None:
    if len(query) != len(block_tables):
        raise LengthError(f"{len(query)} rows for {len(block_tables)} requests; where decoding, each has one")
    if shared_length % block_size:
        raise ParameterError(
            f"shared_length is {shared_length}; where decoding it is a multiple of the block size, {block_size}"
        )


def require_behind(starts: torch.Tensor, lengths: torch.Tensor, shared_length: int) -> None:
    """Raise `LengthError` unless every query row of every request stands behind the first `shared_length` tokens."""
    rows = starts[1:] - starts[:-1]
    early = (rows > 0) & (lengths - rows < shared_length)
    if bool(early.any()):
        request = int(early.nonzero()[0, 0])
        raise LengthError(
            f"request {request} has {int(lengths[request])} tokens and {int(rows[request])} rows, of which some stand "
            f"within the {shared_length} shared tokens; shorten the shared prefix or call prefill"
        )
